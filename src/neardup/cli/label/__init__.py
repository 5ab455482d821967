"""``neardup label``: samples of pairs for people to judge, and what their labels say."""

from __future__ import annotations

import click

from neardup.cli.lazy import Commands

COMMANDS = {
    "sample": "neardup.cli.label.sample:sample",
    "suggest": "neardup.cli.label.suggest:suggest",
    "lists": "neardup.cli.label.lists:lists",
    "import": "neardup.cli.label.importing:import_",
    "undo": "neardup.cli.label.undo:undo",
    "agree": "neardup.cli.label.agree:agree",
    "measure": "neardup.cli.label.measure:measure",
    "export": "neardup.cli.label.export:export",
}


@click.group(cls=Commands, homes=COMMANDS, short_help="Let people judge pairs, and use it.")
def label() -> None:
    """Precision and recall where no gold is: draw a blind sample of pairs, have it judged, measure.

    A sample is a JSON Lines file of pairs with both texts. Assessors fill in the field label of
    their own copies: duplicate, not or undecided.
    """
