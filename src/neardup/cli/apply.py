"""``neardup apply``: apply a policy to the duplicates of a run; ``neardup undo``: take it back.

The result, or with ``--dry-run`` the result it would have, is shown as a table, sentences or JSON.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import echo, show_json
from neardup.cli.options import policy_from
from neardup.wording import many

if TYPE_CHECKING:
    from neardup.runs.application import Applied

SHOWN = 20


@click.command(short_help="Apply a policy to the duplicates of a run.")
@click.argument("run", metavar="RUN", type=shared.PATH)
@shared.policy_option
@click.option("--keep", metavar="ORDER", help=shared.KEEP.format("that of the run"))
@shared.action_option
@click.option("--date", metavar="COL", help="Date column.  [default: that of the run]")
@click.option(
    "--no-changes",
    is_flag=True,
    help="Ignore the changes made by hand in `neardup review`.",
)
@shared.dry_run_option
@shared.json_option
@click.option("--quiet", is_flag=True, help="Show nothing but errors.")
@shared.debug_option
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
    --action, the policy of the run is applied.

    The documents are read again and put into the order of the policy; the pairs of the run decide
    which of them are then kept. The result is written to RUN/applied/1 (2 …): documents.* after
    the policy, dropped.* and merged.* with the copies that were removed, actions.parquet (every
    document with its action and the reason), links.parquet, review.jsonl and applied.json. Inputs
    and run are not changed; `neardup undo` takes the policy back.
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
        show_json(data(made, target, dry_run=dry_run))
        return
    if quiet:
        return
    if dry_run:
        table(made, SHOWN)
    echo("\n".join(lines(made, run, target, dry_run=dry_run)))


def _with_order(
    given: Path | dict[str, Any] | None, keep: str | None, date: str | None
) -> Path | dict[str, Any] | None:
    """``--keep`` and ``--date`` belong to a policy that is written as options."""
    if isinstance(given, Path) or (keep is None and date is None):
        if date is not None:
            raise click.UsageError("--policy and --date: write date = … into the policy.")
        return given
    policy: dict[str, Any] = {} if given is None else given
    if keep is not None:
        policy["order"] = [criterion.strip() for criterion in keep.split(";")]
    if date is not None:
        policy["date"] = date
    return policy


def data(made: Applied, folder: Path, *, dry_run: bool) -> dict[str, Any]:
    return {
        "counts": made.counts,
        "filled": made.filled,
        "policy": made.policy.describe(),
        "changes": len(made.changes.counting),
        "folder": None if dry_run else str(folder),
    }


def lines(made: Applied, run: Path, folder: Path, *, dry_run: bool) -> list[str]:
    summary = [f"{made.sentence()}."]
    if made.changes:
        count = len(made.changes.counting)
        are = "is" if count == 1 else "are"
        summary.append(
            f"{many(count, 'change')} made in review {are} included; --no-changes ignores "
            f"{'it' if count == 1 else 'them'}."
        )
    if made.filled:
        have = "has" if made.filled == 1 else "have"
        summary.append(
            f"{many(made.filled, 'kept document')} {have} metadata filled from merged copies."
        )
    summary += _unknown(made)
    listed = ", ".join(made.names())
    if dry_run:
        return [*summary, f"Nothing was written. Without --dry-run, {folder} gets {listed}."]
    return [*summary, f"Written to {folder}: {listed}.", f"Take it back: neardup undo {run}"]


def _unknown(made: Applied) -> list[str]:
    """Reports copies that were never classified, if the actions depend on the kind."""
    import pyarrow.compute as pc

    actions = made.actions
    aside = pc.equal(actions["decision"], "duplicate")
    count = pc.sum(pc.and_(aside, pc.is_null(actions["kind"]))).as_py() or 0
    if not count or not made.policy.actions:
        return []
    what = "1 copy has" if count == 1 else f"{count:,} copies have"
    return [f"{what} no known kind; the default action applies: {made.policy.default}."]


def table(made: Applied, most: int) -> None:
    """The first documents that have an action."""
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


@click.command(short_help="Take back the last applied policy.")
@click.argument("run", metavar="RUN", type=shared.PATH)
@click.option("--force", is_flag=True, help="Also remove files that were changed since then.")
@shared.json_option
@shared.debug_option
def undo(run: Path, force: bool, as_json: bool) -> None:
    """Take back the last `neardup apply` on the run in the folder RUN. The policy applied before
    it is in effect again, if there was one. Only files that apply wrote are removed; every document
    is still in the inputs, and the same policy writes the same files again.
    """
    from neardup.runs import history
    from neardup.runs.application import counted

    gone, now = history.undo(run, force=force)
    if as_json:
        data: dict[str, Any] = {"undone": str(gone.folder), "now": str(now.folder) if now else None}
        show_json(data)
        return
    what = gone.info.get("sentence") or counted(gone.info["counts"])
    echo(f"Taken back: {gone.folder} ({what}).")
    echo(f"{now.folder} is in effect again." if now else "No policy is in effect now.")
