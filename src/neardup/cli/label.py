"""``neardup label``: samples of pairs for people to judge, and what their labels say.

``neardup label sample``: blind pairs of one or several runs.

``neardup label import``: labels from judged copies of a sample into the store.

``neardup label export``: one label a pair, as gold; or what an arbiter has to judge.

``neardup label undo``: take back the last labels of an assessor.

``neardup label lists``: result lists in which people mark sets of duplicates.

What the commands of ``neardup label`` share.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.command import Commands
from neardup.cli.idf import quiet_option
from neardup.cli.options import debug_option, json_option
from neardup.errors import InputError, UsageError
from neardup.wording import shortened

if TYPE_CHECKING:
    from neardup.labels.label_store import Labels
    from neardup.labels.sampling import Sample

COMMANDS = {
    "sample": "neardup.cli.label:sample",
    "suggest": "neardup.cli.label_results:suggest",
    "lists": "neardup.cli.label:lists",
    "import": "neardup.cli.label:import_",
    "undo": "neardup.cli.label:undo",
    "agree": "neardup.cli.label_results:agree",
    "measure": "neardup.cli.label_results:measure",
    "export": "neardup.cli.label:export",
}


@click.group(cls=Commands, homes=COMMANDS, short_help="Let people judge pairs, and use it.")
def label() -> None:
    """Precision and recall where no gold is: draw a blind sample of pairs, have it judged, measure.

    A sample is a JSON Lines file of pairs with both texts. Assessors fill in the field label of
    their own copies: duplicate, not or undecided.
    """


@click.command(short_help="Add result lists to be judged.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.argument("lists", metavar="LISTS")
@click.option("--query", metavar="COL", default="query", help="The column of the query.")
@click.option("--text", metavar="COL", default="text", help="The column of the text.")
@click.option("--id", metavar="COL", help="The column of the id.  [default: id if there]")
@click.option("--title", metavar="COL", default="title", help="A column to show above the text.")
@click.option(
    "--top", metavar="N", type=int, default=20, help="Results of each query.  [default: 20]"
)
@json_option
@quiet_option
@debug_option
def lists(
    run: Path,
    lists: str,
    query: str,
    text: str,
    id: str | None,
    title: str,
    top: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Put result lists beside RUN, the folder of a run, to be judged in the browser.

    LISTS: JSON Lines, CSV, TSV, Parquet or Arrow, a row a result, the best first, with its query,
    id and text. Lists with a column set, which says what is a duplicate of what, are for practice;
    where no list has one, the first is.
    """
    from neardup.errors import InputError
    from neardup.labels.result_lists import add_lists, read_lists
    from neardup.labels.samples import LISTS, judging_folder

    if not run.exists():
        raise InputError(f"There is no {run}.", hint="name the folder of a run.")
    found = read_lists(lists, query=query, id=id, text=text, title=title, top=top)
    place = judging_folder(run) / LISTS
    new = add_lists(place, found)
    practice = sum(one.practice for one in found)
    if as_json:
        said = {"lists": str(place), "read": len(found), "new": new, "practice": practice}
        click.echo(json.dumps(said, indent=2, ensure_ascii=False))
    if not quiet:
        click.echo(
            f"{len(found):,} lists, {practice:,} of them for practice and {new:,} new, are in "
            f"{place}",
            err=True,
        )


labels_option = click.option(
    "--labels",
    "store",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The store of labels.  [default: SAMPLE.labels.jsonl beside the sample]",
)


sample_option = click.option(
    "-o",
    "--out",
    metavar="SAMPLE",
    required=True,
    type=click.Path(path_type=Path),
    help="The JSON Lines file to write; its key goes beside it.",
)
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace a sample that is there.")


def store_of(sample: Path, store: Path | None) -> Path:
    from neardup.labels.sampling import labels_path

    return store or labels_path(sample)


def check_new(out: Path, *, overwrite: bool) -> None:
    if out.is_dir():
        raise UsageError(f"{out} is a folder; -o names a file.", hint="name a file in it.")
    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write to.", hint="make it first.")
    if out.exists() and not overwrite:
        raise UsageError(
            f"{out} is already there, and may have been judged.",
            hint="name another file with -o, or give --overwrite.",
        )


def check_there(store: Path) -> None:
    if not store.exists():
        raise InputError(
            f"There are no labels in {store}: it is not there.",
            hint="store some with `neardup label import`.",
        )


