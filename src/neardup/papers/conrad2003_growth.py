"""How idf tables and signatures change as a collection grows (Conrad et al. 2003, Tables 3 and 4,
Figures 1–4).

The collection is split into three snapshots, each of which contains the one before. They grow as in
the paper, by 9.95 % and 7.18 %. Documents are ordered by date, or by input position without dates.
Each slice is counted once, and its counts are merged. Signatures are those of documents in the
first snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.artefacts.idf import IdfNeed, IdfTable, merge_idf
from neardup.decisions.order import as_dates, sortable
from neardup.engines.batch.table_pass import build_idf
from neardup.evaluation.stability import Changes, rank_correlation, stability
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, lines
from neardup.papers.paper_pass import Material, read
from neardup.progress import Progress
from neardup.schema import Array
from neardup.text.text_options import Text

PAPER = "Conrad, Guo & Schriber 2003"
GROWTH = (1.0995, 1.0718)  # the last line of Table 3
FILTERS = {"alpha": "alpha-only", "alnum+": "alpha-numeric+"}
MIN_COUNT = 5
SAMPLE = 1000  # documents per domain
DOMAINS = 3
COMPARED = ((0, 1), (1, 2), (0, 2))
SHOWN_LENGTHS = (1, 6, 30)
ALL = "all"
# Table 4, in the order of COMPARED
PRINTED = {"alpha": (0.9903, 0.9881, 0.9808), "alnum+": (0.9888, 0.9865, 0.9783)}
STABLE = {
    "domain": "",
    "documents": ",",
    "snapshots": "",
    "terms": ",",
    "set": ".1%",
    "list": ".1%",
}


def growth(inputs: Any, options: Options, progress: Progress) -> Experiment:
    material = read(inputs, options, progress)
    table, undated = in_order(material)
    ends = snapshots(len(table))
    tables = {name: idf_tables(table, ends, name, material) for name in FILTERS}
    sample = _sample(material, table.slice(0, ends[0]))
    rows = _stability_rows(tables["alpha"], sample, material)
    shown = [row for row in rows if row["terms"] in SHOWN_LENGTHS]
    return material.experiment(
        "conrad2003-growth",
        PAPER,
        {"snapshots": list(ends), "min_count": MIN_COUNT, "sampled": len(sample)},
        [
            _growth_table(material, table, ends),
            _correlation_table(tables),
            Table(
                "figures_1_4",
                "Figures 1–4: signatures that change with the table",
                STABLE,
                shown,
                note="For alpha-only terms. In the paper about one in six signatures of 1 to 6 "
                "terms changes, and one in three to five in twelve of those of 30 terms. The data "
                "has all lengths (stability).",
            ),
        ],
        [
            Figure("figures_1_4", "Figures 1–4: signatures that stay, as ranked lists",
                   lambda: _chart(rows, "list")),
            Figure("as_sets", "The same, as sets", lambda: _chart(rows, "set")),
        ],
        notes=_notes(material, undated),
        more={"stability": rows},
    )  # fmt: skip


def _notes(material: Material, undated: int) -> list[str]:
    notes = ["Snapshots grow as in the paper, by 9.95 % and 7.18 %."]
    if material.options.date is None:
        notes.append("No date column was named: documents are in input order.")
    if undated:
        notes.append(f"{undated:,} documents without a date were left out.")
    return notes


def in_order(material: Material) -> tuple[pa.Table, int]:
    """Documents, oldest first, and the number of documents without a date, which are left out."""
    name = material.options.date
    if name is None:
        return material.table, 0
    values = sortable(material.table[name], name)
    if pa.types.is_large_string(values.type):
        values = as_dates(values, name)
    dated = pc.is_valid(values)
    table, values = material.table.filter(dated), values.filter(dated)
    keys = pa.table({"date": values, "position": np.arange(len(values))})
    order = pc.sort_indices(keys, [("date", "ascending"), ("position", "ascending")])
    return table.take(order), len(material) - len(table)


def snapshots(documents: int) -> tuple[int, ...]:
    """The number of documents, oldest first, in each snapshot."""
    second = round(documents / GROWTH[1])
    return round(second / GROWTH[0]), second, documents


def idf_tables(
    table: pa.Table, ends: Sequence[int], filter_: str, material: Material
) -> list[IdfTable]:
    """An idf table for each snapshot."""
    need, texts = IdfNeed(None, filter_, Text()), table.select(["id", "text"])
    workers, progress = material.options.workers, material.progress
    slices = [
        build_idf(texts.slice(begin, end - begin), need, workers=workers, progress=progress)[0]
        for begin, end in pairwise((0, *ends))
    ]
    merged = [merge_idf(slices[: i + 1]) for i in range(len(slices))]
    return [snapshot.at_least(MIN_COUNT) for snapshot in merged]


def _growth_table(material: Material, table: pa.Table, ends: Sequence[int]) -> Table:
    column = material.options.source
    domains = np.array(material.column(column, table) if column else [ALL] * len(table), object)
    names = sorted(set(domains), key=lambda name: (-int((domains == name).sum()), name))
    rows = [_grown(name, np.flatnonzero(domains == name), ends) for name in names]
    if len(names) > 1:
        rows.append(_grown("total", np.arange(len(table)), ends))
    formats = {"domain": "", "first": ",", "second": ",", "change": ".1%"}
    return Table(
        "table_3",
        "Table 3: documents in the snapshots",
        {**formats, "third": ",", "change then": ".1%"},
        rows,
    )


def _grown(name: str, places: Array, ends: Sequence[int]) -> Row:
    first, second, third = (int((places < end).sum()) for end in ends)
    return {
        "domain": name,
        "first": first,
        "second": second,
        "change": second / first - 1 if first else None,
        "third": third,
        "change then": third / second - 1 if second else None,
    }


def _between(i: int, j: int) -> str:
    names = ("first", "second", "third")
    return f"{names[i]} and {names[j]}"


def _correlation_table(tables: dict[str, list[IdfTable]]) -> Table:
    rows = []
    for filter_, label in FILTERS.items():
        for (i, j), printed in zip(COMPARED, PRINTED[filter_], strict=True):
            ranks = rank_correlation(tables[filter_][i], tables[filter_][j])
            row = {"terms": label, "snapshots": _between(i, j), "common terms": ranks.common}
            rows.append({**row, "Spearman": ranks.coefficient, "paper": printed})
    formats = {"terms": "", "snapshots": "", "common terms": ",", "Spearman": ".4f", "paper": ".4f"}
    return Table("table_4", "Table 4: correlation of term ranks", formats, rows)


def _sample(material: Material, first: pa.Table) -> pa.Table:
    """Up to ``SAMPLE`` documents of each of the largest domains, from the first snapshot."""
    column = material.options.source
    domains = np.array(material.column(column, first) if column else [ALL] * len(first), object)
    names, counts = np.unique(domains.astype(str), return_counts=True)
    largest = names[np.argsort(-counts, kind="stable")][:DOMAINS]
    draw = np.random.default_rng(material.options.seed)
    chosen = []
    for name in largest:
        places = np.flatnonzero(domains == name)
        chosen.append(np.sort(draw.choice(places, min(SAMPLE, len(places)), replace=False)))
    rows = np.concatenate([np.empty(0, np.int64), *chosen]).astype(np.int64)
    sample = first.select(["id", "text"]).take(pa.array(rows))
    return sample.append_column("domain", pa.array(domains[rows], pa.large_string()))


def _stability_rows(tables: Sequence[IdfTable], sample: pa.Table, material: Material) -> list[Row]:
    rows = []
    for i, j in COMPARED:
        changed = stability(
            tables[i],
            tables[j],
            sample,
            within="domain",
            workers=material.options.workers,
            progress=material.progress,
        )
        parts = (
            {ALL: changed.total, **changed.groups} if len(changed.groups) > 1 else changed.groups
        )
        for name, changes in parts.items():
            rows += _lengths(name, changes, _between(i, j))
    order = list(dict.fromkeys([ALL, *sample["domain"].to_pylist()]))
    return sorted(rows, key=lambda row: order.index(row["domain"]))


def _lengths(name: str, changes: Changes, between: str) -> list[Row]:
    common = {"domain": name, "documents": changes.documents, "snapshots": between}
    return [
        {**common, "terms": share["n"], "set": share["as_set"], "list": share["as_list"]}
        for share in changes.shares()
    ]


def _chart(rows: list[Row], how: str) -> Any:
    panels = [
        {**row, "same": 1 - row[how], "panel": f"{row['domain']}: {row['documents']:,} documents"}
        for row in rows
    ]
    x, y = ("terms", "terms in the signature"), ("same", "signatures that stay the same")
    return lines(panels, x, y, "snapshots", facet="panel", unit=True, form=".0%", columns=2)
