"""``neardup label``: draw pairs for people to judge, and store, export and take back labels.

What the labels show about assessors and runs is in ``label_results.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import Commands, echo, echo_json, show_json
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
    "clusters": "neardup.cli.label_results:clusters",
}


@click.group(
    cls=Commands,
    homes=COMMANDS,
    short_help="Have people judge pairs, and measure with their labels.",
)
def label() -> None:
    """Measure precision and recall without known duplicates: draw a blind sample of pairs, have
    people judge it, and measure.

    A sample is a JSON Lines file of pairs with both texts. Assessors fill in the field label of
    their own copies: duplicate, not or undecided.
    """


@click.command(short_help="Add result lists for people to judge.")
@click.argument("run", metavar="RUN", type=shared.PATH)
@click.argument("lists", metavar="LISTS")
@click.option("--query", metavar="COL", default="query", help="Query column.  [default: query]")
@shared.default_text_option
@click.option("--id", metavar="COL", help="Id column.  [default: id if it exists]")
@click.option(
    "--title",
    metavar="COL",
    default="title",
    help="Column to show above the text.  [default: title]",
)
@click.option("--top", metavar="N", type=int, default=20, help="Results per query.  [default: 20]")
@shared.json_option
@shared.quiet_option
@shared.debug_option
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
    """Add result lists to RUN, the folder of a run, for people to judge in the browser.

    LISTS: JSON Lines, CSV, TSV, Parquet or Arrow, one row per result, best result first, with its
    query, id and text. Lists with a column set, which names the groups of duplicates, are for
    practice; if no list has one, the first list is.
    """
    from neardup.errors import InputError
    from neardup.labels.result_lists import add_lists, read_lists
    from neardup.labels.samples import LISTS, judging_folder

    if not run.exists():
        raise InputError(f"{run} does not exist.", hint="name the folder of a run.")
    found = read_lists(lists, query=query, id=id, text=text, title=title, top=top)
    place = judging_folder(run) / LISTS
    new = add_lists(place, found)
    practice = sum(one.practice for one in found)
    if as_json:
        data = {"lists": str(place), "read": len(found), "new": new, "practice": practice}
        show_json(data)
    if not quiet:
        echo(
            f"{place} contains {len(found):,} lists; {practice:,} of them are for practice, and "
            f"{new:,} are new.",
            err=True,
        )


labels_option = click.option(
    "--labels",
    "store",
    metavar="FILE",
    type=shared.PATH,
    help="Label store.  [default: SAMPLE.labels.jsonl beside the sample]",
)


sample_option = click.option(
    "-o",
    "--out",
    metavar="SAMPLE",
    required=True,
    type=shared.PATH,
    help="JSON Lines file to write; its key is written beside it.",
)


def store_of(sample: Path, store: Path | None) -> Path:
    from neardup.labels.sampling import labels_path

    return store or labels_path(sample)


def check_new(out: Path, *, overwrite: bool) -> None:
    if out.is_dir():
        raise UsageError(f"{out} is a folder; -o names a file.", hint="name a file in it.")
    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write to.", hint="create it first.")
    if out.exists() and not overwrite:
        raise UsageError(
            f"{out} already exists, and may have been judged.",
            hint="name another file with -o, or give --overwrite.",
        )


def check_there(store: Path) -> None:
    if not store.exists():
        raise InputError(
            f"The label store {store} does not exist.",
            hint="store some with `neardup label import`.",
        )


def tell_torn(torn: str | None, store: Path) -> None:
    if torn:
        echo(f"{store} ends with an incomplete row, which is ignored: {torn!r}", err=True)


@click.command(short_help="Draw pairs of runs for people to judge.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=shared.PATH)
@click.option(
    "-n",
    "per_treatment",
    metavar="N",
    type=int,
    default=20,
    help="Pairs per run.  [default: 20]",
)
@click.option(
    "--strata",
    metavar="N",
    type=int,
    default=5,
    help="Number of score classes; the same number of pairs is drawn from each.  [default: 5]",
)
@shared.seed_option
@sample_option
@shared.overwrite_option
@shared.json_option
@shared.quiet_option
@shared.debug_option
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

    SAMPLE contains both texts of each pair, without score and method; sides and order are random.
    Pairs that several runs share occur once. SAMPLE.key.json records the run and the score class of
    each pair: measuring needs it, and assessors must not see it.
    """
    from neardup.labels.sampling import draw
    from neardup.runs.result import Result

    check_new(out, overwrite=overwrite)
    names = _names(runs)
    found = {name: Result.load(run) for name, run in zip(names, runs, strict=True)}
    drawn = draw(found, per_treatment, strata=strata, seed=seed)
    key = drawn.save(out)
    if as_json:
        show_json(_data(drawn, out, key))
    if not quiet:
        echo("\n".join(_lines(drawn, out, key)), err=True)


def _names(runs: tuple[Path, ...]) -> list[str]:
    """The name of the folder, or the path if two folders have the same name."""
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
    lines = [f"{len(drawn.items):,} pairs to judge in {out}"]
    for treatment in drawn.key.treatments:
        n = sum(len(stratum.items) for stratum in treatment.strata)
        listed = "" if treatment.complete else " listed"
        lines.append(f"  {treatment.name}: {n:,} of {treatment.pairs:,}{listed} pairs")
    return [
        *lines,
        f"The key is {key}. Keep it, and do not show it to the assessors.",
        f"Next: fill in the labels of a copy, then neardup label import {out} COPY --assessor NAME",
    ]


