"""``neardup undo``: take back the last policy that was applied to a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.cli.options import debug_option, json_option


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
    from neardup.outputs.applying import history
    from neardup.outputs.applying.applied import counted

    gone, now = history.undo(run, force=force)
    if as_json:
        import json

        told: dict[str, Any] = {"undone": str(gone.folder), "now": str(now.folder) if now else None}
        click.echo(json.dumps(told, indent=2))
        return
    click.echo(f"Taken back: {gone.folder} ({counted(gone.info['counts'])}).")
    click.echo(f"Now {now.folder} counts." if now else "Now no policy is applied.")
