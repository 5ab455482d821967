"""Labels for training, as 0 or 1 for each pair, from a store of ``neardup label`` or a file of
pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from neardup.documents.file_formats import CODECS
from neardup.documents.streams import open_binary
from neardup.errors import InputError, SettingsError
from neardup.files import from_json
from neardup.labels.agreement import verdicts
from neardup.labels.label_store import DUPLICATE, UNDECIDED, Pair, read_labels
from neardup.labels.labelled_pairs import PairColumns, label_meanings, read_pairs

CONTRADICTING, DISPUTED = "contradicting labels", "disputed by assessors"
BEYOND, NOT_THERE = "beyond --max-pairs", "documents not there"
EQUAL_TEXTS = "of equal texts"  # the method finds these pairs without the model
MOST_REASONS = 5  # that an error lists

Row = tuple[str | None, str | None, str | None]  # two ids and a label


@dataclass
class Labelled:
    """1 for duplicates, 0 for different documents. ``unused`` counts unused pairs by reason."""

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
        else:  # contradicting labels: the pair is unknown
            self._both.add(pair)
            del self.labels[pair]
            self.leave(CONTRADICTING)

    def leave(self, reason: str, count: int = 1) -> None:
        if count:
            self.unused[reason] = self.unused.get(reason, 0) + count


def read_labelled(
    paths: Sequence[Path],
    columns: PairColumns | None = None,
    positive: Sequence[str] | None = None,
    negative: Sequence[str] | None = None,
    encoding: str | None = None,
) -> Labelled:
    labelled = Labelled()
    for path in paths:
        if is_store(path):
            if positive or negative:
                raise SettingsError(
                    f"{path} is a store of labels, whose labels are known.",
                    hint="leave --positive and --negative out, or give a file of pairs.",
                )
            _of_store(path, labelled)
        else:
            rows = _rows(path, columns, encoding)
            _of_pairs(rows, label_meanings(positive, negative), labelled)
    if not labelled.labels:
        where = ", ".join(map(str, paths))
        raise InputError(
            f"There is no label to train on in {where}{unused_note(labelled.unused)}.",
            hint="--positive and --negative say what the labels of a file of pairs mean."
            if labelled.unused
            else "a row has two ids and a label.",
        )
    return labelled


def pairs_named(
    path: Path, columns: PairColumns | None = None, encoding: str | None = None
) -> set[Pair]:
    """The pairs that a file names, whatever their labels; in a store, the judged ones."""
    if is_store(path):
        return {label.pair for label in read_labels(path)}
    rows = _rows(path, columns, encoding)
    return {Pair.of(a, b) for a, b, _ in rows if a is not None and b is not None}


def unused_note(unused: Mapping[str, int]) -> str:
    """Counts and reasons of unused labels in parentheses; "" if all labels are used."""
    reasons = [f"{count:,} {reason}" for reason, count in unused.items()]
    more = ["and more"] if len(reasons) > MOST_REASONS else []
    return f" ({', '.join([*reasons[:MOST_REASONS], *more])})" if reasons else ""


def is_store(path: Path) -> bool:
    """Whether the file is a store of labels: its first row names an assessor."""
    name = path.with_suffix("") if path.suffix.lower() in CODECS else path
    if name.suffix.lower() != ".jsonl":
        return False
    with open_binary(path, None) as stream:
        first = next((line for line in stream if line.strip()), b"null")
    try:
        row = from_json(first)
    except ValueError:
        return False  # reading it as pairs reports the error
    return isinstance(row, dict) and "assessor" in row


def _of_store(path: Path, labelled: Labelled) -> None:
    verdict = verdicts(read_labels(path))
    for pair, label in verdict.settled.items():
        if label.label == UNDECIDED:
            labelled.leave(UNDECIDED)
        else:
            labelled.add(*pair, int(label.label == DUPLICATE))
    for _ in verdict.disputed:
        labelled.leave(DISPUTED)


def _of_pairs(rows: Iterable[Row], meanings: dict[str, int], labelled: Labelled) -> None:
    for a, b, label in rows:
        written = (label or "").strip().lower()
        if a is None or b is None:
            labelled.leave("no id")
        elif written in meanings:
            labelled.add(a, b, meanings[written])
        else:
            labelled.leave(f"label {written!r}")


def _rows(path: Path, columns: PairColumns | None, encoding: str | None) -> Iterator[Row]:
    table = read_pairs(path, columns, encoding)
    yield from zip(*(table[name].to_pylist() for name in ("a", "b", "label")), strict=True)
