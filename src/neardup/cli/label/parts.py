"""What the commands of ``neardup label`` share."""

from __future__ import annotations

from pathlib import Path

import click

from neardup.errors import InputError, UsageError

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
    from neardup.evaluation.sampling import labels_path

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
