"""Shell completion: the values of options where these are closed, and file names elsewhere.

Loaded only when a shell asks. The metavar of an option already lists its values (``kept|seen``), so
they are read from there; names that live in tables of the code are taken from these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
)

from neardup.cli.command import load_arrow

# What options and arguments of type str call a file, a folder or a store.
FILES = {"A", "B", "COLLECTION", "DIR", "DOCUMENT", "EVALS", "FILE", "FOLDER", "INDEX", "INPUT"} | {
    *("LISTS", "NEW", "REF", "RESULTS", "RUN", "STORE"),
}


def _methods() -> list[str]:
    from neardup.methods.registry import names

    return names()


def _recipes() -> list[str]:
    from neardup.papers.recipe import papers

    return [recipe.name for recipe in papers()]


def _papers() -> list[str]:
    from neardup.papers.paper import papers

    return list(papers())


def _experiments() -> list[str]:
    from neardup.papers import experiments

    return list(experiments())


def _guidelines() -> list[str]:
    from neardup.labels.samples import GUIDELINES

    return list(GUIDELINES)


def _criteria() -> list[str]:
    load_arrow()
    from neardup.decisions.order import SIMPLE

    return [*SIMPLE, "source:", "complete:"]


def _kinds() -> list[str]:
    load_arrow()
    from neardup.schema import KINDS

    return list(KINDS)


def _actions() -> list[str]:
    kinds = [*_kinds(), "default"]
    from neardup.decisions.policy import ACTIONS

    return [f"{kind}={action}" for kind in kinds for action in ACTIONS]


def _extractors() -> list[str]:
    return ["trafilatura", "resiliparse", "all-text", "none"]


# By the option, or by the command and its argument.
NAMES: dict[str, Callable[[], list[str]]] = {
    "--method": _methods,
    "--recipe": _recipes,
    "--then": _recipes,
    "--paper": _experiments,
    "--guideline": _guidelines,
    "--keep": _criteria,
    "--action": _actions,
    "--fail-on": _kinds,
    "--extract": _extractors,
    "methods name": _methods,
    "papers name": _papers,
}


def values(option: click.Parameter, ctx: click.Context, written: str) -> list[CompletionItem]:
    """A shell completes files only where no name fits, so the item for files comes first."""
    closed = [*_listed(option), *NAMES.get(_called(option, ctx), list)()]
    files = [CompletionItem(written, type="file")] if _takes_files(option) else []
    return files + [CompletionItem(value) for value in closed if value.startswith(written)]


def _called(option: click.Parameter, ctx: click.Context) -> str:
    return option.opts[-1] if isinstance(option, click.Option) else f"{ctx.info_name} {option.name}"


def _listed(option: click.Parameter) -> list[str]:
    if isinstance(option.type, click.Choice):
        return [str(choice) for choice in option.type.choices]
    return [word for word in _words(option) if word == word.lower()]


def _takes_files(option: click.Parameter) -> bool:
    return isinstance(option.type, click.Path) or not FILES.isdisjoint(_words(option))


def _words(option: click.Parameter) -> list[str]:
    """The words of a metavar such as ``RUN|STORE…``."""
    return [word for word in (option.metavar or "").strip("[].…").split("|") if word.isalpha()]


class Values(ShellComplete):
    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        for command in self._called(args):
            for option in command.params:
                if not getattr(option, "is_flag", False):
                    option.shell_complete = partial(values, option)  # type: ignore[method-assign]
        return super().get_completions(args, incomplete)

    def _called(self, args: list[str]) -> Iterator[click.Command]:
        """The command that is written, and the groups that it is in."""
        command: click.Command | None = self.cli
        for word in (*args, ""):
            if command is None:
                return
            yield command
            if not isinstance(command, click.Group):
                return
            context = click.Context(command, resilient_parsing=True)
            command = command.get_command(context, word)


for shell in (BashComplete, ZshComplete, FishComplete):
    add_completion_class(type(shell.__name__, (Values, shell), {}))
