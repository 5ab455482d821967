"""``neardup label undo``: take back the last labels of an assessor."""

from __future__ import annotations

from pathlib import Path

import click

from neardup.cli.label.parts import check_there
from neardup.cli.options import debug_option
from neardup.names import shortened


@click.command(short_help="Take back the last labels of an assessor.")
@click.argument("labels", metavar="LABELS", type=click.Path(path_type=Path))
@click.option("--assessor", metavar="NAME", required=True, help="Whose labels.")
@click.option(
    "-n", "count", metavar="N", type=int, default=1, help="How many of them.  [default: 1]"
)
@debug_option
def undo(labels: Path, assessor: str, count: int) -> None:
    """Take back the last N labels of an assessor in the store LABELS: these pairs count as not
    judged by NAME. Rows are added that say so; none is removed.
    """
    from neardup.errors import InputError
    from neardup.evaluation.labels import LabelStore
    from neardup.plan import check_positive

    check_positive("n", count)
    check_there(labels)
    taken = LabelStore(labels).undo(assessor, count)
    if not taken:
        raise InputError(
            f"{labels} has no label of {assessor!r} to take back.",
            hint="`neardup label agree` names the assessors.",
        )
    for one in taken:
        click.echo(f"{shortened(one.a)}  {shortened(one.b)}  {one.label}: taken back")
