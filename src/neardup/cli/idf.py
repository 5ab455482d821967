"""``neardup idf``: build, merge and show tables of term rarity, which are then frozen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import Commands, echo, show_json
from neardup.errors import InputError, SettingsError, UsageError
from neardup.wording import shortened

if TYPE_CHECKING:
    from neardup.artefacts.idf import IdfTable
    from neardup.engines.batch.table_pass import Seen
    from neardup.text.text_options import Text

COMMANDS = {
    "build": "neardup.cli.idf:build",
    "merge": "neardup.cli.idf:merge",
    "show": "neardup.cli.idf:show",
    "compare": "neardup.cli.idf_comparison:compare",
}


@click.group(cls=Commands, homes=COMMANDS, short_help="Build and show tables of term rarity.")
def idf() -> None:
    """Build and show tables that count in how many documents of a collection each term occurs.

    Methods that select the rarest terms of a document need such a table. Without one they count
    the input itself; a frozen table keeps signatures the same when the collection grows.
    """


@click.command(short_help="Show what a table contains.")
@click.argument("table", metavar="TABLE", type=shared.PATH)
@click.option(
    "--term",
    "terms",
    metavar="WORD",
    multiple=True,
    help="Term to look up, written as in the table: lower case unless text.case=keep. Repeatable.",
)
@click.option(
    "-n",
    "shown",
    metavar="N",
    type=click.IntRange(0),
    default=20,
    help="Number of rarest and of most common terms to show.  [default: 20]",
)
@shared.json_option
@shared.debug_option
def show(table: Path, terms: tuple[str, ...], shown: int, as_json: bool) -> None:
    """Show the number of documents and terms of TABLE, its options and digest, and its rarest and
    most common terms, or the terms of --term."""
    from neardup.artefacts.idf import load_idf

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
        show_json(data)
        return
    echo("\n".join(table_lines(loaded)))
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
    """A term that is not in the table has nulls."""
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
    from neardup.cli.terminal import show_table

    cells = [
        (
            one["term"],
            f"{one['documents']:,}",
            "not in the table" if one["idf"] is None else f"{one['idf']:.5f}",
        )
        for one in rows
    ]
    echo()
    show_table((title, "documents", "idf"), cells, right=("documents",))


out_option = click.option(
    "-o",
    "--out",
    metavar="TABLE",
    required=True,
    type=shared.PATH,
    help="File to write.",
)


def check_target(
    out: Path, inputs: Sequence[Path | None], *, overwrite: bool, made: str = "signatures"
) -> None:
    """Refuses before any work a file that cannot be written, or that would be replaced."""
    if out.is_dir():
        raise UsageError(f"{out} is a folder; -o names a file.", hint="name a file in it.")
    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write to.", hint="create it first.")
    if any(path and path.resolve() == out.resolve() for path in inputs):
        raise UsageError(f"{out} is also an input.", hint="name another file with -o.")
    if out.exists() and not overwrite:
        raise UsageError(
            f"{out} already exists, and {made} may depend on it.",
            hint="name another file with -o, or give --overwrite.",
        )


def text_options(assignments: tuple[str, ...]) -> Text:
    from neardup.methods.registry import construct, parse_assignments
    from neardup.text.text_options import Text

    given = parse_assignments(assignments)
    options = given.pop("text", {})
    if given or not isinstance(options, dict):
        wrong = next(iter(given), "text")
        raise SettingsError(
            f"--set got {wrong}; a table has only text options.",
            hint="for example --set text.case=keep.",
        )
    made: Text = construct(Text, options, "text")
    return made


def table_lines(table: IdfTable) -> list[str]:
    from dataclasses import asdict

    options = ", ".join(f"{key} {value}" for key, value in asdict(table.text).items() if value)
    cut = f", each in {table.min_count:,} documents or more" if table.min_count > 1 else ""
    return [
        f"documents  {table.documents:,}",
        f"terms      {len(table):,}{cut}",
        f"filter     {table.filter}",
        f"text       {options}",
        f"digest     {table.digest}",
    ]


def rejected_lines(seen: Seen) -> list[str]:
    if not seen.rejected:
        return []
    lines = [f"{seen.rejected:,} documents were rejected and not counted."]
    lines += [f"  rejected: {r.where}: {shortened(r.reason, 300)}" for r in seen.shown]
    more = seen.rejected - len(seen.shown)
    return [*lines, f"  … and {more:,} more"] if more else lines


def nothing_counted(seen: Seen) -> InputError:
    first = f"; the first rejected one: {seen.shown[0].reason}" if seen.shown else ""
    return InputError(
        f"There is no document to count{first}.", hint="give a collection with documents."
    )


def rejected_data(seen: Seen) -> list[dict[str, Any]]:
    return [{"file": r.file, "row": r.row, "id": r.id, "reason": r.reason} for r in seen.shown]


@click.command(short_help="Count the terms of a collection.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...", type=shared.PATH)
@out_option
@click.option(
    "--filter",
    "filter_",
    metavar="words|alpha|alnum+",
    default="words",
    help="What counts as a term: every word; words of three letters or more without digits; or "
    "also words with . ' - & + / inside.  [default: words]",
)
@shared.default_text_option
@shared.text_set_option
@click.option(
    "--min-count",
    metavar="N",
    type=int,
    default=1,
    help="Leave out terms that occur in fewer than N documents. A table to be merged has to keep "
    "all; give the option to `idf merge` instead.  [default: 1, keeps all]",
)
@shared.workers_option
@shared.limit_option
@shared.overwrite_option
@shared.json_option
@shared.quiet_option
@shared.debug_option
def build(
    inputs: tuple[Path, ...],
    out: Path,
    filter_: str,
    text: str,
    assignments: tuple[str, ...],
    min_count: int,
    workers: int | None,
    limit: int | None,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Count in how many documents of INPUT each term occurs, and write the table.

    INPUT: as in `dedup`, JSON Lines, CSV, TSV (also .gz, .zst, .bz2, .xz), Parquet or Arrow files,
    quoted globs, folders of text files, or - for stdin.

    Terms are never stemmed. Documents that cannot be used are reported as rejected and are not in
    the table. The file appears only when it is complete.
    """
    from neardup.artefacts.idf import IdfNeed
    from neardup.documents.collection import collect
    from neardup.engines.batch.table_pass import build_idf
    from neardup.progress import of_command

    began = time.perf_counter()
    need = IdfNeed(None, filter_, text_options(assignments))
    check_target(out, inputs, overwrite=overwrite)
    progress = of_command(quiet=quiet)
    try:
        table, seen = build_idf(
            collect(list(inputs)),
            need,
            column=text,
            min_count=min_count,
            workers=workers,
            limit=limit,
            progress=progress,
        )
    finally:
        progress.finish()
    if not table.documents:
        raise nothing_counted(seen)
    table.save(out)
    if as_json:
        data = {"out": str(out), **table.describe(), "min_count": table.min_count}
        data |= {"rejected": seen.rejected, "rejected_shown": rejected_data(seen)}
        data |= {"seconds": round(time.perf_counter() - began, 3)}
        show_json(data)
    if not quiet:
        lines = [*rejected_lines(seen), *table_lines(table), f"Written to {out}."]
        echo("\n".join(lines), err=True)


