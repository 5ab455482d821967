"""``neardup idf merge``: one table of several collections."""

from __future__ import annotations

import json
from pathlib import Path

import click

from neardup.cli.idf.parts import out_option, overwrite_option, quiet_option
from neardup.cli.options import debug_option, json_option
from neardup.errors import UsageError


@click.command(short_help="Add tables up to one.")
@click.argument(
    "tables", nargs=-1, required=True, metavar="TABLE...", type=click.Path(path_type=Path)
)
@out_option
@click.option(
    "--min-count",
    metavar="N",
    type=int,
    default=1,
    help="Leave out terms of fewer than N documents of all tables together; the paper takes 5.  "
    "[default: 1, keeps all]",
)
@overwrite_option
@json_option
@quiet_option
@debug_option
def merge(
    tables: tuple[Path, ...],
    out: Path,
    min_count: int,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Add the numbers of documents of TABLEs, for each term and in all, as if they had been counted
    together.

    Tables with other options (filter, text), and such as were cut with --min-count, are refused.
    """
    from neardup.artefacts.idf import load_idf, merge_idf
    from neardup.cli.idf import parts
    from neardup.plan import check_positive

    check_positive("min_count", min_count)
    parts.check_target(out, tables, overwrite=overwrite)
    if len({path.resolve() for path in tables}) < len(tables):
        raise UsageError(
            "A table is named twice; its documents would count twice.", hint="name each once."
        )
    table = merge_idf([load_idf(path) for path in tables]).at_least(min_count)
    table.save(out)
    if as_json:
        data = {"out": str(out), **table.describe(), "min_count": table.min_count}
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    if not quiet:
        click.echo("\n".join([*parts.table_lines(table), f"Written to {out}."]), err=True)
