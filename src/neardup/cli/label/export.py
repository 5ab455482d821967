"""``neardup label export``: one label a pair, as gold; or what an arbiter has to judge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.idf.parts import quiet_option
from neardup.cli.label.parts import check_new, check_there, tell_torn
from neardup.cli.options import debug_option

if TYPE_CHECKING:
    from neardup.evaluation.labels import Labels


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
    from neardup.evaluation.labels import read_labels

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
    from neardup.evaluation.agreement import verdicts

    for pair, label in sorted(verdicts(read).settled.items()):
        kind = {"kind": label.kind} if label.kind else {}
        yield {"a": pair.a, "b": pair.b, "label": label.label, **kind}


def _disputed(read: Labels, sample: Path) -> Iterator[dict[str, object]]:
    """As they were drawn: an arbiter judges without knowing who said what."""
    from neardup.evaluation.agreement import verdicts
    from neardup.evaluation.samples import read_key, sample_rows

    disputed, pairs = set(verdicts(read).disputed), read_key(sample).pairs
    for row in sample_rows(sample):
        if pairs.get(str(row.get("item"))) in disputed:
            yield row
