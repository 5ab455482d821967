"""What a judged sample says: precision with its interval, a run at a time, and pooled recall where
several runs were judged; how the assessors agree; and an assessor's own labels to look at again."""

from __future__ import annotations

from statistics import median
from typing import Any

from fastapi import APIRouter

from neardup.evaluation.agreement import Verdicts, agreements, verdicts
from neardup.evaluation.judging import Estimate, estimates
from neardup.evaluation.labels import LABELS, NOT, Labels, Pair
from neardup.evaluation.sampling import Item, Key
from neardup.evaluation.turns import ARBITER, ASSESSOR, turn_of
from neardup.names import shortened
from neardup.web.judging.desk import Desk
from neardup.web.judging.front import progress
from neardup.web.judging.suggesting import labelled_of, missing_labels
from neardup.web.judging.training_hint import train_command
from neardup.web.pages import Data, Pages

EXCERPT = 160  # characters of a text in a list


class Results:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def add(self, router: APIRouter, pages: Pages) -> None:
        pages.add(router, "/judge/result", "judging/result.html", self.result)

    def result(self, sample: str, assessor: str = "") -> Data:
        folder, assessor = self.desk.folder, assessor.strip()
        key, items = self.desk.key(sample), folder.items(sample)
        pairs = set(key.pairs.values())
        labels = folder.labels().among(pairs)
        word = verdicts(labels)
        arbiter = any(one.arbiter for one in labels if one.assessor == assessor)
        role = ARBITER if arbiter else ASSESSOR
        turn = turn_of(items, labels, assessor, role) if assessor else None
        missing = missing_labels(labelled_of(folder))
        return {
            "sample": sample,
            "assessor": assessor,
            "pairs": len(pairs),
            "left": turn.left if turn else None,
            "seconds": _seconds(labels, assessor),
            "treatments": measured(key, word),
            "arbiter": arbiter,
            "yours": None if arbiter else _own(key, labels, assessor),
            "settled": sum(pair in pairs for pair in word.settled),
            "disputed": len(word.disputed),
            "assessors": progress(labels, pairs),
            "agreements": [one.data() for one in agreements(labels)],
            "said": _said(labels, assessor),
            "judged": _judged(items, labels, assessor),
            "file": str(folder.sample(sample)),
            "labels_file": str(folder.labels_path),
            "missing_to_train": missing,
            "train": None if missing else train_command(self.desk),
        }


def measured(key: Key, word: Verdicts) -> list[dict[str, Any]]:
    settled = {pair: str(label.label) for pair, label in word.settled.items()}
    return [estimate_data(one) for one in estimates(key, settled)]


def estimate_data(one: Estimate) -> dict[str, Any]:
    hits = one.precision.value
    return {**one.data(), "sentence": _sentence(one) if hits is not None else None}


def _sentence(one: Estimate) -> str:
    interval = one.precision.interval
    assert one.precision.value is not None
    assert interval is not None
    sure = (
        "every pair was judged"
        if one.precision.n is None
        else f"95 % interval: {100 * interval.low:.0f} % to {100 * interval.high:.0f} %"
    )
    return (
        f"About {100 * one.precision.value:.0f} % of the {one.pairs:,} pairs that {one.name} calls "
        f"duplicates are duplicates ({sure})."
    )


def _own(key: Key, labels: Labels, assessor: str) -> list[dict[str, Any]] | None:
    """By the labels of one assessor alone, where there are others too."""
    own = {pair: label for (pair, who), label in labels.current.items() if who == assessor}
    if not own or len(own) == len(labels):
        return None
    return measured(key, Verdicts(own, []))


def _judged(items: tuple[Item, ...], labels: Labels, assessor: str) -> list[dict[str, Any]]:
    found = []
    by_pair: dict[Pair, Item] = {item.pair: item for item in items}
    for label in labels:
        if label.assessor == assessor:
            item = by_pair[label.pair]
            texts = [shortened(text, EXCERPT) for text in (item.text_a, item.text_b)]
            own = {"label": label.label, "kind": label.kind, "note": label.note}
            found.append({"item": item.item, **own, "arbiter": label.arbiter, "texts": texts})
    return sorted(found, key=lambda one: one["label"] != NOT)  # errors of runs first


def _said(labels: Labels, assessor: str) -> dict[str, int]:
    own = [label.label for label in labels if label.assessor == assessor]
    return {label: own.count(label) for label in LABELS}


def _seconds(labels: Labels, assessor: str) -> dict[str, float] | None:
    taken = [one.seconds for one in labels if one.assessor == assessor and one.seconds is not None]
    if not taken:
        return None
    return {"total": round(sum(taken), 1), "median": round(median(taken), 1)}
