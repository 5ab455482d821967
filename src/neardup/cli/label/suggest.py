"""``neardup label suggest``: the pairs whose labels would teach a model most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.idf.parts import quiet_option
from neardup.cli.label.parts import check_new, overwrite_option, sample_option
from neardup.cli.options import debug_option, json_option

if TYPE_CHECKING:
    from neardup.artefacts.model import Model
    from neardup.evaluation.training.suggest import Pool


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
    from neardup.cli.progress import progress_for
    from neardup.evaluation.training.labels import pairs_named
    from neardup.evaluation.training.suggest import suggest as suggested

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
    from neardup.evaluation.training.labels import pairs_named
    from neardup.evaluation.training.material import Source, told_apart
    from neardup.evaluation.training.suggest import as_model_reads, pool_of_pairs, pool_of_run
    from neardup.outputs.result import Result

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
