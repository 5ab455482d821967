"""The outline of a collection: what its documents look like, in a few numbers that tell texts from
code, tables, keys and noise.

Of every document that is long enough to be compared: how many words it has, how long they are, how
much they vary, and which share of its characters are digits and marks of code. Each is kept as
counts by steps, so parts of a collection may be counted in any order. A model keeps the range in
which nearly all documents were that it was trained on, and a collection whose median document is
outside of it is *unlike* that.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.arrays import Floats, LayoutError, arrays_digest, load_arrays, save_arrays
from neardup.artefacts.artefact import packed_arrays, unpacked_arrays, why_unreadable
from neardup.artefacts.frequencies import sets_of_words
from neardup.errors import InputError, SignatureError
from neardup.schema import Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_map

FORMAT = 1
NAME = "outline"
FEWEST_WORDS = 15  # shorter documents are not compared, and not counted
OUTSIDE = 0.01  # of the documents trained on, at either end of the range
_DESCRIPTION = b"neardup outline"
_HINT = "a run of the method learned writes one into its folder artefacts."


class Statistic(NamedTuple):
    """``steps`` are the edges of what is counted together. Values below the range count as unlike
    where ``low``, those more than ``room`` above it where ``high``: a few digits more are nothing
    where there were none."""

    said: str
    steps: Floats
    low: bool
    high: bool
    room: float = 0.0


STATISTICS = {
    "words": Statistic("{} words in a document", 2.0 ** (np.arange(81) / 4), True, False),
    "word_length": Statistic("{} characters in a word", np.arange(401) / 10, True, True),
    # log of the distinct words by log of all words
    "variety": Statistic("a variety of words of {}", np.arange(201) / 200, True, True),
    "digits": Statistic("a share of digits of {}", np.arange(201) / 200, False, True, 0.02),
    "marks": Statistic(
        "a share of brackets, =, ; and _ of {}", np.arange(201) / 200, False, True, 0.02
    ),
}
_HIDDEN, _LETTER, _DIGIT, _MARK, _OTHER = range(5)


def _kinds_of_bytes() -> npt.NDArray[np.uint8]:
    """What a byte of UTF-8 begins; continuations begin nothing."""
    kinds = np.full(256, _OTHER, np.uint8)
    kinds[:33] = kinds[127:192] = _HIDDEN
    kinds[192:] = _LETTER
    for byte in range(33, 127):
        if chr(byte).isalnum():
            kinds[byte] = _DIGIT if chr(byte).isdigit() else _LETTER
    kinds[list(b"(){}[]=;_")] = _MARK
    return kinds


_KINDS = _kinds_of_bytes()


def measured(texts: Ragged, text: Text) -> Floats:
    """A row for each document that is long enough, a column for each statistic."""
    known = word_map(texts.values, texts.offsets, text)
    words = Ragged(*_native.word_hashes(texts.values, texts.offsets, text.native(), known))
    long = words.lengths >= FEWEST_WORDS
    count = np.maximum(words.lengths, 2)
    distinct = np.maximum(sets_of_words(words, 1).lengths, 1)
    kinds = _KINDS[texts.values]
    letters, digits, marks, others = (
        np.diff(np.searchsorted(np.flatnonzero(kinds == kind), texts.offsets))
        for kind in (_LETTER, _DIGIT, _MARK, _OTHER)
    )
    visible = np.maximum(letters + digits + marks + others, 1)
    columns = (
        words.lengths,
        (letters + digits) / count,
        np.round(np.log(distinct) / np.log(count), 9),  # logarithms differ by machine after that
        digits / visible,
        marks / visible,
    )
    return np.stack(columns, axis=1)[long].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Outline:
    """``counts``: of each statistic, how many documents are in each step of it."""

    counts: Mapping[str, Floats]
    documents: int
    text: Text  # what counted as a word

    kind: ClassVar[str] = NAME

    @functools.cached_property
    def digest(self) -> str:
        return arrays_digest(self._options(), self.counts)

    def _options(self) -> dict[str, Any]:
        return {"format": FORMAT, "documents": self.documents, "text": asdict(self.text)}

    def describe(self) -> dict[str, Any]:
        """With the median document."""
        return {"kind": self.kind, **self._options(), **self.medians(), "digest": self.digest}

    def medians(self) -> dict[str, float]:
        if not self.documents:
            return {}
        return {name: _quantile(name, self.counts[name], 0.5) for name in STATISTICS}

    def save(self, path: Path) -> None:
        save_arrays(path, _DESCRIPTION, {**self._options(), "digest": self.digest}, self.counts)


def _quantile(name: str, counts: Floats, share: float) -> float:
    """The middle of the step in which this share of the documents is reached."""
    steps = STATISTICS[name].steps
    at = int(np.searchsorted(np.cumsum(counts), share * counts.sum()))
    at = min(at, len(counts) - 1)
    return round(float(steps[at] + steps[at + 1]) / 2, 6)


def ranges(outlines: Sequence[Outline]) -> dict[str, list[float]]:
    """Where nearly all documents are; each of the collections weighs the same."""
    known = [one for one in outlines if one.documents]
    if not known:
        return {}
    found = {}
    for name in STATISTICS:
        counts = np.sum([one.counts[name] / one.documents for one in known], axis=0)
        found[name] = [_quantile(name, counts, share) for share in (OUTSIDE, 1 - OUTSIDE)]
    return found


def unlike(outline: Outline, trained: Any) -> tuple[str, ...]:
    """In which ways the median document is outside of these ``ranges``, for people. A model that
    does not say what it was trained on knows of none."""
    told = trained if isinstance(trained, Mapping) else {}
    found = []
    for name, median in outline.medians().items():
        if (limits := _limits(told.get(name))) is None:
            continue
        low, high = limits
        statistic = STATISTICS[name]
        if (statistic.low and median < low) or (statistic.high and median > high + statistic.room):
            there = f"there {_between(statistic, *limits)}"
            found.append(f"{statistic.said.format(f'{median:.3g}')} ({there})")
    return tuple(found)


def said(trained: Any) -> list[str]:
    """The ranges of a model, for people; what it does not say is left out."""
    told = trained if isinstance(trained, Mapping) else {}
    known = {name: limits for name in STATISTICS if (limits := _limits(told.get(name)))}
    return [
        STATISTICS[name].said.format(_between(STATISTICS[name], *limits))
        for name, limits in known.items()
    ]


def _between(statistic: Statistic, low: float, high: float) -> str:
    if not statistic.high:
        return f"{low:.3g} or more"
    return f"{low:.3g} to {high:.3g}" if statistic.low else f"{high:.3g} or less"


def _limits(said: Any) -> tuple[float, float] | None:
    """A model may come from anywhere."""
    if not isinstance(said, list) or len(said) != 2:
        return None
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in said):
        return None
    return float(said[0]), float(said[1])


class OutlineCounter:
    def __init__(self, text: Text) -> None:
        self._text = text
        self._documents = 0
        self._counts = {name: np.zeros(len(s.steps) - 1) for name, s in STATISTICS.items()}

    def count(self, batch: pa.RecordBatch) -> Floats:
        return measured(Ragged.of_strings(batch.column("text")), self._text)

    def add(self, part: Floats) -> None:
        self._documents += len(part)
        for (name, statistic), values in zip(STATISTICS.items(), part.T, strict=True):
            inside = np.clip(values, statistic.steps[0], statistic.steps[-1])
            self._counts[name] += np.histogram(inside, statistic.steps)[0]

    def partial(self) -> bytes:
        return packed_arrays(np.array(self._documents), *self._counts.values())

    def merge(self, partial: bytes) -> None:
        documents, *counts = unpacked_arrays(partial)
        self._documents += int(documents)
        for own, others in zip(self._counts.values(), counts, strict=True):
            own += others

    def finish(self) -> Outline:
        return Outline(self._counts, self._documents, self._text)


@dataclass(frozen=True)
class OutlineNeed:
    text: Text
    name: str = NAME
    columns: tuple[str, ...] = ()
    file: str | None = None

    def general(self) -> Outline:
        """Of no documents: it says of no collection that it is unlike another."""
        return self.counter().finish()

    def load(self, path: Path) -> Outline:
        return load_outline(path)

    def counter(self) -> OutlineCounter:
        return OutlineCounter(self.text)


def load_outline(path: Path) -> Outline:
    try:
        said, counts = load_arrays(path, _DESCRIPTION)
    except OSError as error:
        reason = why_unreadable(error, str(error))
        raise InputError(f"The outline {path} cannot be read: {reason}.", hint=_HINT) from error
    except LayoutError as error:
        raise InputError(f"{path} is no outline: {error}.", hint=_HINT) from error
    shapes = {name: (len(statistic.steps) - 1,) for name, statistic in STATISTICS.items()}
    if said.get("format") != FORMAT or {n: one.shape for n, one in counts.items()} != shapes:
        raise InputError(f"The outline {path} is of another version.", hint="make the run again.")
    made = Outline(counts, int(said["documents"]), Text(**said["text"]))
    if made.digest != said.get("digest"):
        raise SignatureError(
            f"The outline {path} is not what it was when it was saved.",
            hint="restore the file, or make the run again.",
        )
    return made
