"""Pairs on which assessors differ, without their names, for an arbiter; and how far they agree."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter

from neardup.evaluation.agreement import agreements, verdicts
from neardup.evaluation.labels import LABELS, Labels, Pair
from neardup.evaluation.sampling import Item
from neardup.evaluation.turns import ARBITER, free_name
from neardup.names import shortened
from neardup.web.judging.desk import Desk
from neardup.web.judging.results import EXCERPT
from neardup.web.pages import Data, Pages

SHOWN = 100  # pairs of a sample


class Disputes:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def add(self, router: APIRouter, pages: Pages) -> None:
        pages.add(router, "/judge/disputes", "judging/disputes.html", self.disputes)

    def disputes(self) -> Data:
        folder = self.desk.folder
        labels = folder.labels()
        samples = [self._sample(name, labels) for name in folder.samples()]
        return {
            "samples": [one for one in samples if one["disputed"] or one["decided"]],
            "disputed": sum(one["disputed"] for one in samples),
            "agreements": [agreement_data(one.data()) for one in agreements(labels)],
            "labels": list(LABELS),
            "proposed": free_name(labels, ARBITER),
        }

    def _sample(self, name: str, labels: Labels) -> Data:
        items = {item.pair: item for item in self.desk.folder.items(name)}
        said = labels.among(items)
        disputed = verdicts(said).disputed
        return {
            "name": name,
            "disputed": len(disputed),
            "decided": sum(label.arbiter for label in said),
            "pairs": [_pair(items[pair], pair, said) for pair in disputed[:SHOWN]],
        }


def agreement_data(found: dict[str, Any]) -> dict[str, Any]:
    """With a row for every label that either of them gave."""
    given = {*found["table"], *(b for row in found["table"].values() for b in row)}
    return {**found, "given": [label for label in LABELS if label in given]}


def _pair(item: Item, pair: Pair, labels: Labels) -> dict[str, Any]:
    """How often what was said, not by whom."""
    said = Counter(label.label for label in labels if label.pair == pair)
    texts = [shortened(text, EXCERPT) for text in (item.text_a, item.text_b)]
    notes = sorted(label.note for label in labels if label.pair == pair and label.note)
    counts = {label: said[label] for label in LABELS if said[label]}
    return {"item": item.item, "said": counts, "notes": notes, "texts": texts}
