"""Options that commands on an index share, and how these commands open it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import echo
from neardup.cli.options import Threshold, methods_named, source_column, with_options

if TYPE_CHECKING:
    from neardup.engines.index.index import Index

SOURCE = "Column that names the source of a document, for the flow page"
window_option = click.option(
    "--window",
    metavar="SPAN",
    help="How long documents are remembered: 30m, 24h, 7d.  [default: always]",
)
compared_option = click.option(
    "--against",
    metavar="kept|seen",
    help="Compare new documents with kept documents only, or with duplicates too (seen).  "
    "[default: kept]",
)
new_index_options = with_options(
    click.option(
        "--recipe",
        metavar="FILE|NAME",
        help="Read settings from a TOML file, or take those of a paper by name (`neardup papers`); "
        "new index only. Options win over the recipe.",
    ),
    click.option(
        "--method",
        metavar="NAME",
        multiple=True,
        callback=methods_named,
        help="Comparison method (new index only). Repeatable: a match by any of them counts.",
    ),
    click.option(
        "--threshold",
        metavar="T|auto",
        type=Threshold(),
        help="Score from which two documents are duplicates (new index only).",
    ),
    click.option(
        "--set",
        "assignments",
        metavar="KEY=VALUE",
        multiple=True,
        help="Parameter of the method (new index only). Repeatable.",
    ),
    click.option(
        "--window",
        metavar="SPAN",
        help="How long documents are remembered, such as 24h or 7d (new index only).",
    ),
    click.option(
        "--against",
        metavar="kept|seen",
        help="Compare with kept documents only, or with duplicates too (new index only).  "
        "[default: kept]",
    ),
    click.option("--text", metavar="COL", help="Text field (new index only).  [default: text]"),
    click.option("--id", metavar="COL", help="Id field (new index only).  [default: id]"),
    click.option(
        "--date",
        metavar="COL",
        help="Time field (new index only); feeds have date.  [default: time of arrival]",
    ),
    click.option(
        "--source",
        "whose",
        metavar="COL",
        callback=source_column,
        help=f"{SOURCE} (new index only).  [default: source]",
    ),
    click.option(
        "--within",
        metavar="COL",
        help="Compare only documents with the same value in COL (new index only).",
    ),
    click.option(
        "--texts/--no-texts",
        default=None,
        help="Store the texts too (new index only). Kinds, comparisons by id, judging and refresh "
        "need them.  [default: stored if the index starts with general tables]",
    ),
)

open_index_options = with_options(
    click.option(
        "--memory",
        metavar="SIZE",
        help="Memory for the window, such as 500MB; above it the oldest documents are forgotten "
        "early.  [default: no limit]",
    ),
    click.option(
        "--clipping",
        metavar="COMMON[,RARE]",
        help="Do not look up q-grams of a larger, or smaller, share of the documents (qgrams "
        "only): faster, and no longer exact.",
    ),
)


@contextmanager
def opened(store: str, **settings: Any) -> Iterator[Index]:
    """An index that exists: a wrong name must not create a new one."""
    from neardup.engines.index.index import Index

    with Index.open(store, create=False, **settings) as index:
        yield index


def opened_or_new(url: str, options: dict[str, Any], *, create: bool = True) -> Index:
    """The index at ``url``; a new one has the settings of ``new_index_options``."""
    from neardup.engines.index.index import Index
    from neardup.methods.registry import parse_assignments

    settings = {name: value for name, value in options.items() if name != "whose"}
    settings |= {"source": options["whose"], "set": parse_assignments(settings.pop("assignments"))}
    written = {name: value for name, value in settings.items() if value is not None}
    return Index.open(url, create=create, **written)


def hint_of(index: Index, *, quiet: bool) -> None:
    """Shows what to do about general tables, if there is something to do."""
    from neardup.engines.index.index_artefacts import hint

    if not quiet and (advice := hint(index.described(), index.stats()["documents"])):
        echo(advice, err=True)
