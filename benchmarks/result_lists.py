"""Which method fits a result list: pairs found in lists of SQLite's FTS5, against what is known.

    python -m benchmarks.result_lists [FOLDER OF REAL DATA]

A list is the best 100 (or 20) by BM25 for three words of a random document, joined by OR. What is a
duplicate is said by groups (laws, licences, man pages), or by an exact resemblance of three-word
shingles of 0.5 or more, from 0.3 on unknown (press, newsgroups). Pairs of equal texts are left out,
and pay-wall stubs of the press, which are counted apart. The table of docs/result-lists.md.
"""

from __future__ import annotations

import os
import random
import re
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import neardup as nd
from benchmarks.table import markdown
from neardup.documents import Columns, collect
from neardup.engines.ranked import Grouper

LISTS, SIZES, WORDS = 50, (100, 20), 3
GROUPED, SILVER = ("laws_de", "licences", "manpages_versions"), ("press_de", "newsgroups20")
STUB = "e Allgemeinen Geschäftsbedingungen und Datenschutzerklärung."
TERM = re.compile(r"[^\W\d_]{4,}")
# name → method, parameters, and whether its counts are those of the whole collection
SETTINGS: dict[str, tuple[str, dict[str, Any], bool]] = {
    "shingles, 3 words ≥ 0.5": ("shingles", {"words": 3, "threshold": 0.5}, False),
    "shingles, 3 words ≥ 0.6": ("shingles", {"words": 3, "threshold": 0.6}, False),
    "shingles, 5 words ≥ 0.5": ("shingles", {"threshold": 0.5}, False),
    "shingles, 5 words ≥ 0.8": ("shingles", {}, False),
    "rareshingles, list": ("rareshingles", {}, False),
    "rareshingles, collection": ("rareshingles", {}, True),
    "termvector, list": ("termvector", {}, False),
    "termvector, collection": ("termvector", {}, True),
    "termvector ≥ 0.7, collection": ("termvector", {"threshold": 0.7, "min_count": 2}, True),
    "keywords, list": ("keywords", {}, False),
    "keywords, collection": ("keywords", {}, True),
    "qgrams ≥ 0.7": ("qgrams", {"threshold": 0.7}, False),
    "qgrams ≥ 0.8": ("qgrams", {}, False),
    "spotsigs": ("spotsigs", {}, False),
}

Document = dict[str, Any]
Pair = tuple[int, int]


@dataclass
class Collection:
    """``label``: of two documents, True, False, or None where nobody knows."""

    name: str
    documents: list[Document]
    label: Callable[[Document, Document], bool | None]


@dataclass
class Tally:
    right: int = 0
    wrong: int = 0
    missed: int = 0
    stubs: int = 0

    @property
    def f1(self) -> float:
        return 2 * self.right / max(2 * self.right + self.wrong + self.missed, 1)


@dataclass
class Known:
    """One list: its true pairs, those that do not count, and the stubs among these."""

    documents: list[Document]
    true: set[Pair] = field(default_factory=set)
    ignored: set[Pair] = field(default_factory=set)
    stubs: set[Pair] = field(default_factory=set)


def rows(path: Path, *names: str) -> Iterator[Document]:
    table = collect(path)
    columns = Columns(text=names[0], extra=names[1:])
    for chunk in table.chunks(columns):
        for row in chunk.read().records.to_pylist():
            yield {**row, names[0]: row["text"]}


def load(folder: Path) -> Collection:
    path = folder / "docs.jsonl.zst"
    if folder.name in GROUPED:
        return Collection(folder.name, list(rows(path, "text", "group")), _by_group(folder.name))
    more = ("body_offset",) if folder.name == "newsgroups20" else ()
    documents = list(rows(path, "text", *more))
    for document in documents:
        document["text"] = document["text"][int(document.get("body_offset") or 0) :]
    return Collection(folder.name, documents, _by_resemblance(folder))


def _by_group(name: str) -> Callable[[Document, Document], bool | None]:
    def label(a: Document, b: Document) -> bool | None:
        if a["group"] == b["group"]:
            return True
        family = a["group"].partition("-")[0] == b["group"].partition("-")[0]
        return None if name == "licences" and family else False

    return label


