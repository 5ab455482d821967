"""Combines several methods: all must agree, or one is enough (Henzinger 2006; Williams & Giles §2).

Each method scores a pair on its own evidence. The scores are mapped to a common scale on which 0.5
is the threshold of each method; agreement takes the lowest of them, union the highest. The evidence
of a document is one row of 32-bit words: the byte size of the evidence of each method, followed by
the evidence itself.

Agreement is a cascade: a method scores only the pairs that the methods before it have passed, so a
light measure first saves the accurate one its work (DDEBIT; Montanari & Puglisi §3.3).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import (
    NO_ARTEFACTS,
    Artefact,
    Artefacts,
    Counter,
    GeneralNeed,
    Need,
    ReadyNeed,
)
from neardup.errors import SettingsError
from neardup.methods.base import TOO_SHORT, Method, Prepared, Scores, agreeing, whole_scores
from neardup.methods.meeting import SPREAD
from neardup.methods.parameters import require_one_of
from neardup.methods.preparation import evidence_digests
from neardup.methods.registry import read_method, write_method
from neardup.schema import Array, Ragged, offsets_of

WORD = 4


def packed(parts: Sequence[Ragged]) -> Ragged:
    count, many = len(parts[0]), len(parts)
    sizes = np.stack([part.lengths * part.values.dtype.itemsize for part in parts], axis=1)
    head = Ragged(sizes.astype(np.uint32).reshape(-1), np.arange(count + 1, dtype=np.int64) * many)
    rows = Ragged.concat([head, *map(_words, parts)], np.uint32)
    order = np.arange(count)[:, None] + np.arange(many + 1) * count  # a row's head, then its parts
    taken = rows.take(order.reshape(-1))
    return Ragged(taken.values, taken.offsets[:: many + 1].copy())


def unpacked(rows: Ragged, dtypes: Sequence[np.dtype[np.generic]]) -> list[Ragged]:
    many = len(dtypes)
    sizes = rows.values[rows.offsets[:-1, None] + np.arange(many)].astype(np.int64)
    words = -(-sizes // WORD)
    starts = rows.offsets[:-1, None] + many + np.cumsum(words, axis=1) - words
    bytes_ = rows.values.view(np.uint8)
    return [
        _part(bytes_, starts[:, i] * WORD, sizes[:, i], dtype) for i, dtype in enumerate(dtypes)
    ]


def _part(bytes_: Array, starts: Array, sizes: Array, dtype: np.dtype[np.generic]) -> Ragged:
    out: npt.NDArray[np.uint8] = np.empty(int(sizes.sum()), np.uint8)
    _native.gather_memory(bytes_, np.ascontiguousarray(starts), np.ascontiguousarray(sizes), out)
    return Ragged(out.view(dtype), offsets_of(sizes // dtype.itemsize))


def _words(part: Ragged) -> Ragged:
    """The same bytes as 32-bit words, each row padded with zeros."""
    size = part.values.dtype.itemsize
    if size % WORD == 0:
        values = part.values[part.offsets[0] : part.offsets[-1]]
        return Ragged(values.view(np.uint32), (part.offsets - part.offsets[0]) * (size // WORD))
    sizes = part.lengths * size
    filled = -(-sizes // WORD) * WORD
    out = np.zeros(int(filled.sum()), np.uint8)
    ends = offsets_of(filled)
    bytes_ = part.values.view(np.uint8)
    at = np.arange(int(sizes.sum())) - np.repeat(offsets_of(sizes)[:-1] - ends[:-1], sizes)
    out[at] = bytes_[part.offsets[0] * size : part.offsets[-1] * size]
    return Ragged(out.view(np.uint32), ends // WORD)


RULES = ("agreement", "union")


@dataclass(frozen=True)
class Combined(Method):
    """Several methods that must agree on a pair, or of which one is enough.

    ``methods``: as on the command line: "simhash", "shingles words=3 threshold=0.5".
    ``rule``: "agreement" (the first finds pairs, the others must confirm them) or
    "union" (one is enough).
    """

    methods: tuple[str, ...] = ("shingles threshold=0.5", "simhash")
    rule: str = "agreement"

    name: ClassVar[str] = "combined"
    threshold: ClassVar[float] = 0.5
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint32)

    def __post_init__(self) -> None:
        object.__setattr__(self, "methods", _written(self.methods))
        require_one_of(RULES, self, "rule")
        if len(self.methods) < 2:
            raise SettingsError(
                f"combined: methods are {list(self.methods)}; expected two or more.",
                hint="such as methods=['shingles threshold=0.5', 'simhash'].",
            )
        _ = self.parts

    @functools.cached_property
    def parts(self) -> tuple[Method, ...]:
        return tuple(map(read_method, self.methods))

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.columns))

    @property
    def needs(self) -> tuple[Need, ...]:
        return tuple(
            _renamed(need, f"{number}-{need.name}")
            for number, part in enumerate(self.parts, 1)
            for need in part.needs
        )

    @property
    def reason(self) -> str:
        return (" and " if self.rule == "agreement" else " or ").join(p.reason for p in self.parts)

    @property
    def confirms_copies(self) -> bool:
        return any(part.confirms_copies for part in self.parts)

    @property
    def _seekers(self) -> Sequence[int]:
        """The parts whose keys find pairs; if all must agree, those of the first are enough."""
        return range(len(self.parts)) if self.rule == "union" else [0]

    @property
    def miss_rate(self) -> float:
        return max(self.parts[i].miss_rate for i in self._seekers)

    @property
    def score_meaning(self) -> str:
        which = "the weakest" if self.rule == "agreement" else "the strongest"
        return f"{which} of the methods' scores, on a scale where the threshold of each is 0.5"

    def resolved(self) -> dict[str, object]:
        keys = [self.methods[i] for i in self._seekers]
        return {"keys": keys, "miss_rate": self.miss_rate}

    def check_columns(self, first: pa.RecordBatch) -> None:
        for part in self.parts:
            part.check_columns(first)

    def check_artefacts(self, artefacts: Artefacts) -> None:
        for number, part in enumerate(self.parts, 1):
            part.check_artefacts(_own(part, artefacts, number))

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        prepared = [
            part.prepare(batch, _own(part, artefacts, number))
            for number, part in enumerate(self.parts, 1)
        ]
        keys, probes = _joined_keys([(i, prepared[i]) for i in self._seekers])
        evidence = packed([of_part.evidence for of_part in prepared])
        flags = functools.reduce(np.bitwise_or, (of_part.flags for of_part in prepared))
        short = np.logical_and.reduce([of_part.too_short for of_part in prepared])
        flags = np.where(short, flags | TOO_SHORT, flags & ~np.uint8(TOO_SHORT)).astype(np.uint8)
        return Prepared(
            keys=keys,
            probes=probes,
            evidence=evidence,
            digests=evidence_digests(evidence, short),
            text_digests=prepared[0].text_digests,
            normal_digests=prepared[0].normal_digests,
            flags=flags,
        )

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        if self._everyone:
            return self._cascade(evidence, a, b)
        scores = self._scores(evidence, a, b)
        pairs = zip(self.parts, scores, strict=True)
        score = self._together([_scaled(one.score, one.passed, p.threshold) for p, one in pairs])
        passed = np.logical_or.reduce([one.passed for one in scores])
        return Scores(passed, agreeing(score, passed, self.threshold))

    def _cascade(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """Every part scores what is left; the others keep the score at which they failed."""
        passed, score = np.ones(len(a), np.bool_), np.ones(len(a))
        for part, rows in self._evidence(evidence):
            left = np.flatnonzero(passed)
            one = part.score(rows, a[left], b[left])
            scaled = _scaled(one.score, one.passed, part.threshold)
            score[left] = np.minimum(score[left], scaled)
            passed[left] = one.passed
        return Scores(passed, agreeing(score, passed, self.threshold))

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        scores = self.score(evidence, a, b)
        pairs = [
            (part.threshold, whole_scores(part, one, a, b).score)
            for part, one in self._evidence(evidence)
        ]
        whole = self._together([_scaled(one, one >= t, t) for t, one in pairs])
        return np.where(scores.passed, scores.score, whole)

    def refusals(self, evidence: Ragged, a: Array, b: Array) -> list[str | None]:
        """If all methods must agree, the refusal of one refuses the pair."""
        reasons: list[str | None] = [None] * len(a)
        for part, rows in self._evidence(evidence) if self._everyone else ():
            for i, reason in enumerate(part.refusals(rows, a, b)):
                reasons[i] = reasons[i] or (reason and f"{part.name}: {reason}")
        return reasons

    @property
    def _everyone(self) -> bool:
        return self.rule == "agreement"

    def _together(self, scaled: list[Array]) -> Array:
        weakest = np.minimum if self._everyone else np.maximum
        return np.asarray(weakest.reduce(scaled))

    def passed_by(self, evidence: Ragged, a: Array, b: Array) -> list[tuple[str, ...]]:
        passed = np.array([one.passed for one in self._scores(evidence, a, b)])
        return [tuple(itertools.compress(self.methods, pair)) for pair in passed.T]

    def _scores(self, evidence: Ragged, a: Array, b: Array) -> list[Scores]:
        """The scores of each part."""
        return [part.score(one, a, b) for part, one in self._evidence(evidence)]

    def _evidence(self, evidence: Ragged) -> list[tuple[Method, Ragged]]:
        rows = unpacked(evidence, [part.evidence_dtype for part in self.parts])
        return list(zip(self.parts, rows, strict=True))


def one_or_any(given: object) -> str | Method:
    """One method, or several of which one is enough, each as :class:`Combined` takes it."""
    if isinstance(given, str | Method):
        return given
    methods = _written(given)
    if not methods:
        raise SettingsError("There is no method in the list.", hint="name one, or leave it out.")
    return Combined(methods, "union") if len(methods) > 1 else read_method(methods[0])


@dataclass(frozen=True)
class _Renamed:
    """A need under a name of its own, because two methods may need different artefacts of one
    name."""

    need: Need
    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        return self.need.columns

    @property
    def file(self) -> str | None:
        return self.need.file

    def load(self, path: Path) -> Artefact:
        return self.need.load(path)

    def counter(self) -> Counter:
        return self.need.counter()


class _ReadyRenamed(_Renamed):
    def ready(self) -> Artefact:
        return cast("ReadyNeed", self.need).ready()


class _GeneralRenamed(_Renamed):
    def general(self) -> Artefact:
        return cast("GeneralNeed", self.need).general()


def _renamed(need: Need, name: str) -> _Renamed:
    if isinstance(need, ReadyNeed):
        return _ReadyRenamed(need, name)
    return (_GeneralRenamed if isinstance(need, GeneralNeed) else _Renamed)(need, name)


def _own(part: Method, artefacts: Artefacts, number: int) -> Artefacts:
    return {need.name: artefacts[f"{number}-{need.name}"] for need in part.needs}


def _written(given: object) -> tuple[str, ...]:
    """Methods in canonical text form, so that a plan, a recipe and a signature agree."""
    if isinstance(given, list | tuple) and all(isinstance(one, str | Method) for one in given):
        return tuple(write_method(read_method(m) if isinstance(m, str) else m) for m in given)
    raise SettingsError(
        f"combined: methods are {given!r}; expected a list of methods.",
        hint="such as methods=['shingles threshold=0.5', 'simhash'].",
    )


def _scaled(score: Array, reached: Array, threshold: float) -> Array:
    """Scores on a scale that is linear below and above the threshold, which becomes 0.5."""
    above = (score - threshold) / (1 - threshold) if threshold < 1 else score
    below = score / threshold if threshold else score
    return np.where(reached, 0.5 + above / 2, np.minimum(below, 1) / 2)


def _joined_keys(seekers: Sequence[tuple[int, Prepared]]) -> tuple[Ragged, Array]:
    """The keys of all parts, mixed with the number of the part; keys that search come first."""
    heads = [_cut(_mixed(one.keys, i), one.probes, True) for i, one in seekers]
    tails = [_cut(_mixed(one.keys, i), one.probes, False) for i, one in seekers]
    rows = [*heads, *tails]
    count = len(rows[0])
    order = np.arange(count)[:, None] + np.arange(len(rows)) * count
    taken = Ragged.concat(rows, np.uint64).take(order.reshape(-1))
    probes = sum(head.lengths for head in heads)
    keys = Ragged(taken.values, taken.offsets[:: len(rows)].copy())
    return keys, np.asarray(probes).astype(np.int32)


def _mixed(keys: Ragged, number: int) -> Ragged:
    spread = np.uint64((number + 1) * int(SPREAD) & (1 << 64) - 1)
    return Ragged(keys.values ^ spread, keys.offsets)


def _cut(keys: Ragged, probes: Array, head: bool) -> Ragged:
    """The first ``probes`` keys of each row (``head``), or the remaining ones."""
    lengths = keys.lengths
    place = np.arange(len(keys.values)) - np.repeat(keys.offsets[:-1], lengths)
    inside = (place < np.repeat(probes, lengths)) == head
    kept = np.where(head, probes, lengths - probes)
    return Ragged(keys.values[inside], np.concatenate([[0], np.cumsum(kept)]).astype(np.int64))
