"""Every command there is, those of groups as ``idf build``."""

from __future__ import annotations

import click

from neardup.cli import main
from neardup.cli.command import Commands


def every_command() -> dict[str, click.Command]:
    return _of(main, "")  # type: ignore[arg-type]  # click.group says only Group


def _of(group: Commands, prefix: str) -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name in group.homes:
        command = group.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        found[prefix + name] = command
        if isinstance(command, Commands):
            found |= _of(command, f"{prefix}{name} ")
    return found


def command_of(words: list[str]) -> tuple[str, list[str]]:
    """The command that a line begins with, and its arguments."""
    known = every_command()
    for length in (2, 1):
        if (name := " ".join(words[:length])) in known:
            return name, words[length:]
    raise AssertionError(f"there is no command {words}")
