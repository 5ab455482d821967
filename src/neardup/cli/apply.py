"""``neardup apply``: do with the duplicates of a run what a policy says.

What an application came to, or would come to: as a table, in sentences, as data.

``neardup undo``: take back the last policy that was applied to a run.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import (
    KEEP,
    action_option,
    debug_option,
    json_option,
    policy_from,
    policy_option,
)

if TYPE_CHECKING:
    from neardup.runs.application import Applied

SHOWN = 20


@click.command(short_help="Do with duplicates what a policy says.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@policy_option
@click.option(
    "--keep", metavar="ORDER", help=KEEP.replace("[default: first]", "[default: the run's]")
)
@action_option
@click.option("--date", metavar="COL", help="The column of the date.  [default: the run's]")
@click.option(
    "--no-changes",
    is_flag=True,
    help="Leave out what was changed by hand in `neardup review`; else it counts.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be done; write nothing.")
@json_option
@click.option("--quiet", is_flag=True, help="Say nothing; errors are shown.")
@debug_option
def apply(
    run: Path,
    policy: Path | None,
    keep: str | None,
    actions: tuple[str, ...],
    date: str | None,
    no_changes: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Apply a policy to the run in the folder RUN, without matching again. Without --policy and
    --action it is the policy that the run was made with.

    The documents are read again and put into the order of the policy; the run's pairs say which of
    them are then kept. What the policy says goes to RUN/applied/1 (2 …): documents.* as they are
    afterwards, dropped.* and merged.* the copies that are not among them, actions.parquet (every
    document with its action and the reason), links.parquet, review.jsonl and applied.json. Inputs
    and run are not changed; `neardup undo` takes it back.
    """
    from neardup.runs import application, history
    from neardup.runs.changes import NO_CHANGES, read_changes
    from neardup.runs.result import Result

    given = _with_order(policy_from(policy, actions, keep), keep, date)

    def make() -> Applied:
        result = Result.load(run)
        return application.apply(result, given, NO_CHANGES if no_changes else read_changes(run))

    if dry_run:
        made, target = make(), history.next_folder(run)
    else:
        step, made = history.apply_to(run, make)
        target = step.folder
    if as_json:
        import json

        click.echo(json.dumps(data(made, target, dry_run=dry_run), indent=2, ensure_ascii=False))
        return
    if quiet:
        return
    if dry_run:
        table(made, SHOWN)
    click.echo("\n".join(lines(made, run, target, dry_run=dry_run)))


def _with_order(
    given: Path | dict[str, Any] | None, keep: str | None, date: str | None
) -> Path | dict[str, Any] | None:
    """``--keep`` and ``--date`` belong to a policy that is said by options."""
    if isinstance(given, Path) or (keep is None and date is None):
        if date is not None:
            raise click.UsageError("--policy and --date: write date = … into the policy.")
        return given
    made: dict[str, Any] = {} if given is None else given
    if keep is not None:
        made["order"] = [one.strip() for one in keep.split(";")]
    if date is not None:
        made["date"] = date
    return made


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

    from neardup.cli.terminal import console, show_table

    actions = made.actions
    filled = pc.is_valid(actions["fills"])
    copies = actions.filter(pc.or_(pc.equal(actions["decision"], "duplicate"), filled))
    rows = [(row["id"], row["action"], row["reason"]) for row in copies.slice(0, most).to_pylist()]
    if rows:
        show_table(("document", "action", "reason"), rows)
    if len(copies) > most:
        console().print(f"… and {len(copies) - most:,} more")


@click.command(short_help="Take back the last policy applied.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Also remove files that were changed since.")
@json_option
@debug_option
def undo(run: Path, force: bool, as_json: bool) -> None:
    """Take back the last `neardup apply` on the run in the folder RUN: what was applied before it
    counts again, or nothing. Only files that apply wrote are removed; every document is still in
    the inputs, and the same policy makes the same files again.
    """
    from neardup.runs import history
    from neardup.runs.application import counted

    gone, now = history.undo(run, force=force)
    if as_json:
        import json

        told: dict[str, Any] = {"undone": str(gone.folder), "now": str(now.folder) if now else None}
        click.echo(json.dumps(told, indent=2))
        return
    click.echo(f"Taken back: {gone.folder} ({counted(gone.info['counts'])}).")
    click.echo(f"Now {now.folder} counts." if now else "Now no policy is applied.")
