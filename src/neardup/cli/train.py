"""``neardup train``: a model of what a duplicate is, from labelled pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import echo, show_json
from neardup.cli.idf import check_target, text_options

if TYPE_CHECKING:
    from neardup.artefacts.model import Model
    from neardup.evaluation.training.training_data import Source
    from neardup.labels.training_labels import Labelled
    from neardup.progress import Progress
    from neardup.text.text_options import Text

AUTO, ALL = "auto", "all"  # of the measures


@click.command(short_help="Train a model on labelled pairs.")
@click.argument("labels", nargs=-1, metavar="LABELS...", type=shared.PATH)
@click.option(
    "--documents",
    metavar="INPUT",
    multiple=True,
    help="Documents that LABELS refer to, in any format that `dedup` reads. Repeatable.",
)
@click.option(
    "--group",
    metavar="COL",
    help="Documents with equal values in COL are duplicates; replaces LABELS.",
)
@click.option("-o", "--out", metavar="MODEL", type=shared.PATH, help="File to write.")
@click.option(
    "--model",
    "kind",
    metavar="auto|linear|rbf|trees",
    default="auto",
    help="Support vector machine (linear, rbf), or trees whose score never falls as documents "
    "become more alike.  [default: auto, the simplest of the best in cross-validation]",
)
@click.option(
    "--measures",
    metavar="auto|all|NAMES",
    default="all",
    help="Measures of two documents, separated by commas; all stands for the usual ones, and auto "
    "selects the necessary ones among those named.  [default: all]",
)
@click.option(
    "--cut",
    metavar="f1|zero",
    default="f1",
    help="Threshold of the model: the one with the best F1, or zero of the discriminant "
    "(g(x) ≥ 0, one machine).  [default: f1]",
)
@shared.recipe_option
@click.option("--date", metavar="COL", help="Date column, for measures of dates.")
@shared.columns_option
@shared.positive_option
@shared.negative_option
@click.option(
    "--complete",
    is_flag=True,
    help="LABELS contain all duplicates: other pairs that `learned` compares are not duplicates.",
)
@shared.seed_option
@click.option(
    "--max-pairs",
    metavar="N",
    type=int,
    default=40_000,
    help="Above N pairs, train on a random sample.  [default: 40000]",
)
@shared.default_text_option
@shared.id_option
@shared.encoding_option
@shared.extract_option
@shared.text_set_option
@shared.workers_option
@shared.limit_option
@click.option(
    "--show",
    metavar="MODEL",
    type=shared.PATH,
    help="Describe a model instead of training one; general is the model of this package.",
)
@shared.overwrite_option
@shared.json_option
@shared.verbose_option
@shared.quiet_option
@shared.debug_option
def train(labels: tuple[Path, ...], **options: Any) -> None:
    """Train a model that decides whether two documents are duplicates, from labelled pairs.

    LABELS: a label store of `neardup label`, whose labels count if an arbiter or all assessors
    agree, or a file of pairs (JSON Lines, CSV, TSV, Parquet, Arrow) with the columns a, b and
    label.

    The model combines several measures of two documents. Cross-validation estimates its quality on
    new documents, beside that of the best single measure at its best threshold. The same input and
    seed give the same file.
    """
    if options["show"]:
        _show_only(labels, options)
        return
    from neardup.progress import of_command

    _check_usage(labels, options)
    text = _take_recipe(options)
    inputs = [Path(one) for one in (*labels, *options["documents"])]
    check_target(options["out"], inputs, overwrite=options["overwrite"], made="runs")
    progress = of_command(quiet=options["quiet"])
    try:
        model = _trained(labels, options, text, progress)
    finally:
        progress.finish()
    model.save(options["out"])
    _show(model, options["as_json"])
    if not options["quiet"]:
        echo(f"The model is {options['out']}.", err=True)


def _show_only(labels: tuple[Path, ...], options: dict[str, Any]) -> None:
    from neardup.artefacts.model import model_at, place_of

    if labels or options["documents"] or options["out"]:
        raise click.UsageError("--show takes only a model. Hint: leave LABELS and -o out.")
    _show(model_at(place_of(str(options["show"]))), options["as_json"])


def _check_usage(labels: tuple[Path, ...], options: dict[str, Any]) -> None:
    if not labels and not options["group"]:
        raise click.UsageError(
            "Missing argument 'LABELS...'. Hint: name a store of labels or a file of pairs, or "
            "give --group COL."
        )
    if options["group"] and (labels or options["complete"]):
        given = "LABELS" if labels else "--complete"
        raise click.UsageError(f"{given} and --group cannot be combined.")
    if options["group"]:
        for name in ("positive", "negative", "columns"):
            if options[name]:
                raise click.UsageError(f"--{name} is for a file of pairs, and --group replaces it.")
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
                f"{path} is a label store, which never contains all duplicates. "
                "Hint: leave --complete out, or give a file of pairs."
            )


def _take_recipe(options: dict[str, Any]) -> Text:
    """Puts what the recipe says of training into options that were not given; returns the text
    options."""
    from neardup.methods.registry import construct, deep_merged, parse_assignments
    from neardup.papers.recipe import read_train
    from neardup.text.text_options import Text

    own = text_options(options["assignments"])  # refuses other assignments
    if not options["recipe"]:
        return own
    written = read_train(options["recipe"])
    assigned = parse_assignments(options["assignments"]).get("text", {})
    text = deep_merged(written.pop("text"), assigned)
    source = click.get_current_context().get_parameter_source
    for name, value in written.items():
        place = {"model": "kind"}.get(name, name)
        if source(place) is click.core.ParameterSource.DEFAULT:
            options[place] = value
    made: Text = construct(Text, text, "text")
    return made


def _trained(
    labels: tuple[Path, ...], options: dict[str, Any], text: Text, progress: Progress
) -> Model:
    from neardup.evaluation.training.machines import check_extra
    from neardup.evaluation.training.trainer import check_cut, check_kind, train
    from neardup.evaluation.training.training_data import material_of
    from neardup.settings import check_positive

    check_extra()
    check_kind(options["kind"])
    check_cut(options["cut"])
    check_positive("max_pairs", options["max_pairs"])
    source = _source(options, text)
    material = material_of(source, _labelled(labels, source, options, progress), progress)
    wishes = {name: options[name] for name in ("kind", "cut", "seed", "max_pairs")}
    return train(material, choose=AUTO in _listed(options["measures"]), progress=progress, **wishes)


def _source(options: dict[str, Any], text: Text) -> Source:
    from neardup.documents.collection import collect_inputs
    from neardup.documents.columns import Columns
    from neardup.documents.extraction.extractor import Extraction
    from neardup.evaluation.training.training_data import Source, told_apart

    given = [(None, one) for one in options["documents"]]
    how = Extraction(options["extract"])
    source = Source(
        collect_inputs(given, encoding=options["encoding"], extraction=how),
        Columns(options["text"], options["id"]),
        text,
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
    meanings, encoding = (options["positive"], options["negative"]), options["encoding"]
    found = read_labelled(labels, columns, *meanings, encoding)
    if not options["complete"]:
        return found
    named = (pair for path in labels for pair in pairs_named(path, columns, encoding))
    return labelled_completely(found, named, source, *given)


def _show(model: Model, as_json: bool) -> None:
    from neardup.cli.terminal import show_sections
    from neardup.evaluation.training.validation import sections_of

    if as_json:
        show_json(model.describe())
    else:
        show_sections(sections_of(model))
