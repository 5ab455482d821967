"""``neardup label agree``: do the assessors see the same?

``neardup label measure``: precision and recall of runs from a judged sample.

``neardup label suggest``: the pairs whose labels would teach a model most.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.idf import quiet_option
from neardup.cli.label import (
    check_new,
    check_there,
    labels_option,
    overwrite_option,
    sample_option,
    store_of,
    tell_torn,
)
from neardup.cli.options import debug_option, json_option
from neardup.wording import shortened

if TYPE_CHECKING:
    from neardup.artefacts.model import Model
    from neardup.evaluation.training.suggestions import Pool
    from neardup.labels.agreement import Agreement, Verdicts
    from neardup.labels.judged_samples import Estimate, Share

SHOWN = 10


@click.command(short_help="Compare assessors: kappa, disputed pairs.")
@click.argument("labels", metavar="LABELS", type=click.Path(path_type=Path))
@json_option
@debug_option
def agree(labels: Path, as_json: bool) -> None:
    """Cohen's kappa of every two assessors in the store LABELS, with undecided as a label of its
    own and without the pairs on which one was undecided; and the pairs that wait for an arbiter.
    """
    from neardup.labels.agreement import agreements, verdicts
    from neardup.labels.label_store import read_labels

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
        _show_agreement(found, settled)


def _show_agreement(found: list[Agreement], settled: Verdicts) -> None:
    from neardup.cli.terminal import show_table

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
    from neardup.labels.agreement import verdicts
    from neardup.labels.judged_samples import estimates
    from neardup.labels.label_store import read_labels
    from neardup.labels.samples import read_key

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
    from neardup.cli.terminal import show_table

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


@click.command(short_help="Choose pairs whose labels would teach a model most.")
@click.argument(
    "candidates", metavar="RUN|PAIRS...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--model",
    "model_file",
    metavar="MODEL",
    type=click.Path(path_type=Path),
    help="Pairs of which this model is least sure.  [default: pairs from unlike to alike]",
)
@click.option(
    "--labels",
    metavar="FILE",
    multiple=True,
    type=click.Path(path_type=Path),
    help="A store of labels, or a file of pairs: these are not asked again. May be repeated.",
)
@click.option(
    "--documents",
    metavar="INPUT",
    multiple=True,
    help="The documents that a file of pairs names. May be repeated.",
)
@click.option("-n", "wanted", metavar="N", type=int, default=30, help="How many.  [default: 30]")
@click.option("--text", metavar="COL", default="text", help="The column of the text of INPUT.")
@click.option(
    "--id", metavar="COL", help="The column of the id.  [default: id if there, else file:row]"
)
@click.option(
    "--date", metavar="COL", help="The column of the date of INPUT, where the model compares dates."
)
@click.option(
    "--seed", metavar="N", type=int, default=0, help="Another seed, another order.  [default: 0]"
)
@sample_option
@overwrite_option
@json_option
@quiet_option
@debug_option
def suggest(candidates: tuple[Path, ...], **options: Any) -> None:
    """Choose N pairs to be judged next, of the pairs of each RUN (the folder of a run) or of a file
    of PAIRS with the columns a and b.

    With a model: pairs near its boundary that are unlike each other and unlike what is labelled.
    Without one: pairs spread from the least to the most alike. SAMPLE is judged and imported like
    one of `neardup label sample`; it was not drawn at random, so nothing can be measured by it.
    """
    from neardup.cli.terminal import progress_for
    from neardup.evaluation.training.suggestions import suggest as suggested
    from neardup.labels.training_labels import pairs_named

    check_new(options["out"], overwrite=options["overwrite"])
    model = _model(options["model_file"])
    pools = {str(one): _pool(one, model, options) for one in candidates}
    labelled = {pair for path in options["labels"] for pair in pairs_named(path)}
    progress = progress_for(quiet=options["quiet"])
    try:
        given = {"model": model, "labelled": labelled, "seed": options["seed"]}
        made = suggested(pools, options["wanted"], progress=progress, **given)
    finally:
        progress.finish()
    key = made.save(options["out"])
    if options["as_json"]:
        said = {"sample": str(options["out"]), "key": str(key), "items": len(made.items)}
        click.echo(json.dumps(said, indent=2, ensure_ascii=False))
    if not options["quiet"]:
        click.echo("\n".join(_lines(len(made.items), options["out"])), err=True)


def _model(file: Path | None) -> Model | None:
    from neardup.artefacts.model import load_model

    return load_model(file) if file else None


def _pool(place: Path, model: Model | None, options: dict[str, Any]) -> Pool:
    from neardup.documents import Columns
    from neardup.documents.collection import collect_inputs
    from neardup.evaluation.training.suggestions import as_model_reads, pool_of_pairs, pool_of_run
    from neardup.evaluation.training.training_data import Source, told_apart
    from neardup.labels.training_labels import pairs_named
    from neardup.runs.result import Result

    if place.is_dir():
        return pool_of_run(str(place), Result.load(place), model, options["seed"])
    if not options["documents"]:
        raise click.UsageError(f"{place} is no run. Hint: name the documents with --documents.")
    inputs = collect_inputs([(None, one) for one in options["documents"]])
    columns = Columns(options["text"], options["id"])
    source = as_model_reads(Source(inputs, columns, date=options["date"]), model)
    return pool_of_pairs(pairs_named(place), told_apart(source), options["seed"])


def _lines(items: int, out: Path) -> list[str]:
    return [
        f"{items:,} pairs to judge in {out}",
        f"Next: fill in the labels of a copy, then neardup label import {out} COPY --assessor NAME",
    ]
