"""Correct, incorrect and undecided pairs within and across sources (Henzinger 2006; the lecture).

Supershingles: 84 minima of 8-word shingles, 6 groups of 14, of which 2 must be equal. SimHash: 124
of 128 bits equal, the same share as Henzinger's 372 of 384. Combined: pairs that both return. Her
assessors judged a sample; here all pairs with a gold label are counted, and the others are
undecided.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neardup.errors import SettingsError
from neardup.labels.gold import NEGATIVE, POSITIVE, UNKNOWN, Gold
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, bars
from neardup.papers.paper_pass import Material, Pass, partial_notes, read
from neardup.progress import Progress
from neardup.schema import Array

PAPER = "Henzinger 2006, by the lecture"
METHODS: dict[str, dict[str, Any]] = {
    "supershingles": {"method": "supershingles", "variant": "henzinger"},
    "SimHash": {"method": "simhash", "bits": 128, "distance": 4},
}
CLASSES = {"correct": POSITIVE, "incorrect": NEGATIVE, "undecided": UNKNOWN}
# (algorithm, sources) → share correct, share incorrect. The lecture prints all pairs and those of
# different sites (152 of 1,910; 479 of 1,872); those of the same site are computed from them.
PRINTED = {
    ("supershingles", "all"): (0.38, 0.53),
    ("supershingles", "same source"): (0.34, 0.57),
    ("supershingles", "different sources"): (0.86, 0.06),
    ("SimHash", "all"): (0.50, 0.27),
    ("SimHash", "same source"): (0.36, 0.35),
    ("SimHash", "different sources"): (0.90, 0.05),
    ("combined", "all"): (0.79, None),  # in the abstract of the paper
}
FORMATS = {
    "algorithm": "",
    "sources": "",
    "pairs": ",",
    **dict.fromkeys(CLASSES, ".3f"),
    "paper: correct": ".2f",
    "paper: incorrect": ".2f",
}


def sources(inputs: Any, options: Options, progress: Progress) -> Experiment:
    if options.gold is None or options.source is None:
        raise SettingsError(
            "henzinger2006 needs gold and a column with the source of each document.",
            hint="give --group COLUMN or --pairs FILE, and --source COLUMN.",
        )
    material = read(inputs, options, progress)
    passes = {name: material.find(**settings) for name, settings in METHODS.items()}
    rows = table_rows(passes, material)
    table = Table("pairs", "Pairs by algorithm and source", FORMATS, rows)
    return material.experiment(
        "henzinger2006",
        PAPER,
        {name: matched.settings for name, matched in passes.items()},
        [table],
        [Figure("pairs", "Correct, incorrect, undecided", lambda: _chart(rows))],
        notes=[*partial_notes(passes.values()), "Combined: the pairs that both algorithms return."],
    )


def table_rows(passes: dict[str, Pass], material: Material) -> list[Row]:
    assert material.gold is not None
    source = np.unique(material.column(material.options.source or ""), return_inverse=True)[1]
    both = combined(*passes.values())
    rows = []
    for name, matched in {**passes, "combined": both}.items():
        same = source[matched.a] == source[matched.b]
        for of, chosen in (
            ("all", np.ones(len(same), bool)),
            ("same source", same),
            ("different sources", ~same),
        ):
            shares = _shares(matched.where(chosen), material.gold)
            p = PRINTED.get((name, of), (None, None))
            printed = {"paper: correct": p[0], "paper: incorrect": p[1]}
            rows.append({"algorithm": name, "sources": of, **shares, **printed})
    return rows


def combined(first: Pass, second: Pass) -> Pass:
    """The pairs that both passes return."""
    return first.where(np.isin(first.keys(), second.keys()))


def _shares(matched: Pass, gold: Gold) -> Row:
    classes: Array = gold.classes(matched.a, matched.b)
    shares = {
        name: float((classes == value).mean()) if len(matched) else None
        for name, value in CLASSES.items()
    }
    return {"pairs": len(matched), **shares}


def _chart(rows: list[Row]) -> Any:
    drawn = [
        {"algorithm": row["algorithm"], "sources": row["sources"], "judged": name,
         "share": row[name]}
        for row in rows
        for name in CLASSES
    ]  # fmt: skip
    order = list(dict.fromkeys(row["sources"] for row in rows))
    x, y = ("sources", "sources of the two"), ("share", "share of the pairs")
    return bars(drawn, x, y, "judged", order, facet="algorithm", form=".0%")
