"""``neardup report``: the HTML report of a finished run."""

from __future__ import annotations

from pathlib import Path

import click

from neardup.cli.command import echo
from neardup.cli.options import PATH, debug_option
from neardup.errors import UsageError

SUFFIXES = (".html", ".htm")


@click.command(short_help="Write the HTML report of a run.")
@click.argument("run", metavar="RUN", type=PATH)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=PATH,
    help="File to write, .html.  [default: report.html in RUN]",
)
@click.option(
    "--by",
    metavar="COL",
    help="Break the figures down by this column of the documents instead of by input.",
)
@click.option("--quiet", is_flag=True, help="Do not print where the report was written.")
@debug_option
def report(run: Path, out: Path | None, by: str | None, quiet: bool) -> None:
    """Write the report of RUN, the folder of a finished run, as one HTML file for offline reading.

    It shows the counts, the duplicates by source and kind, the scores with the threshold, the
    largest clusters and the weakest pairs side by side, the rejected documents, settings and
    timings. Every run writes it; this command writes it again, elsewhere or by a column.
    """
    from neardup.report.run_report import REPORT
    from neardup.runs.result import Result

    target = out or run / REPORT
    if target.suffix.lower() not in SUFFIXES or target.is_dir():
        raise UsageError(
            f"{target} cannot be the name of a report.", hint="give a file that ends with .html."
        )
    written = Result.load(run).report(target, by=by)
    if not quiet:
        echo(f"Written to {written}.", err=True)
