"""Whether the precision and the recall that a run expects are honest: is the truth in the interval?

    cd tests && python -m quality.expected [SET …]

A set is asked as a whole and in parts of 30 to 1,000 documents: some groups of duplicates, up to a
fifth of the part from each, and one document of each other group. The groups make a tenth, a
quarter, half or all of the part, so that precision and recall differ widely.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import neardup as nd
from conftest import DATA
from neardup.artefacts.calibration import Expected
from neardup.evaluation.scored_pairs import of_result
from quality.sets import AVERAGED, Labelled, judge

SETS = (*AVERAGED, "clough_stevenson", "mccormick_articles")
SIZES = (30, 100, 300, 1000)
SHARES = (0.1, 0.25, 0.5, 1.0)  # of a part that groups of duplicates make


class Case(NamedTuple):
    """Of pairs whose texts differ; None where there are none to judge."""

    documents: int
    expected: Expected
    precision: float | None
    recall: float | None

    @property
    def inside(self) -> tuple[bool | None, bool | None]:
        truths = (
            (self.precision, self.expected.least_precision),
            (
                self.recall,
                self.expected.least_recall,
            ),
        )
        precise, found = (None if true is None else true >= least for true, least in truths)
        return precise, found


def cases(folder: Path, sizes: Sequence[int] = SIZES, *, whole: bool = True) -> Iterator[Case]:
    labelled = judge(folder)
    assert isinstance(labelled, Labelled)
    gold = labelled.gold
    positives = gold.positives()
    hard = positives[~gold.identical(positives[:, 0], positives[:, 1])]
    group = gold.group
    if group is None:
        group = labelled.score.components(gold.n, hard[:, 0], hard[:, 1])
    parts = [np.arange(gold.n)] if whole else []
    parts += [
        part(group, size, share, f"{folder.name} {size} {seed}")
        for size in sizes
        for seed, share in enumerate(SHARES)
        if size < 0.8 * gold.n
    ]
    yield from (made for chosen in parts if (made := asked(labelled, hard, chosen)))


def part(group: np.ndarray, size: int, share: float, seed: str) -> np.ndarray:
    draw = random.Random(seed)
    members: dict[int, list[int]] = {}
    for document, number in enumerate(group.tolist()):
        members.setdefault(number, []).append(document)
    groups = draw.sample(sorted(members), len(members))
    chosen: list[int] = []
    while groups and len(chosen) < size:
        several = len(chosen) < share * size
        number = next((one for one in groups if len(members[one]) > 1), groups[0])
        number = number if several else groups[0]
        groups.remove(number)
        most = min(len(members[number]), max(2, size // 5) if several else 1)
        chosen += draw.sample(members[number], most)
    return np.sort(chosen[:size])


def asked(labelled: Labelled, hard: np.ndarray, chosen: np.ndarray) -> Case | None:
    """None where no pair was found: then nothing is expected."""
    gold = labelled.gold
    texts = [{"id": str(number), "text": gold.docs[number]["text"]} for number in chosen.tolist()]
    result = nd.find(texts, kinds="none")
    shown, pairs = (
        result.info["artefacts"].get("calibration", {}).get("expected"),
        of_result(result),
    )
    if not shown:
        return None
    a, b = chosen[pairs.a], chosen[pairs.b]
    differ = ~gold.identical(a, b)
    classes, _ = gold.classify(a[differ], b[differ])
    right, wrong = int((classes == 1).sum()), int((classes == 0).sum())
    wanted = int(np.isin(hard, chosen).all(axis=1).sum())
    return Case(
        len(chosen),
        Expected(**shown),
        right / (right + wrong) if right + wrong else None,
        right / wanted if wanted else None,
    )


def main() -> None:
    for name in sys.argv[1:] or SETS:
        made = list(cases(DATA / name))
        for case in made:
            print(name, *case, *case.inside, file=sys.stderr, flush=True)
        inside = list(zip(*(case.inside for case in made), strict=True))
        counts = [
            f"{sum(x is True for x in side)} of {len(side) - side.count(None)}" for side in inside
        ]
        first = made[0].expected
        print(
            f"| {name} | {first.precision:.2f} ({first.least_precision:.2f}–1) "
            f"| {made[0].precision:.2f} | {first.recall:.2f} ({first.least_recall:.2f}–1) "
            f"| {made[0].recall:.2f} | {counts[0]} | {counts[1]} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
