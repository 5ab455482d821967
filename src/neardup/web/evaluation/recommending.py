"""The recommended setting: of the runs that are looked at, at their own and higher thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from neardup.evaluation.labels import Pair
from neardup.evaluation.recommend import recommend
from neardup.evaluation.run import evaluate
from neardup.evaluation.wish import Wish

if TYPE_CHECKING:
    from neardup.outputs.result import Result


def recommended(
    results: Mapping[str, Result], labels: Mapping[Pair, str], wish: str
) -> dict[str, Any]:
    """Thresholds below that of a run cannot be answered from it."""
    rows = [{"a": pair.a, "b": pair.b, "label": label} for pair, label in labels.items()]
    found = [evaluate(result, pairs=rows, sweep=True) for result in results.values()]
    made = recommend([one for each in found for one in each.measured], Wish.parse(wish))
    inputs = next((one.recommendation.inputs for one in found if one.recommendation), made.inputs)
    return {**made.data(), "command": _command(made, inputs)}


def _command(made: Any, inputs: str) -> str | None:
    if made.chosen is None:
        return None
    return str(made.chosen.of.setting.command(made.chosen.at.cut, inputs))
