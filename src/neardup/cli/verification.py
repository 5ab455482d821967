"""``neardup verify``: whether run folders and indexes are what was written."""

from __future__ import annotations

import click

from neardup.cli.command import echo, show_json
from neardup.cli.options import debug_option, json_option
from neardup.errors import NeardupError

EXIT_DAMAGED = 1
UNKNOWN = "unknown"  # the kind of a place that could not be opened


@click.command(short_help="Check runs and indexes for damage.")
@click.argument("places", metavar="RUN|STORE…", nargs=-1, required=True)
@json_option
@debug_option
@click.pass_context
def verify(ctx: click.Context, places: tuple[str, ...], as_json: bool) -> None:
    """Check every file of a run folder, or every document of an index, against its checksum.

    Nothing is changed. Each damaged or missing part is listed, and the exit code is then 1. The
    other commands also check each file before they use it.
    """
    from neardup.engines.integrity import Verification
    from neardup.engines.integrity import verify as verified

    results = []
    for place in places:
        try:
            results.append(verified(place))
        except NeardupError as error:
            if len(places) == 1:
                raise
            results.append(Verification(place, UNKNOWN, 0, [str(error)], False))
    if as_json:
        show_json({"verified": [result._asdict() for result in results]})
    else:
        for result in results:
            _show(*result)
    if any(result.faults for result in results):
        ctx.exit(EXIT_DAMAGED)


def _show(place: str, kind: str, checked: int, faults: list[str], checksums: bool) -> None:
    from neardup.wording import many, sayable

    for fault in faults:
        echo(sayable(fault))
    unit = "file" if kind == "run" else "document"
    if faults and kind != UNKNOWN:
        echo(sayable(f"{place} is damaged: {many(len(faults), 'fault')}."))
    elif not faults and checksums:
        echo(sayable(f"{place}: {many(checked, unit)} checked, no damage found."))
    elif not faults:
        echo(
            sayable(
                f"{place} has no checksums, because an earlier version wrote it. "
                "Its tables can be read."
            )
        )
