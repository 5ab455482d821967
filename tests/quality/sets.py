"""The labelled sets of real documents, and what the pairs of a method are worth on each.

Pairs are judged by the script that comes with the data: only those whose texts differ, because
equal texts are easy; on newsgroups20 all are equal, so there all count. Every figure is a share,
and 1 is the best:

- ``f1``, ``precision``, ``recall`` of pairs of documents,
- ``apart``: of pairs known to be no duplicates, however alike, those that were left apart.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from neardup.schema import Array

# The seven whose labels are complete enough for a mean that says something.
AVERAGED = (
    *("licences", "manpages_versions", "laws_de"),
    *("rfc_lineage", "bill_pairs", "ocr_pairs", "terms_versions"),
)
PAIRS = ("precision", "recall", "f1")
SETS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(AVERAGED, PAIRS),
    "clough_stevenson": PAIRS,
    "mccormick_articles": PAIRS,
    "newsgroups20": ("recall",),  # cross-posts, equal to the byte; of the rest nothing is known
    "lee_news": ("apart",),  # one topic in other words: no pair is a duplicate
    "press_de": ("apart", "recall"),
}
FILES = ("docs.jsonl.zst", "pairs.jsonl.zst", "silver_jaccard.jsonl.zst")
# How the articles of one magazine end that are for subscribers only: one page, other headlines.
STUB = "e Allgemeinen Geschäftsbedingungen und Datenschutzerklärung."
COPIES_FROM = 0.5  # Jaccard of word 3-shingles from which articles of the press count as copies

Figures = dict[str, float]


class Found(NamedTuple):
    """Pairs as numbers of documents in the order of the file; ``ids`` of all documents."""

    ids: Sequence[str]
    a: Array
    b: Array


def digest(folder: Path) -> str:
    """Of the files that figures depend on: documents, labels, and the exact list if it is asked."""
    made = hashlib.sha256()
    for name in FILES[: 3 if folder.name == "press_de" else 2]:
        if (folder / name).exists():
            made.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return made.hexdigest()


@functools.cache
def script(path: Path) -> ModuleType:
    """The data's own ``score.py``; its folder is only read."""
    spec = importlib.util.spec_from_file_location("score", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


@functools.lru_cache(maxsize=1)  # texts are large: one set after the other
def judge(folder: Path) -> Labelled | Press:
    return (Press if folder.name == "press_de" else Labelled)(folder)


class Labelled:
    """A set that the script knows."""

    def __init__(self, folder: Path) -> None:
        self.wanted = SETS[folder.name]
        self.score = script(folder.parent / "score.py")
        self.gold = self.score.Gold(str(folder))

    def figures(self, found: Found) -> Figures:
        i, j = numbered(found, self.gold.index)
        unused = np.zeros(len(self.gold.positives()))  # similarities, for bands we do not show
        said = self.score.evaluate(self.gold, i, j, j3=unused, with_bcubed=False)
        line = said["all" if self.gold.name == "newsgroups20" else "hard"]
        if "apart" in self.wanted:
            rated = int(self.gold.usable.sum())
            return {"apart": 1 - line["fp"] / (rated * (rated - 1) // 2)}
        return {name: line[name] for name in self.wanted if line[name] is not None}


class Press:
    """No labels, but two lists: pay-wall stubs, all alike, and pairs whose words are the same."""

    def __init__(self, folder: Path) -> None:
        rows = script(folder.parent / "score.py").rows
        docs = list(rows(str(folder / "docs.jsonl")))
        self.index = {doc["id"]: i for i, doc in enumerate(docs)}
        self.stub = np.array([doc["text"].endswith(STUB) for doc in docs])
        silver = list(rows(str(folder / "silver_jaccard.jsonl")))
        near = [pair for pair in silver if pair["jaccard3"] >= COPIES_FROM]
        sides = np.array([[self.index[pair[side]] for side in "ab"] for pair in near])
        copies = sides[~self.stub[sides].any(axis=1)]
        self.copies = self.coded(copies.min(axis=1), copies.max(axis=1))

    def coded(self, i: Array, j: Array) -> Array:
        return np.asarray(i * len(self.index) + j)

    def figures(self, found: Found) -> Figures:
        i, j = numbered(found, self.index)
        stubs = int(self.stub.sum())
        merged = int((self.stub[i] & self.stub[j]).sum())
        return {
            "apart": 1 - merged / (stubs * (stubs - 1) // 2),
            "recall": float(np.isin(self.copies, self.coded(i, j)).mean()),
        }


def numbered(found: Found, index: Mapping[str, int]) -> tuple[Array, Array]:
    """The pairs in the numbers of the judge, ``i < j``; documents without a label are left out."""
    place = np.array([index.get(id, -1) for id in found.ids], np.int64)
    a, b = place[found.a], place[found.b]
    known = (a >= 0) & (b >= 0)
    return np.minimum(a, b)[known], np.maximum(a, b)[known]


def rounded(figures: Mapping[str, Any]) -> Figures:
    return {name: round(float(value), 4) for name, value in figures.items()}
