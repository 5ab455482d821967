"""``neardup token``: who may ask a service from another machine."""

from __future__ import annotations

import click

from neardup.cli.lazy import Commands

COMMANDS = {
    "new": "neardup.cli.token.doing:new",
    "list": "neardup.cli.token.doing:list_",
    "remove": "neardup.cli.token.doing:remove",
}


@click.group(cls=Commands, homes=COMMANDS, short_help="Make and remove tokens of a service.")
def token() -> None:
    """Tokens for `neardup serve --token-file FILE`. FILE has their hashes alone.

    A running server sees at once what is added to FILE or removed from it.
    """