@click.command(name="import", short_help="Store the labels of an assessor.")
@click.argument("sample", metavar="SAMPLE", type=shared.PATH)
@click.argument("judged", metavar="JUDGED...", nargs=-1, required=True, type=shared.PATH)
@click.option("--assessor", metavar="NAME", required=True, help="Name of the assessor.")
@click.option(
    "--arbiter", is_flag=True, help="The labels of this assessor settle disagreements of others."
)
@click.option(
    "--guideline",
    metavar="NAME",
    help="Whose definition of a duplicate was followed: williams2013, conrad2003 or henzinger2006. "
    "It is stored with the labels.",
)
@labels_option
@shared.json_option
@shared.quiet_option
@shared.debug_option
def import_(
    sample: Path,
    judged: tuple[Path, ...],
    assessor: str,
    arbiter: bool,
    guideline: str | None,
    store: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Store the labels of JUDGED, copies of SAMPLE with the field label filled in: duplicate, not
    or undecided; the fields kind and note are optional. Rows without a label are skipped.

    A later label of the same assessor replaces an earlier one; importing the same file again
    changes nothing. If a row is wrong, nothing is stored.
    """
    from neardup.labels.label_store import LabelStore
    from neardup.labels.samples import guideline_of, read_judged, read_key

    place = store_of(sample, store)
    pairs = read_key(sample).pairs
    name = sample.stem
    followed = guideline_of(guideline).name if guideline else None
    how: dict[str, Any] = {"arbiter": arbiter, "sample": name, "guideline": followed}
    read = [read_judged(one, pairs, assessor, **how) for one in judged]
    labels = [label for one in read for label in one.labels]
    labels_store = LabelStore(place)
    new = labels_store.add_all(labels)
    left = sum(one.open for one in read)
    if as_json:
        data = {"labels": str(place), "read": len(labels), "new": new, "without_label": left}
        show_json(data)
    if labels_store.set_aside:
        torn = f"{place}.torn"
        echo(f"An incomplete row at the end of {place} was moved to {torn}.", err=True)
    if not quiet:
        line = f"{len(labels):,} labels of {assessor}, {new:,} of them new, are in {place}"
        echo(f"{line}; {left:,} rows have no label yet." if left else f"{line}.", err=True)


@click.command(short_help="Write the settled labels as pairs.")
@click.argument("labels", metavar="LABELS", type=shared.PATH)
@click.option(
    "--disputed",
    "sample",
    metavar="SAMPLE",
    type=shared.PATH,
    help="Write the rows of SAMPLE that assessors disagree on instead, for an arbiter to judge.",
)
@click.option(
    "-o",
    "--out",
    metavar="FILE",
    type=shared.PATH,
    help="File to write.  [default: stdout]",
)
@shared.overwrite_option
@shared.quiet_option
@shared.debug_option
def export(
    labels: Path, sample: Path | None, out: Path | None, overwrite: bool, quiet: bool
) -> None:
    """Write one JSON line for each pair of the label store LABELS on which the assessors agree or
    an arbiter has decided: a, b, label and kind. `neardup evaluate --pairs` reads this file.
    """
    from neardup.files import whole_file
    from neardup.labels.label_store import read_labels

    check_there(labels)
    if out:
        check_new(out, overwrite=overwrite)
    read = read_labels(labels)
    tell_torn(read.torn, labels)
    rows = list(_disputed(read, sample) if sample else _settled(read))
    written = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    if out is None:
        echo_json(written, nl=False)
        return
    with whole_file(out) as part:
        part.write_text(written, "utf-8")
    if not quiet:
        echo(f"{len(rows):,} pairs are in {out}.", err=True)


def _settled(read: Labels) -> Iterator[dict[str, object]]:
    from neardup.labels.agreement import verdicts

    for pair, label in sorted(verdicts(read).settled.items()):
        kind = {"kind": label.kind} if label.kind else {}
        yield {"a": pair.a, "b": pair.b, "label": label.label, **kind}


def _disputed(read: Labels, sample: Path) -> Iterator[dict[str, object]]:
    """The disputed pairs as they were drawn: an arbiter judges without knowing the labels of the
    others."""
    from neardup.labels.agreement import verdicts
    from neardup.labels.samples import read_key, sample_rows

    disputed, pairs = set(verdicts(read).disputed), read_key(sample).pairs
    for row in sample_rows(sample):
        if pairs.get(str(row.get("item"))) in disputed:
            yield row


@click.command(short_help="Take back the last labels of an assessor.")
@click.argument("labels", metavar="LABELS", type=shared.PATH)
@click.option("--assessor", metavar="NAME", required=True, help="Name of the assessor.")
@click.option(
    "-n", "count", metavar="N", type=int, default=1, help="Number of labels.  [default: 1]"
)
@shared.debug_option
def undo(labels: Path, assessor: str, count: int) -> None:
    """Take back the last N labels of an assessor in the label store LABELS: these pairs count as
    not judged by NAME. The store gets additional rows; none is removed.
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
        echo(f"{shortened(one.a)}  {shortened(one.b)}  {one.label}: taken back")