def _by_resemblance(folder: Path) -> Callable[[Document, Document], bool | None]:
    listed = rows(folder / "silver_jaccard.jsonl.zst", "a", "b", "jaccard3")
    resemblance = {frozenset((r["a"], r["b"])): float(r["jaccard3"]) for r in listed}

    def label(a: Document, b: Document) -> bool | None:
        found = resemblance.get(frozenset((a["id"], b["id"])))
        return False if found is None else True if found >= 0.5 else None

    return label


def searches(collection: Collection, size: int) -> Iterator[list[Document]]:
    documents, chosen = collection.documents, random.Random(1)
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE search USING fts5(text)")
    db.executemany(
        "INSERT INTO search (rowid, text) VALUES (?, ?)",
        ((i, document["text"]) for i, document in enumerate(documents)),
    )
    counts = Counter(term for document in documents for term in _terms(document, 4000))
    few, many = 0.002 * len(documents), 0.1 * len(documents)
    made = 0
    while made < LISTS:
        terms = _terms(chosen.choice(documents), 1500)
        usable = sorted(term for term in terms if few < counts[term] < many)
        if len(usable) < WORDS:
            continue
        asked = " OR ".join(f'"{term}"' for term in chosen.sample(usable, WORDS))
        query = "SELECT rowid FROM search WHERE search MATCH ? ORDER BY rank LIMIT ?"
        found = [documents[row] for (row,) in db.execute(query, (asked, size))]
        if len(found) >= min(SIZES):
            made += 1
            yield found


def _terms(document: Document, characters: int) -> set[str]:
    return {term.lower() for term in TERM.findall(document["text"][:characters])}


def known(documents: list[Document], collection: Collection) -> Known:
    made = Known(documents)
    for i, j in combinations(range(len(documents)), 2):
        a, b = documents[i], documents[j]
        said = collection.label(a, b)
        if a["text"].endswith(STUB) and b["text"].endswith(STUB):
            made.stubs.add((i, j))
        elif said is None or a["text"] == b["text"]:
            made.ignored.add((i, j))
        elif said:
            made.true.add((i, j))
    return made


def measure(grouper: Grouper, lists: list[Known]) -> Tally:
    """Two results are put together when they are in one group."""
    tally = Tally()
    for one in lists:
        texts = [{"text": document["text"]} for document in one.documents]
        found = {
            pair
            for group in grouper.group(texts)
            for pair in combinations(sorted(member.row for member in group), 2)
        }
        tally.stubs += len(found & one.stubs)
        found -= one.ignored | one.stubs
        tally.right += len(found & one.true)
        tally.wrong += len(found - one.true)
        tally.missed += len(one.true - found)
    return tally


def groupers(collection: Collection) -> dict[str, Grouper]:
    texts = [{"text": document["text"]} for document in collection.documents]
    counted: dict[str, Any] = {}
    made = {}
    for name, (method, parameters, whole) in SETTINGS.items():
        if whole and method not in counted:
            counted[method] = nd.dedup(texts, method=method).artefacts
        artefacts = counted[method] if whole else None
        made[name] = Grouper(method=method, artefacts=artefacts, **parameters)
    return made


def main() -> None:
    usual = os.environ.get("NEARDUP_DATA") or Path(__file__).parents[2] / "shared" / "data"
    data = Path(sys.argv[1] if len(sys.argv) > 1 else usual)
    found: dict[str, dict[tuple[str, int], Tally]] = {name: {} for name in SETTINGS}
    for name in (*SILVER, *GROUPED):
        collection = load(data / name)
        made = groupers(collection)
        for size in SIZES:
            lists = [known(documents, collection) for documents in searches(collection, size)]
            for setting, grouper in made.items():
                found[setting][name, size] = measure(grouper, lists)
        print(name, "done", file=sys.stderr, flush=True)
    print(report(found))


def report(found: dict[str, dict[tuple[str, int], Tally]]) -> str:
    sets, large = (*SILVER, *GROUPED), max(SIZES)
    head = ["method", *sets, *(f"mean, lists of {size}" for size in SIZES), "stubs"]
    lines = []
    for setting, of in found.items():
        means = [sum(of[name, size].f1 for name in sets) / len(sets) for size in SIZES]
        shares = [*(of[name, large].f1 for name in sets), *means]
        stubs = of["press_de", large].stubs
        lines.append([setting, *(f"{share:.2f}" for share in shares), f"{stubs:,}"])
    return markdown(head, lines)


if __name__ == "__main__":
    main()
