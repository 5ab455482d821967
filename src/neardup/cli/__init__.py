"""The command line: one file a command, thin over the library, imported only when asked for.

Neither this module nor those of the commands import numpy, pyarrow or rich before a command runs:
``neardup --help`` has to answer at once.
"""

from __future__ import annotations

import importlib

import click

from neardup.cli.failures import guarded

# name → module:command, in the order of ``neardup --help``
COMMANDS = {
    "dedup": "neardup.cli.dedup:dedup",
    "find": "neardup.cli.find:find",
    "compare": "neardup.cli.compare:compare",
    "methods": "neardup.cli.methods:methods",
    "demo": "neardup.cli.demo:demo",
}


class Commands(click.Group):
    """A group that knows its commands by name and loads them on demand."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r}. Hint: {_near(args[0])}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        with guarded(ctx):
            return super().invoke(ctx)


def _near(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, 1)
    return f"did you mean {near[0]!r}?" if near else f"commands are {', '.join(COMMANDS)}."


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="neardup", message="neardup %(version)s")
def main() -> None:
    """Find near-duplicate documents, say why, and never lose one."""
