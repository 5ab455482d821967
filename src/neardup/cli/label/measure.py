"""``neardup label measure``: precision and recall of runs from a judged sample."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.label.parts import check_there, labels_option, store_of, tell_torn
from neardup.cli.options import debug_option, json_option

if TYPE_CHECKING:
    from neardup.evaluation.judging import Estimate, Share


@click.command(short_help="Precision and recall from judged pairs.")
@click.argument("sample", metavar="SAMPLE", type=click.Path(path_type=Path))
@labels_option
@json_option
@debug_option
def measure(sample: Path, store: Path | None, as_json: bool) -> None:
    """Measure the runs of SAMPLE by the labels that count.

    Precision is weighted by the strata that pairs were drawn from. Recall is relative to what the
    runs found together: of the true pairs in the pool as they are, and weighted by how probable
    each was to be drawn. Intervals are of 95 %.
    """
    from neardup.errors import InputError
    from neardup.evaluation.agreement import verdicts
    from neardup.evaluation.judging import estimates
    from neardup.evaluation.labels import read_labels
    from neardup.evaluation.samples import read_key

    place = store_of(sample, store)
    check_there(place)
    read = read_labels(place)
    tell_torn(read.torn, place)
    key, word = read_key(sample), verdicts(read)
    if not key.treatments:
        raise InputError(
            f"The pairs of {sample} were chosen to teach a model: nothing can be measured by them.",
            hint="draw pairs at random with `neardup label sample`.",
        )
    settled = {pair: str(label.label) for pair, label in word.settled.items()}
    found = estimates(key, settled)
    disputed = [pair for pair in word.disputed if pair in set(key.pairs.values())]
    if as_json:
        data = {"treatments": [one.data() for one in found], "disputed": len(disputed)}
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
    else:
        _show(found, len(disputed))


def _show(found: list[Estimate], disputed: int) -> None:
    from neardup.cli.listing import show_table

    header = ("run", "pairs", "judged", "undecided", "precision", "recall", "of the pool", "F1")
    rows = [
        (
            one.name,
            f"{one.pairs:,}",
            f"{one.decided:,} of {one.drawn:,}",
            f"{one.undecided:,}",
            _shown(one.precision),
            _shown(one.recall),
            _shown(one.pooled),
            "–" if one.f1 is None else f"{one.f1:.3f}",
        )
        for one in found
    ]
    show_table(header, rows, right=("pairs", "judged", "undecided", "F1"))
    if disputed:
        click.echo(f"{disputed:,} pairs are disputed and do not count: an arbiter may judge them.")
    for one in found:
        if 0 < one.covered < 1:
            click.echo(f"{one.name}: only {one.covered:.0%} of its pairs are in judged strata.")
        if not one.complete:
            click.echo(f"{one.name}: not all its pairs are listed; only these are measured.")


def _shown(share: Share) -> str:
    if share.value is None or share.interval is None:
        return "–"
    return f"{share.value:.3f} ({share.interval.low:.3f}–{share.interval.high:.3f})"
