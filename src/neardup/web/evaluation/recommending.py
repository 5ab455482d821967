"""The recommended setting: of the runs that are looked at, at their own and higher thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neardup.evaluation.asked import Asked
from neardup.evaluation.cuts import SWEEP, Setting, parse_thresholds, settings_of
from neardup.evaluation.labels import Pair
from neardup.evaluation.lines import Measured
from neardup.evaluation.measured import Truth, measure
from neardup.evaluation.recommend import recommend
from neardup.evaluation.run import pair_columns, pasted_inputs
from neardup.evaluation.scored import of_result
from neardup.evaluation.survey import survey
from neardup.evaluation.wish import Wish
from neardup.methods import registry
from neardup.methods.cuts import own_cut
from neardup.methods.method import Method
from neardup.plan import Settings
from neardup.progress import Silent
from neardup.web.judging.training_hint import reading

if TYPE_CHECKING:
    from neardup.outputs.result import Result

COLUMNS = ("a", "b", "label")


def recommended(
    results: Mapping[str, Result], labels: Mapping[Pair, str], wish: str
) -> dict[str, Any]:
    """Thresholds below that of a run cannot be answered from it."""
    rows = [dict(zip(COLUMNS, (*pair, label), strict=True)) for pair, label in labels.items()]
    measured = [_measured(result, rows) for result in results.values()]
    made = recommend(measured, Wish.parse(wish))
    if made.chosen is None:
        return made.data()
    inputs = _inputs(list(results.values())[made.chosen.setting])
    return {**made.data(), "command": made.chosen.of.setting.command(made.chosen.at.cut, inputs)}


def _measured(result: Result, rows: Sequence[dict[str, str]]) -> Measured:
    written = result.info["settings"]
    setting = setting_of(registry.build(written["method"], written["parameters"]))
    known = survey(result.collection(), reading(result), Silent())
    gold = Asked(None, rows, pair_columns(COLUMNS), None, None, None).gold(known)
    return measure(setting, of_result(result), Truth.of(gold, known.similarity))


def setting_of(method: Method) -> Setting:
    """The run as it is, and with each higher threshold of the usual ones."""
    own = own_cut(method)
    lowest = method.threshold if own.auto else own.threshold
    (swept,) = settings_of([method], thresholds=parse_thresholds(SWEEP), usual=True)
    higher = (cut for cut in swept.cuts if cut.parameter and cut.threshold > lowest)
    return Setting(method, method, (own, *higher))


def _inputs(result: Result) -> str:
    base: Settings = reading(result)
    return pasted_inputs(result.collection(), base)
