"""What the commands of ``neardup idf`` share: where a table goes, and how one is described."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.errors import InputError, SettingsError, UsageError
from neardup.names import shortened

if TYPE_CHECKING:
    from neardup.artefacts.idf import IdfTable
    from neardup.local.artefacts import Seen
    from neardup.text.options import Text

out_option = click.option(
    "-o",
    "--out",
    metavar="TABLE",
    required=True,
    type=click.Path(path_type=Path),
    help="The file to write.",
)
overwrite_option = click.option("--overwrite", is_flag=True, help="Replace a file that is there.")
quiet_option = click.option(
    "--quiet", is_flag=True, help="No progress and no summary; errors are shown."
)


def check_target(
    out: Path, inputs: Sequence[Path | None], *, overwrite: bool, made: str = "signatures"
) -> None:
    """Refuses before any work what could not be written, or would write over something."""
    if out.is_dir():
        raise UsageError(f"{out} is a folder; -o names a file.", hint="name a file in it.")
    if not out.parent.is_dir():
        raise UsageError(f"There is no folder {out.parent} to write to.", hint="make it first.")
    if any(path and path.resolve() == out.resolve() for path in inputs):
        raise UsageError(f"{out} is also read.", hint="name another file with -o.")
    if out.exists() and not overwrite:
        raise UsageError(
            f"{out} is already there, and {made} may have been made with it.",
            hint="name another file with -o, or give --overwrite.",
        )


def text_options(assignments: tuple[str, ...]) -> Text:
    from neardup.methods.registry import construct
    from neardup.methods.written import parse_assignments
    from neardup.text.options import Text

    given = parse_assignments(assignments)
    options = given.pop("text", {})
    if given or not isinstance(options, dict):
        wrong = next(iter(given), "text")
        raise SettingsError(
            f"--set got {wrong}; a table has only options of the text.",
            hint="for example --set text.case=keep.",
        )
    made: Text = construct(Text, options, "text")
    return made


def table_lines(table: IdfTable) -> list[str]:
    from dataclasses import asdict

    options = ", ".join(f"{key} {value}" for key, value in asdict(table.text).items() if value)
    cut = f", each in {table.min_count:,} documents or more" if table.min_count > 1 else ""
    return [
        f"documents  {table.documents:,}",
        f"terms      {len(table):,}{cut}",
        f"filter     {table.filter}",
        f"text       {options}",
        f"digest     {table.digest}",
    ]


def rejected_lines(seen: Seen) -> list[str]:
    if not seen.rejected:
        return []
    told = [f"{seen.rejected:,} documents were rejected and not counted."]
    told += [f"  rejected: {one.where}: {shortened(one.reason, 300)}" for one in seen.shown]
    more = seen.rejected - len(seen.shown)
    return [*told, f"  … and {more:,} more"] if more else told


def nothing_counted(seen: Seen) -> InputError:
    first = f"; the first rejected one: {seen.shown[0].reason}" if seen.shown else ""
    return InputError(
        f"There is no document to count{first}.", hint="give a collection with documents."
    )


def rejected_data(seen: Seen) -> list[dict[str, Any]]:
    return [{"file": r.file, "row": r.row, "id": r.id, "reason": r.reason} for r in seen.shown]
