"""The evaluation of a run from the labels that people gave its pairs, as one page.

Precision by score and over thresholds is made at once. The learning curve and the recommended
setting take longer: they are computed in the background, one at a time, once for each state of the
labels. The recommendation chooses among the reviewed runs, at their own and higher thresholds.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.errors import NeardupError
from neardup.evaluation.evaluation import pasted_inputs
from neardup.evaluation.measurement import Measured, Truth, measure
from neardup.evaluation.recommendation import Wish, recommend
from neardup.evaluation.scored_pairs import of_result, survey
from neardup.evaluation.swept_settings import SWEEP, Setting, parse_thresholds, settings_of
from neardup.labels.agreement import Verdicts, verdicts
from neardup.labels.gold_request import GoldRequest
from neardup.labels.judged_samples import by_stratum, curve, found_by, judged_of, kind_table
from neardup.labels.label_store import LABELS, UNDECIDED, Label, Pair
from neardup.labels.labelled_pairs import pair_columns
from neardup.labels.samples import DRAWN
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.methods.thresholds import own_cut
from neardup.progress import Silent
from neardup.report.figures import UNIT, Axis, BarSeries, Figure, Series, bar_panel, line_panel
from neardup.report.html_page import Html
from neardup.schema import KINDS
from neardup.settings import Settings
from neardup.web.app import Link, Part
from neardup.web.doors import Door
from neardup.web.judging.desk import KIND, Desk, labelled_of, material_of_run, missing_labels
from neardup.web.judging.judging_front import reading, train_command
from neardup.web.judging.judging_results import measured
from neardup.web.pages import Data

if TYPE_CHECKING:
    from neardup.labels.training_labels import Labelled
    from neardup.runs.result import Result

LOG = logging.getLogger("neardup.web")
MOST = 32  # names whose outcome is kept
COMPUTING, READY, FAILED = "computing", "ready", "failed"


@dataclass(frozen=True)
class Outcome:
    state: str
    value: Any = None
    reason: str | None = None

    def data(self) -> dict[str, Any]:
        return {"state": self.state, "value": self.value, "reason": self.reason}


class Background:
    """Computes in threads, which end with the process, and keeps the latest outcome of each
    name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turn = threading.Lock()
        self._known: dict[str, tuple[str, Outcome]] = {}
        self._threads: set[threading.Thread] = set()

    def ask(self, name: str, state: str, compute: Callable[[], Any]) -> Outcome:
        """What ``compute`` gives for this state, or that it is being computed."""
        with self._lock:
            known = self._known.get(name)
            if known and known[0] == state:
                return known[1]
            begun = Outcome(COMPUTING)
            self._known.pop(name, None)
            self._known[name] = state, begun
            if len(self._known) > MOST:
                del self._known[next(iter(self._known))]
            thread = threading.Thread(target=self._run, args=(name, state, compute), daemon=True)
            self._threads.add(thread)
            thread.start()
            return begun

    def _run(self, name: str, state: str, compute: Callable[[], Any]) -> None:
        with self._turn:
            wanted = self._known.get(name, ("",))[0] == state  # else newer labels have come
            outcome = _outcome(compute) if wanted else Outcome(COMPUTING)
        with self._lock:
            if self._known.get(name, ("",))[0] == state:
                self._known[name] = state, outcome
            self._threads.discard(threading.current_thread())

    def wait(self) -> None:
        """Waits until nothing is being computed."""
        for thread in list(self._threads):
            thread.join()


def _outcome(compute: Callable[[], Any]) -> Outcome:
    try:
        return Outcome(READY, compute())
    except NeardupError as error:
        return Outcome(FAILED, reason=str(error))
    except Exception as error:
        LOG.exception("an evaluation failed")
        return Outcome(FAILED, reason=f"Unexpected {type(error).__name__}: see the log.")


def learned(result: Result, labelled: Labelled) -> dict[str, Any]:
    """What training on the labels gives, with the kind of model that is quickly trained. The
    command ``neardup train`` tries the others too."""
    from neardup.evaluation.training.machines import check_extra
    from neardup.evaluation.training.trainer import train

    check_extra()
    model = train(material_of_run(result, labelled), kind=KIND, choose=False)
    known = model.trained
    return {name: known[name] for name in ("curve", "validated", "one_measure", "pairs")}


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
    gold = known.gold(GoldRequest(pairs=rows, columns=pair_columns(COLUMNS)))
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


Rows = Sequence[dict[str, Any]]


def strata_figure(rows: Rows) -> Html | None:
    if not rows:
        return None
    bars = BarSeries(
        "precision",
        [row["precision"] for row in rows],
        [row["interval"] for row in rows],
        [f"{row['duplicates']} of {row['judged']} judged are duplicates" for row in rows],
    )
    groups = [(f"{row['low']:.2f}", f"to {row['high']:.2f}") for row in rows]
    title = "Precision in each class of the score"
    return Figure([bar_panel(title, groups, [bars], x_label="score of the pairs")]).html()


