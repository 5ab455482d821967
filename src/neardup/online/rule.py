"""What decides and does not change while an index is open, and what is said of a match.

A match is of some kind. Digests tell equal texts; for all other kinds the index has to have the
texts, and the two of a match are aligned.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.decisions.classify import aligned_kinds
from neardup.decisions.kinds import IDENTICAL, NORMALISED
from neardup.errors import SettingsError
from neardup.methods.method import FLAGS, TOO_SHORT, CalibratedMethod, Method, SaysWhich
from neardup.online.scoring import Found, evidence_pairs
from neardup.online.signature import Arrival, Signature
from neardup.online.signing import Signer
from neardup.online.windows import Window
from neardup.schema import KINDS, Ragged

KEPT, SEEN = "kept", "seen"
Texts = Callable[[Sequence[str]], Mapping[str, str | None]]  # of ids; those that are there


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
        """As ``windows.py`` says."""
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
        reason = self.reason(signature.flags, found.score)
        return Match(known.id, found.score, reason, kind, self._by(found, signature))

    def _by(self, found: Found, signature: Signature) -> tuple[str, ...] | None:
        """Equal evidence may be nothing that a method would pass: then none is named."""
        if self._several is None:
            return None
        return self._several.passed_by(*evidence_pairs([found.known], signature))[0] or None

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

    def reason(self, flags: int, score: float) -> str:
        """Why a document was set aside."""
        usual, faint, threshold = self._reasons
        why = faint if score < threshold else usual
        return ("equal" if flags & TOO_SHORT else why) + notes(flags)

    @functools.cached_property
    def _several(self) -> SaysWhich | None:
        return self.method if isinstance(self.method, SaysWhich) else None

    @functools.cached_property
    def _reasons(self) -> tuple[str, str, float]:
        method = self.method
        faint = method.faint_reason if isinstance(method, CalibratedMethod) else method.reason
        return method.reason, faint, method.threshold


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


def kept_reason(flags: int, copies: int) -> str:
    if flags & TOO_SHORT:
        return "too_short" + notes(flags)
    return ("representative" if copies else "unique") + notes(flags)


def notes(flags: int) -> str:
    if not flags & ~TOO_SHORT:
        return ""
    names = (name for bit, name in FLAGS.items() if flags & bit and bit != TOO_SHORT)
    return f" ({', '.join(names)})"
