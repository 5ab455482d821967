"""``neardup index``: documents that come one by one, asked of and kept in a store."""

from __future__ import annotations

import click

from neardup.cli.lazy import Commands

COMMANDS = {
    "build": "neardup.cli.index.build:build",
    "add": "neardup.cli.index.add:add",
    "check": "neardup.cli.index.check:check",
    "remove": "neardup.cli.index.remove:remove",
    "expire": "neardup.cli.index.expire:expire",
    "refresh": "neardup.cli.index.refresh:refresh",
    "stats": "neardup.cli.index.stats:stats",
}


@click.group(cls=Commands, homes=COMMANDS, short_help="Keep an index that new documents are asked.")
def index() -> None:
    """An index of documents that come one by one.

    STORE is a file (SQLite) or postgresql://…. It remembers method, parameters and what was counted
    from the documents it was built from, so that later documents are decided alike.
    """
