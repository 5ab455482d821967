"""A group of commands that loads one only when it is asked for."""

from __future__ import annotations

import importlib
from typing import Any

import click


class Commands(click.Group):
    """``homes``: name → module:command, in the order of ``--help``."""

    def __init__(self, *arguments: Any, homes: dict[str, str], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.homes = homes

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(self.homes)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.homes:
            return None
        module, _, name = self.homes[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.homes and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r}. Hint: {self._near(args[0])}")
        return super().resolve_command(ctx, args)

    def _near(self, name: str) -> str:
        import difflib

        near = difflib.get_close_matches(name, self.homes, 1)
        return f"did you mean {near[0]!r}?" if near else f"commands are {', '.join(self.homes)}."