def tell_torn(torn: str | None, store: Path) -> None:
    if torn:
        click.echo(f"{store} ends with half a row, which counts for nothing: {torn!r}", err=True)


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
    from neardup.labels.sampling import draw
    from neardup.runs.result import Result

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


@click.command(name="import", short_help="Store the labels of an assessor.")
@click.argument("sample", metavar="SAMPLE", type=click.Path(path_type=Path))
@click.argument(
    "judged", metavar="JUDGED...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option("--assessor", metavar="NAME", required=True, help="Who judged.")
@click.option(
    "--arbiter", is_flag=True, help="This assessor's word ends a disagreement of the others."
)
@labels_option
@json_option
@quiet_option
@debug_option
def import_(
    sample: Path,
    judged: tuple[Path, ...],
    assessor: str,
    arbiter: bool,
    store: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Take the labels of JUDGED, copies of SAMPLE with the field label filled in: duplicate, not or
    undecided; kind and note may be there too. Rows without a label are left for later.

    A later label of the same assessor replaces an earlier one; the same file again changes
    nothing. If a row is wrong, nothing is stored.
    """
    from neardup.labels.label_store import LabelStore
    from neardup.labels.samples import read_judged, read_key

    place = store_of(sample, store)
    pairs = read_key(sample).pairs
    name = sample.stem
    read = [read_judged(one, pairs, assessor, arbiter=arbiter, sample=name) for one in judged]
    labels = [label for one in read for label in one.labels]
    labels_store = LabelStore(place)
    new = labels_store.add_all(labels)
    left = sum(one.open for one in read)
    if as_json:
        found = {"labels": str(place), "read": len(labels), "new": new, "without_label": left}
        click.echo(json.dumps(found, indent=2, ensure_ascii=False))
    if labels_store.set_aside:
        torn = f"{place}.torn"
        click.echo(f"Half a row at the end of {place} was set aside in {torn}.", err=True)
    if not quiet:
        said = f"{len(labels):,} labels of {assessor}, {new:,} of them new, are in {place}"
        click.echo(f"{said}; {left:,} rows have no label yet." if left else f"{said}.", err=True)


@click.command(short_help="Write the labels that count as pairs.")
@click.argument("labels", metavar="LABELS", type=click.Path(path_type=Path))
@click.option(
    "--disputed",
    "sample",
    metavar="SAMPLE",
    type=click.Path(path_type=Path),
    help="Write instead the rows of SAMPLE that assessors disagree on, to be judged by an arbiter.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file to write.  [default: stdout]",
)
@click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
@quiet_option
@debug_option
def export(
    labels: Path, sample: Path | None, out: Path | None, overwrite: bool, quiet: bool
) -> None:
    """Write one JSON line a pair of the store LABELS: a, b, label and kind, where the assessors
    agree or an arbiter has spoken. `neardup evaluate --pairs` takes this as gold.
    """
    from neardup.documents.streams import whole_file
    from neardup.labels.label_store import read_labels

    check_there(labels)
    if out:
        check_new(out, overwrite=overwrite)
    read = read_labels(labels)
    tell_torn(read.torn, labels)
    rows = list(_disputed(read, sample) if sample else _settled(read))
    written = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if out is None:
        click.echo(written, nl=False)
        return
    with whole_file(out) as part:
        part.write_text(written, "utf-8")
    if not quiet:
        click.echo(f"{len(rows):,} pairs are in {out}.", err=True)


def _settled(read: Labels) -> Iterator[dict[str, object]]:
    from neardup.labels.agreement import verdicts

    for pair, label in sorted(verdicts(read).settled.items()):
        kind = {"kind": label.kind} if label.kind else {}
        yield {"a": pair.a, "b": pair.b, "label": label.label, **kind}


def _disputed(read: Labels, sample: Path) -> Iterator[dict[str, object]]:
    """As they were drawn: an arbiter judges without knowing who said what."""
    from neardup.labels.agreement import verdicts
    from neardup.labels.samples import read_key, sample_rows

    disputed, pairs = set(verdicts(read).disputed), read_key(sample).pairs
    for row in sample_rows(sample):
        if pairs.get(str(row.get("item"))) in disputed:
            yield row


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
    from neardup.labels.label_store import LabelStore
    from neardup.settings import check_positive

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
