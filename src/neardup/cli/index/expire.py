"""``neardup index expire``: forget old documents."""

from __future__ import annotations

import click

from neardup.cli.index.parts import quiet_option, store_argument
from neardup.cli.options import debug_option, json_option


@click.command(short_help="Forget old documents.")
@store_argument
@click.option(
    "--before",
    metavar="TIME",
    required=True,
    help="Documents of an earlier time go: ISO 8601 such as 2026-01-31T12:00.",
)
@json_option
@quiet_option
@debug_option
def expire(store: str, before: str, as_json: bool, quiet: bool) -> None:
    """Forget the documents of the index STORE that are older than TIME.

    As if they had fallen out of a window: those that were set aside for them stay as they are.
    """
    from neardup.cli.index.parts import opened, show

    with opened(store) as index:
        count = index.expire(before)
    show(
        {"store": store, "expired": count},
        [f"{count:,} documents are forgotten."],
        as_json=as_json,
        quiet=quiet,
    )
