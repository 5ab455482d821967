"""``neardup evaluate``: how good a setting is, on one's own documents."""

from __future__ import annotations

import json
from typing import Any

import click

from neardup.cli.evaluate_options import evaluate_options


@click.command(short_help="Measure settings on documents with labels, and recommend one.")
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@evaluate_options
def evaluate(inputs: tuple[str, ...], **options: Any) -> None:
    """Measure how good settings are on INPUT, of which it is known what is a duplicate of what: by
    a column (--group) or by labelled pairs (--pairs).

    INPUT: documents in a form that `dedup` reads. Each method is run once, at the lowest threshold;
    higher ones are cuts. Precision, recall and F1 come with 95 % intervals, and the last words are
    a setting to take.
    """
    if options["papers"]:
        show_papers(options["as_json"])
        return
    from neardup.cli.evaluate_run import Evaluating

    Evaluating(inputs, options).run()


def show_papers(as_json: bool) -> None:
    from neardup.cli.terminal import show_table
    from neardup.papers import PAPERS

    if as_json:
        said = [{"name": name, "shows": paper.says} for name, paper in PAPERS.items()]
        click.echo(json.dumps(said, indent=2, ensure_ascii=False))
        return
    show_table(("experiment", "shows"), [(name, paper.says) for name, paper in PAPERS.items()])
    click.echo("\nneardup evaluate --paper EXPERIMENT INPUT repeats one.")
