"""The steps of the Dockerfile in systems that debootstrap makes: ``make fresh`` runs them so.

Each stage begins with a copy of a minimal Debian of the suite that its FROM names. COPY takes the
committed files, RUN runs in the stage's system as its USER in its WORKDIR. What Docker itself would
do beyond that, layers and their cache, a registry, the network of a container, is not tried.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

BASE = re.compile(r"debian:(\w+)-slim(?: AS (\w+))?", re.IGNORECASE)


class Step(NamedTuple):
    word: str
    rest: str


class Run(NamedTuple):
    """A command in the system ``root``."""

    root: Path
    user: str
    script: str


@dataclass
class Stage:
    root: Path
    folder: str = "/"
    user: str = "root"
    variables: list[str] = field(default_factory=list)
    entry: list[str] = field(default_factory=list)

    def inside(self, path: str) -> Path:
        return self.root / str(Path(self.folder) / path).lstrip("/")

    def run(self, command: str) -> Run:
        exports = [f"export {variable}" for variable in self.variables]
        return Run(self.root, self.user, "\n".join([f"cd {self.folder}", *exports, command]))


def steps(text: str) -> list[Step]:
    """The instructions of a Dockerfile, without comments, continued lines joined."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    return [Step(*line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def suite(text: str) -> str:
    """Of Debian; all stages have the same one."""
    found = {match[1] for step in steps(text) if (match := BASE.fullmatch(step.rest))}
    if len(found) != 1:
        raise SystemExit(f"The Dockerfile begins with {found or 'no'} Debian; expected one suite.")
    return found.pop()


def built(text: str, context: Path, new: Callable[[], Path]) -> Iterator[Run | Stage]:
    """Every RUN, to be run before the next one is asked for; at the end the last stage. ``new``
    makes a new system, ``context`` holds the committed files."""
    stages: dict[str, Stage] = {}
    stage = Stage(context)
    for word, rest in steps(text):
        match word.upper():
            case "FROM":
                named = BASE.fullmatch(rest)
                stage = stages[(named and named[2]) or "last"] = Stage(new())
            case "RUN":
                yield stage.run(re.sub(r"\s+", " ", rest))
            case "COPY":
                _copy(shlex.split(rest), stage, stages, context)
            case "ENV" | "ARG":
                stage.variables += shlex.split(rest)
            case "WORKDIR":
                stage.folder = rest
                stage.inside(".").mkdir(parents=True, exist_ok=True)
            case "USER":
                stage.user = rest
            case "ENTRYPOINT":
                stage.entry = json.loads(rest)
            case "CMD":
                pass  # what a user's own arguments replace
            case _:
                raise SystemExit(f"`make fresh` does not know {word} of the Dockerfile.")
    yield stage


def _copy(words: list[str], stage: Stage, stages: dict[str, Stage], context: Path) -> None:
    """As Docker does: of a folder, what is in it."""
    begin = context
    if words[0].startswith("--from="):
        begin = stages[words.pop(0).removeprefix("--from=")].root
    *sources, written = words
    target = stage.inside(written)
    for source in (begin / one.lstrip("/") for one in sources):
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)
        else:
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
