"""The options that say a policy, for ``dedup``, ``find`` and ``apply``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from neardup.errors import SettingsError

DEFAULT = "default"

policy_option = click.option(
    "--policy",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A TOML file with the order and what to do with duplicates by kind: keep, link, merge, "
    "drop or review.",
)
action_option = click.option(
    "--action",
    "actions",
    metavar="KIND=ACTION",
    multiple=True,
    help="A policy without a file: what to do with duplicates of a kind; default=ACTION for all "
    "others. May be repeated.",
)


def policy_from(
    policy: Path | None, actions: tuple[str, ...], keep: str | None
) -> Path | dict[str, Any] | None:
    """A file, or what the options say; ``keep`` belongs to the latter."""
    if policy is None:
        return _written(actions) if actions else None
    for option, given in (("--keep", keep), ("--action", actions)):
        if given:
            raise SettingsError(
                f"--policy and {option} are both given.",
                hint=f"write it into {policy}, or leave --policy out.",
            )
    return policy


def _written(actions: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, str] = {}
    for one in actions:
        kind, equals, action = one.partition("=")
        if not (kind and equals and action):
            raise SettingsError(
                f"--action got {one!r}; expected KIND=ACTION.", hint="--action identical=drop"
            )
        if kind in found:
            raise SettingsError(f"--action says {kind!r} twice.", hint="say it once.")
        found[kind] = action
    default = {DEFAULT: found.pop(DEFAULT)} if DEFAULT in found else {}
    return {"actions": found, **default}
