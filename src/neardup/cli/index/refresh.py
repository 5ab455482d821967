"""``neardup index refresh``: a new index with new tables beside the old one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from neardup.cli.index.parts import quiet_option, store_argument
from neardup.cli.options import debug_option, json_option
from neardup.errors import UsageError

if TYPE_CHECKING:
    from neardup.artefacts.artefact import Artefacts
    from neardup.online.index import Index


@click.command(short_help="Sign the documents again with new tables.")
@store_argument
@click.argument("new", metavar="NEW")
@click.option(
    "--run",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Take the tables of this run.  [default: count the texts of STORE]",
)
@json_option
@quiet_option
@debug_option
def refresh(store: str, new: str, run: Path | None, as_json: bool, quiet: bool) -> None:
    """Make the index NEW from the texts of STORE, with new tables.

    STORE is only read and may go on working; what happens to it meanwhile is taken along. Says how
    many decisions are others in NEW. STORE must have been built with --texts.
    """
    from neardup.cli.index.parts import opened, show
    from neardup.online.index import Index
    from neardup.online.refresh import refresh as made_again

    if Index.exists(new):
        raise UsageError(f"{new} is already there.", hint="name another place.")
    with opened(store) as old:
        found = made_again(old, new, run if run is not None else _counted(old))
    changed = found.documents - found.same
    lines = [
        f"{found.documents:,} documents, {changed:,} decided otherwise: {found.now_kept:,} kept "
        f"now, {found.now_duplicate:,} duplicates now, {found.of_another:,} of another document.",
        f"Written to {new}.",
    ]
    show({"store": store, "new": new, **found._asdict()}, lines, as_json=as_json, quiet=quiet)


def _counted(old: Index) -> Artefacts:
    from neardup.api import frozen
    from neardup.documents import collect
    from neardup.plan import Settings, resolve

    made = old.described()
    texts = [{"id": one.id, "text": one.text or "", "within": one.within} for one in old]
    within = "within" if made["within"] else None
    plan = resolve(Settings(method=made["method"], set=made["asked"], within=within))
    return frozen(collect(texts), plan).artefacts
