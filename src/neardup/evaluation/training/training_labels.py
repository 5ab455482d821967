"""Labels as users have them, for training: a store of ``neardup label``, or a file of pairs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from neardup.documents.streams import CODECS, open_binary
from neardup.errors import InputError, SettingsError
from neardup.labels.agreement import verdicts
from neardup.labels.label_store import DUPLICATE, UNDECIDED, Pair, read_labels
from neardup.labels.labelled_pairs import NEGATIVE_LABELS, POSITIVE_LABELS, PairColumns, read_pairs

CONTRADICTING, DISPUTED = "contradicting labels", "disputed by assessors"
BEYOND, NOT_THERE = "beyond --max-pairs", "documents not there"
EQUAL_TEXTS = "of equal texts"  # which the method finds whatever a model says
MOST_SAID = 5  # labels that are not used, in an error


@dataclass
class Labelled:
    """1 for duplicates, 0 for others. ``unused``: how many pairs count for nothing, and why."""

    labels: dict[Pair, int] = field(default_factory=dict)
    unused: dict[str, int] = field(default_factory=dict)
    source: str = "labelled pairs"
    _both: set[Pair] = field(default_factory=set)

    def add(self, a: str, b: str, label: int) -> None:
        pair = Pair.of(a, b)
        if a == b:
            self.leave("a document with itself")
        elif pair in self._both or self.labels.setdefault(pair, label) == label:
            return
        else:  # said to be both: nobody knows
            self._both.add(pair)
            del self.labels[pair]
            self.leave(CONTRADICTING)

    def leave(self, why: str, times: int = 1) -> None:
        if times:
            self.unused[why] = self.unused.get(why, 0) + times


def read_labelled(
    paths: Sequence[Path],
    columns: PairColumns | None = None,
    positive: Sequence[str] | None = None,
    negative: Sequence[str] | None = None,
) -> Labelled:
    found = Labelled()
    for path in paths:
        if is_store(path):
            if positive or negative:
                raise SettingsError(
                    f"{path} is a store of labels, whose labels are known.",
                    hint="leave --positive and --negative out, or give a file of pairs.",
                )
            _of_store(path, found)
        else:
            meant = _meaning(positive or POSITIVE_LABELS, negative or NEGATIVE_LABELS)
            _of_pairs(path, columns, meant, found)
    if not found.labels:
        where = ", ".join(map(str, paths))
        raise InputError(
            f"There is no label to train on in {where}{said_unused(found.unused)}.",
            hint="--positive and --negative say what the labels of a file of pairs mean."
            if found.unused
            else "a row has two ids and a label.",
        )
    return found


def pairs_named(path: Path, columns: PairColumns | None = None) -> set[Pair]:
    """The pairs of a file, whatever is said of them; in a store, those that are judged now."""
    if is_store(path):
        return {label.pair for label in read_labels(path)}
    return {Pair.of(a, b) for a, b, _ in _rows(path, columns) if a is not None and b is not None}


def said_unused(unused: Mapping[str, int]) -> str:
    """What counts for nothing, in brackets behind a word; nothing where all counts."""
    said = [f"{count:,} {why}" for why, count in unused.items()]
    more = ["and more"] if len(said) > MOST_SAID else []
    return f" ({', '.join([*said[:MOST_SAID], *more])})" if said else ""


def is_store(path: Path) -> bool:
    """Whether its first row names an assessor."""
    name = path.with_suffix("") if path.suffix.lower() in CODECS else path
    if name.suffix.lower() != ".jsonl":
        return False
    with open_binary(path, None) as stream:
        first = next((line for line in stream if line.strip()), b"null")
    try:
        row = json.loads(first)
    except ValueError:
        return False  # reading it as pairs says what is wrong
    return isinstance(row, dict) and "assessor" in row


def _of_store(path: Path, found: Labelled) -> None:
    read = verdicts(read_labels(path))
    for pair, label in read.settled.items():
        if label.label == UNDECIDED:
            found.leave(UNDECIDED)
        else:
            found.add(*pair, int(label.label == DUPLICATE))
    for _ in read.disputed:
        found.leave(DISPUTED)


def _meaning(positive: Iterable[str], negative: Iterable[str]) -> dict[str, int]:
    yes, no = ({str(one).strip().lower() for one in some} for some in (positive, negative))
    if both := yes & no:
        raise SettingsError(
            f"The label {min(both)!r} is both positive and negative.",
            hint="name it once, with --positive or with --negative.",
        )
    return dict.fromkeys(yes, 1) | dict.fromkeys(no, 0)


def _of_pairs(
    path: Path, columns: PairColumns | None, meant: dict[str, int], found: Labelled
) -> None:
    for a, b, label in _rows(path, columns):
        written = (label or "").strip().lower()
        if a is None or b is None:
            found.leave("no id")
        elif written in meant:
            found.add(a, b, meant[written])
        else:
            found.leave(f"label {written!r}")


def _rows(
    path: Path, columns: PairColumns | None
) -> Iterator[tuple[str | None, str | None, str | None]]:
    table = read_pairs(path, columns)
    yield from zip(*(table[name].to_pylist() for name in ("a", "b", "label")), strict=True)
