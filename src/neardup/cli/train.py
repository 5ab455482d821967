"""``neardup train``: a model from labelled pairs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.idf import check_target, overwrite_option, quiet_option, text_options
from neardup.cli.options import EXTRACT, debug_option, json_option, listed, verbose_option

if TYPE_CHECKING:
    from neardup.artefacts.model import Model
    from neardup.evaluation.training.training_data import Source
    from neardup.labels.training_labels import Labelled
    from neardup.progress import Progress

AUTO, ALL = "auto", "all"  # of the measures


@click.command(short_help="Learn from labelled pairs what a duplicate is.")
@click.argument("labels", nargs=-1, metavar="LABELS...", type=click.Path(path_type=Path))
@click.option(
    "--documents",
    metavar="INPUT",
    multiple=True,
    help="The documents that LABELS name, in a form that `dedup` reads. May be repeated.",
)
@click.option(
    "--group",
    metavar="COL",
    help="Instead of LABELS: documents with equal values in COL are duplicates.",
)
@click.option(
    "-o", "--out", metavar="MODEL", type=click.Path(path_type=Path), help="The file to write."
)
@click.option(
    "--model",
    "kind",
    metavar="auto|linear|rbf|trees",
    default="auto",
    help="A support vector machine (linear, rbf), or trees whose score never falls as documents "
    "become more alike.  [default: auto, the simplest of those that are best in "
    "cross-validation]",
)
@click.option(
    "--measures",
    metavar="auto|all|NAMES",
    default="all",
    help="What is looked at: names with commas; all stands for the usual ones, and auto for those "
    "of all that are named that are needed.  [default: all]",
)
@click.option("--date", metavar="COL", help="The column of the date, for measures of dates.")
@click.option(
    "--columns",
    metavar="A,B,LABEL",
    callback=listed,
    help="What the columns of a file of pairs are called.  [default: a,b,label]",
)
@click.option(
    "--positive",
    metavar="LABELS",
    callback=listed,
    help="Labels of duplicates in a file of pairs.  [default: true,1,duplicate,yes]",
)
@click.option(
    "--negative",
    metavar="LABELS",
    callback=listed,
    help="Labels of pairs that are none; others are not used.  [default: false,0,not,no]",
)
@click.option(
    "--complete",
    is_flag=True,
    help="LABELS name all duplicates: other pairs that the method learned compares are none.",
)
@click.option("--seed", metavar="N", type=int, default=0, help="What is drawn by.  [default: 0]")
@click.option(
    "--max-pairs",
    metavar="N",
    type=int,
    default=40_000,
    help="Beyond it, pairs are drawn.  [default: 40000]",
)
@click.option("--text", metavar="COL", default="text", help="The column of the text.")
@click.option(
    "--id", metavar="COL", help="The column of the id.  [default: id if there, else file:row]"
)
@click.option("--encoding", metavar="NAME", help="The encoding of text files and CSV.")
@click.option("--extract", metavar="HOW", help=EXTRACT)
@click.option(
    "--set",
    "assignments",
    metavar="text.KEY=VALUE",
    multiple=True,
    help="What counts as the same word, such as text.case=keep; may be repeated.",
)
@click.option("--workers", metavar="N", type=int, help="Threads.  [default: all cores]")
@click.option("--limit", metavar="N", type=int, help="Read only the first N documents.")
@click.option(
    "--show",
    metavar="MODEL",
    type=click.Path(path_type=Path),
    help="Train nothing: say what a model is; general is the one that comes with neardup.",
)
@overwrite_option
@json_option
@verbose_option
@quiet_option
@debug_option
def train(labels: tuple[Path, ...], **options: Any) -> None:
    """Train a model that says of two documents whether they are duplicates, from pairs of which
    it is known: LABELS.

    LABELS: a store of `neardup label`, where the word of the arbiter or of all assessors counts,
    or a file of pairs (JSON Lines, CSV, TSV, Parquet, Arrow) with the columns a, b and label.

    The model takes several measures of two documents at once. How good it is on documents that it
    was not trained on comes from cross-validation, beside the best single measure with its best
    threshold. The same input and seed give the same file.
    """
    if options["show"]:
        _show_only(labels, options)
        return
    from neardup.cli.terminal import progress_for

    _check_usage(labels, options)
    inputs = [Path(one) for one in (*labels, *options["documents"])]
    check_target(options["out"], inputs, overwrite=options["overwrite"], made="runs")
    progress = progress_for(quiet=options["quiet"])
    try:
        model = _trained(labels, options, progress)
    finally:
        progress.finish()
    model.save(options["out"])
    _show(model, options["as_json"])
    if not options["quiet"]:
        click.echo(f"The model is {options['out']}.", err=True)


def _show_only(labels: tuple[Path, ...], options: dict[str, Any]) -> None:
    from neardup.methods.learned import model_at, place_of

    if labels or options["documents"] or options["out"]:
        raise click.UsageError("--show takes a model alone. Hint: leave LABELS and -o out.")
    _show(model_at(place_of(str(options["show"]))), options["as_json"])


def _check_usage(labels: tuple[Path, ...], options: dict[str, Any]) -> None:
    if not labels and not options["group"]:
        raise click.UsageError(
            "Missing argument 'LABELS...'. Hint: name a store of labels or a file of pairs, or "
            "give --group COL."
        )
    if options["group"] and (labels or options["complete"]):
        given = "LABELS" if labels else "--complete"
        raise click.UsageError(f"{given} and --group do not go together.")
    if options["group"]:
        for name in ("positive", "negative", "columns"):
            if options[name]:
                raise click.UsageError(f"--{name} is of a file of pairs, and --group takes none.")
    if options["complete"]:
        _check_no_store(labels)
    for name in ("documents", "out"):
        if not options[name]:
            raise click.UsageError(f"Missing option '--{name}'.")


def _check_no_store(labels: tuple[Path, ...]) -> None:
    from neardup.labels.training_labels import is_store

    for path in labels:
        if is_store(path):
            raise click.UsageError(
                f"{path} is a store of labels: what was judged, not all duplicates. "
                "Hint: leave --complete out, or give a file of pairs."
            )


def _trained(labels: tuple[Path, ...], options: dict[str, Any], progress: Progress) -> Model:
    from neardup.evaluation.training.machines import check_extra
    from neardup.evaluation.training.trainer import check_kind, train
    from neardup.evaluation.training.training_data import material_of
    from neardup.settings import check_positive

    check_extra()
    check_kind(options["kind"])
    check_positive("max_pairs", options["max_pairs"])
    source = _source(options)
    material = material_of(source, _labelled(labels, source, options, progress), progress)
    wishes = {name: options[name] for name in ("kind", "seed", "max_pairs")}
    return train(material, choose=AUTO in _listed(options["measures"]), progress=progress, **wishes)


def _source(options: dict[str, Any]) -> Source:
    from neardup.documents import Columns
    from neardup.documents.collection import collect_inputs
    from neardup.documents.extraction.extractor import Extraction
    from neardup.evaluation.training.training_data import Source, told_apart

    given = [(None, one) for one in options["documents"]]
    how = Extraction(options["extract"])
    source = Source(
        collect_inputs(given, encoding=options["encoding"], extraction=how),
        Columns(options["text"], options["id"]),
        text_options(options["assignments"]),
        options["workers"],
        options["limit"],
        _measures(options["measures"]),
        options["date"],
    )
    return told_apart(source)


def _listed(measures: str) -> list[str]:
    return [one.strip() for one in measures.split(",")]


def _measures(written: str) -> tuple[str, ...]:
    from neardup.features.similarity import MEASURES, families_of

    groups = ((MEASURES if one in (AUTO, ALL) else (one,)) for one in _listed(written))
    names = tuple(dict.fromkeys(name for group in groups for name in group))
    families_of(names)  # refuses unknown ones
    return names


def _labelled(
    labels: tuple[Path, ...], source: Source, options: dict[str, Any], progress: Progress
) -> Labelled:
    from neardup.evaluation.training.complete_labels import labelled_by_group, labelled_completely
    from neardup.labels.labelled_pairs import pair_columns
    from neardup.labels.training_labels import pairs_named, read_labelled

    given = options["seed"], progress, options["max_pairs"]
    if options["group"]:
        return labelled_by_group(source, options["group"], *given)
    columns = pair_columns(options["columns"] or ("a", "b", "label"))
    found = read_labelled(labels, columns, options["positive"], options["negative"])
    if not options["complete"]:
        return found
    named = (pair for path in labels for pair in pairs_named(path, columns))
    return labelled_completely(found, named, source, *given)


def _show(model: Model, as_json: bool) -> None:
    from neardup.cli.evaluate_run import show_sections
    from neardup.evaluation.training.model_report import sections_of

    if as_json:
        click.echo(json.dumps(model.describe(), indent=2, ensure_ascii=False))
    else:
        show_sections(sections_of(model))
