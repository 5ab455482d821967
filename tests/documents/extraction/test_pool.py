"""Processes that extract: order, crashes, pages that never end."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from documents.pages import ARTICLE, plain_skin
from neardup.documents.extraction import extractor as module
from neardup.documents.extraction.extractor import Extraction, Extractor, Pool, Spool, Worker
from neardup.documents.extraction.page import Extracted, Page
from neardup.documents.file_formats import HTML
from neardup.errors import MissingExtraError, SettingsError


def pages(count: int) -> list[Page]:
    return [Page(HTML, plain_skin(title=f"Number {i}").encode()) for i in range(count)]


def test_answers_come_in_the_order_of_the_pages() -> None:
    pool = Pool(3)
    try:
        titles = [found and found.meta.title for found in pool.answers(pages(20), "resiliparse")]
        assert titles == [f"Number {i}" for i in range(20)]
    finally:
        pool.close()


@pytest.mark.kills
def test_a_process_that_dies_is_replaced() -> None:
    worker = Worker()
    os.kill(worker._process.pid, signal.SIGKILL)
    assert worker.answer(pages(1)[0], "resiliparse", 60) is None
    assert not worker.open
    pool = Pool(1)
    try:
        assert pool.answers(pages(1), "resiliparse", seconds=0) == [None]
        (found,) = pool.answers(pages(1), "resiliparse")
        assert found is not None
        assert found.text
    finally:
        pool.close()


def test_where_processes_die_html_is_all_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dead:
        def answers(self, pages: list[Page], how: str) -> list[None]:  # noqa: ARG002
            return [None] * len(pages)

    monkeypatch.setattr(module, "shared_pool", lambda _: Dead())
    extractor = Extractor()
    broken = Page("pdf", b"%PDF")
    found = extractor.texts([*pages(1), broken])
    assert ARTICLE[0] in (found[0].text or "")
    assert found[1].reason == ("PDF cannot be read: the reader crashed, or took a minute, over it")
    assert extractor.counts() == {"all-text": 1}


def test_a_page_is_extracted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    class Counting:
        def answers(self, pages: list[Page], how: str) -> list[Extracted]:
            asked.append(len(pages))
            return [Extracted(f"text of {page.data[:9]!r}", how=how) for page in pages]

    monkeypatch.setattr(module, "shared_pool", lambda _: Counting())
    extractor = Extractor(Extraction("resiliparse"))
    first = extractor.texts([*pages(3), *pages(2)])
    assert extractor.texts(pages(3)) == first[:3]
    assert sum(asked) == 3
    assert extractor.counts() == {"resiliparse": 3}
    extractor.clear()
    extractor.texts(pages(1))
    assert sum(asked) == 4


def test_the_spool_goes_away() -> None:
    spool = Spool()
    spool.put(b"key", Extracted("text", how="x"))
    assert spool.get(b"key") == Extracted("text", how="x")
    assert spool.get(b"other") is None
    path = Path(spool._base.execute("PRAGMA database_list").fetchone()[2])
    assert path.exists()
    del spool
    assert not path.exists()


def test_a_missing_package_is_told_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda _: None)
    for how, kind, hint in (
        (None, "html", "html"),
        ("resiliparse", "html", "html"),
        (None, "pdf", "pdf"),
    ):
        with pytest.raises(MissingExtraError, match=rf"pip install 'neardup\[{hint}\]'"):
            Extraction(how).check([kind], "pages")
    Extraction("all-text").check(["html"], "pages")


def test_an_unknown_extractor_is_refused() -> None:
    with pytest.raises(SettingsError, match="extract is 'readability'"):
        Extraction("readability")
