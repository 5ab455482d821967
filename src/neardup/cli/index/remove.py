"""``neardup index remove``: take documents out of an index."""

from __future__ import annotations

import click

from neardup.cli.index.parts import quiet_option, store_argument
from neardup.cli.options import debug_option, json_option


@click.command(short_help="Take documents out.")
@store_argument
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@json_option
@quiet_option
@debug_option
def remove(store: str, ids: tuple[str, ...], as_json: bool, quiet: bool) -> None:
    """Take the documents ID out of the index STORE.

    Documents that were set aside for one of them are decided again, as if they arrived now in their
    old order.
    """
    from neardup.cli.index.parts import opened, show

    with opened(store) as index:
        again = {id_: index.remove(id_) for id_ in ids}
    lines = [f"{id_} is removed." for id_ in ids]
    for found in again.values():
        lines += [
            f"  {other} is {'kept now' if match is None else f'a duplicate of {match.of} now'}."
            for other, match in found.items()
        ]
    data = {
        id_: {other: match and match._asdict() for other, match in found.items()}
        for id_, found in again.items()
    }
    show({"removed": data}, lines, as_json=as_json, quiet=quiet)
