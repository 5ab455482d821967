"""``neardup idf compare``: how far two tables, and the signatures made with them, agree."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import echo, show_json

if TYPE_CHECKING:
    from neardup.artefacts.idf import IdfTable
    from neardup.evaluation.stability import Correlation, Stability

SHOWN_GROUPS = 20


@click.command(short_help="Compare two tables and the signatures made with them.")
@click.argument("a", metavar="A", type=shared.PATH)
@click.argument("b", metavar="B", type=shared.PATH)
@click.option(
    "--stability",
    "documents",
    metavar="DOCUMENTS",
    multiple=True,
    type=shared.PATH,
    help="Documents, in any format that `dedup` reads, whose signatures are made with both tables. "
    "Repeatable.",
)
@click.option(
    "-n",
    "longest",
    metavar="N",
    type=int,
    default=30,
    help="Compare signatures of 1 to N terms.  [default: 30]",
)
@click.option("--within", metavar="COL", help="Also show the figures for each value of COL.")
@shared.default_text_option
@shared.workers_option
@shared.limit_option
@click.option(
    "-o",
    "--out",
    metavar="PLOT",
    type=shared.PATH,
    help="Draw a figure: .svg, .html, or .png and .pdf, which need the extra `plots`.",
)
@shared.json_option
@shared.quiet_option
@shared.debug_option
def compare(
    a: Path,
    b: Path,
    documents: tuple[Path, ...],
    longest: int,
    within: str | None,
    text: str,
    workers: int | None,
    limit: int | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Compare the tables A and B by Spearman's rank correlation of their common terms, ties
    included.

    --stability adds the share of DOCUMENTS whose n rarest terms, for n = 1 … 30, differ between A
    and B, as a set and as a ranked list. Signatures may differ even where the correlation is high.
    """
    from neardup.artefacts.idf import load_idf
    from neardup.evaluation.stability import rank_correlation
    from neardup.settings import check_positive

    check_positive("n", longest)
    if within and not documents:
        raise click.UsageError("--within groups documents. Hint: name some with --stability.")
    if out:
        from neardup.report.figure_file import check_figure

        check_figure(out)
    tables = load_idf(a), load_idf(b)
    correlation = rank_correlation(*tables)
    found = None
    if documents:
        given = {"longest": longest, "column": text, "within": within}
        found = _stability(tables, documents, quiet, **given, workers=workers, limit=limit)
    if out:
        from neardup.evaluation.charts import idf_agreement
        from neardup.report.figure_file import save_figure

        figure = idf_agreement(tables, (a.name, b.name), correlation, found)
        save_figure(figure, out, f"{a.name} and {b.name}")
    if as_json:
        show_json(data(tables, correlation, found))
    else:
        show(tables, correlation, found)
    if out and not quiet:
        echo(f"Drawn in {out}.", err=True)


def _stability(
    tables: tuple[IdfTable, IdfTable], documents: tuple[Path, ...], quiet: bool, **options: Any
) -> Stability:
    from neardup.evaluation.stability import stability
    from neardup.progress import of_command

    progress = of_command(quiet=quiet)
    try:
        return stability(*tables, list(documents), progress=progress, **options)
    finally:
        progress.finish()


def data(
    tables: tuple[IdfTable, IdfTable], correlation: Correlation, found: Stability | None
) -> dict[str, Any]:
    described = {name: table.describe() for name, table in zip("ab", tables, strict=True)}
    there = {"stability": found.data()} if found else {}
    return {
        **described,
        "common_terms": correlation.common,
        "spearman": correlation.coefficient,
        **there,
    }


def show(
    tables: tuple[IdfTable, IdfTable], correlation: Correlation, found: Stability | None
) -> None:
    a, b = tables
    echo(f"documents    {a.documents:,} and {b.documents:,}")
    echo(f"terms        {len(a):,} and {len(b):,}, {correlation.common:,} in both")
    echo(f"correlation  {_coefficient(correlation)}")
    if found:
        show_stability(found)


def _coefficient(correlation: Correlation) -> str:
    if correlation.coefficient is not None:
        return f"{correlation.coefficient:.4f} (Spearman, of the common terms)"
    if correlation.common < 2:
        return "undefined: fewer than two common terms"
    return "undefined: in one table all common terms are equally rare"


def show_stability(found: Stability) -> None:
    from neardup.cli.idf import rejected_lines
    from neardup.cli.terminal import show_table

    if lines := rejected_lines(found.seen):
        echo("\n".join(lines), err=True)
    unknown = f"; {found.unknown:,} more without a term in either table" if found.unknown else ""
    echo(f"signatures   of {found.total.documents:,} documents{unknown}\n")
    if not found.total.documents:
        return
    rows = [(str(s["n"]), *_shares(s)) for s in found.total.shares()]
    show_table(("terms", "set changes", "ranked list changes"), rows, right=("terms",))
    if found.groups:
        echo()
        show_groups(found)


def show_groups(found: Stability) -> None:
    from neardup.cli.terminal import show_table

    largest = sorted(found.groups.items(), key=lambda item: -item[1].documents)
    lengths = sorted({n for n in (1, 6, len(found.total.as_set)) if n <= len(found.total.as_set)})
    header = ["group", "documents", *(f"{n}: set, list" for n in lengths)]
    rows = []
    for name, changes in largest[:SHOWN_GROUPS]:
        shares = changes.shares()
        cells = [", ".join(_shares(shares[n - 1])) for n in lengths]
        rows.append((name, f"{changes.documents:,}", *cells))
    show_table(header, rows, right=("documents",))
    if len(largest) > SHOWN_GROUPS:
        echo(f"… and {len(largest) - SHOWN_GROUPS:,} more groups; --json has them all.")


def _shares(share: dict[str, float | int]) -> tuple[str, str]:
    return f"{share['as_set']:.1%}", f"{share['as_list']:.1%}"
