"""``neardup doctor``: what is installed, and whether it works."""

from __future__ import annotations

import json

import click

from neardup.cli.options import debug_option, json_option

EXIT_FAULT = 1


@click.command(short_help="Say what is installed, and whether it works.")
@json_option
@debug_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Look at this installation: versions, the native module, a small run, a store, the extras.

    Nothing is changed. The exit code is 1 where something that is installed does not work; a
    missing extra is no fault.
    """
    from neardup.cli.listing import show_table
    from neardup.doctor import FAULT, findings

    found = list(findings())
    if as_json:
        click.echo(json.dumps([one._asdict() for one in found], indent=2))
    else:
        show_table(("what", "state", "found"), found)
    if any(one.state == FAULT for one in found):
        ctx.exit(EXIT_FAULT)
