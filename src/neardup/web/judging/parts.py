"""The parts of judging for a target: pages of judging, and of evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from neardup.evaluation.result_lists import add_lists, read_lists
from neardup.web.evaluation.part import Evaluating
from neardup.web.judging.desk import Desk
from neardup.web.judging.part import Judging


class JudgingParts(NamedTuple):
    judging: Judging
    evaluating: Evaluating


def judging_parts(
    target: Path, *, others: Sequence[Path] = (), lists: str | Path | None = None
) -> JudgingParts:
    """``others`` are runs whose pairs are mixed into the samples; ``lists`` a file of result lists
    that is added to those that are there."""
    desk = Desk.of(target, tuple(others))
    if lists is not None:
        add_lists(desk.folder.lists_path, read_lists(lists))
    return JudgingParts(Judging(desk), Evaluating(desk))
