"""``neardup label import``: labels from judged copies of a sample into the store."""

from __future__ import annotations

import json
from pathlib import Path

import click

from neardup.cli.idf.parts import quiet_option
from neardup.cli.label.parts import labels_option, store_of
from neardup.cli.options import debug_option, json_option


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
    from neardup.evaluation.labels import LabelStore
    from neardup.evaluation.samples import read_judged, read_key

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
