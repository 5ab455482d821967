"""``neardup group``: a ranked result list with near-duplicates under their representatives."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import STDOUT, echo, show_json

if TYPE_CHECKING:
    from neardup.runs.grouped_list import Grouped


@click.command(
    short_help="Group the near-duplicates of a result list.",
    epilog="""\b
Examples:
  neardup group results.csv --text body --title name -o grouped.csv
  neardup group answer.json --text _source.body --id _id""",
)
@click.argument("results", metavar="RESULTS")
@click.option(
    "--representative",
    metavar="WHICH",
    help="Representative of a group: rank (the best ranked), oldest or newest (by --date; also "
    "called first and last) or longest.  [default: rank]",
)
@click.option("--collapse", is_flag=True, help="Show only the representatives, with a count.")
@click.option("--rank", metavar="COL", help="Order by this column, smallest value first.")
@click.option(
    "--score",
    metavar="COL",
    help="Order by this column, greatest value first.  [default: the order of the list]",
)
@shared.text_option
@shared.id_option
@click.option("--date", metavar="COL", help="Date column, for oldest and newest.")
@click.option("--title", metavar="COL", default="title", help="Column to show beside the id.")
@click.option(
    "--method",
    metavar="NAME",
    help="Comparison method.  [default: shingles of 3 words with threshold 0.5]",
)
@click.option(
    "--threshold",
    metavar="T",
    type=float,
    help="Score from which two results are duplicates.  [default: that of the method]",
)
@shared.set_option
@shared.recipe_option
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=shared.PATH,
    help="Write the list as .jsonl, .csv, .xlsx or .parquet; - writes JSON Lines to stdout. In a "
    ".csv or .xlsx file the members of objects are columns such as _source.title.",
)
@shared.overwrite_option
@shared.json_option
@shared.debug_option
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
    """Show the ranked list RESULTS with near-duplicates indented under their representative.
    Nothing is dropped.

    RESULTS: JSON Lines, CSV, TSV, Parquet or Arrow, best result first, or - for stdin. The written
    list has the columns group, position (in the ranking), indent, copies (number of results under
    it), score, kind and flags.
    """
    from neardup.engines.ranked import group as grouped
    from neardup.methods.registry import parse_assignments
    from neardup.runs.grouped_list import check_target

    if out and as_json:
        raise click.UsageError("-o and --json both write the list; give one of them.")
    if out and out != STDOUT:
        check_target(out, results, overwrite=overwrite)
    written = {name: value for name, value in options.items() if value is not None}
    groups = grouped(results, collapse=collapse, set=parse_assignments(assignments), **written)
    _show(groups, title, out, as_json=as_json)
    echo(groups.sentence(), err=True)
    if groups.undated:
        echo(groups.undated.sentence(), err=True)


def _show(groups: Grouped, title: str, out: Path | None, *, as_json: bool) -> None:
    from neardup.runs.grouped_list import json_lines, write_list

    if as_json:
        data = {"results": groups.results, "groups": len(groups), "list": groups.to_list()}
        show_json(data, default=str)
    elif out == STDOUT:
        sys.stdout.buffer.write(json_lines(groups))
        sys.stdout.buffer.flush()
    elif out:
        write_list(groups, out)
    else:
        for line in groups.lines(title):
            echo(line)
