"""What labels show: the agreement of assessors, precision and recall, pairs worth judging next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import echo, echo_json, show_json
from neardup.cli.label import (
    check_new,
    check_there,
    labels_option,
    sample_option,
    store_of,
    tell_torn,
)
from neardup.wording import shortened

if TYPE_CHECKING:
    from neardup.artefacts.model import Model
    from neardup.evaluation.training.suggestions import Pool
    from neardup.labels.agreement import Agreement, Verdicts
    from neardup.labels.judged_samples import Estimate, Share

SHOWN = 10


@click.command(short_help="Measure the agreement of assessors.")
@click.argument("labels", metavar="LABELS", type=shared.PATH)
@shared.json_option
@shared.debug_option
def agree(labels: Path, as_json: bool) -> None:
    """Show Cohen's kappa of every two assessors in the label store LABELS, with undecided as a
    label of its own and without the pairs on which one was undecided, and the pairs that need an
    arbiter.
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
        show_json(data)
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
        echo("No pair was judged by two assessors.")
    echo(f"{len(settled.settled):,} pairs are settled, {len(settled.disputed):,} disputed.")
    for a, b in settled.disputed[:SHOWN]:
        echo(f"  {shortened(a)}  {shortened(b)}")
    if len(settled.disputed) > SHOWN:
        echo(f"  … and {len(settled.disputed) - SHOWN:,} more; --json lists all of them.")


