"""``neardup label sample``: blind pairs of one or several runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.idf.parts import quiet_option
from neardup.cli.label.parts import check_new, overwrite_option, sample_option
from neardup.cli.options import debug_option, json_option

if TYPE_CHECKING:
    from neardup.evaluation.sampling import Sample


@click.command(short_help="Draw pairs of runs to be judged.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "-n",
    "per_treatment",
    metavar="N",
    type=int,
    default=20,
    help="Pairs of each run.  [default: 20]",
)
@click.option(
    "--strata",
    metavar="N",
    type=int,
    default=5,
    help="Classes of the score to draw from in equal numbers.  [default: 5]",
)
@click.option(
    "--seed", metavar="N", type=int, default=0, help="Another seed, another sample.  [default: 0]"
)
@sample_option
@overwrite_option
@json_option
@quiet_option
@debug_option
def sample(
    runs: tuple[Path, ...],
    per_treatment: int,
    strata: int,
    seed: int,
    out: Path,
    overwrite: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw N pairs of each RUN, the folder of a run with its pairs, to be judged blind.

    SAMPLE has both texts of each pair, and neither score nor method; sides and order are random.
    Pairs that several runs share are in it once. SAMPLE.key.json says which run and which scores a
    pair was drawn from: it is needed to measure, and not for the eyes of assessors.
    """
    from neardup.evaluation.sampling import draw
    from neardup.outputs.result import Result

    check_new(out, overwrite=overwrite)
    names = _names(runs)
    found = {name: Result.load(run) for name, run in zip(names, runs, strict=True)}
    drawn = draw(found, per_treatment, strata=strata, seed=seed)
    key = drawn.save(out)
    if as_json:
        click.echo(json.dumps(_data(drawn, out, key), indent=2, ensure_ascii=False))
    if not quiet:
        click.echo("\n".join(_lines(drawn, out, key)), err=True)


def _names(runs: tuple[Path, ...]) -> list[str]:
    """The name of the folder; where two are alike, as written."""
    short = [run.resolve().name for run in runs]
    return [
        name if short.count(name) == 1 else str(run) for name, run in zip(short, runs, strict=True)
    ]


def _data(drawn: Sample, out: Path, key: Path) -> dict[str, object]:
    treatments = [{"name": t.name, "pairs": t.pairs} for t in drawn.key.treatments]
    return {
        "sample": str(out),
        "key": str(key),
        "items": len(drawn.items),
        "treatments": treatments,
    }


def _lines(drawn: Sample, out: Path, key: Path) -> list[str]:
    told = [f"{len(drawn.items):,} pairs to judge in {out}"]
    for one in drawn.key.treatments:
        n = sum(len(stratum.items) for stratum in one.strata)
        listed = "" if one.complete else " listed"
        told.append(f"  {one.name}: {n:,} of {one.pairs:,}{listed} pairs")
    return [
        *told,
        f"The key is {key}: keep it, and keep it from the assessors.",
        f"Next: fill in the labels of a copy, then neardup label import {out} COPY --assessor NAME",
    ]
