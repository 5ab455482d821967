"""How alike the pairs are, and where the threshold stands among them."""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.artefacts.calibration import GENERAL, LEAST_DOUBT, PLANTED, UNLIKE, USUAL, VALLEY
from neardup.counted import many
from neardup.outputs.html.page import card, prose
from neardup.outputs.html.safe import Html
from neardup.outputs.html.table import Share, Table, percent, table_html
from neardup.outputs.report.bars import Bin, histogram, scale
from neardup.outputs.report.run import Run
from neardup.schema import Array

STEPS = 20  # bins from 0 to 1; those below the first score are left out


def scores(run: Run) -> Html:
    score, what = _scores(run)
    if not len(score):
        return card("Scores", prose("There are no pairs to show."), anchor="scores")
    told = [
        f"{many(len(score), what)}, by how alike the two documents are: 0 is nothing in "
        "common, 1 the same."
    ]
    told.append(_cut(run, score))
    if refused := run.info.get("refused"):
        told.append(
            f"{many(refused, 'candidate pair')} beside these share a template and have other "
            "content: no duplicates, whatever their score."
        )
    if score.min() == 1.0:
        told.append("All of them have the score 1.")
        return card("Scores", prose("\n\n".join(told)), anchor="scores")
    first, bins = _bins(score, run.result.threshold)
    if scale([one.count for one in bins])[1]:
        told.append("The tallest bar is cut; its number stands above it.")
    line = (run.result.threshold - first / STEPS) * STEPS
    said = f"{_word(run)} {run.result.threshold:.4g}"
    drawn = histogram(f"{what}s by score", bins, line=line, said=said)
    table = Table(("score", f"{what}s"), [(one.label, one.count) for one in bins if one.count])
    folded = f"<details><summary>The numbers</summary>{table_html(table)}</details>"
    return card("Scores", prose("\n\n".join(told)), drawn, folded, anchor="scores")


def _scores(run: Run) -> tuple[Array, str]:
    """All verified pairs where they are listed, else those that decided."""
    result = run.result
    if result.pairs_complete:
        return np.asarray(result.pairs["score"], dtype=np.float64), "pair"
    return np.asarray(result.duplicates["score"], dtype=np.float64), "set-aside document"


def _bins(score: Array, threshold: float) -> tuple[int, list[Bin]]:
    """From the lowest score or the threshold; what is exactly 1 stands apart."""
    below = score[score < 1]
    place = np.minimum((below * STEPS + 1e-9).astype(np.int64), STEPS - 1)
    first = max(0, min(int(place.min(initial=STEPS - 1)), int(threshold * STEPS + 1e-9) - 1))
    counts = np.bincount(place, minlength=STEPS)[first:]
    bins = [
        Bin(f"{i / STEPS:.2f} to {(i + 1) / STEPS:.2f}", int(count), f"{i / STEPS:.2f}")
        for i, count in enumerate(counts, first)
    ]
    return first, [*bins, Bin("exactly 1", int(len(score) - len(below)), "= 1", alone=True)]


def _word(run: Run) -> str:
    return "cut" if _calibration(run) else "threshold"


def _calibration(run: Run) -> dict[str, Any] | None:
    found: dict[str, Any] | None = run.info.get("artefacts", {}).get("calibration")
    return found


CUT = {
    VALLEY: "The collection itself says where duplicates begin: at {}, in a clear valley of the "
    "scores, where few pairs are neither alike nor unlike.",
    LEAST_DOUBT: "Duplicates begin at {}, near the cut of the model, where the smallest share of "
    "them is in doubt in this collection.",
    PLANTED: "Duplicates begin at {}, where copies with planted edits and traps, made of documents "
    "of this collection, are told apart best.",
    USUAL: "Duplicates begin at {}, the usual cut of the method: the scores of this collection "
    "have no clear valley that would say otherwise.",
    UNLIKE: "Duplicates begin at {}, the cut of the model. This collection is unlike what the "
    "model was trained on, so nothing passes by standing out, and probabilities may be wrong.",
    GENERAL: "Duplicates begin at {}, the threshold for general tables: no collection was counted.",
}


def _cut(run: Run, score: Array) -> str:
    threshold = run.result.threshold
    made = _calibration(run)
    if made is None:
        return f"Two documents are duplicates from a score of {threshold:.4g} on."
    told = [CUT[made["by"]].format(f"{threshold:.4g}")]
    if made["found"] is not None:
        told.append(
            f"Of copies with planted edits {made['found']:.0%} are found there, and "
            f"{made['trapped']:.0%} of the traps, which share only a frame, pass."
        )
    if made.get("stability") is not None:
        told.append(
            f"A cut 0.05 higher or lower would not touch {made['stability']:.0%} of the pairs "
            "above it."
        )
    if faint := int(np.count_nonzero(score < threshold)):
        share = percent(Share(faint, len(score)))
        stands = "pair stands" if faint == 1 else "pairs stand"
        told.append(
            f"{faint:,} {stands} out below it ({share}): far more alike than anything else near "
            "these documents."
        )
    return " ".join(told)
