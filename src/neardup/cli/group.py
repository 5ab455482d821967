"""``neardup group``: a ranked result list with its near-duplicates indented."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import debug_option, json_option
from neardup.cli.target import STDOUT

if TYPE_CHECKING:
    from neardup.runs.grouped_list import Grouped


@click.command(short_help="Group the near-duplicates of a result list.")
@click.argument("results", metavar="RESULTS")
@click.option(
    "--representative",
    metavar="WHICH",
    help="Who stands for a group: rank (the best ranked), first or last (published, by --date) or "
    "longest.  [default: rank]",
)
@click.option("--collapse", is_flag=True, help="Show the representatives alone, with a count.")
@click.option("--rank", metavar="COL", help="Order by this column, smallest first.")
@click.option(
    "--score",
    metavar="COL",
    help="Order by this column, greatest first.  [default: the list is in order]",
)
@click.option("--text", metavar="COL", help="The column of the text.  [default: text]")
@click.option("--id", metavar="COL", help="The column of the id.  [default: id if there]")
@click.option("--date", metavar="COL", help="The column of the date, for first and last.")
@click.option("--title", metavar="COL", default="title", help="A column to show beside the id.")
@click.option(
    "--method",
    metavar="NAME",
    help="How to compare.  [default: shingles of 3 words from 0.5]",
)
@click.option(
    "--threshold",
    metavar="T",
    type=float,
    help="The score from which two results are duplicates.  [default: the method's]",
)
@click.option("--set", "assignments", metavar="KEY=VALUE", multiple=True, help="As in `dedup`.")
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write the list as .jsonl, .csv or .parquet; - writes JSON Lines to stdout.",
)
@click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
@json_option
@debug_option
def group(
    results: str,
    collapse: bool,
    title: str,
    assignments: tuple[str, ...],
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show the ranked list RESULTS with near-duplicates indented under the one that stands for
    them. Nothing is dropped.

    RESULTS: JSON Lines, CSV, TSV, Parquet or Arrow, best result first, or - for stdin. What is
    written has the columns group, position (in the ranking), indent, copies (how many stand under
    it), score, kind and flags.
    """
    from neardup.engines.ranked import group as grouped
    from neardup.methods.registry import parse_assignments
    from neardup.runs.grouped_list import check_target

    if out and as_json:
        raise click.UsageError("-o and --json are two ways to get the list; give one of them.")
    if out and out != STDOUT:
        check_target(out, results, overwrite=overwrite)
    given = {name: value for name, value in options.items() if value is not None}
    made = grouped(results, collapse=collapse, set=parse_assignments(assignments), **given)
    _show(made, title, out, as_json=as_json)
    click.echo(made.sentence(), err=True)


def _show(made: Grouped, title: str, out: Path | None, *, as_json: bool) -> None:
    from neardup.runs.grouped_list import json_lines, write_list

    if as_json:
        found = {"results": made.results, "groups": len(made), "list": made.to_list()}
        click.echo(json.dumps(found, indent=2, ensure_ascii=False, default=str))
    elif out == STDOUT:
        sys.stdout.buffer.write(json_lines(made))
        sys.stdout.buffer.flush()
    elif out:
        write_list(made, out)
    else:
        for line in made.lines(title):
            click.echo(line)
