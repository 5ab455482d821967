"""How assessors of result lists agree: kappa over the pairs, and sets that are exactly the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from neardup.evaluation.agreement import agreements, verdicts
from neardup.evaluation.labels import Labels
from neardup.evaluation.papers.set_agreement import set_agreement
from neardup.evaluation.result_lists import ResultList


def list_agreements(lists: Sequence[ResultList], labels: Labels) -> list[dict[str, Any]]:
    """Of every two assessors on the lists that both have judged as a whole."""
    found = []
    for x, y in combinations(labels.assessors, 2):
        both = [
            (a, b)
            for one in lists
            if (a := one.sets_of(labels, x)) and (b := one.sets_of(labels, y))
        ]
        if not both:
            continue
        pairs = {pair for one in lists for pair in one.pairs}
        of_two = Labels({k: v for k, v in labels.among(pairs).current.items() if k[1] in (x, y)})
        (kappa,) = agreements(of_two) or (None,)
        first, second = (_joined([sides[side] for sides in both]) for side in (0, 1))
        agreed = set_agreement(first, second).data()
        equal = sum(a == b for a, b in both)
        found.append(
            {
                "assessors": [x, y],
                "lists": len(both),
                "equal_lists": equal,
                "kappa": kappa and kappa.kappa,
                "kappa_interval": kappa and kappa.data()["kappa_interval"],
                "sets": agreed,
            }
        )
    return found


def _joined(sets: Sequence[Sequence[int]]) -> np.ndarray:
    """The sets of several lists as one numbering from 0, −1 for none."""
    made, shift = [], 0
    for one in sets:
        made += [-1 if number == 0 else number - 1 + shift for number in one]
        shift += max(one, default=0)
    return np.array(made, np.int64)


def disputed_lists(lists: Sequence[ResultList], labels: Labels) -> list[ResultList]:
    """Those with a pair on which assessors differ."""
    disputed = set(verdicts(labels).disputed)
    return [one for one in lists if not disputed.isdisjoint(one.pairs)]
