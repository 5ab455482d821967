"""What judged samples show: results, disagreements, and labels as files.

Results are precision with its interval for each run, pooled recall where several runs were judged,
how far assessors agree, and the assessor's own labels to look at again. Pairs on which assessors
differ go to an arbiter, without names. Labels that are sent back are read in memory and checked as
``neardup label import`` does; if a row is wrong, nothing is stored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import JSONResponse, Response

from neardup.errors import InputError
from neardup.labels.agreement import (
    ARBITER,
    ASSESSOR,
    Verdicts,
    agreements,
    check_assessor,
    free_name,
    turn_of,
    verdicts,
)
from neardup.labels.judged_samples import Estimate, estimates
from neardup.labels.label_store import LABELS, NOT, Labels, Pair
from neardup.labels.samples import read_judged_text
from neardup.labels.sampling import Item, Key
from neardup.web.doors import Door
from neardup.web.judging.desk import Desk, labelled_of, missing_labels
from neardup.web.judging.judged_pairs import read_bytes
from neardup.web.judging.judging_front import progress, train_command
from neardup.web.pages import Data, not_found
from neardup.wording import shortened

EXCERPT = 160  # characters of a text in a list


class Results:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def doors(self) -> Sequence[Door]:
        return [
            Door("/judge/result", self.result, template="judging/result.html"),
        ]

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
        f"About {100 * one.precision.value:.0f} % of the {one.pairs:,} pairs that the run "
        f"{one.name} calls duplicates are duplicates ({sure})."
    )


def _own(key: Key, labels: Labels, assessor: str) -> list[dict[str, Any]] | None:
    """The results by the labels of one assessor alone, if there are others too."""
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


SHOWN = 100  # pairs of a sample


class Disputes:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def doors(self) -> Sequence[Door]:
        return [
            Door("/judge/disputes", self.disputes, template="judging/disputes.html"),
        ]

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
    """The agreement of two assessors, with a row for every label that either of them gave."""
    given = {*found["table"], *(b for row in found["table"].values() for b in row)}
    return {**found, "given": [label for label in LABELS if label in given]}


def _pair(item: Item, pair: Pair, labels: Labels) -> dict[str, Any]:
    """How often what was said, not by whom."""
    said = Counter(label.label for label in labels if label.pair == pair)
    texts = [shortened(text, EXCERPT) for text in (item.text_a, item.text_b)]
    notes = sorted(label.note for label in labels if label.pair == pair and label.note)
    counts = {label: said[label] for label in LABELS if said[label]}
    return {"item": item.item, "said": counts, "notes": notes, "texts": texts}


MOST = 64 << 20  # bytes of a file that is sent
SENT = "the file"


async def _sent(request: Request) -> bytes:
    return await read_bytes(request, MOST)


class Exchange:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def doors(self) -> Sequence[Door]:
        return [
            Door("/judge/export", self.export),
            Door("/judge/import", self.taken, "POST"),
        ]

    def export(self, what: str = "labels", sample: str = "") -> Response:
        """``labels``: the store as it is; ``gold``: one label a pair; ``sample``: to judge it."""
        folder = self.desk.folder
        if what == "sample":
            return _download(folder.sample(sample).read_bytes(), f"{sample}.jsonl")
        if what == "gold":
            return _download(self._gold(), "gold.jsonl")
        if what != "labels":
            raise not_found(f"There is no {what!r} to export.", hint="labels, gold or sample.")
        path = folder.labels_path
        return _download(path.read_bytes() if path.exists() else b"", "labels.jsonl")

    def _gold(self) -> bytes:
        rows = []
        for pair, label in sorted(verdicts(self.desk.folder.labels()).settled.items()):
            kind = {"kind": label.kind} if label.kind else {}
            rows.append({"a": pair.a, "b": pair.b, "label": label.label, **kind})
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()

    def taken(
        self,
        data: Annotated[bytes, Depends(_sent)],
        sample: str,
        assessor: str = "",
        role: str = ASSESSOR,
    ) -> Response:
        """Takes a file of labels. If ``assessor`` is empty, each row has to name its own."""
        folder = self.desk.folder
        pairs = folder.key(sample).pairs
        if assessor.strip():
            check_assessor(folder.labels(), assessor.strip(), role)
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{SENT} is not UTF-8.", hint="send a JSON Lines file.") from error
        judged = read_judged_text(
            text, SENT, pairs, assessor.strip() or None, arbiter=role == ARBITER, sample=sample
        )
        for who, arbiter in {(label.assessor, label.arbiter) for label in judged.labels}:
            check_assessor(folder.labels(), who, ARBITER if arbiter else ASSESSOR)
        new = folder.store.add_all(judged.labels, together=True)
        return JSONResponse(
            {"read": len(judged.labels), "new": new, "without_label": judged.open},
        )


def _download(data: bytes, name: str) -> Response:
    return Response(
        data,
        media_type="application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
