"""``neardup apply``: do with the duplicates of a run what a policy says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.options import KEEP, debug_option, json_option
from neardup.cli.policy import action_option, policy_from, policy_option

if TYPE_CHECKING:
    from neardup.outputs.applying.applied import Applied

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
    from neardup.cli.apply_report import data, lines, table
    from neardup.outputs.applying import applied, history
    from neardup.outputs.applying.changes import NO_CHANGES, read_changes
    from neardup.outputs.result import Result

    given = _with_order(policy_from(policy, actions, keep), keep, date)

    def make() -> Applied:
        result = Result.load(run)
        return applied.apply(result, given, NO_CHANGES if no_changes else read_changes(run))

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
