"""How assessors of result lists agree: kappa over the pairs, and sets that are exactly the same.

A run is compared with the sets that they settled on in the same way (Conrad et al., Table 8): of a
list its sets are the documents that its pairs join.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.evaluation.agreement import agreements, verdicts
from neardup.evaluation.judged_curve import found_by
from neardup.evaluation.labels import DUPLICATE, Label, Labels, Pair
from neardup.evaluation.papers.set_agreement import set_agreement
from neardup.evaluation.result_lists import ResultList, numbered
from neardup.outputs.result import Result


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


def run_agreement(
    lists: Sequence[ResultList], settled: Mapping[Pair, Label], result: Result
) -> dict[str, Any] | None:
    """On the lists that are settled as a whole and whose documents the run has; None for none."""
    known = [one for one in lists if all(pair in settled for pair in one.pairs)]
    ids = pa.array([one.id for each in known for one in each.results], pa.large_string())
    there = set(ids.filter(pc.is_in(ids, result.decisions["id"])).to_pylist())
    judged = [one for one in known if all(each.id in there for each in one.results)]
    if not judged:
        return None
    found = found_by(result, [pair for one in judged for pair in one.pairs])
    gold = [_sets(one, [settled[pair].label == DUPLICATE for pair in one.pairs]) for one in judged]
    made = [_sets(one, [pair in found for pair in one.pairs]) for one in judged]
    return {"lists": len(judged), "sets": set_agreement(_joined(gold), _joined(made)).data()}


def _sets(one: ResultList, same: Sequence[bool]) -> tuple[int, ...]:
    return numbered(len(one.results), same)
