"""Damaged runs and indexes in the review and in the service: a sentence at the start, or pages and
answers without a raw error. The client raises what a page does not catch."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

import neardup as nd
from cli.test_damage import SEED, cut, flipped
from neardup.errors import NeardupError
from neardup.runs.checksums import write_checksums
from neardup.web.app import make_app
from neardup.web.guard import Guard
from neardup.web.review.review_pages import Review
from neardup.web.review.review_source import open_source
from web.service.serving import asked

BODY = "the quick brown fox jumps over the lazy dog while the sun shines on hills and rivers"
PAGES = ("/", "/pairs", "/clusters", "/documents", "/index.json", "/pair?a=0&b=1")
Change = Callable[[bytes, random.Random], bytes]


@pytest.mark.parametrize("change", [flipped, cut])
@pytest.mark.parametrize("fits", [True, False])
def test_the_review_of_a_damaged_run(change: Change, fits: bool, tmp_path: Path) -> None:
    source = tmp_path / "docs.jsonl"
    source.write_text("".join(f'{{"id": "{n}", "text": "{BODY} {n}"}}\n' for n in range(5)))
    whole = nd.dedup(str(source), method="shingles").save(tmp_path / "whole")
    chosen, answered = random.Random(SEED), 0
    for path in sorted(p for p in whole.iterdir() if p.suffix in (".parquet", ".json", ".arrow")):
        copy = shutil.copytree(whole, tmp_path / "copy")
        (copy / path.name).write_bytes(change(path.read_bytes(), chosen))
        if fits and path.name != "checksums.sha256":
            write_checksums(copy)
        answered += _reviewed(copy)
        shutil.rmtree(copy)
    assert answered or not fits  # some damage is not on the way of every page


def _reviewed(run: Path) -> bool:
    try:
        app = make_app([Review(open_source(str(run)))], Guard())
    except NeardupError:
        return False
    with TestClient(app, base_url="http://localhost") as client:
        for page in PAGES:
            found = client.get(page, headers={"accept": "text/html"})
            assert found.status_code < 500 or "Hint:" in found.text, (page, found.text[:500])
    return True


@pytest.mark.parametrize("change", [flipped, cut])
def test_the_service_on_a_damaged_index(change: Change, tmp_path: Path) -> None:
    whole = tmp_path / "whole.db"
    settings = {"words": 3, "threshold": 0.7, "texts": True}
    with nd.Index.open(whole, method="shingles", **settings) as made:  # type: ignore[arg-type]
        for n in range(5):
            made.add({"id": str(n), "text": f"{BODY} {n}"})
    chosen = random.Random(SEED)
    for n in range(8):
        store = tmp_path / f"{n}.db"
        store.write_bytes(change(whole.read_bytes(), chosen))
        with suppress(NeardupError), asked(url=str(store), **settings) as service:
            for path in ("/v1/check", "/v1/documents"):
                found = service.post(path, {"id": "new", "text": BODY})
                assert found.headers["content-type"] == "application/json"
                assert found.status_code < 500 or "Internal" not in found.text, found.text
