"""Sets of duplicates and their agreement with gold sets (Conrad et al. 2003, Tables 2, 6, 7, 8).

The paper has two methods: the fingerprint of six terms for identical documents, and the vector of
60 terms for different ones. With gold, the number of terms that must be shared is chosen on half of
the gold sets, and both halves are scored, as in §7.2. Documents of different halves are not
compared, as in the paper documents of different queries were not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup.decisions.clusters import components
from neardup.labels.gold import Gold
from neardup.labels.set_agreement import SetAgreement, set_agreement
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, bars
from neardup.papers.paper_pass import Material, Pass, inside_sets, partial_notes, read, set_kinds
from neardup.progress import Progress
from neardup.schema import Array

PAPER = "Conrad, Guo & Schriber 2003"
TERMS = 60
IN_COMMON = tuple(range(30, TERMS + 1, 3))
PRINTED = 48  # of 60: .8
HALVES = ("training", "test")
KINDS_FORMAT = {
    "method": "",
    "category": "",
    "sets": ",",
    "share of sets": ".1%",
    "documents": ",",
    "share of documents": ".1%",
    "ALLNEWS sets": ".1%",
    "ALLNEWSPLUS sets": ".1%",
    "ALLNEWS documents": ".1%",
    "ALLNEWSPLUS documents": ".1%",
}
# Table 2: the kinds of each category, and the printed shares of sets and of documents
CATEGORIES: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "1 exact": (("identical", "normalised", "layout"), (0.381, 0.476, 0.361, 0.549)),
    "2 excerpt": (("excerpt",), (0.073, 0.111, 0.036, 0.097)),
    "3 elaboration": (("elaboration",), (0.073, 0.080, 0.059, 0.069)),
    "4 insertion": (("insertion",), (0.073, 0.0, 0.059, 0.0)),
    "5 focus (rewrite)": (("rewrite",), (0.400, 0.333, 0.485, 0.285)),
    "6 revision, other": (("revision", "other"), (0.0, 0.0, 0.0, 0.0)),
}
MOST_KINDS = 20_000  # pairs whose texts are read again
SIZES_FORMAT = {"size": "", "gold": ",", "fingerprint": ",", "term vector": ","}
AGREEMENT_FORMAT = {
    "method": "",
    "terms": "",
    "sets": "",
    "half": "",
    "gold_sets": ",",
    "agreement": ",",
    "partial": ",",
    "misses": ",",
    "overlapping": ",",
    "over_identified": ",",
    "unjudged": ",",
    "recall": ".4f",
    "precision": ".4f",
}
SIZE_NAMES = ("pairs", "triples", "quadruplets", "quintuplets", "sextuplets", "larger")
CLUSTERS = ("rule", "components")
Halves = npt.NDArray[np.int64]


def sets(inputs: Any, options: Options, progress: Progress) -> Experiment:
    material = read(inputs, options, progress)
    passes = _passes(material)
    usual = {"fingerprint": passes["fingerprint"], "term vector": _sharing(passes, PRINTED)}
    gold = material.gold
    gold_sets = components(gold.documents, *gold.positives()) if gold else None
    found_sets = {name: matched.pairs.clusters() for name, matched in usual.items()}
    tables = [_kinds_table(usual, found_sets, material), _sizes_table(found_sets, gold_sets)]
    figures = [Figure("sizes", "Sizes of duplicate sets", lambda: _sizes_chart(tables[1]))]
    if options.source:
        tables.append(_queries_table(found_sets, material.column(options.source), options.source))
    if gold is not None and gold_sets is not None:
        tables.append(_agreement_table(passes, gold, gold_sets))
    return material.experiment(
        "conrad2003-sets",
        PAPER,
        {name: matched.settings for name, matched in passes.items()},
        tables,
        figures,
        notes=[*partial_notes(passes.values()), *_notes(material)],
    )


def _notes(material: Material) -> list[str]:
    notes = []
    if material.options.date is None:
        notes.append("No date column was named, so the paper's limit of six weeks is not applied.")
    if material.gold is None:
        notes.append("Table 8 needs gold: name a column of groups, or labelled pairs.")
    return notes


def _passes(material: Material) -> dict[str, Pass]:
    date = {"date": material.options.date} if material.options.date else {}
    lowest = IN_COMMON[0] / TERMS
    return {
        "fingerprint": material.find(recipe="conrad2003-identical"),
        "term vector": material.find(recipe="conrad2003-nonidentical", threshold=lowest, **date),
    }


def _sharing(passes: dict[str, Pass], in_common: int) -> Pass:
    return passes["term vector"].at(in_common / TERMS)


def _kinds_table(usual: dict[str, Pass], found_sets: dict[str, Array], material: Material) -> Table:
    rows: list[Row] = []
    for name, matched in usual.items():
        sets = found_sets[name]
        inside = material.classified(inside_sets(sets, matched, MOST_KINDS))
        kinds = set_kinds(sets, inside)
        sizes = np.bincount(sets[sets >= 0], minlength=len(kinds))
        for category, (members, printed) in CATEGORIES.items():
            chosen = np.isin(kinds, members)
            row = {"method": name, "category": category, **_shares_of(chosen, sizes)}
            rows.append({**row, **dict(zip([*KINDS_FORMAT][-4:], printed, strict=True))})
    return Table(
        "table_2",
        "Table 2: categories of duplicate sets",
        KINDS_FORMAT,
        rows,
        note="A set has the category of its least similar pair. The paper's shares are of sets in "
        f"the first 20 results of 25 queries each. Above {MOST_KINDS:,} pairs, only the first "
        "pairs of each set are classified.",
    )


def _shares_of(chosen: Array, sizes: Array) -> Row:
    documents, total = int(sizes[chosen].sum()), int(sizes.sum())
    return {
        "sets": int(chosen.sum()),
        "share of sets": float(chosen.mean()) if len(chosen) else None,
        "documents": documents,
        "share of documents": documents / total if total else None,
    }


def _sizes_table(found_sets: dict[str, Array], gold: Array | None) -> Table:
    columns = {**({"gold": gold} if gold is not None else {}), **found_sets}
    counts = {name: _size_counts(sets) for name, sets in columns.items()}
    rows: list[Row] = [
        {"size": size, **{name: counts[name][i] for name in counts}}
        for i, size in enumerate(SIZE_NAMES)
    ]
    rows.append({"size": "total", **{name: sum(counts[name]) for name in counts}})
    formats = {k: v for k, v in SIZES_FORMAT.items() if k == "size" or k in columns}
    return Table("table_7", "Table 7: duplicate sets by size", formats, rows)


def _size_counts(sets: Array) -> list[int]:
    sizes = np.bincount(sets[sets >= 0])
    capped = np.clip(sizes, 2, len(SIZE_NAMES) + 1) - 2
    return list(np.bincount(capped, minlength=len(SIZE_NAMES)).tolist())


def _queries_table(found_sets: dict[str, Array], groups: Sequence[str], column: str) -> Table:
    """Queries with and without a duplicate set; a value of the column stands for a query."""
    names, codes = np.unique(np.array(groups, dtype=object), return_inverse=True)
    rows: list[Row] = []
    for method, sets in found_sets.items():
        in_set = sets >= 0
        cells, shared = np.unique(
            np.stack([codes[in_set], sets[in_set]]), axis=1, return_counts=True
        )
        having = len(np.unique(cells[0][shared > 1]))
        rows.append(
            {"method": method, column: len(names), "with": having, "without": len(names) - having}
        )
    return Table(
        "table_6",
        f"Table 6: values of {column} with and without duplicate sets",
        {"method": "", column: ",", "with": ",", "without": ","},
        rows,
    )


def _agreement_table(passes: dict[str, Pass], gold: Gold, gold_sets: Array) -> Table:
    halves = halves_of(gold_sets)
    chosen = best_in_common(passes, gold, gold_sets, halves)
    matched = [("fingerprint", "6 of 6", passes["fingerprint"])]
    for in_common in dict.fromkeys([PRINTED, chosen]):
        terms = f"{in_common} of {TERMS}"
        matched.append(("term vector", terms, _sharing(passes, in_common)))
    rows: list[Row] = []
    for name, terms, pairs in matched:
        for how in CLUSTERS:
            for number, half in enumerate(HALVES):
                agreed = agreement_in(pairs, how, gold, gold_sets, halves == number)
                row = {"method": name, "terms": terms, "sets": how, "half": half}
                rows.append({**row, **agreed.data()})
    return Table(
        "table_8",
        "Table 8: agreement with the gold sets",
        AGREEMENT_FORMAT,
        rows,
        note="Agreement: exactly the same members. Partial: a pair of a gold set was found. "
        f"Requiring {chosen} of {TERMS} terms agrees best on the training half.",
    )


def halves_of(gold_sets: Array) -> Halves:
    """0 or 1 for each document: gold sets alternate, and so do documents without one."""
    alone = gold_sets < 0
    half = gold_sets % 2
    half[alone] = np.arange(int(alone.sum())) % 2
    return half


def best_in_common(passes: dict[str, Pass], gold: Gold, gold_sets: Array, halves: Halves) -> int:
    """The number of shared terms with the best F of exact sets on the first half; of equally good
    ones, the nearest to the paper's."""

    def worth(in_common: int) -> tuple[float, int]:
        agreed = agreement_in(_sharing(passes, in_common), "rule", gold, gold_sets, halves == 0)
        p, r = agreed.precision or 0.0, agreed.recall or 0.0
        return (2 * p * r / (p + r) if p + r else 0.0), -abs(in_common - PRINTED)

    return max(IN_COMMON, key=worth)


def agreement_in(
    matched: Pass, how: str, gold: Gold, gold_sets: Array, chosen: Array
) -> SetAgreement:
    """The agreement of sets among the chosen documents."""
    inside = matched.where(chosen[matched.a] & chosen[matched.b])
    gold_inside = np.where(chosen, gold_sets, -1)
    numbered = np.unique(gold_inside[gold_inside >= 0], return_inverse=True)[1]
    gold_inside[gold_inside >= 0] = numbered
    return set_agreement(gold_inside, inside.pairs.clusters(how), gold.classes)


def _sizes_chart(table: Table) -> Any:
    series = [name for name in table.formats if name != "size"]
    rows = [
        {"size": row["size"], "sets": row[name], "of": name}
        for row in table.rows
        if row["size"] != "total"
        for name in series
    ]
    return bars(rows, ("size", "size of the set"), ("sets", "sets"), "of", SIZE_NAMES)
