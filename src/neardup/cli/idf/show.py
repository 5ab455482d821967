"""``neardup idf show``: what is in a table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import debug_option, json_option

if TYPE_CHECKING:
    from neardup.artefacts.idf import IdfTable


@click.command(short_help="Say what is in a table.")
@click.argument("table", metavar="TABLE", type=click.Path(path_type=Path))
@click.option(
    "--term",
    "terms",
    metavar="WORD",
    multiple=True,
    help="A term to look up; may be "
    "repeated. Written as the table has it: lower case unless text.case=keep.",
)
@click.option(
    "-n",
    "shown",
    metavar="N",
    type=click.IntRange(0),
    default=20,
    help="How many of the rarest and of the most common terms.  [default: 20]",
)
@json_option
@debug_option
def show(table: Path, terms: tuple[str, ...], shown: int, as_json: bool) -> None:
    """Show the number of documents and terms of TABLE, its options and digest, and its rarest and
    most common terms; with --term, these terms instead."""
    from neardup.artefacts.idf import load_idf
    from neardup.cli.idf.parts import table_lines

    loaded = load_idf(table)
    size = len(loaded)
    if terms:
        lists = {"asked": looked_up(loaded, terms)}
    else:
        common = range(size - 1, max(size - 1 - shown, -1), -1)
        lists = {
            "rarest": [row(loaded, rank) for rank in range(min(shown, size))],
            "most_common": [row(loaded, rank) for rank in common],
        }
    if as_json:
        data = {**loaded.describe(), "min_count": loaded.min_count, **lists}
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return
    click.echo("\n".join(table_lines(loaded)))
    for name, rows in lists.items():
        if rows:
            show_rows(name.replace("_", " "), rows)


def row(table: IdfTable, rank: int) -> dict[str, Any]:
    return {
        "term": table.terms[rank].as_py(),
        "rank": rank,
        "documents": int(table.counts[rank]),
        "idf": float(table.idf[rank]),
    }


def looked_up(table: IdfTable, terms: Sequence[str]) -> list[dict[str, Any]]:
    """A term that the table has not is there as well, with nulls."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = pa.array(terms, pa.large_string())
    ranks = pc.index_in(wanted, value_set=table.terms).to_pylist()
    none = {"rank": None, "documents": 0, "idf": None}
    return [
        {"term": term, **none} if rank is None else row(table, rank)
        for term, rank in zip(terms, ranks, strict=True)
    ]


def show_rows(title: str, rows: list[dict[str, Any]]) -> None:
    from neardup.cli.listing import show_table

    cells = [
        (
            one["term"],
            f"{one['documents']:,}",
            "not in the table" if one["idf"] is None else f"{one['idf']:.5f}",
        )
        for one in rows
    ]
    click.echo()
    show_table((title, "documents", "idf"), cells, right=("documents",))
