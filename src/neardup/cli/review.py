"""``neardup review`` inspects a run or an index in a browser; ``neardup report`` writes a page."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from neardup.cli.command import echo
from neardup.cli.options import PATH, debug_option
from neardup.errors import UsageError

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@click.command(short_help="Inspect a run or an index in the browser.")
@click.argument("target", metavar="RUN|STORE")
@click.option(
    "--with",
    "others",
    metavar="RUN",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Another run over the same documents, to be judged together with it. Repeatable.",
)
@click.option(
    "--lists",
    metavar="FILE",
    help="Result lists in which people mark duplicates, in the format of `neardup label lists`.",
)
@click.option(
    "--guideline",
    metavar="NAME",
    help="Definition of a duplicate to show beside each pair and to store with its label: "
    "williams2013, conrad2003 or henzinger2006.",
)
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port.  [default: any free one]",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="Local address that other machines cannot reach.  [default: 127.0.0.1]",
)
@click.option("--no-browser", is_flag=True, help="Print the address and do not open a browser.")
@debug_option
def review(
    target: str,
    others: tuple[Path, ...],
    lists: str | None,
    guideline: str | None,
    port: int,
    host: str,
    no_browser: bool,
) -> None:
    """Show RUN, the folder of a finished run, or STORE, an index, in the browser, until Ctrl-C.

    The pages show clusters and pairs with filters and search, two texts side by side, the decisions
    at another threshold, and the effect of the policy. Changes made by hand in a run are stored in
    RUN/review, and `neardup apply` takes them into account; the files of the run are not changed.
    Of a run of `neardup passages` or `clean` they show the passages, what removing them changes,
    and where a pasted text comes from. The pages cannot be seen from other machines and load
    nothing from elsewhere.
    """
    from neardup.web.server import address_of, bind, check_extra, run

    check_extra()
    if host not in LOOPBACK:
        raise UsageError(
            f"{host} can be reached from other machines; the review is for this machine only.",
            hint=f"give one of {', '.join(LOOPBACK)}, and reach it through an SSH tunnel.",
        )
    from neardup.web.app import make_app
    from neardup.web.guard import Guard
    from neardup.web.review.review_pages import review_parts

    app = make_app(review_parts(target, others, lists, guideline), Guard())
    with bind(host, port) as bound:
        address = address_of(bound)

        def started() -> None:
            shown = "the index" if "://" in target else target  # it may have a password in it
            echo(f"Review of {shown}: {address} (Ctrl-C stops it)")
            if not no_browser:
                _open(address)

        with contextlib.suppress(KeyboardInterrupt):  # the way it is meant to end
            run(app, bound, started=started)


def _open(address: str) -> None:
    """Opens a browser; where there is none, the address on the terminal is enough."""
    import webbrowser

    with contextlib.suppress(webbrowser.Error):
        webbrowser.open(address)


PAGES, TABLES = (".html", ".htm"), (".csv", ".xlsx", ".parquet", ".bib", ".ris")


@click.command(short_help="Write the HTML report of a run.")
@click.argument("run", metavar="RUN", type=PATH)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=PATH,
    help="File to write: .html, or as a table .csv, .xlsx or .parquet, or the kept documents as "
    "references .bib or .ris.  [default: report.html in RUN]",
)
@click.option(
    "--by",
    metavar="COL",
    help="Break the figures down by this column of the documents instead of by input.",
)
@click.option(
    "--title",
    metavar="COL",
    help="Column of the documents to show as their title in a table.  [default: title, if any]",
)
@click.option("--quiet", is_flag=True, help="Do not print where the report was written.")
@debug_option
def report(run: Path, out: Path | None, by: str | None, title: str | None, quiet: bool) -> None:
    """Write the report of RUN, the folder of a finished run, as one HTML file for offline reading,
    or as a table with one row for each document.

    It shows the counts, the duplicates by source and kind, the scores with the threshold, the
    largest clusters and the weakest pairs side by side, the rejected documents, settings and
    timings. Every run writes it; this command writes it again, elsewhere or by a column.

    A table has the columns id, path, row, title, url, source, decision, reason, kept_id, score,
    kind, cluster, copies (the number of documents that a kept one stands for), and path, title, url
    and source of the document that was kept instead.
    """
    from neardup.report.run_report import REPORT
    from neardup.runs.result import Result

    target = out or run / REPORT
    form = target.suffix.lower()
    if form not in PAGES + TABLES or target.is_dir():
        raise UsageError(
            f"{target} cannot be the name of a report.",
            hint=f"give a file that ends with .html, {', '.join(TABLES)}.",
        )
    if (by and form in TABLES) or (title and form in PAGES):
        raise UsageError(
            "--by is for pages (.html), --title is for tables (.csv, .xlsx, .parquet, .bib, .ris).",
            hint=f"{target} needs the other one, or none.",
        )
    result = Result.load(run)
    written = result.export(target, title=title) if form in TABLES else result.report(target, by=by)
    if not quiet:
        echo(f"Written to {written}.", err=True)
