"""What an application came to, or would come to: as a table, in sentences, as data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.outputs.applying.applied import Applied


def data(made: Applied, folder: Path, *, dry_run: bool) -> dict[str, Any]:
    return {
        "counts": made.counts,
        "filled": made.filled,
        "policy": made.policy.describe(),
        "changes": len(made.changes.counting),
        "folder": None if dry_run else str(folder),
    }


def lines(made: Applied, run: Path, folder: Path, *, dry_run: bool) -> list[str]:
    told = [f"{made.sentence()}."]
    if made.changes:
        count = len(made.changes.counting)
        what = (
            "1 change made in review counts"
            if count == 1
            else f"{count:,} changes made in review count"
        )
        told.append(f"{what}; --no-changes leaves {'it' if count == 1 else 'them'} out.")
    if made.filled:
        what = "1 kept document has" if made.filled == 1 else f"{made.filled:,} kept documents have"
        told.append(f"{what} metadata filled from merged copies.")
    told += _unknown(made)
    listed = ", ".join(made.names())
    if dry_run:
        return [*told, f"Nothing was written; without --dry-run {folder} gets {listed}."]
    return [*told, f"Written to {folder}: {listed}.", f"Take it back: neardup undo {run}"]


def _unknown(made: Applied) -> list[str]:
    """Where actions go by kind, pairs that were never classified should be seen."""
    import pyarrow.compute as pc

    actions = made.actions
    aside = pc.equal(actions["decision"], "duplicate")
    count = pc.sum(pc.and_(aside, pc.is_null(actions["kind"]))).as_py() or 0
    if not count or not made.policy.actions:
        return []
    what = "1 copy has" if count == 1 else f"{count:,} copies have"
    return [f"{what} no known kind: the default counts, {made.policy.default}."]


def table(made: Applied, most: int) -> None:
    """The first documents with which something is to be done."""
    import pyarrow.compute as pc

    from neardup.cli.listing import console, show_table

    actions = made.actions
    filled = pc.is_valid(actions["fills"])
    copies = actions.filter(pc.or_(pc.equal(actions["decision"], "duplicate"), filled))
    rows = [(row["id"], row["action"], row["reason"]) for row in copies.slice(0, most).to_pylist()]
    if rows:
        show_table(("document", "action", "reason"), rows)
    if len(copies) > most:
        console().print(f"… and {len(copies) - most:,} more")
