"""Candidate pairs → verified pairs: each is scored on evidence, in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from neardup.matching.evidence import EvidenceStore
from neardup.methods.base import Comparisons, Method, Scores
from neardup.schema import Array, Ragged

BLOCK_BYTES = 32 << 20


@dataclass(frozen=True)
class Pairs:
    """Verified pairs of documents, by index; which of the two comes first has no meaning here."""

    a: npt.NDArray[np.int64]
    b: npt.NDArray[np.int64]
    score: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.a)

    @classmethod
    def none(cls) -> Pairs:
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

    @classmethod
    def concat(cls, parts: list[Pairs]) -> Pairs:
        if not parts:
            return cls.none()
        return cls(
            np.concatenate([p.a for p in parts]),
            np.concatenate([p.b for p in parts]),
            np.concatenate([p.score for p in parts]),
        )

    def where(self, mask: Array) -> Pairs:
        return Pairs(self.a[mask], self.b[mask], self.score[mask])

    def mapped(self, names: Array) -> Pairs:
        """The same pairs under other numbers: document ``i`` is called ``names[i]``."""
        return Pairs(names[self.a], names[self.b], self.score)

    def distinct(self) -> Pairs:
        """Each pair once, the smaller number first, sorted."""
        a, b = np.minimum(self.a, self.b), np.maximum(self.a, self.b)
        order = np.lexsort((b, a))
        a, b, score = a[order], b[order], self.score[order]
        new = np.ones(len(a), bool)
        new[1:] = (a[1:] != a[:-1]) | (b[1:] != b[:-1])
        return Pairs(a[new], b[new], score[new])


# Evidence and pairs of its rows → scores; with ``forms`` also what each row is known by.
ScorePairs = Callable[..., Scores]


class Verifier:
    """``score`` is asked with the evidence of some documents and pairs of them. Where ``forms`` of
    all documents are given, it is given those of these documents too."""

    def __init__(
        self,
        score: ScorePairs,
        store: EvidenceStore,
        *,
        forms: Array | None = None,
        workers: int = 1,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._score_pairs = score
        self._store = store
        self._forms = forms
        self._workers = workers
        self._progress = progress
        self.scored = self.refused = 0

    def scoring(self, score: ScorePairs, forms: Array) -> Verifier:
        """The same documents scored otherwise; what it scores is not counted here."""
        return Verifier(
            score, self._store, forms=forms, workers=self._workers, progress=self._progress
        )

    def decide_by(self, score: ScorePairs, forms: Array) -> None:
        """From now on the same documents are scored otherwise, because a calibration was made."""
        self._score_pairs, self._forms = score, forms

    def scores(self, a: Array, b: Array) -> Scores:
        """One score a pair, in the order given."""
        blocks = self._blocks(a, b)
        self.scored += len(a)
        if len(blocks) < 2:
            parts = [self._score(a[part], b[part]) for part in blocks]
        else:
            with ThreadPoolExecutor(self._workers) as pool:
                parts = list(pool.map(lambda part: self._score(a[part], b[part]), blocks))
        self.refused += sum(p.refused for p in parts)
        passed = np.concatenate([np.empty(0, np.bool_), *(p.passed for p in parts)])
        return Scores(passed, np.concatenate([np.empty(0), *(p.score for p in parts)]))

    def _blocks(self, a: Array, b: Array) -> list[slice]:
        """Runs of pairs whose evidence fits a block (a single larger pair is its own block)."""
        if not len(a):
            return []
        sizes = self._store.lengths
        volume = np.cumsum((sizes[a] + sizes[b]) * self._store.dtype.itemsize)
        cuts = np.flatnonzero(np.diff(volume // BLOCK_BYTES)) + 1
        edges = [0, *cuts.tolist(), len(a)]
        return [slice(i, j) for i, j in pairwise(edges)]

    def _score(self, a: Array, b: Array) -> Scores:
        documents, evidence, first, second = self._taken(a, b)
        forms = [] if self._forms is None else [self._forms[documents]]
        scores = self._score_pairs(evidence, first, second, *forms)
        self._progress(len(a))
        return scores

    def compared(self, method: Method, a: Array, b: Array) -> Comparisons:
        """The pairs compared to their end, in the order given."""
        none = np.empty(0, np.bool_)
        parts = [Comparisons(np.empty(0), none, none)]
        blocks = (self._taken(a[part], b[part]) for part in self._blocks(a, b))
        parts += [method.comparisons(*block[1:]) for block in blocks]
        return Comparisons(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _taken(self, a: Array, b: Array) -> tuple[Array, Ragged, Array, Array]:
        """The documents of the pairs, their evidence, and the pairs of its rows."""
        documents, local = np.unique(np.concatenate([a, b]), return_inverse=True)
        local = local.astype(np.int64)
        return documents, self._store.take(documents), local[: len(a)], local[len(a) :]
