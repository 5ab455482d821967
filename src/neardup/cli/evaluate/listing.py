"""``neardup evaluate --papers``: the experiments there are."""

from __future__ import annotations

import json

import click


def show_papers(as_json: bool) -> None:
    from neardup.cli.listing import show_table
    from neardup.evaluation.papers import PAPERS

    if as_json:
        said = [{"name": name, "shows": paper.says} for name, paper in PAPERS.items()]
        click.echo(json.dumps(said, indent=2, ensure_ascii=False))
        return
    show_table(("experiment", "shows"), [(name, paper.says) for name, paper in PAPERS.items()])
    click.echo("\nneardup evaluate --paper EXPERIMENT INPUT repeats one.")