def threshold_figure(points: Rows, own: float, name: str) -> Html | None:
    if len(points) < 2:
        return None
    series = [
        Series(label, [(p["threshold"], p[key]) for p in points if p[key] is not None])
        for key, label in (("precision", "precision"), ("recall", "recall"), ("f1", "F1"))
    ]
    band = [(p["threshold"], *p["precision_interval"]) for p in points if p["precision_interval"]]
    series[0] = Series("precision and its interval", series[0].points, band)
    x = Axis.of("threshold", [p["threshold"] for p in points], form=".2f", tight=True)
    title = f"Precision, recall and F1 of {name} over its thresholds"
    panel = line_panel(title, series, x, mark=own)
    return Figure([panel], [one.label for one in series]).html()


def learning_figure(points: Sequence[Sequence[float]]) -> Html | None:
    if len(points) < 2:
        return None
    spots = [(math.log2(labels), f1) for labels, f1 in points]  # sizes double
    ticks = [(x, f"{labels:,.0f}") for (x, _), (labels, _) in zip(spots, points, strict=True)]
    x, y = Axis("labels", spots[0][0], spots[-1][0], ticks), Axis("F1", 0, 1, UNIT.ticks)
    title = "F1 on documents that were not trained on, against the number of labels"
    return Figure([line_panel(title, [Series("F1", spots)], x, y)]).html()


WISHES = ("f1", "precision=0.9", "precision=0.95", "precision=0.99", "recall=0.9", "recall=0.95")


class Evaluating(Part):
    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.background = Background()

    @property
    def links(self) -> Sequence[Link]:
        return [Link("/evaluation", "Evaluation")]

    def doors(self) -> Sequence[Door]:
        return [Door("/evaluation", self.evaluation, template="evaluation/evaluation.html")]

    def evaluation(self, wish: str = "f1") -> Data:
        Wish.parse(wish)  # refuses what is none
        word = verdicts(self.desk.folder.labels())
        drawn = [name for name in self.desk.folder.samples() if name.startswith(DRAWN)]
        current = [name for name in drawn if self.desk.is_current(name)]
        return {
            "run": self.desk.name,
            "runs": list(self.desk.runs),
            "labels": _counts(word),
            "stale": [name for name in drawn if name not in current],
            **self._estimates(current, word),
            **self._curves(current, word),
            "learning": self._learning(word),
            "wish": wish,
            "wishes": sorted({*WISHES, wish}, key=[*WISHES, wish].index),
            "recommended": self._recommended(word, wish),
            "train": train_command(self.desk),
        }

    def _estimates(self, current: Sequence[str], word: Verdicts) -> Data:
        """The estimates from the sample of which most is decided."""
        keys = {name: self.desk.key(name) for name in current}
        decided = {
            name: sum(pair in word.settled for pair in key.pairs.values())
            for name, key in keys.items()
        }
        best = max(current, key=decided.__getitem__, default=None)
        if best is None or not decided[best]:
            return {"sample": None, "treatments": [], "strata": [], "strata_figure": None}
        strata = by_stratum(keys[best], self.desk.name, word.settled)
        return {
            "sample": best,
            "treatments": measured(keys[best], word),
            "strata": strata,
            "strata_figure": strata_figure(strata),
        }

    def _curves(self, current: Sequence[str], word: Verdicts) -> Data:
        """The curve of each run over its thresholds, and the table of its kinds."""
        keys = [self.desk.key(name) for name in current]
        curves, table = {}, {}
        for name, result in self.desk.results().items():
            found = found_by(result, list(word.settled))
            judged = judged_of(keys, name, word.settled, found)
            points = [
                one.data()
                for one in curve(judged, result.pairs["score"].to_numpy(), result.threshold)
            ]
            curves[name] = {
                "points": points,
                "judged": len(judged),
                "threshold": result.threshold,
                "figure": threshold_figure(points, result.threshold, name),
            }
            if name == self.desk.name:
                table = kind_table(word.settled, found)
        said = {column for row in table.values() for column in row} | table.keys()
        kinds = {"table": table, "kinds": [kind for kind in KINDS if kind in said]}
        return {"curves": curves, "kinds": kinds}

    def _learning(self, word: Verdicts) -> Data:
        labelled = labelled_of(self.desk.folder)
        if missing := missing_labels(labelled):
            return {"state": "missing", "value": None, "reason": missing, "figure": None}
        result = self.desk.results()[self.desk.name]
        asked = self.background.ask(
            "learning", _state(word.settled), lambda: learned(result, labelled)
        )
        points = asked.value["curve"] if asked.value else []
        return {**asked.data(), "figure": learning_figure(points)}

    def _recommended(self, word: Verdicts, wish: str) -> Data:
        labels = _decided(word.settled)
        if not labels:
            return {"state": "missing", "value": None, "reason": "No pair is decided yet."}
        results = self.desk.results()
        state = f"{wish} {_state(word.settled)}"
        return self.background.ask(
            f"recommended {wish}", state, lambda: recommended(results, labels, wish)
        ).data()


def _decided(settled: Mapping[Pair, Label]) -> dict[Pair, str]:
    return {p: str(one.label) for p, one in settled.items() if one.label != UNDECIDED}


def _counts(word: Verdicts) -> dict[str, int]:
    said = [label.label for label in word.settled.values()]
    counts: dict[str, Any] = {label: said.count(label) for label in LABELS}
    return {**counts, "disputed": len(word.disputed)}


def _state(settled: Mapping[Pair, Label]) -> str:
    """A digest of the labels that count."""
    rows = sorted((*pair, str(label.label)) for pair, label in settled.items())
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
