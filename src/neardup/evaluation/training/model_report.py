"""The report of a model as sections: what it is, how good it is on unseen pairs, its measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neardup.artefacts import outline
from neardup.artefacts.discriminants import Linear
from neardup.artefacts.model import Model
from neardup.evaluation.sections import Section
from neardup.report.html_page import Cell, Ranged, Table
from neardup.wording import many

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
