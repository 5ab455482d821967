"""Pages in a flow: compared by their main text, as in a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import neardup as nd
from documents.extraction.test_pdf import pdf
from documents.pages import ARTICLE, OTHER, plain_skin, rich_skin
from engines.index.flow.sample import feed
from engines.index.flow.test_flow import APPEND, Place, problems, told
from neardup.documents.extraction import extractor
from neardup.engines.index.index import Index

FILES = {
    "a.html": plain_skin().encode(),
    "b.HTM": rich_skin().encode("cp1252"),
    "c.pdf": pdf(head="The Coast, report, page"),
    "d.txt": "\n".join(OTHER).encode(),
    "e.xhtml": rich_skin(OTHER, "Swallows").encode("utf-16"),
    "empty.html": b"",
    "scan.pdf": pdf(("",)),
}
SKINS = (plain_skin(), rich_skin())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path)
    found.index = Index.open("memory:", method="shingles", clock=found.clock)
    return found


def drop_all(place: Place, files: dict[str, bytes] = FILES) -> None:
    for age, (name, data) in enumerate(files.items()):
        place.drop(name, data, age=500 - age)


def counts(originals: int, duplicates: int, unreadable: int) -> dict[str, int]:
    return {"original": originals, "duplicate": duplicates, "unreadable": unreadable}


@pytest.mark.parametrize("how", [None, "resiliparse"])
def test_pages_are_decided_as_in_a_run(place: Place, tmp_path: Path, how: str | None) -> None:
    drop_all(place)
    run = nd.dedup(tmp_path / "in", method="shingles", keep="first", extract=how)
    place.work_off(extract=how)
    decided = {row["id"]: row for row in run.decisions.to_pylist()}
    for folder, decision in (("out", "kept"), ("dup", "duplicate"), ("bad", "rejected")):
        there = [name for name in place.names(folder) if not name.endswith(".why.json")]
        assert there == sorted(id_ for id_, row in decided.items() if row["decision"] == decision)
        assert all((tmp_path / folder / name).read_bytes() == FILES[name] for name in there)
    for name in ("b.HTM", "c.pdf", "e.xhtml"):
        note, row = place.note(f"dup/{name}"), decided[name]
        assert (note["of"], note["score"]) == (row["kept_id"], row["score"])
    assert place.note("bad/empty.html")["reason"] == decided["empty.html"]["reason"]


def test_a_command_gets_the_text_and_what_the_page_says(place: Place) -> None:
    place.index = Index.open("memory:", method="shingles", date="when", clock=place.clock)
    place.drop("a.html", plain_skin())
    place.work_off(extract="resiliparse", forward=None, command=told(place.root, APPEND))
    (line,) = (place.root / "told").read_text().splitlines()
    found = json.loads(line)
    assert ARTICLE[0] in found.pop("text")
    assert found == {
        "name": "a.html",
        "id": "a.html",
        "title": "Harbour closed",
        "author": "Ada Brown",
        "date": "2024-03-05",
        "when": "2024-03-05",
        "lang": "en",
    }
    assert place.index.get("a.html").time.year == 2001  # what comes is not later than now


@pytest.mark.parametrize("method", ["shingles", "qgrams"])
def test_pages_have_groups_and_kinds(place: Place, method: str) -> None:
    """By what they say of themselves, and by their main texts."""
    place.index = Index.open("memory:", method=method, within="lang", texts=True, clock=place.clock)
    page, edited = plain_skin(), plain_skin((*ARTICLE, "Nobody was hurt."))
    pages = (page, page.replace("lang='en'", "lang='fr'"), edited)
    drop_all(place, {f"{n}.html": page.encode() for n, page in enumerate(pages)})
    assert place.work_off(extract="resiliparse").totals.counts == counts(2, 1, 0)
    note, texts = place.note("dup/2.html"), [place.index.get(f"{n}.html").text for n in (0, 2)]
    assert (note["of"], note["kind"]) == ("0.html", nd.compare(*texts).kind)


def test_named_it_is_for_lines_too_and_none_is_for_nothing(place: Place) -> None:
    lines = [json.dumps({"id": n, "text": text}) for n, text in enumerate(SKINS)]
    place.drop("lines.jsonl", "\n".join(lines), age=300)
    place.drop("feed.xml", feed(["\n".join(ARTICLE)]))
    assert place.work_off(extract="resiliparse").totals.counts == counts(1, 2, 0)
    drop_all(place, {name: FILES[name] for name in ("a.html", "b.HTM", "c.pdf")})
    assert place.work_off(extract="none").totals.counts == counts(2, 0, 1)


def test_what_is_missing_is_said_when_it_is_named_or_needed(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(extractor._NEEDED, "trafilatura", ("no_such_module", "html"))
    (one,) = problems(str(place.root / "in"), forward=place.root / "out", extract="trafilatura")
    assert "to read them takes no_such_module, which is not installed" in one
    (one,) = problems(str(place.root / "in"), forward=place.root / "out", extract="magic")
    assert one.startswith("extract is 'magic'.")
    drop_all(place, {name: FILES[name] for name in ("a.html", "d.txt")})
    assert place.work_off().totals.counts == counts(1, 0, 1)
    assert "pip install 'neardup[html]'" in place.note("bad/a.html")["reason"]