def _kappa(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


@click.command(short_help="Measure precision and recall with judged pairs.")
@click.argument("sample", metavar="SAMPLE", type=shared.PATH)
@labels_option
@shared.json_option
@shared.debug_option
def measure(sample: Path, store: Path | None, as_json: bool) -> None:
    """Measure the runs of SAMPLE with the settled labels.

    Precision is weighted by the score classes that pairs were drawn from. Recall is relative to
    the pairs that the runs found together: over the true pairs in the pool, and weighted by the
    probability that each was drawn. Intervals are 95 % confidence intervals.
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
            f"The pairs of {sample} were selected to train a model and cannot measure anything.",
            hint="draw pairs at random with `neardup label sample`.",
        )
    settled = {pair: str(label.label) for pair, label in word.settled.items()}
    found = estimates(key, settled)
    disputed = [pair for pair in word.disputed if pair in set(key.pairs.values())]
    if as_json:
        data = {"treatments": [one.data() for one in found], "disputed": len(disputed)}
        show_json(data)
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
        echo(f"{disputed:,} pairs are disputed and left out; an arbiter can judge them.")
    for one in found:
        if 0 < one.covered < 1:
            echo(f"{one.name}: only {one.covered:.0%} of its pairs are in judged score classes.")
        if not one.complete:
            echo(f"{one.name}: not all of its pairs are listed; only the listed ones are measured.")


def _shown(share: Share) -> str:
    if share.value is None or share.interval is None:
        return "–"
    return f"{share.value:.3f} ({share.interval.low:.3f}–{share.interval.high:.3f})"


@click.command(short_help="Choose the pairs whose labels help a model most.")
@click.argument("candidates", metavar="RUN|PAIRS...", nargs=-1, required=True, type=shared.PATH)
@click.option(
    "--model",
    "model_file",
    metavar="MODEL",
    type=shared.PATH,
    help="Choose pairs of which this model is least certain.  [default: pairs of all degrees of "
    "similarity]",
)
@click.option(
    "--labels",
    metavar="FILE",
    multiple=True,
    type=shared.PATH,
    help="Label store or file of pairs that are already judged. Repeatable.",
)
@click.option(
    "--documents",
    metavar="INPUT",
    multiple=True,
    help="Documents that a file of pairs refers to. Repeatable.",
)
@click.option(
    "-n", "wanted", metavar="N", type=int, default=30, help="Number of pairs.  [default: 30]"
)
@shared.default_text_option
@shared.id_option
@click.option("--date", metavar="COL", help="Date column, if the model compares dates.")
@shared.seed_option
@sample_option
@shared.overwrite_option
@shared.json_option
@shared.quiet_option
@shared.debug_option
def suggest(candidates: tuple[Path, ...], **options: Any) -> None:
    """Choose N pairs to be judged next, among the pairs of each RUN (the folder of a run) or of a
    file of PAIRS with the columns a and b.

    With a model, the pairs are near its boundary, and unlike each other and unlike the labelled
    ones. Without a model, they cover all degrees of similarity. SAMPLE is judged and imported like
    one of `neardup label sample`; it is not a random sample, so it cannot measure anything.
    """
    from neardup.evaluation.training.suggestions import suggest as suggested
    from neardup.labels.training_labels import pairs_named
    from neardup.progress import of_command

    check_new(options["out"], overwrite=options["overwrite"])
    model = _model(options["model_file"])
    pools = {str(one): _pool(one, model, options) for one in candidates}
    labelled = {pair for path in options["labels"] for pair in pairs_named(path)}
    progress = of_command(quiet=options["quiet"])
    try:
        given = {"model": model, "labelled": labelled, "seed": options["seed"]}
        made = suggested(pools, options["wanted"], progress=progress, **given)
    finally:
        progress.finish()
    key = made.save(options["out"])
    if options["as_json"]:
        data = {"sample": str(options["out"]), "key": str(key), "items": len(made.items)}
        show_json(data)
    if not options["quiet"]:
        echo("\n".join(_lines(len(made.items), options["out"])), err=True)


def _model(file: Path | None) -> Model | None:
    from neardup.artefacts.model import load_model

    return load_model(file) if file else None


def _pool(place: Path, model: Model | None, options: dict[str, Any]) -> Pool:
    from neardup.documents.collection import collect_inputs
    from neardup.documents.columns import Columns
    from neardup.evaluation.training.suggestions import as_model_reads, pool_of_pairs, pool_of_run
    from neardup.evaluation.training.training_data import Source, told_apart
    from neardup.labels.training_labels import pairs_named
    from neardup.runs.result import Result

    if place.is_dir():
        return pool_of_run(str(place), Result.load(place), model, options["seed"])
    if not options["documents"]:
        raise click.UsageError(f"{place} is not a run. Hint: name the documents with --documents.")
    inputs = collect_inputs([(None, one) for one in options["documents"]])
    columns = Columns(options["text"], options["id"])
    source = as_model_reads(Source(inputs, columns, date=options["date"]), model)
    return pool_of_pairs(pairs_named(place), told_apart(source), options["seed"])


def _lines(items: int, out: Path) -> list[str]:
    return [
        f"{items:,} pairs to judge in {out}",
        f"Next: fill in the labels of a copy, then neardup label import {out} COPY --assessor NAME",
    ]


@click.command(short_help="Group the duplicates of a run as labels require.")
@click.argument("run", metavar="RUN", type=shared.PATH)
@click.argument("labels", metavar="LABELS", type=shared.PATH)
@click.option(
    "-o", "--out", metavar="FILE", type=shared.PATH, help="File to write.  [default: stdout]"
)
@shared.overwrite_option
@shared.quiet_option
@shared.debug_option
def clusters(run: Path, labels: Path, out: Path | None, overwrite: bool, quiet: bool) -> None:
    """Group the documents of RUN by its pairs so that pairs labelled duplicate in the label store
    LABELS are in one cluster, and no pair labelled not is, unless other labels require it (Yang &
    Callan's must-link and cannot-link constraints).

    Writes one JSON line for each document in a cluster: id, cluster, and whether it is the
    reference, the document that the run would keep first. The run itself stays as it is.
    """
    from neardup.files import whole_file
    from neardup.labels.constraints import constrained
    from neardup.labels.label_store import read_labels
    from neardup.runs.stored_run import load

    check_there(labels)
    if out:
        check_new(out, overwrite=overwrite)
    read = read_labels(labels)
    tell_torn(read.torn, labels)
    grouped = constrained(load(run), read)
    written = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in grouped.rows)
    if out is None:
        echo_json(written, nl=False)
    else:
        with whole_file(out) as part:
            part.write_text(written, "utf-8")
    if not quiet:
        echo(grouped.sentence(), err=True)
