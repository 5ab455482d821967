"""What does not change while an index is open: times, the window, and what a match reports.

A match is of some kind. Digests tell equal texts; for all other kinds the index has to have the
texts, and the two of a match are aligned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.decisions.kinds import IDENTICAL, NORMALISED, aligned_kinds
from neardup.decisions.reasons import duplicate_reason
from neardup.engines.index.signing import Arrival, Signature, Signer
from neardup.engines.index.slots import Window
from neardup.errors import SettingsError
from neardup.matching.scorer import one_with_each
from neardup.methods.base import Method
from neardup.schema import KINDS, Array, Ragged

KEPT, SEEN = "kept", "seen"
Texts = Callable[[Sequence[str]], Mapping[str, str | None]]  # of ids; those that are there


@dataclass(slots=True)
class Known:
    """A document that can be matched; its evidence where the memory keeps it. ``form``: the digest
    of the normal form by which a calibration knows it, that of the first with such evidence."""

    seq: int
    id: str
    time: int
    text_digest: int
    normal_digest: int
    form: int
    group: int
    evidence: Array


class Found(NamedTuple):
    known: Known
    score: float


class Match(NamedTuple):
    """What a document is a duplicate ``of``, and why. ``kind`` is None where it was not told,
    ``by`` where the index has one method; of several it names those that the pair passes."""

    of: str
    score: float
    reason: str
    kind: str | None = None
    by: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Rule:
    """What does not change while an index is open."""

    signer: Signer
    window: Window | None
    against: str
    dated: bool  # whether documents bring their time
    kinds: bool = False  # whether texts of what is added are aligned to tell them
    check_kinds: bool = False  # and those of one that is checked
    memory: int | None = None  # bytes, beyond which the window is shortened

    @property
    def method(self) -> Method:
        return self.signer.method

    def time_of(self, arrival: Arrival, now: int, newest: int | None) -> int:
        """As ``slots.py`` says."""
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
        """Where the window begins."""
        return None if self.window is None or newest is None else self.window.floor(newest)

    def since(self, time: int, newest: int | None, max_age: int | None) -> int | None:
        """From when on documents can be matched; None: all."""
        bounds = []
        if self.window is not None:
            bounds.append(self.window.floor(max(time, time if newest is None else newest)))
        if max_age is not None:
            bounds.append(time - max_age)
        return max(bounds, default=None)

    def match(self, found: Found, signature: Signature) -> Match:
        known = found.known
        kind = None
        if known.normal_digest == signature.normal_digest:
            kind = KINDS[NORMALISED]
        if known.text_digest == signature.text_digest:
            kind = KINDS[IDENTICAL]
        reason = duplicate_reason(self.method, signature.flags, found.score)
        return Match(known.id, found.score, reason, kind, self._by(found, signature))

    def _by(self, found: Found, signature: Signature) -> tuple[str, ...] | None:
        """Equal evidence may be nothing that a method would pass: then none is named."""
        if not self.method.parts:
            return None
        pair = one_with_each([found.known.evidence], signature.evidence)
        return self.method.passed_by(*pair)[0] or None

    def with_kinds(
        self, matches: Sequence[Match | None], texts: Sequence[str | None], store: Texts
    ) -> list[Match | None]:
        """``texts`` are those of the documents; those of what they match are asked of ``store``.
        All at once: a pair costs a tenth of what it costs alone."""
        made = list(matches)
        asked = [n for n, match in enumerate(matches) if match and match.kind is None]
        if not asked:
            return made
        ids = [match.of for match in matches if match and match.kind is None]
        others = store(list(dict.fromkeys(ids)))
        pairs = [(n, texts[n], others.get(of)) for n, of in zip(asked, ids, strict=True)]
        told = [(n, one, other) for n, one, other in pairs if one is not None and other is not None]
        for (n, *_), kind in zip(told, _kinds([pair[1:] for pair in told]), strict=True):
            made[n] = matches[n]._replace(kind=kind)  # type: ignore[union-attr]
        return made


def no_texts() -> SettingsError:
    return SettingsError(
        "kinds are told from texts, but the index has none.",
        hint="make it with texts=True, or do not ask for kinds.",
    )


def _kinds(pairs: Sequence[tuple[str, str]]) -> list[str]:
    texts = Ragged.of_texts([text for pair in pairs for text in pair])
    numbers = np.arange(0, 2 * len(pairs), 2)
    found = aligned_kinds(texts, numbers, numbers + 1)
    return [found[n].kind for n in range(len(pairs))]
