"""The manual page ``man/neardup.1``, from the code of the command line: commands, options, help.

``make man`` writes it, and ``make wheels`` before it builds, so that wheels install it
(``man neardup``). It needs click, and no other package of neardup's.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "man" / "neardup.1"
TAIL = """\
.SH EXIT STATUS
0 for success; 1 if the data is wrong; 2 if the request cannot be carried out; 130 after Ctrl\\-C; \
143 after SIGTERM.
.SH SEE ALSO
\\fBneardup\\fR COMMAND \\fB\\-\\-help\\fR, and docs/README.md in the sources.
"""


def page() -> str:
    """In the macros of man(7)."""
    sys.path.insert(0, str(ROOT / "src"))
    from neardup.cli import main

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    context = click.Context(main, info_name="neardup")
    head = f'.TH NEARDUP 1 "" "neardup {project["version"]}" "User Commands"'
    name = f".SH NAME\nneardup \\- {escaped(project['description'])}"
    synopsis = ".SH SYNOPSIS\n\\fBneardup\\fR COMMAND [OPTIONS] [ARGUMENTS]\n.SH COMMANDS"
    return "\n".join([head, name, synopsis, *sections(main, context), TAIL])


def sections(group: click.Group, context: click.Context) -> Iterator[str]:
    """A subsection for each command, and for those of a group after it."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        yield from described(command, inner)
        if isinstance(command, click.Group):
            yield from sections(command, inner)


def described(command: click.Command, context: click.Context) -> Iterator[str]:
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    yield f".SS {escaped(usage)}"
    yield from paragraphs(command.help or "")
    for option in command.params:
        if isinstance(option, click.Option) and (record := option.get_help_record(context)):
            yield f".TP\n\\fB{escaped(record[0])}\\fR\n{escaped(record[1])}"


def paragraphs(text: str) -> Iterator[str]:
    for paragraph in text.partition("\f")[0].split("\n\n"):
        kept, _, lines = paragraph.partition("\b\n")  # click: these lines are not wrapped
        if lines:
            yield f".PP\n.nf\n{escaped(lines)}\n.fi"
        elif kept.strip():
            yield f".PP\n{escaped(' '.join(kept.split()))}"


def escaped(text: str) -> str:
    """Hyphens that can be copied, and no line that begins as a request of roff does."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in lines)


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), "utf-8")
