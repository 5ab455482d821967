"""The outline of a collection: statistics of its documents that distinguish prose from code,
tables, keys and noise.

The statistics of a document are its number of words, their length, their variety, and the shares of
digits and of code marks among its characters. Documents that are too short to be compared are left
out. Each statistic is stored as a histogram, so parts of a collection can be counted in any order.
A model stores the range that contains nearly all its training documents; a collection whose median
document is outside this range is *unlike* the training data.
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
from neardup.schema import Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import word_hashes

FORMAT = 1
NAME = "outline"
FEWEST_WORDS = 15  # shorter documents are not compared, and not counted
OUTSIDE = 0.01  # the share of training documents beyond either end of the range
_DESCRIPTION = b"neardup outline"
_HINT = "a run of the method learned writes one into its folder artefacts."


class Statistic(NamedTuple):
    """``wording`` states a value; ``steps`` are the edges of the histogram. A collection is unlike
    the training data below the range if ``low`` is set, and more than ``room`` above it if ``high``
    is set: a few digits do not matter even if the training data had none."""

    wording: str
    steps: Floats
    low: bool
    high: bool
    room: float = 0.0


STATISTICS = {
    "words": Statistic("{} words in a document", 2.0 ** (np.arange(81) / 4), True, False),
    "word_length": Statistic("{} characters in a word", np.arange(401) / 10, True, True),
    # log(distinct words) / log(all words)
    "variety": Statistic("a variety of words of {}", np.arange(201) / 200, True, True),
    "digits": Statistic("a share of digits of {}", np.arange(201) / 200, False, True, 0.02),
    "marks": Statistic(
        "a share of brackets, =, ; and _ of {}", np.arange(201) / 200, False, True, 0.02
    ),
}
_HIDDEN, _LETTER, _DIGIT, _MARK, _OTHER = range(5)


def _kinds_of_bytes() -> npt.NDArray[np.uint8]:
    """The kind of character that a byte of UTF-8 begins; a continuation byte begins none."""
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
    """One row per document that is long enough, one column per statistic."""
    words = word_hashes(texts, text)
    return statistics(texts, words.lengths, sets_of_words(words, 1).lengths)


def statistics(texts: Ragged, words: Array, distinct: Array) -> Floats:
    """The same where the numbers of words, and of distinct words, of each text are known."""
    long = words >= FEWEST_WORDS
    count, distinct = np.maximum(words, 2), np.maximum(distinct, 1)
    kinds = _native.byte_kinds(texts.values, texts.offsets, _KINDS).reshape(-1, _OTHER)
    letters, digits, marks, others = kinds.T
    visible = np.maximum(letters + digits + marks + others, 1)
    columns = (
        words,
        (letters + digits) / count,
        np.round(np.log(distinct) / np.log(count), 9),  # further digits depend on the machine
        digits / visible,
        marks / visible,
    )
    return np.stack(columns, axis=1)[long].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Outline:
    """``counts`` are the histograms: for each statistic, the number of documents in each step."""

    counts: Mapping[str, Floats]
    documents: int
    text: Text  # the definition of a word

    kind: ClassVar[str] = NAME

    @functools.cached_property
    def digest(self) -> str:
        return arrays_digest(self._options(), self.counts)

    def _options(self) -> dict[str, Any]:
        return {"format": FORMAT, "documents": self.documents, "text": asdict(self.text)}

    def describe(self) -> dict[str, Any]:
        """Includes the median document."""
        return {"kind": self.kind, **self._options(), **self.medians(), "digest": self.digest}

    def medians(self) -> dict[str, float]:
        if not self.documents:
            return {}
        return {name: _quantile(name, self.counts[name], 0.5) for name in STATISTICS}

    def save(self, path: Path) -> None:
        save_arrays(path, _DESCRIPTION, {**self._options(), "digest": self.digest}, self.counts)


def _quantile(name: str, counts: Floats, share: float) -> float:
    """The middle of the step at which the cumulative share of documents reaches ``share``."""
    steps = STATISTICS[name].steps
    at = int(np.searchsorted(np.cumsum(counts), share * counts.sum()))
    at = min(at, len(counts) - 1)
    return round(float(steps[at] + steps[at + 1]) / 2, 6)


def ranges(outlines: Sequence[Outline]) -> dict[str, list[float]]:
    """The range of each statistic that contains nearly all documents; every collection has the same
    weight."""
    counted = [outline for outline in outlines if outline.documents]
    if not counted:
        return {}
    limits = {}
    for name in STATISTICS:
        counts = np.sum([outline.counts[name] / outline.documents for outline in counted], axis=0)
        limits[name] = [_quantile(name, counts, share) for share in (OUTSIDE, 1 - OUTSIDE)]
    return limits


def unlike(outline: Outline, trained: Any) -> tuple[str, ...]:
    """The respects in which the median document is outside the ``ranges`` of a model, as phrases
    for people. The ranges of a model that does not state them are unlimited."""
    known, reasons = _known_limits(trained), []
    for name, median in outline.medians().items():
        if name not in known:
            continue
        statistic, (low, high) = STATISTICS[name], known[name]
        if (statistic.low and median < low) or (statistic.high and median > high + statistic.room):
            value = statistic.wording.format(f"{median:.3g}")
            reasons.append(f"{value} (there {_between(statistic, low, high)})")
    return tuple(reasons)


def stated_ranges(trained: Any) -> list[str]:
    """The ranges that a model states, as phrases for people."""
    return [
        STATISTICS[name].wording.format(_between(STATISTICS[name], *limits))
        for name, limits in _known_limits(trained).items()
    ]


def _between(statistic: Statistic, low: float, high: float) -> str:
    if not statistic.high:
        return f"{low:.3g} or more"
    return f"{low:.3g} to {high:.3g}" if statistic.low else f"{high:.3g} or less"


def _known_limits(trained: Any) -> dict[str, tuple[float, float]]:
    """The valid ranges of a model, which may come from an untrusted source."""
    stated = trained if isinstance(trained, Mapping) else {}
    pairs = {name: stated.get(name) for name in STATISTICS}
    return {
        name: (float(pair[0]), float(pair[1]))
        for name, pair in pairs.items()
        if isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(limit, int | float) and not isinstance(limit, bool) for limit in pair)
    }


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
        """An outline of no documents, which is never unlike the training data."""
        return self.counter().finish()

    def load(self, path: Path) -> Outline:
        return load_outline(path)

    def counter(self) -> OutlineCounter:
        return OutlineCounter(self.text)


def load_outline(path: Path) -> Outline:
    try:
        described, counts = load_arrays(path, _DESCRIPTION)
    except OSError as error:
        reason = why_unreadable(error, str(error))
        raise InputError(f"The outline {path} cannot be read: {reason}.", hint=_HINT) from error
    except LayoutError as error:
        raise InputError(f"{path} is not an outline: {error}.", hint=_HINT) from error
    shapes = {name: (len(statistic.steps) - 1,) for name, statistic in STATISTICS.items()}
    if described.get("format") != FORMAT or {n: c.shape for n, c in counts.items()} != shapes:
        raise InputError(f"The outline {path} has a different version.", hint="make the run again.")
    outline = Outline(counts, int(described["documents"]), Text(**described["text"]))
    if outline.digest != described.get("digest"):
        raise SignatureError(
            f"The outline {path} has changed since it was saved.",
            hint="restore the file, or make the run again.",
        )
    return outline
