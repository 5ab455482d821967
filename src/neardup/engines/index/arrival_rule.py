"""What decides and does not change while an index is open, and what is said of a match.

A match is of some kind. Digests tell equal texts; for all other kinds the index has to have the
texts, and the two of a match are aligned.

Candidates of a document → the best that passes, scored on their evidence.

Few are scored one by one where the method can, many at once; what is found is the same. Where the
method is calibrated, faint pairs that stand out and that its calibration lists pass too.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neardup.artefacts.calibration import Calibration
from neardup.decisions.kinds import IDENTICAL, NORMALISED, aligned_kinds
from neardup.engines.index.signing import Arrival, Signature, Signer
from neardup.engines.index.slots import Window
from neardup.errors import SettingsError
from neardup.methods.base import FLAGS, TOO_SHORT, Method, PairScorer, Scores
from neardup.schema import KINDS, Array, Ragged, offsets_of

FEW = 16  # candidates that are scored faster one by one


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
    cut: float
    group: int
    evidence: Array


class Found(NamedTuple):
    known: Known
    score: float


def best_of(found: Iterable[Found]) -> Found | None:
    """The first of the best."""
    return max(found, key=lambda one: one.score, default=None)


class Scorer:
    def __init__(self, method: Method, cuts: Calibration | None = None) -> None:
        self._method, self._cuts = method, cuts
        self.calibrated = method.calibrate
        self._score_pair = method.pair_scorer()

    def best(self, candidates: list[Known], signature: Signature, form: int) -> Found | None:
        """Of candidates in the order of their arrival; ``form`` is that of the signature."""
        if self._score_pair and len(candidates) <= FEW:
            return best_of(_one_by_one(self._score_pair, candidates, signature.evidence))
        passed, score, _ = self._scores(candidates, signature, form)
        both = zip(candidates, passed.tolist(), score.tolist(), strict=True)
        return best_of(Found(known, s) for known, passes, s in both if passes)

    def confirmed(self, known: Known, signature: Signature) -> bool:
        """Whether one with an equal digest is a copy."""
        if not self._method.confirms_copies:
            return True
        return bool(self._method.score(*evidence_pairs([known], signature)).passed[0])

    def _scores(self, candidates: list[Known], signature: Signature, form: int) -> Scores:
        pairs = evidence_pairs(candidates, signature)
        scores = self._method.score(*pairs)
        if not self.calibrated or self._cuts is None or signature.cut != signature.cut:
            return scores
        forms = np.array([known.form for known in candidates], np.uint64)
        listed = self._cuts.lists(forms, np.full(len(forms), form, np.uint64))
        if not listed.any():
            return scores
        cuts = np.array([known.cut for known in candidates])
        return self._with_faint(pairs, scores, np.maximum(cuts, signature.cut), listed)

    def _with_faint(
        self, pairs: tuple[Ragged, Array, Array], scores: Scores, cuts: Array, listed: Array
    ) -> Scores:
        """Listed pairs below the threshold that stand out: both documents reach their own cuts."""
        method = self._method
        faint = method.low_score(*pairs)
        whole = method.whole_score(*pairs)
        out = listed & faint.passed & (faint.score >= cuts) & (whole < method.threshold)
        return Scores(scores.passed | out, np.where(out & ~scores.passed, whole, scores.score))


def _one_by_one(
    score_pair: PairScorer, candidates: Iterable[Known], evidence: Array
) -> Iterable[Found]:
    for known in candidates:
        score = score_pair(known.evidence, evidence)
        if score is not None:
            yield Found(known, score)


def evidence_pairs(candidates: list[Known], signature: Signature) -> tuple[Ragged, Array, Array]:
    """Evidence of the candidates and then of the document, and the pairs of each with it."""
    rows = [known.evidence for known in candidates]
    rows.append(signature.evidence)
    count = len(candidates)
    evidence = Ragged(np.concatenate(rows), offsets_of(np.array([len(row) for row in rows])))
    return evidence, np.arange(count), np.full(count, count)


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
        reason = self.reason(signature.flags, found.score)
        return Match(known.id, found.score, reason, kind, self._by(found, signature))

    def _by(self, found: Found, signature: Signature) -> tuple[str, ...] | None:
        """Equal evidence may be nothing that a method would pass: then none is named."""
        if not self.method.parts:
            return None
        return self.method.passed_by(*evidence_pairs([found.known], signature))[0] or None

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
    def _reasons(self) -> tuple[str, str, float]:
        method = self.method
        return method.reason, method.exception_reason, method.threshold


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
