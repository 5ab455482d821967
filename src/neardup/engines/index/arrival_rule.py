"""The fixed rules of an open index: the time of a document, the window, and the content of a match.

A match has a kind. Digests identify equal texts. All other kinds require that the index stores
texts, so that the two texts of a match can be aligned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.decisions.kinds import IDENTICAL, NORMALISED, Kind, aligned_kinds
from neardup.decisions.rule import duplicate_reason
from neardup.engines.index.signing import Arrival, Signature, Signer
from neardup.engines.index.time_window import Window
from neardup.errors import SettingsError
from neardup.matching.scorer import one_with_each
from neardup.matching.window import UNCLIPPED
from neardup.methods.base import Method
from neardup.schema import KINDS, Array, Ragged

KEPT, SEEN = "kept", "seen"
Texts = Callable[[Sequence[str]], Mapping[str, str | None]]  # of ids; those that are there


@dataclass(slots=True)
class Known:
    """A document that can be matched, with its evidence if the memory keeps it. ``form`` is the
    digest of the normal form by which a calibration identifies it: that of the first document with
    this evidence."""

    seq: int
    id: str
    time: int
    text_digest: int
    normal_digest: int
    form: int
    group: int
    evidence: Array


class Scored(NamedTuple):
    """The document that an arrival is a duplicate of, and the score of the pair."""

    known: Known
    score: float


class Match(NamedTuple):
    """The document ``of`` which a document is a duplicate, and why. ``kind`` is None if it was not
    determined. ``by`` names the methods that the pair passes; it is None if the index has one
    method. ``direction`` is "a_in_b" if the match contains the document, "b_in_a" if the document
    contains its match; it is found with the kind and not stored."""

    of: str
    score: float
    reason: str
    kind: str | None = None
    by: tuple[str, ...] | None = None
    direction: str | None = None


@dataclass(frozen=True)
class Rule:
    """Settings that do not change while an index is open."""

    signer: Signer
    window: Window | None
    against: str
    dated: bool  # whether documents bring their time
    kinds: bool = False  # whether ``add`` aligns texts to find the kind
    check_kinds: bool = False  # whether ``check`` does so too
    memory: int | None = None  # bytes above which the window is shortened
    clip: tuple[float, float] = UNCLIPPED  # shares of documents of q-grams that are looked up

    @property
    def method(self) -> Method:
        return self.signer.method

    def time_of(self, arrival: Arrival, now: int, newest: int | None) -> int:
        """The time at which the document counts as arrived (``time_window.py``)."""
        if not self.dated:
            time = now
        elif arrival.time is None:
            time = now if newest is None else newest
        else:
            time = min(arrival.time, now)
        if self.window is None or newest is None:
            return time
        return max(time, self.window.floor(max(newest, time)))

    def floor(self, newest: int | None) -> int | None:
        """The time at which the window begins."""
        return None if self.window is None or newest is None else self.window.floor(newest)

    def since(self, time: int, newest: int | None, max_age: int | None) -> int | None:
        """The time from which documents can be matched; None for all."""
        bounds = []
        if self.window is not None:
            bounds.append(self.window.floor(max(time, time if newest is None else newest)))
        if max_age is not None:
            bounds.append(time - max_age)
        return max(bounds, default=None)

    def match(self, best: Scored, signature: Signature) -> Match:
        known = best.known
        kind = None
        if known.normal_digest == signature.normal_digest:
            kind = KINDS[NORMALISED]
        if known.text_digest == signature.text_digest:
            kind = KINDS[IDENTICAL]
        reason = duplicate_reason(self.method, signature.flags, best.score)
        return Match(known.id, best.score, reason, kind, self._by(known, signature))

    def _by(self, known: Known, signature: Signature) -> tuple[str, ...] | None:
        """The methods that the pair passes; documents with equal evidence may pass none."""
        if not self.method.parts:
            return None
        pair = one_with_each([known.evidence], signature.evidence)
        return self.method.passed_by(*pair)[0] or None

    def with_kinds(
        self, matches: Sequence[Match | None], texts: Sequence[str | None], store: Texts
    ) -> list[Match | None]:
        """The matches with their kinds, if digests did not determine them. ``texts`` are those of
        the documents; ``store`` provides the texts of their matches. All pairs are aligned
        together, which costs a tenth of aligning each alone."""
        open_ = {n: match for n, match in enumerate(matches) if match and match.kind is None}
        if not open_:
            return list(matches)
        stored = store(list(dict.fromkeys(match.of for match in open_.values())))
        pairs = {
            n: (text, matched)
            for n, match in open_.items()
            if (text := texts[n]) is not None and (matched := stored.get(match.of)) is not None
        }
        kinds = dict(zip(pairs, _kinds([*pairs.values()]), strict=True))
        return [
            open_[n]._replace(kind=kinds[n].kind, direction=kinds[n].direction)
            if n in kinds
            else match
            for n, match in enumerate(matches)
        ]


def no_texts() -> SettingsError:
    return SettingsError(
        "kinds are told from texts, but the index has none.",
        hint="make it with texts=True, or do not ask for kinds.",
    )


def _kinds(pairs: Sequence[tuple[str, str]]) -> list[Kind]:
    texts = Ragged.of_texts([text for pair in pairs for text in pair])
    numbers = np.arange(0, 2 * len(pairs), 2)
    kinds = aligned_kinds(texts, numbers, numbers + 1)
    return [kinds[n] for n in range(len(pairs))]
