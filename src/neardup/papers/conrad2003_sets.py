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

from neardup.artefacts.artefact import resolved
from neardup.decisions.clusters import components
from neardup.labels.agreement import SetAgreement, set_agreement
from neardup.labels.gold import Gold
from neardup.methods.termvector import HEAD
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, bars
from neardup.papers.paper_pass import Material, Pass, inside_sets, partial_notes, read, set_kinds
from neardup.papers.recipe import read_recipe
from neardup.plan import resolve
from neardup.progress import Progress
from neardup.schema import Array
from neardup.settings import Settings

PAPER = "Conrad, Guo & Schriber 2003"
TERMS = 60
IN_COMMON = tuple(range(30, TERMS + 1, 3))
PRINTED = 48  # of 60: .8
HALVES = ("training", "test")
LONGER = "term vector, 12 weeks"
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
COMPARED = 2_000  # random pairs whose terms are compared
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
    "strict precision": ".4f",
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
    tables += [_study_table(usual, found_sets, material), _comparisons_table(material)]
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
        **(
            {LONGER: material.find(recipe="conrad2003-nonidentical", max_days=84, **date)}
            if date
            else {}
        ),
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


def _study_table(usual: dict[str, Pass], found_sets: dict[str, Array], material: Material) -> Table:
    """§3.2: the share of documents in sets, and of exact ones those that have one title."""
    titles = material.titles()
    rows: list[Row] = []
    for name, matched in usual.items():
        sets = found_sets[name]
        inside = material.classified(inside_sets(sets, matched, MOST_KINDS))
        exact = inside.where(np.isin(inside.kind, CATEGORIES["1 exact"][0]))
        same = (
            [titles[a] == titles[b] for a, b in zip(exact.a, exact.b, strict=True)]
            if titles
            else []
        )
        rows.append(
            {
                "method": name,
                "sets": int(sets.max(initial=-1)) + 1,
                "documents in sets": int((sets >= 0).sum()),
                "share of documents": float((sets >= 0).mean()) if len(sets) else None,
                "ALLNEWS": 0.286,
                "ALLNEWSPLUS": 0.290,
                "same title of exact pairs": float(np.mean(same)) if same else None,
                "paper's same title": 0.30,
            }
        )
    shares = ("share of documents", "ALLNEWS", "ALLNEWSPLUS")
    formats = {"method": "", "sets": ",", "documents in sets": ",", **dict.fromkeys(shares, ".1%")}
    formats |= {"same title of exact pairs": ".1%", "paper's same title": ".0%"}
    return Table(
        "study",
        "§3.2: how much is duplicated",
        formats,
        rows,
        note="The paper's shares are of the first 20 results of 25 queries each; of its exact sets "
        "30 and 33 % have one title. Titles are those of the column that --title names.",
    )


def _comparisons_table(material: Material) -> Table:
    """§7.3: how many terms are compared until a pair is decided, rarest first."""
    method = resolve(Settings(**read_recipe("conrad2003-nonidentical"))).method
    (batch,) = material.table.select(["id", "text"]).combine_chunks().to_batches() or [None]
    assert batch is not None
    evidence = method.prepare(batch, resolved(method.needs, batch)).evidence
    full = np.flatnonzero(evidence.lengths == HEAD + TERMS)
    draw = np.random.default_rng(material.options.seed)
    rows: list[Row] = []
    if len(full) > 1:
        pairs = draw.choice(full, (COMPARED, 2))
        counts = [
            compared_terms(evidence[a][HEAD:], evidence[b][HEAD:]) for a, b in pairs if a != b
        ]
        refused = [count for count, same in counts if not same]
        mean = float(np.mean(refused)) if refused else None
        share = mean / TERMS if mean else None
        rows.append(
            {
                "pairs": len(refused),
                "terms compared": mean,
                "c": share,
                "paper": 15,
                "paper's c": 0.25,
            }
        )
    formats = {"pairs": ",", "terms compared": ".1f", "c": ".2f", "paper": ",", "paper's c": ".2f"}
    return Table(
        "comparisons",
        "§7.3: terms compared until a pair is refused",
        formats,
        rows or [dict.fromkeys(formats)],
        note="Random pairs of documents that have 60 terms. A pair is refused at the 13th term "
        "that is not common. The paper: no more than 15 on average, c is roughly .25. neardup "
        "compares only pairs that share two of their rarest terms.",
    )


def compared_terms(x: Array, y: Array) -> tuple[int, bool]:
    """How many terms of x, rarest first, are looked up until 13 are missing in y or 48 there."""
    there = np.isin(x, y)
    misses, hits = np.cumsum(~there), np.cumsum(there)
    refused = np.flatnonzero(misses > TERMS - PRINTED)
    accepted = np.flatnonzero(hits >= PRINTED)
    if len(accepted):
        return int(accepted[0]) + 1, True
    return int(refused[0]) + 1, False


def _agreement_table(passes: dict[str, Pass], gold: Gold, gold_sets: Array) -> Table:
    halves = halves_of(gold_sets)
    chosen = best_in_common(passes, gold, gold_sets, halves)
    matched = [("fingerprint", "6 of 6", passes["fingerprint"])]
    if LONGER in passes:
        matched.append((LONGER, f"{PRINTED} of {TERMS}", passes[LONGER].at(PRINTED / TERMS)))
    for in_common in dict.fromkeys([PRINTED, chosen]):
        terms = f"{in_common} of {TERMS}"
        matched.append(("term vector", terms, _sharing(passes, in_common)))
    rows: list[Row] = []
    for name, terms, pairs in matched:
        for how in CLUSTERS:
            for number, half in enumerate(HALVES):
                agreed = agreement_in(pairs, how, gold, gold_sets, halves == number)
                row = {"method": name, "terms": terms, "sets": how, "half": half}
                measures = agreed.data()
                measures["strict precision"] = measures["precision"]
                measures["precision"] = agreed.precision_apart
                rows.append({**row, **measures})
    return Table(
        "table_8",
        "Table 8: agreement with the gold sets",
        AGREEMENT_FORMAT,
        rows,
        note="Agreement: exactly the same members. Partial: a pair of a gold set was found. "
        "Precision, as in the paper's footnote 9: agreement / (agreement + over-identified); the "
        "strict one also counts reported sets that overlap a gold set. "
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
