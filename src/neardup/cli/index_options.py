"""The options of an index that a command makes where there is none: those of ``watch`` and
``serve``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from neardup.cli.options import WHOSE, methods, threshold_option

if TYPE_CHECKING:
    from neardup.engines.index.index import Index

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--method",
        metavar="NAME",
        multiple=True,
        callback=methods,
        help="Of a new index: how to compare. May be repeated: then one is enough.",
    ),
    threshold_option,
    click.option(
        "--set",
        "assignments",
        metavar="KEY=VALUE",
        multiple=True,
        help="Of a new index: a parameter of the method; may be repeated.",
    ),
    click.option(
        "--window",
        metavar="SPAN",
        help="Of a new index: how long it remembers, such as 24h or 7d.",
    ),
    click.option(
        "--against",
        metavar="kept|seen",
        help="Of a new index: whether duplicates are matched against, too (seen).  [default: kept]",
    ),
    click.option(
        "--text", metavar="COL", help="Of a new index: the field of the text.  [default: text]"
    ),
    click.option("--id", metavar="COL", help="Of a new index: the field of the id.  [default: id]"),
    click.option(
        "--date",
        metavar="COL",
        help="Of a new index: the field of the time; feeds have date.  [default: the time of "
        "arrival counts]",
    ),
    click.option(
        "--source", "whose", metavar="COL", help=f"Of a new index: {WHOSE[0].lower()}{WHOSE[1:]}"
    ),
    click.option(
        "--within",
        metavar="COL",
        help="Of a new index: compare only documents with the same value in COL.",
    ),
    click.option(
        "--texts/--no-texts",
        default=None,
        help="Of a new index: store the texts too: for kinds, to compare by id, to judge and to "
        "refresh it.  [default: where it begins with general tables]",
    ),
)


def new_index_options(command: Command) -> Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def hint_of(index: Index, *, quiet: bool) -> None:
    """Says what to do about general tables, where there is something to do."""
    from neardup.engines.index.general_tables import hint

    if not quiet and (said := hint(index.described(), index.stats()["documents"])):
        click.echo(said, err=True)


def opened_or_new(url: str, options: dict[str, Any], *, create: bool = True) -> Index:
    """With what these options say of a new one."""
    from neardup.engines.index.index import Index
    from neardup.methods.registry import parse_assignments

    given = {**options, "source": options["whose"]}
    given["set"] = parse_assignments(given.pop("assignments"))
    del given["whose"]
    return Index.open(url, create=create, **{n: one for n, one in given.items() if one is not None})
