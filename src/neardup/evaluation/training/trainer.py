"""``train``: fits a model to labelled pairs and measures how good it is.

Measures that the model does not need are left out by backward elimination: each step drops the
measure without which the log-loss of cross-validation is lowest, as long as neither log-loss nor F1
gets worse than the best so far by more than a tolerance. The elimination uses folds of its own, not
those that measure the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.artefacts.model import Model
from neardup.errors import InputError, SettingsError
from neardup.evaluation.training.fit import (
    Fitted,
    best_threshold,
    choose_parameters,
    fit,
    fit_platt,
    log_loss,
    out_of_fold,
)
from neardup.evaluation.training.folds import INNER, OUTER, Folds, folds_of
from neardup.evaluation.training.machines import (
    FEW_PAIRS,
    KINDS,
    Kind,
    Parameters,
    check_extra,
    one_thread,
)
from neardup.evaluation.training.training_data import MOST_PAIRS, Data, Material
from neardup.evaluation.training.validation import (
    Validated,
    learning_curve,
    validate,
    validate_one_of,
)
from neardup.labels.training_labels import BEYOND, unused_note
from neardup.progress import Progress, Silent

LOSS_TOLERANCE, F1_TOLERANCE = 0.02, 0.005  # the first is relative to the loss


@dataclass(frozen=True)
class Step:
    """The quality without ``left_out`` and the measures of earlier steps; the first step leaves out
    none. ``taken``: whether the measure was left out for good."""

    left_out: str | None
    log_loss: float
    f1: float
    taken: bool

    def data(self) -> dict[str, Any]:
        return {**vars(self)}


@dataclass(frozen=True)
class Trial:
    log_loss: float
    f1: float


def choose_measures(
    kind: Kind,
    data: Data,
    names: Sequence[str],
    parameters: Parameters,
    seed: int,
    advance: Callable[[int], None],
) -> tuple[tuple[int, ...], list[Step]]:
    """The columns to use, and the table of how they were chosen."""
    folds = folds_of(data, INNER, seed + 1)
    left = tuple(range(len(names)))
    first = _tried(kind, data, left, parameters, folds)
    loss, f1, steps = first.log_loss, first.f1, [Step(None, first.log_loss, first.f1, True)]
    while len(left) > 1:
        trials = {}
        for out in left:
            trials[out] = _tried(kind, data, _without(left, out), parameters, folds)
            advance(1)
        out = min(trials, key=lambda column: (trials[column].log_loss, column))
        best = trials[out]
        taken = best.log_loss <= loss * (1 + LOSS_TOLERANCE) and best.f1 >= f1 - F1_TOLERANCE
        steps.append(Step(names[out], best.log_loss, best.f1, taken))
        if not taken:
            break
        left = _without(left, out)
        loss, f1 = min(loss, best.log_loss), max(f1, best.f1)
    return left, steps


def _without(columns: tuple[int, ...], out: int) -> tuple[int, ...]:
    return tuple(column for column in columns if column != out)


def _tried(
    kind: Kind, data: Data, columns: tuple[int, ...], parameters: Parameters, folds: Folds
) -> Trial:
    g = out_of_fold(kind, data, columns, parameters, folds)
    tested = ~np.isnan(g)
    y = data.y[tested]
    probability = fit_platt(g[tested], y).probability(g[tested])
    return Trial(log_loss(probability, y), best_threshold(probability, y).f1)


FEWEST = 10  # pairs of each class
CONFIRMED = 0.02  # F1 that a choice of measures may lose in folds that did not make it
CHOOSING_PAIRS = 1500  # pairs on which measures are chosen
AUTO = "auto"
BEST, ZERO = "f1", "zero"  # thresholds
CLOSE = 0.005  # kinds whose F1 differs by less are equally good, if there is no interval
SIMPLEST_FIRST = ("linear", "trees", "rbf")


def train(
    material: Material,
    *,
    kind: str = AUTO,
    choose: bool = True,
    cut: str = BEST,
    seed: int = 0,
    max_pairs: int = MOST_PAIRS,
    progress: Progress | None = None,
) -> Model:
    """A model from labelled pairs. ``kind`` is linear, rbf, trees, or "auto" for the simplest that
    is best in cross-validation. ``choose``: use only the measures that are needed. ``cut``: "f1"
    for the threshold with the best F1, "zero" for g(x) ≥ 0."""
    check_extra()
    check_cut(cut)
    kinds = [one.as_printed() if cut == ZERO else one for one in _kinds(kind)]
    data = material.data.drawn(max_pairs, seed)
    left_out = len(material.data) - len(data)
    _check(data, material.about.get("unused", {}), drawn=left_out > 0)
    with one_thread():
        job = _Training(data, material.measures, seed, progress or Silent())
        fitted, findings = job.run(kinds, choose=choose)
    summary = {
        **material.about,
        "pairs": len(data),
        "duplicates": data.positives,
        "others": data.negatives,
        "documents": data.documents,
        "left_out": left_out,
        "fitted": min(len(data), KINDS[fitted.machine.discriminant.kind].most),
        "seed": seed,
        "cut": cut,
        "chosen_by": "cross-validation" if kind == AUTO else "the user",
        "parameters": dict(fitted.parameters),
        **findings,
    }
    return model_of(fitted, material, summary)


@dataclass
class _Training:
    """One training with its data, measures and outer folds."""

    data: Data
    names: tuple[str, ...]
    seed: int
    progress: Progress

    def __post_init__(self) -> None:
        self.columns = tuple(range(len(self.names)))
        self.folds = folds_of(self.data, OUTER, self.seed)

    def run(self, kinds: Sequence[Kind], *, choose: bool) -> tuple[Fitted, dict[str, Any]]:
        compared = self._compared(kinds)
        best = _best(compared)
        kind, steps = next(one for one in kinds if one.name == best), list[Step]()
        validated = compared[kind.name]
        if choose and len(self.columns) > 1:
            all_columns = self.columns
            self.columns, steps = self._needed(kind)
            validated = self._validated(kind)
            if validated.f1 < compared[kind.name].f1 - CONFIRMED:
                self.columns, validated = all_columns, compared[kind.name]
        fitted = fit(kind, self.data, self.columns, self.seed)
        return fitted, {
            "folds": self.folds.count,
            "not_tested": self.folds.untested,
            "kinds": {name: quality.data() for name, quality in compared.items()},
            "validated": validated.data(),
            "one_measure": validate_one_of(self.data, range(len(self.names)), self.folds).data(),
            "singles": self._singles(),
            "steps": [step.data() for step in steps],
            "curve": self._curve(kind, fitted),
            "importance": self._importance(fitted),
        }

    def _compared(self, kinds: Sequence[Kind]) -> dict[str, Validated]:
        self.progress.stage("comparing", len(kinds), unit="kinds")
        compared = {}
        for kind in kinds:
            compared[kind.name] = self._validated(kind)
            self.progress.advance(1)
        return compared

    def _validated(self, kind: Kind) -> Validated:
        return validate(kind, self.data, self.columns, self.folds, self.seed)

    def _needed(self, kind: Kind) -> tuple[tuple[int, ...], list[Step]]:
        self.progress.stage("choosing", unit="trials")
        data = self.data.balanced(FEW_PAIRS, 0).drawn(CHOOSING_PAIRS, self.seed)
        chosen = choose_parameters(kind, data, self.columns, self.seed)
        parameters = chosen or kind.grid(len(self.columns))[0]
        return choose_measures(kind, data, self.names, parameters, self.seed, self.progress.advance)

    def _curve(self, kind: Kind, fitted: Fitted) -> list[list[float]]:
        self.progress.stage("curve")
        points = learning_curve(
            kind, self.data, self.columns, self.folds, fitted.parameters, self.seed
        )
        return [list(point) for point in points]

    def _singles(self) -> dict[str, dict[str, Any]]:
        """What each measure achieves alone, the best first."""
        singles = []
        for column, name in enumerate(self.names):
            quality = validate_one_of(self.data, [column], self.folds)
            threshold = best_threshold(self.data.x[:, column], self.data.y).value
            singles.append((name, {**quality.data(), "threshold": threshold}))
        return dict(sorted(singles, key=lambda item: -item[1]["f1"]))

    def _importance(self, fitted: Fitted) -> dict[str, float]:
        """How much the log-loss grows if the values of a measure are permuted at random."""
        draw, data = np.random.default_rng([self.seed, 4]), self.data
        base = log_loss(fitted.probability(data.x), data.y)
        importance = {}
        for column in fitted.machine.columns:
            permuted = data.x.copy()
            permuted[:, column] = draw.permutation(permuted[:, column])
            grown = log_loss(fitted.probability(permuted), data.y) - base
            importance[self.names[column]] = round(grown, 6)
        return importance


def check_kind(kind: str) -> None:
    """Raise the error of an unknown kind before documents are read."""
    _kinds(kind)


def check_cut(cut: str) -> None:
    if cut not in (BEST, ZERO):
        raise SettingsError(f"cut is {cut!r}.", hint=f"expected {BEST} or {ZERO}.")


def _kinds(kind: str) -> list[Kind]:
    if kind != AUTO and kind not in KINDS:
        raise SettingsError(
            f"There is no model {kind!r}.", hint=f"expected {AUTO}, {', '.join(KINDS)}."
        )
    return list(KINDS.values()) if kind == AUTO else [KINDS[kind]]


def _check(data: Data, unused: Mapping[str, int], *, drawn: bool) -> None:
    for count, what in ((data.positives, "duplicates"), (data.negatives, "no duplicates")):
        if count < FEWEST:
            raise InputError(
                f"Of the {len(data):,} labelled pairs that can be used, {count:,} are {what}; "
                f"training needs at least {FEWEST}."
                + (f" Others are left out{unused_note(unused)}." if unused else ""),
                hint="give a larger --max-pairs."
                if drawn or BEYOND in unused
                else "label more pairs: `neardup label suggest` chooses some that teach most, "
                "and `neardup label sample` draws them at random.",
            )


def _best(validated: dict[str, Validated]) -> str:
    """The simplest kind whose F1 is within the interval of the highest: an advantage in folds of
    one collection mostly does not carry over to another."""
    best = max(validated.values(), key=lambda quality: quality.f1)
    least = best.interval.low if best.interval else best.f1 - CLOSE
    return next(
        name for name in SIMPLEST_FIRST if name in validated and validated[name].f1 >= least
    )


def model_of(fitted: Fitted, material: Material, summary: dict[str, Any]) -> Model:
    machine = fitted.machine
    return Model(
        measures=tuple(material.measures[column] for column in machine.columns),
        discriminant=machine.discriminant,
        center=machine.center,
        scale=machine.scale,
        platt=fitted.platt,
        threshold=fitted.threshold,
        text=material.text,
        trained=summary,
    )
