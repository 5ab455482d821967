"""Makes the pictures of docs/judging.md: the example, judged as its ids say.

    python tools/screenshots_judging.py

needs the extras ``web`` and ``dev`` and a Chromium on PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from neardup.labels.agreement import ordered
from neardup.web.judging.desk import Desk

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
EXAMPLE = ROOT / "examples" / "news.jsonl"
WIDTH, HEIGHT = 920, 700

sys.path.insert(0, str(ROOT / "tests"))


def same(a: str, b: str) -> bool:
    """In the example the names of documents say what belongs together."""
    return a.rpartition("-")[0] == b.rpartition("-")[0]


def lists(path: Path) -> Path:
    """Three queries with the documents of their languages."""
    documents = [json.loads(line) for line in EXAMPLE.read_text("utf-8").splitlines()]
    rows = [
        {**{k: doc.get(k) for k in ("id", "text", "title")}, "query": query}
        for query, language in (("pier", "en-"), ("tren", "es-"), ("Börse", "de-"))
        for doc in documents
        if doc["id"].startswith(language)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def names() -> Iterator[str]:
    return (f"{name}{number or ''}" for number in range(100) for name in ("ann", "bob", "cy"))


def good_first(desk: Desk, sample: str, who: str) -> bool:
    """Whether it begins with a pair in English that has something in common."""
    first = ordered(desk.folder.items(sample), who)[0]
    return first.a.startswith("en-") and same(first.a, first.b)


def main() -> None:
    import neardup as nd
    from browser import started
    from neardup.labels.label_store import Label
    from neardup.web.judging.judging_pages import Judging
    from neardup.web.review.review_pages import review_parts
    from web.judging_pages import served

    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)  # pictures show no path of this machine
        shutil.copy(EXAMPLE, "news.jsonl")
        out = Path("out")
        nd.find("news.jsonl", method="simhash", distance=16).save(out)
        parts = review_parts(str(out), lists=str(lists(Path("lists.jsonl"))))
        desk = next(part.desk for part in parts if isinstance(part, Judging))
        sample = desk.draw(20, 5, 0)
        with served(parts) as address, started() as browser:
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, base_url=address)

            def shot(path: str, name: str, *, height: int = HEIGHT) -> None:
                page.set_viewport_size({"width": WIDTH, "height": height})
                page.goto(path)
                page.wait_for_selector("body:not(:has([data-computing]))", timeout=60_000)
                page.screenshot(
                    path=IMAGES / f"{name}.png",
                )

            who = next(who for who in names() if good_first(desk, sample, who))
            shot(f"/judge/pair?sample={sample}&assessor={who}", "judge-pair", height=600)
            desk.folder.store.add_all(
                Label(
                    item.a,
                    item.b,
                    "duplicate" if same(item.a, item.b) else "not",
                    "ann",
                    sample=sample,
                    seconds=6.0,
                )
                for item in desk.folder.items(sample)
            )
            shot(f"/judge/result?sample={sample}&assessor=ann", "judge-result")
            shot("/evaluation", "evaluation", height=1640)
            shot("/judge/list?assessor=ann", "judge-list")


if __name__ == "__main__":
    IMAGES.mkdir(parents=True, exist_ok=True)
    main()
