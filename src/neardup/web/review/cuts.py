"""What a run would decide at other thresholds, from its pairs: counts at many cuts, made once.

At a cut the rule is applied to the pairs from there on, as ``Result.rethreshold`` does it; nothing
is matched again. Below the threshold of the run nobody knows. Changes made by hand are left out:
a threshold is a setting of the whole.
"""

from __future__ import annotations

import functools
import threading
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from neardup.decisions.clusters import components, rule_clusters
from neardup.decisions.rule import decide
from neardup.errors import SettingsError
from neardup.matching.verify import Pairs
from neardup.outputs.report.columns import REJECTED, decision_codes
from neardup.outputs.result import Result
from neardup.outputs.rethreshold import NO_GROUPS, by_rank, nothing_more
from neardup.schema import Array
from neardup.web.review.sources import Source

STEPS = 120  # cuts between the threshold and 1, both included
BINS = 40  # of the histogram, from 0 to 1


@dataclass(frozen=True)
class Counted:
    """``documents = kept + duplicates + rejected``."""

    threshold: float
    documents: int
    kept: int
    duplicates: int
    rejected: int
    clusters: int
    pairs: int


class Cuts:
    """Of one source; ``counted`` is filled in a thread, the lowest cut first."""

    def __init__(self, source: Source) -> None:
        self._result = None if source.about.partial else source.result
        self.partial = source.about.partial
        self.counted: list[Counted] = []
        self.done = self._result is None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def begin(self) -> None:
        if self._result is not None and self._thread is None:
            self._thread = threading.Thread(target=self._count_all, daemon=True)
            self._thread.start()

    def wait(self) -> None:
        if self._thread:
            self._thread.join()

    def close(self) -> None:
        self._stop.set()
        self.wait()

    def at(self, threshold: float) -> Counted:
        """Exactly this one."""
        return count(*self._pairs(threshold), threshold)

    def fallen(self, threshold: float) -> Array:
        """The pairs between the threshold of the run and this one, the nearest to it first."""
        result, _ = self._pairs(threshold)
        score = result.pairs["score"].to_numpy()
        below = np.flatnonzero(score < threshold)
        return np.asarray(below[np.argsort(-score[below], kind="stable")])

    def _pairs(self, threshold: float) -> tuple[Result, Pairs]:
        result = self._result
        if result is None:
            raise SettingsError(
                self.partial or "There is no run to ask.", hint="run again with that threshold."
            )
        if not result.threshold <= threshold <= 1:
            raise SettingsError(
                f"{threshold:g} cannot be answered: the run was made at {result.threshold:g}, and "
                "no score is above 1.",
                hint="run again with a lower threshold.",
            )
        return result, self._ranked

    @functools.cached_property
    def _ranked(self) -> Pairs:
        """All pairs, documents by their rank."""
        assert self._result
        return by_rank(self._result, self._result.pairs, self._result.rank)

    def _count_all(self) -> None:
        assert self._result
        pairs = self._ranked
        for cut in steps(self._result.threshold):
            if self._stop.is_set():
                return
            self.counted.append(count(self._result, pairs, cut))
        self.done = True

    def data(self) -> list[dict[str, Any]]:
        return [asdict(one) for one in self.counted]


def steps(lowest: float) -> list[float]:
    """With at most four decimals, but for the first, which is the run's own."""
    made = [round(float(cut), 4) for cut in np.linspace(lowest, 1, STEPS)]
    return list(dict.fromkeys([lowest, *(cut for cut in made if cut > lowest)]))


def count(result: Result, pairs: Pairs, threshold: float) -> Counted:
    total = len(result.decisions)
    rejected = int((decision_codes(result.decisions) == REJECTED).sum())
    left = pairs.where(pairs.score >= threshold)
    kept_of = decide(total, left, NO_GROUPS, nothing_more).kept_of
    aside = int((kept_of >= 0).sum())
    chained = result.info["settings"]["clusters"] != "rule"
    cluster = components(total, left.a, left.b) if chained else rule_clusters(kept_of)
    return Counted(
        threshold=threshold,
        documents=total,
        kept=total - aside - rejected,
        duplicates=aside,
        rejected=rejected,
        clusters=int(cluster.max(initial=-1)) + 1,
        pairs=len(left),
    )


def histogram(scores: Array) -> list[int]:
    """Pairs by score, in ``BINS`` bins from 0 to 1; what is exactly 1 is in the last."""
    place = np.minimum((scores * BINS + 1e-9).astype(np.int64), BINS - 1)
    counts: list[int] = np.bincount(place, minlength=BINS).tolist()
    return counts
