"""Cross-validation: measures what was trained on some documents on different documents.

``learning_curve`` measures F1 in the same way for growing numbers of labels. ``sections_of`` is the
report: what the model is, how good it is on unseen pairs, and what its measures count for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from neardup.artefacts import outline
from neardup.artefacts.arrays import Floats
from neardup.artefacts.discriminants import Linear
from neardup.artefacts.model import Model
from neardup.decisions.clusters import components
from neardup.errors import InputError
from neardup.evaluation.sections import Section
from neardup.evaluation.training.fit import best_threshold, f1, fit, log_loss
from neardup.evaluation.training.folds import Folds
from neardup.evaluation.training.machines import Kind, Parameters
from neardup.evaluation.training.training_data import Data
from neardup.labels.intervals import Interval, bootstrap, interval_of
from neardup.report.html_page import Cell, Ranged, Table
from neardup.schema import Array
from neardup.wording import many


@dataclass(frozen=True)
class Validated:
    """Measures over the tested pairs, each tested without its documents in the training."""

    f1: float
    precision: float
    recall: float
    interval: Interval | None
    log_loss: float | None = None

    def data(self) -> dict[str, Any]:
        return {**vars(self), "interval": list(self.interval) if self.interval else None}


def validate(
    kind: Kind,
    data: Data,
    columns: Sequence[int],
    folds: Folds,
    seed: int,
    parameters: Parameters | None = None,
) -> Validated:
    """Cross-validate a kind. Parameters, calibration and threshold are chosen anew in each fold, so
    the whole way from labels to a model is measured."""
    probability = np.full(len(data), np.nan)
    passed = np.zeros(len(data), bool)
    for train, test in folds.sides():
        fitted = fit(kind, data.at(train), columns, seed, parameters)
        probability[test] = fitted.probability(data.x[test])
        passed[test] = probability[test] >= fitted.threshold
    return measured(data, passed, probability)


def measured(data: Data, passed: Array, probability: Floats) -> Validated:
    """The measures; ``probability`` is NaN for pairs that were not tested."""
    tested = ~np.isnan(probability)
    units = _units(data)[tested]
    y, passed = data.y[tested] == 1, passed[tested]
    right, wrong, missed = y & passed, ~y & passed, y & ~passed
    tp, fp, fn = (int(rows.sum()) for rows in (right, wrong, missed))
    return Validated(
        f1=f1(data.y[tested], passed),
        precision=tp / max(tp + fp, 1),
        recall=tp / max(tp + fn, 1),
        interval=_interval(units, right, wrong, missed),
        log_loss=log_loss(probability[tested], data.y[tested]),
    )


def _units(data: Data) -> Array:
    """Sampling units for the bootstrap: pairs of documents that are duplicates of each other are
    drawn together."""
    count = int(max(data.a.max(), data.b.max())) + 1
    same = data.y == 1
    cluster = components(count, data.a[same], data.b[same])
    return np.where(cluster < 0, count + np.arange(count), cluster)[data.a]


def _interval(units: Array, *counted: Array) -> Interval | None:
    """The 95 % interval of F1, by resampling units."""
    names, place = np.unique(units, return_inverse=True)
    sums = [np.bincount(place, weights=counts)[:, None] for counts in counted]
    return interval_of(bootstrap(names, *sums).f1()[:, 0])


def validate_one_of(data: Data, columns: Sequence[int], folds: Folds) -> Validated:
    """Validate the best single measure; it and its threshold are chosen anew in each fold."""
    passed, tested = np.zeros(len(data), bool), np.full(len(data), np.nan)
    for train, test in folds.sides():
        at = {column: best_threshold(data.x[train, column], data.y[train]) for column in columns}
        best = max(at, key=lambda column: at[column].f1)
        passed[test] = data.x[test, best] >= at[best].value
        tested[test] = 0.5  # marks the pair as tested: measures are no probabilities
    return replace(measured(data, passed, tested), log_loss=None)


SIZES = (20, 40, 80, 160, 320, 640, 1280, 2560)


class Point(NamedTuple):
    labels: int
    f1: float


def learning_curve(
    kind: Kind, data: Data, columns: Sequence[int], folds: Folds, parameters: Parameters, seed: int
) -> list[Point]:
    """F1 against the number of labels: each fold is tested with what the first *n* other pairs in a
    random order taught. Sizes for which a fold has too few pairs are left out."""
    draw = np.random.default_rng([seed, 3])
    sides = [(draw.permutation(train), test) for train, test in folds.sides()]
    fewest = min(len(train) for train, _ in sides)
    sizes = [n for n in SIZES if n < fewest] + [fewest]
    points = (_point(kind, data, columns, sides, n, parameters, seed) for n in sizes)
    return [point for point in points if point is not None]


def _point(
    kind: Kind,
    data: Data,
    columns: Sequence[int],
    sides: Sequence[tuple[np.ndarray, np.ndarray]],
    size: int,
    parameters: Parameters,
    seed: int,
) -> Point | None:
    y, passed = [], []
    for train, test in sides:
        try:
            fitted = fit(kind, data.at(np.sort(train[:size])), columns, seed, parameters)
        except InputError:  # too few pairs of one class among them
            return None
        y.append(data.y[test])
        passed.append(fitted.passed(data.x[test]))
    return Point(size, f1(np.concatenate(y), np.concatenate(passed)))


Told = Mapping[str, Any]


def sections_of(model: Model) -> list[Section]:
    """A model from elsewhere has no record of its training, and fewer sections."""
    told = model.trained
    made = [_about(model, told)]
    if "kinds" in told:
        made.append(_quality(model, told))
    made.append(_measures(model, told))
    if told.get("steps"):
        made.append(_steps(told))
    if told.get("curve"):
        made.append(_curve(told))
    return made


def _about(model: Model, told: Told) -> Section:
    said = [
        f"{model.discriminant.kind} over {many(len(model.measures), 'measure')}. A pair is a "
        f"duplicate if its probability is at least {model.threshold:.3f}"
        f"{', which is g(x) ≥ 0' if told.get('cut') == 'zero' else ''}."
    ]
    if model.discriminant.monotone():
        said.append("A pair that is more similar in any measure never has a lower score.")
    if "pairs" in told:
        said.append(
            f"Trained on {many(told['pairs'], 'pair')} ({told['duplicates']:,} duplicates, "
            f"{told['others']:,} not) of {told['documents']:,} documents, from {told['labels']}."
        )
    paragraphs = [" ".join(said)]
    if unused := dict(told.get("unused", {})):
        listed = ", ".join(f"{count:,} {why}" for why, count in unused.items())
        paragraphs.append(f"Labelled pairs that could not be used: {listed}.")
    if "pairs" in told and (fitted := told.get("fitted", told["pairs"])) < told["pairs"]:
        paragraphs.append(
            f"The model was fitted to {fitted:,} of them; all set the probability and threshold."
        )
    if left := told.get("left_out"):
        paragraphs.append(
            f"{many(left, 'more labelled pair')} were left out because of --max-pairs."
        )
    if ranges := outline.stated_ranges(told.get(outline.NAME)):
        paragraphs.append(f"Nearly all documents of the training have {', '.join(ranges)}.")
    paragraphs.append(f"digest {model.digest}")
    return Section("Model", "\n\n".join(paragraphs))


def _quality(model: Model, told: Told) -> Section:
    best = next(iter(told["singles"].items()))
    chosen = f"{model.discriminant.kind}, {many(len(model.measures), 'measure')}"
    rows = [[chosen, *_cells(told["validated"])]]
    others = {kind: one for kind, one in told["kinds"].items() if one != told["validated"]}
    rows += [[f"{kind}, all measures", *_cells(one)] for kind, one in others.items()]
    rows.append(["one measure, chosen in each fold", *_cells(told["one_measure"])])
    rows.append([f"{best[0]} ≥ {best[1]['threshold']:.3f}, the best one seen", *_cells(best[1])])
    header = ("what", "F1", "precision", "recall", "log-loss")
    return Section(
        "How good", _said(told, model.discriminant.kind), Table(header, rows, marked=(0,))
    )


def _cells(one: Told) -> list[Cell]:
    ranged = Ranged(one["f1"], tuple(one["interval"]) if one["interval"] else None)
    return [ranged, one["precision"], one["recall"], one["log_loss"]]


def _said(told: Told, kind: str) -> str:
    tested = f"Cross-validation in {told['folds']} folds; no document is in training and test."
    if untested := told["not_tested"]:
        tested += f" {many(untested, 'pair')} between folds could not be tested."
    kinds = ", ".join(told["kinds"])
    if len(told["kinds"]) > 1:
        tested += f" The simplest of {kinds} within the interval of the best F1 was chosen."
    return f"{tested}\n\n{_brought(told['kinds'][kind], told['one_measure']['f1'])}"


def _brought(model: Told, alone: float) -> str:
    """Both were chosen anew in each fold; what was chosen of the measures saw all pairs."""
    gain = round(model["f1"] - alone, 3)
    if not gain:
        return (
            "With all measures, the model has the same F1 as one measure with a threshold, chosen "
            "in the same folds."
        )
    more = "higher" if gain > 0 else "lower"
    low, high = model["interval"] or (0.0, 1.0)
    chance = ", which may be chance" if low <= alone <= high else ""
    return (
        f"With all measures, the F1 of the model is {abs(gain):.3f} {more} than that of one "
        f"measure with a threshold, chosen in the same folds{chance}."
    )


def _measures(model: Model, told: Told) -> Section:
    linear = model.discriminant if isinstance(model.discriminant, Linear) else None
    importance, singles = told.get("importance", {}), told.get("singles", {})
    rows: list[list[Cell]] = []
    for place, name in enumerate(model.measures):
        weight = float(linear.weights[place]) if linear else None
        alone = singles.get(name, {})
        rows.append([name, weight, importance.get(name), alone.get("f1"), alone.get("threshold")])
    header = ("measure", "weight", "importance", "F1 alone", "from")
    kept = [0, *([1] if linear else []), *([2, 3, 4] if singles else [])]
    said = (
        "The importance of a measure is how much the log-loss grows when its values are shuffled."
    )
    table = Table([header[i] for i in kept], [[row[i] for i in kept] for row in rows])
    return Section("Measures", said if importance else "", table)


def _steps(told: Told) -> Section:
    rows = [
        [step["left_out"] or "none", step["log_loss"], step["f1"], "yes" if step["taken"] else "no"]
        for step in told["steps"]
    ]
    rows[0][-1] = ""
    said = "Measures were left out one by one while cross-validation did not become worse."
    header = ("without", "log-loss", "F1", "left out")
    return Section("Which measures are needed", said, Table(header, rows))


def _curve(told: Told) -> Section:
    said = "F1 on documents outside the training, by the number of labels, in a random order."
    rows = [[int(labels), f1] for labels, f1 in told["curve"]]
    return Section("What labels are worth", said, Table(("labels", "F1"), rows))
