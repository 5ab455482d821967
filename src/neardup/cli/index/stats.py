"""``neardup index stats``: what is in an index, and what it costs."""

from __future__ import annotations

import json

import click

from neardup.cli.index.parts import store_argument
from neardup.cli.options import debug_option, json_option


@click.command(short_help="Say what is in an index.")
@store_argument
@json_option
@debug_option
def stats(store: str, as_json: bool) -> None:
    """Say what the index STORE was made with, what is in it and what it takes."""
    from neardup.cli.index.parts import opened
    from neardup.cli.listing import show_table
    from neardup.methods.written import write_method
    from neardup.online.tables import Tables, hint

    with opened(store) as index:
        made, found = index.described(), index.stats()
        method = {"method": write_method(index.method)}
    if as_json:
        click.echo(json.dumps({**made, **found}, indent=2, default=str))
        return
    named = {name: made[name] for name in ("window", "against", "date", "within")}
    shown = {**method, "tables": Tables.in_use(made), **named, **found}
    rows = [(name, _shown(value)) for name, value in shown.items() if value is not None]
    show_table(("what", "value"), rows)
    if said := hint(made, found["documents"]):
        click.echo(said, err=True)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
