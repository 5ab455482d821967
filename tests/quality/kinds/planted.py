"""Planted pairs of real documents, and what the classifier says of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neardup.decisions.kinds import Kind, kind_of
from neardup.documents import collect
from neardup.planting.material import Material
from quality.kinds.edits import COPY, Change, changes, mixed

FEWEST, MOST = 300, 20_000  # characters of a document
DRAWN = 200
TUNED_LANGUAGES = ("en", "de", "fr", "ja", "ru", "tr", "nl", "zh_CN")


@dataclass(frozen=True)
class Pair:
    name: str  # of the set
    change: str
    kind: str
    direction: str | None
    a: str
    b: str


@dataclass(frozen=True)
class Told:
    pair: Pair
    told: Kind


def _any(_: dict[str, Any]) -> bool:
    return True


def _tuned(row: dict[str, Any]) -> bool:
    return row["lang"] in TUNED_LANGUAGES


def _held_out(row: dict[str, Any]) -> bool:
    return row["lang"] not in TUNED_LANGUAGES


Chosen = dict[str, Callable[[dict[str, Any]], bool]]
# The rules were made while looking at the first; the figures are of the second.
TUNED: Chosen = {
    "press_de": _any,
    "manpages_versions": _tuned,
    "rfc_lineage": _any,
    "laws_de": _any,
}
HELD_OUT: Chosen = {
    "bbc_news": _any,
    "manpages_versions": _held_out,
    "licences": _any,
    "mccormick_articles": _any,
    "newsgroups20": _any,
}


def planted(data: Path, sets: Chosen, per_change: int, seed: int = 0) -> Iterator[Pair]:
    """So many pairs of each change and set, and as many of unlike documents."""
    for name, wanted in sets.items():
        documents = _documents(data / name, wanted, seed)
        yield from _changed(name, documents, changes(), per_change, seed)
        for i in range(per_change):
            unlike = documents[i][1], documents[(i + per_change) % len(documents)][1]
            yield Pair(name, "unrelated", "other", None, *unlike)


def mixed_pairs(data: Path, sets: Chosen, per_change: int, seed: int = 0) -> Iterator[Pair]:
    for name, wanted in sets.items():
        yield from _changed(name, _documents(data / name, wanted, seed), mixed(), per_change, seed)


def told(pairs: Iterator[Pair]) -> list[Told]:
    return [Told(pair, kind_of(pair.a, pair.b)) for pair in pairs]


def _documents(
    folder: Path, wanted: Callable[[dict[str, Any]], bool], seed: int
) -> list[tuple[str, str]]:
    rows: list[dict[str, Any]] = _read(folder / "docs.jsonl.zst")
    fit = [r for r in rows if FEWEST <= len(r["text"]) <= MOST and wanted(r)]
    drawn = random.Random(f"{seed}:{folder.name}").sample(fit, min(DRAWN, len(fit)))
    return [(row["id"], row["text"]) for row in drawn]


def _read(file: Path) -> list[dict[str, Any]]:
    from numpy import ones

    collection = collect(file)
    count = sum(len(chunk.read()) for chunk in collection.chunks())
    rows: list[dict[str, Any]] = collection.kept(ones(count, bool)).to_pylist()
    return rows


def _changed(
    name: str,
    documents: list[tuple[str, str]],
    wanted: Sequence[Change],
    per_change: int,
    seed: int,
) -> Iterator[Pair]:
    material, at = Material(documents), 0
    for change in wanted:
        made = 0
        for step in range(len(documents)):
            if made == per_change:
                break
            id, text = documents[(at + step) % len(documents)]
            copy = change.copy(text, f"{seed}:{id}", material)
            if copy != text and (copy.split() != text.split() or change.kind == "normalised"):
                inside = change.inside and ("b_in_a" if change.inside == COPY else "a_in_b")
                yield Pair(name, str(change), change.kind, inside, text, copy)
                made += 1
        at += per_change
