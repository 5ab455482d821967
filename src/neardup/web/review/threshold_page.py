"""The threshold: how alike the pairs are, and what a higher one would decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import numpy as np
from fastapi import Query

from neardup.report.bars import score_bars
from neardup.web.doors import Door
from neardup.web.review.review_rows import Data, pair_row
from neardup.web.review.review_state import BINS, State, histogram

SHOWN = 20  # pairs that would be no duplicates any more


class Thresholds:
    def __init__(self, state: State) -> None:
        self._state = state

    def doors(self) -> Sequence[Door]:
        return [
            Door("/threshold", self.threshold, template="review/threshold.html"),
        ]

    def threshold(self, at: Annotated[float | None, Query(ge=0, le=1)] = None) -> Data:
        cuts, about = self._state.cuts, self._state.source.about
        result = self._state.source.result
        scores = self._state.tables.pair_score
        bins = histogram(scores[~np.isnan(scores)])
        lowest = about.threshold or 0.0
        chosen = max(at if at is not None else lowest, 0.0)
        exact = None if cuts.partial else cuts.at(chosen)
        return {
            "method": about.method,
            "lowest": lowest,
            "at": chosen,
            "partial": cuts.partial,
            "exact": asdict(exact) if exact else None,
            "run": asdict(result.counts) if result else None,
            "below": int((scores < lowest).sum()),
            "cuts": cuts.data(),
            "done": cuts.done,
            "bins": bins,
            "bars": bars(bins),
            "figure": score_bars(bins, chosen),
            "tallest": max(bins, default=0),
            "fallen": self._fallen(chosen) if exact else [],
            "consistency": consistency(result.info) if result else [],
        }

    def _fallen(self, threshold: float) -> list[Data]:
        """Pairs of the run as it was made; who was put first by hand changes none of them."""
        facts = self._state.facts()
        numbers = self._state.cuts.fallen(threshold)[:SHOWN].tolist()
        return [pair_row(facts, number) for number in numbers]


def consistency(info: Data) -> list[Data]:
    """How consistent the groups were at each threshold, where that chose the threshold."""
    curve = info.get("artefacts", {}).get("calibration", {}).get("curve")
    if not curve:
        return []
    names = ("threshold", "consistency", "linked")
    columns = (curve[name] for name in ("thresholds", "consistency", "linked"))
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def bars(bins: list[int]) -> list[Data]:
    """The numbers of the figure."""
    return [{"count": n, "low": i / BINS, "high": (i + 1) / BINS} for i, n in enumerate(bins)]
