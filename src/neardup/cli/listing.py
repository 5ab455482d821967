"""Tables on the terminal: natural width in a file or pipe, the terminal's own otherwise."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.names import shortened

if TYPE_CHECKING:
    from rich.console import Console

    from neardup.outputs.result import Result

SHOWN = 20
SHOWN_MEMBERS = 4
PIPE_WIDTH = 240


def console() -> Console:
    """Made anew each time, because it binds the stdout of the moment."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else PIPE_WIDTH
    return Console(file=sys.stdout, width=width, highlight=False, emoji=False)


def show_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()
) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for name in header:
        justify = "right" if name in right else "left"
        table.add_column(name, justify=justify, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    console().print(table)


def show_clusters(result: Result) -> None:
    clusters = result.clusters
    rows = [
        (
            f"{cluster['size']:,}",
            f"{cluster['weakest']:.4f}",
            shortened(cluster["kept_id"]),
            others(cluster["kept_id"], cluster["members"]),
        )
        for cluster in clusters.slice(0, SHOWN).to_pylist()
    ]
    if rows:
        show_table(("size", "weakest", "kept", "duplicates"), rows, right=("size", "weakest"))
    if len(clusters) > SHOWN:
        console().print(
            f"… and {len(clusters) - SHOWN:,} more clusters; -o FOLDER writes them all."
        )
    if not rows:
        console().print("No near-duplicates found.")


def others(kept: str, members: Sequence[str]) -> str:
    rest = [member for member in members if member != kept]
    shown = ", ".join(map(shortened, rest[:SHOWN_MEMBERS]))
    more = len(rest) - SHOWN_MEMBERS
    return f"{shown}, … {more:,} more" if more > 0 else shown