@click.command(short_help="Add several tables up.")
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...", type=shared.PATH)
@out_option
@click.option(
    "--min-count",
    metavar="N",
    type=int,
    default=1,
    help="Leave out terms that occur in fewer than N documents of all tables together; the paper "
    "takes 5.  [default: 1, keeps all]",
)
@shared.overwrite_option
@shared.json_option
@shared.quiet_option
@shared.debug_option
def merge(
    tables: tuple[Path, ...],
    out: Path,
    min_count: int,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Add up the document counts of several TABLEs, as if their collections had been counted
    together.

    Tables with different options (filter, text) or with terms left out by --min-count are refused.
    """
    from neardup.artefacts.idf import load_idf, merge_idf
    from neardup.settings import check_positive

    check_positive("min_count", min_count)
    check_target(out, tables, overwrite=overwrite)
    if len({path.resolve() for path in tables}) < len(tables):
        raise UsageError(
            "A table is named twice, and its documents would be counted twice.",
            hint="name each once.",
        )
    table = merge_idf([load_idf(path) for path in tables]).at_least(min_count)
    table.save(out)
    if as_json:
        data = {"out": str(out), **table.describe(), "min_count": table.min_count}
        show_json(data)
    if not quiet:
        echo("\n".join([*table_lines(table), f"Written to {out}."]), err=True)
