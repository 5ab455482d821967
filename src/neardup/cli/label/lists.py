"""``neardup label lists``: result lists in which people mark sets of duplicates."""

from __future__ import annotations

import json
from pathlib import Path

import click

from neardup.cli.idf.parts import quiet_option
from neardup.cli.options import debug_option, json_option


@click.command(short_help="Add result lists to be judged.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("lists", metavar="LISTS")
@click.option("--query", metavar="COL", default="query", help="The column of the query.")
@click.option("--text", metavar="COL", default="text", help="The column of the text.")
@click.option("--id", metavar="COL", help="The column of the id.  [default: id if there]")
@click.option("--title", metavar="COL", default="title", help="A column to show above the text.")
@click.option(
    "--top", metavar="N", type=int, default=20, help="Results of each query.  [default: 20]"
)
@json_option
@quiet_option
@debug_option
def lists(
    run: Path,
    lists: str,
    query: str,
    text: str,
    id: str | None,
    title: str,
    top: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Put result lists beside RUN, the folder of a run, to be judged in the browser.

    LISTS: JSON Lines, CSV, TSV, Parquet or Arrow, a row a result, the best first, with its query,
    id and text. Lists with a column set, which says what is a duplicate of what, are for practice;
    where no list has one, the first is.
    """
    from neardup.errors import InputError
    from neardup.evaluation.judged_folder import LISTS, judging_folder
    from neardup.evaluation.result_lists import add_lists, read_lists

    if not run.exists():
        raise InputError(f"There is no {run}.", hint="name the folder of a run.")
    found = read_lists(lists, query=query, id=id, text=text, title=title, top=top)
    place = judging_folder(run) / LISTS
    new = add_lists(place, found)
    practice = sum(one.practice for one in found)
    if as_json:
        said = {"lists": str(place), "read": len(found), "new": new, "practice": practice}
        click.echo(json.dumps(said, indent=2, ensure_ascii=False))
    if not quiet:
        click.echo(
            f"{len(found):,} lists, {practice:,} of them for practice and {new:,} new, are in "
            f"{place}",
            err=True,
        )
