"""``neardup label agree``: do the assessors see the same?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.label.parts import check_there, tell_torn
from neardup.cli.options import debug_option, json_option
from neardup.names import shortened

if TYPE_CHECKING:
    from neardup.evaluation.agreement import Agreement, Verdicts

SHOWN = 10


@click.command(short_help="Compare assessors: kappa, disputed pairs.")
@click.argument("labels", metavar="LABELS", type=click.Path(path_type=Path))
@json_option
@debug_option
def agree(labels: Path, as_json: bool) -> None:
    """Cohen's kappa of every two assessors in the store LABELS, with undecided as a label of its
    own and without the pairs on which one was undecided; and the pairs that wait for an arbiter.
    """
    from neardup.evaluation.agreement import agreements, verdicts
    from neardup.evaluation.labels import read_labels

    check_there(labels)
    read = read_labels(labels)
    tell_torn(read.torn, labels)
    found, settled = agreements(read), verdicts(read)
    if as_json:
        data = {
            "assessors": read.assessors,
            "agreements": [one.data() for one in found],
            "settled": len(settled.settled),
            "disputed": [list(pair) for pair in settled.disputed],
        }
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        _show(found, settled)


def _show(found: list[Agreement], settled: Verdicts) -> None:
    from neardup.cli.listing import show_table

    rows = [
        (
            " and ".join(one.assessors),
            f"{one.pairs:,}",
            f"{one.equal / one.pairs:.3f}",
            _kappa(one.kappa),
            f"{one.decided:,}",
            _kappa(one.kappa_decided),
        )
        for one in found
    ]
    header = ("assessors", "pairs", "agree", "kappa", "decided", "kappa of these")
    if rows:
        show_table(header, rows, right=header[1:])
    else:
        click.echo("No two assessors judged a pair in common.")
    click.echo(f"{len(settled.settled):,} pairs are settled, {len(settled.disputed):,} disputed.")
    for a, b in settled.disputed[:SHOWN]:
        click.echo(f"  {shortened(a)}  {shortened(b)}")
    if len(settled.disputed) > SHOWN:
        click.echo(f"  … and {len(settled.disputed) - SHOWN:,} more; --json has them all.")


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
