"""Precision, recall and F1 of q-grams and three baselines over thresholds (Montanari & Puglisi
2012, Figures 5–6).

The paper's LSH and I-Match are programs of the authors of SpotSigs, and they probably compared spot
signatures: LSH returned one pair more than SpotSigs at every threshold. Both baselines therefore
run on words and on spots. I-Match has no threshold and is drawn as a level line.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from neardup.errors import SettingsError
from neardup.methods.spotsigs import spots
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, lines
from neardup.papers.paper_pass import Material, Pass, measured, partial_notes, read
from neardup.progress import Progress
from neardup.text.words import words

PAPER = "Montanari & Puglisi 2012"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)
FEWEST_SPOTS = 5
# method → (on spots?, settings)
METHODS: Mapping[str, tuple[bool, dict[str, Any]]] = {
    "DDD (q-grams)": (False, {"recipe": "montanari2012"}),
    "SpotSigs": (False, {"method": "spotsigs", "min_spots": FEWEST_SPOTS}),
    "LSH on words": (False, {"method": "shingles", "keys": "bands"}),
    "LSH on spots": (
        True,
        {"method": "shingles", "words": 1, "keys": "bands", "min_words": FEWEST_SPOTS},
    ),
    "I-Match on words": (False, {"method": "imatch"}),
    "I-Match on spots": (True, {"method": "imatch", "min_terms": FEWEST_SPOTS}),
}
# Figure 5: F1 at the thresholds, in order
PRINTED = {
    "DDD (q-grams)": (0.902, 0.942, 0.953, 0.953, 0.943),
    "SpotSigs": (0.800, 0.844, 0.829, 0.791, 0.791),
    "LSH on spots": (0.806, 0.850, 0.835, 0.798, 0.798),
    "I-Match on spots": (0.731, 0.731, 0.731, 0.705, 0.717),
}
PANELS = {"F1": "F1", "paper's F1": "F1 in the paper", "precision": "precision", "recall": "recall"}
FORMATS = {
    "threshold": ".1f",
    "method": "",
    "T": ",",
    "T∩C": ",",
    "recall": ".3f",
    "precision": ".3f",
    "F1": ".3f",
    "paper's F1": ".3f",
}


def quality(inputs: Any, options: Options, progress: Progress) -> Experiment:
    if options.gold is None:
        raise SettingsError(
            "montanari2012 needs gold.", hint="give --group COLUMN or --pairs FILE."
        )
    material = read(inputs, options, progress)
    passes = _passes(material)
    rows = [
        {"threshold": t, "method": name, **_measures(matched, t, material), **_printed(name, t)}
        for t in THRESHOLDS
        for name, matched in passes.items()
    ]
    figure_5 = Table(
        "figure_5",
        "Figure 5: methods over thresholds",
        FORMATS,
        rows,
        note="T: returned pairs that have a gold label; T∩C: the correct ones.",
    )
    return material.experiment(
        "montanari2012",
        PAPER,
        {name: matched.settings for name, matched in passes.items()},
        [figure_5, _best_table(rows)],
        [Figure("figure_6", "Figure 6: F1, precision and recall", lambda: _chart(rows))],
        notes=[*partial_notes(passes.values()), *_notes(material)],
    )


def _notes(material: Material) -> list[str]:
    notes = ["The printed figures of LSH and I-Match are shown beside those on spots."]
    if material.gold is not None and not material.gold.complete:
        notes.append("The gold does not label all pairs; pairs without a label are left out.")
    return notes


def _passes(material: Material) -> dict[str, Pass]:
    on_spots = spot_documents(material.table)
    lowest = {"threshold": THRESHOLDS[0]}
    passes = {}
    for name, (spotted, settings) in METHODS.items():
        threshold = {} if settings.get("method") == "imatch" else lowest
        passes[name] = material.find(on_spots if spotted else None, **settings, **threshold)
    return passes


def spot_documents(table: pa.Table) -> pa.Table:
    """The documents with one word for each spot. The n-th occurrence of a spot is a word of its
    own, so that a set of words represents a multiset of spots."""
    texts = [_spotted(text) for text in table["text"].to_pylist()]
    place = table.schema.get_field_index("text")
    return table.set_column(place, "text", pa.array(texts, pa.large_string()))


def _spotted(text: str) -> str:
    """The spots of a text as words. A text of too few spots becomes one word that equals only that
    of the same text."""
    text_spots = spots(text)
    if len(text_spots) < FEWEST_SPOTS:
        return _word(" ".join(words(text)))
    seen: Counter[str] = Counter()
    spot_words = []
    for spot in text_spots:
        seen[spot] += 1
        spot_words.append(_word(f"{spot} {seen[spot]}"))
    return " ".join(spot_words)


def _word(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()


def _measures(matched: Pass, threshold: float, material: Material) -> Row:
    assert material.gold is not None
    passing = matched if matched.settings["method"] == "imatch" else matched.at(threshold)
    measures = measured(passing, material.gold)
    shares = {"recall": measures["recall"], "precision": measures["precision"], "F1": measures["F"]}
    return {"T": measures["judged"], "T∩C": measures["correct"], **shares}


def _printed(name: str, threshold: float) -> Row:
    values = PRINTED.get(name)
    return {"paper's F1": values[THRESHOLDS.index(threshold)] if values else None}


def _best_table(rows: list[Row]) -> Table:
    best = []
    for name in METHODS:
        own = [row for row in rows if row["method"] == name]
        highest = max(own, key=lambda row: row["F1"] or 0)
        printed = max((row["paper's F1"] for row in own if row["paper's F1"]), default=None)
        best.append({**highest, "paper's best F1": printed})
    formats = {**FORMATS, "paper's best F1": ".3f"}
    del formats["paper's F1"]
    return Table("best", "§4: each method at its best threshold", formats, best)


def _chart(rows: list[Row]) -> Any:
    panels = [
        {"threshold": r["threshold"], "method": r["method"], "measure": title, "value": r[name]}
        for name, title in PANELS.items()
        for r in rows
        if r[name] is not None
    ]
    x, y = ("threshold", "threshold"), ("value", "share")
    return lines(panels, x, y, "method", facet="measure", unit=True, columns=2)
