"""``neardup idf``: tables of how rare terms are, built once and then frozen."""

from __future__ import annotations

import click

from neardup.cli.lazy import Commands

COMMANDS = {
    "build": "neardup.cli.idf.build:build",
    "merge": "neardup.cli.idf.merge:merge",
    "show": "neardup.cli.idf.show:show",
    "compare": "neardup.cli.idf.compare:compare",
}


@click.group(cls=Commands, homes=COMMANDS, short_help="Build and look at tables of term rarity.")
def idf() -> None:
    """Tables that say in how many documents of a collection each term occurs.

    Methods that choose the rarest terms of a document need such a table. Without one they count
    the input itself; a frozen table keeps signatures the same when the collection grows.
    """
