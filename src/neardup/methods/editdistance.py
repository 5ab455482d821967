"""Edit distance of short texts such as titles and records, joined by q-grams (Gravano et al. 2001).

The score is ``1 − d / max(|s|, |t|)``, where d is the number of characters to insert, delete or
replace (Levenshtein) between the normal forms s and t. An edit destroys at most q of the
``|s| + q − 1`` q-grams of a padded string. Strings within k edits therefore share at least
``max(|s|, |t|) + q − 1 − kq`` of them (count filter), and their lengths differ by at most k (length
filter). With n characters, a partner has at most n / t and needs at most ``k = (1 − t)·n / t``
edits; so, of the q-grams in any one order, m of the first ``kq + m`` are common. A collection
takes the rarest q-grams and half of what must be common as m (``matching/rare.py``); a document
alone takes those of smallest hash and m = 1. No pair is missed if ``q·(1 − t) ≤ 1``. The n-th
occurrence of a q-gram is a q-gram of its own.

The third filter of the paper, positions that differ by at most k, is not used: RapidFuzz stops a
comparison as soon as it exceeds k, which costs less. A document with many characters would have
thousands of keys: beyond ``max_chars`` it is a duplicate only of an equal one.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.features.chunks import scrambled
from neardup.methods.base import Method, Prepared, Scores, agreeing
from neardup.methods.idf_terms import equal_evidence
from neardup.methods.meeting import SPREAD, Meeting, RarePrefix, Rarity
from neardup.methods.parameters import require, threshold_fraction
from neardup.methods.preparation import evidence_digests, read_words
from neardup.schema import Array, Ragged, offsets_of
from neardup.text.text_options import Text

MOST_CHARACTERS = 16
_BEFORE, _AFTER = 0x110000, 0x110001  # no characters: they pad a string


@dataclass(frozen=True)
class EditDistance(Method):
    """Few edits of characters between short texts: titles, names, addresses, records.

    ``threshold``: 1 − edits / length of the longer text, from which two are duplicates.
    ``distance``: the most edits, whatever the length; None for no limit.
    ``max_chars``: longer documents are duplicates only of equal ones.
    ``q``: how many characters make a q-gram of the filter; it changes the cost, not the answer.
    ``text``: what counts as the same character; texts are compared in their normal form.
    """

    threshold: float = 0.9
    distance: int | None = None
    max_chars: int = 1000
    q: int = 4
    text: Text = field(default_factory=Text)

    name: ClassVar[str] = "editdistance"
    evidence_dtype: ClassVar[np.dtype[Any]] = np.dtype(np.uint32)

    def __post_init__(self) -> None:
        t = threshold_fraction(self.threshold)
        require(self.distance is None or self.distance >= 0, self, "distance", "none, or 0 or more")
        require(self.max_chars >= 1, self, "max_chars", "1 or more")
        most = MOST_CHARACTERS if t == 1 else min(MOST_CHARACTERS, int(1 / (1 - t)))
        expected = (
            f"from 1 to {most}, so that strings at threshold {self.threshold:g} share q-grams"
        )
        require(1 <= self.q <= most, self, "q", expected)

    @functools.cached_property
    def fraction(self) -> Fraction:
        return threshold_fraction(self.threshold)

    @property
    def reason(self) -> str:
        limit = "" if self.distance is None else f", at most {self.distance} edits"
        return f"edit similarity >= {self.threshold:g}{limit}"

    @property
    def score_meaning(self) -> str:
        return "1 − edits of characters / length of the longer text, in their normal forms"

    def remarks(self, too_short: int) -> list[str]:
        return [
            f"Documents of more than {self.max_chars:,} characters are compared for equality only. "
            "Hint: --set max_chars=N."
        ]

    def resolved(self) -> dict[str, object]:
        return {"scheme": "q-grams", "miss_rate": 0.0}

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts = NO_ARTEFACTS) -> Prepared:
        reading = read_words(batch, self.text)
        evidence = self._strings(batch)
        digests = evidence_digests(evidence, np.zeros(len(evidence), np.bool_))
        keys = self._keys(evidence, digests[:, 0])
        return Prepared(
            keys=keys,
            probes=keys.lengths.astype(np.int32),
            evidence=evidence,
            digests=digests,
            text_digests=reading.text_digests,
            normal_digests=reading.normal_digests,
            flags=np.zeros(len(evidence), np.uint8),
        )

    def _strings(self, batch: pa.RecordBatch) -> Ragged:
        """The characters of the normal forms."""
        texts = Ragged.of_strings(batch.column("text"))
        forms = Ragged(*_native.normal_forms(texts.values, texts.offsets, self.text.native()))
        rows = [
            np.frombuffer(bytes(forms[row]).decode().encode("utf-32-le"), "<u4")
            for row in range(len(forms))
        ]
        sizes = np.array([len(row) for row in rows], np.int64)
        return Ragged(np.concatenate([np.empty(0, np.uint32), *rows]), offsets_of(sizes))

    @property
    def meeting(self) -> Meeting:
        return Meeting(RarePrefix(self.rare_keys, self._grams, self._keys_shared))

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        grams, sizes = self._grams(evidence), evidence.lengths
        first = self._destroyed(sizes) + self._keys_shared(sizes)
        keys, ends, probes = _native.rare_prefixes(
            grams.values, grams.offsets, first, rarity.counts, False, *rarity[1:]
        )
        return Ragged(keys, ends), probes

    def _keys_shared(self, sizes: Array) -> Array:
        """How many keys a string and its partner must have in common to be compared: half of the
        q-grams that the string shares with any longer one that passes."""
        return np.asarray(np.maximum(sizes + self.q - self._destroyed(sizes) >> 1, 1))

    def _destroyed(self, sizes: Array) -> Array:
        """How many q-grams of strings of these sizes the edits to any partner can destroy."""
        t = self.fraction
        edits = sizes * (t.denominator - t.numerator) // t.numerator
        edits = edits if self.distance is None else np.minimum(edits, self.distance)
        return np.asarray(self.q * edits)

    def _keys(self, evidence: Ragged, digests: Array) -> Ragged:
        """The keys of each document, chosen from it alone: its q-grams of smallest hash. A document
        without any, such as a long one, has its digest as its key."""
        grams, first = self._tokens(evidence), self._destroyed(evidence.lengths) + 1
        rows = [grams[row][: first[row]] for row in range(len(grams))]
        return _joined([row if len(row) else digests[i : i + 1] for i, row in enumerate(rows)])

    def _grams(self, evidence: Ragged) -> Ragged:
        tokens = self._tokens(evidence)
        return Ragged((tokens.values >> np.uint64(32)).astype(np.uint32), tokens.offsets)

    def _tokens(self, evidence: Ragged) -> Ragged:
        """The q-grams of each string, sorted; a long one has none."""
        short = (evidence.lengths > 0) & (evidence.lengths <= self.max_chars)
        empty = np.empty(0, np.uint64)
        return _joined(
            [_tokens(evidence[i], self.q) if own else empty for i, own in enumerate(short.tolist())]
        )

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """The comparison of a pair ends when it has too many edits; its score is then 0."""
        longer = np.maximum(evidence.lengths[a], evidence.lengths[b])
        allowed = np.array([int((1 - self.fraction) * size) for size in longer.tolist()], np.int64)
        if self.distance is not None:
            allowed = np.minimum(allowed, self.distance)
        edits = self._edits(evidence, a, b, allowed)
        passed = edits <= allowed
        score = np.where(passed, 1 - edits / np.maximum(longer, 1), 0.0)
        return Scores(passed, agreeing(score, passed, self.threshold))

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        longer = np.maximum(evidence.lengths[a], evidence.lengths[b])
        edits = self._edits(evidence, a, b, longer)
        near = (longer - edits) * self.fraction.denominator >= longer * self.fraction.numerator
        return agreeing(1 - edits / np.maximum(longer, 1), near, self.threshold)

    def refusals(self, evidence: Ragged, a: Array, b: Array) -> list[str | None]:
        if self.distance is None:
            return [None] * len(a)
        longer = np.maximum(evidence.lengths[a], evidence.lengths[b])
        edits = self._edits(evidence, a, b, longer).tolist()
        return [
            f"{one:,} edits, at most {self.distance:,} pass" if one > self.distance else None
            for one in edits
        ]

    def _edits(self, evidence: Ragged, a: Array, b: Array, most: Array) -> Array:
        """Edits of each pair; of one with more than ``most``, some number above it."""
        from rapidfuzz.distance import Levenshtein

        lengths = evidence.lengths
        edits = np.abs(lengths[a] - lengths[b])
        long = np.maximum(lengths[a], lengths[b]) > self.max_chars
        different = ~equal_evidence(evidence, a[long], b[long])
        edits[long] = np.where(different, np.maximum(lengths[a], lengths[b])[long], 0)
        for pair in np.flatnonzero(~long & (edits <= most)).tolist():
            one, other = (_string(evidence[int(side[pair])]) for side in (a, b))
            edits[pair] = Levenshtein.distance(one, other, score_cutoff=int(most[pair]))
        return np.asarray(edits)


def _string(characters: Array) -> str:
    return characters.tobytes().decode("utf-32-le")


def _tokens(string: Array, q: int) -> npt.NDArray[np.uint64]:
    """Hashes of the q-grams of the padded string, each mixed with the number of its occurrence,
    sorted."""
    padded = np.concatenate([[_BEFORE] * (q - 1), string, [_AFTER] * (q - 1)]).astype(np.uint64)
    count = len(padded) - q + 1
    grams = np.zeros(count, np.uint64)
    for place in range(q):
        grams = scrambled(grams * SPREAD + padded[place : place + count])
    order = np.argsort(grams, kind="stable")
    ranked = grams[order]
    occurrence = np.arange(count) - np.searchsorted(ranked, ranked)
    return np.sort(scrambled(ranked + occurrence.astype(np.uint64) * SPREAD))


def _joined(rows: Sequence[Array]) -> Ragged:
    ends = offsets_of(np.array([len(row) for row in rows], np.int64))
    return Ragged(np.concatenate([np.empty(0, np.uint64), *rows]), ends)
