"""A flow as it was asked for: everything that is wrong with it is said before anything is moved."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from neardup.documents.extraction.extractor import Extraction, Extractor
from neardup.documents.extraction.page import HTML
from neardup.engines.index.flow.flow import Flow, Source
from neardup.engines.index.flow.item_files import LinesSource
from neardup.engines.index.flow.items import Fields
from neardup.engines.index.flow.places import Places
from neardup.engines.index.flow.watched_folder import FolderSource
from neardup.engines.index.flow.workplace import NAME, Work
from neardup.engines.index.index import Index
from neardup.errors import MissingExtraError, SettingsError

STDIN = "-"


@dataclass(frozen=True)
class Asked:
    folder: Path | None  # None: lines on stdin
    work: Path
    places: Places
    poll: float
    clock: Callable[[], float] = time.time
    extraction: Extraction = field(default_factory=Extraction)

    @classmethod
    def of(
        cls,
        source: str,
        url: str,
        *,
        forward: Path | None = None,
        command: str | None = None,
        aside: Path | None = None,
        unreadable: Path | None = None,
        work: Path | None = None,
        poll: float = 1.0,
        extract: str | None = None,
    ) -> Asked:
        folder = None if source == STDIN else Path(source)
        work = work or (folder or forward or Path()) / NAME
        words, unknown = _words(command)
        extraction, missing = _extraction(extract, source)
        places = Places(forward, aside or work / "aside", unreadable or work / "unreadable", words)
        asked = cls(folder, work, places, poll, extraction=extraction)
        problems = [*filter(None, (unknown, missing)), *asked._problems(url)]
        if problems:
            raise SettingsError(
                " ".join(problems), hint="see `neardup watch --help`.", problems=tuple(problems)
            )
        return asked

    def flow(self, index: Index) -> Flow:
        source: Source
        if self.folder is None:
            source = LinesSource(sys.stdin.fileno(), Fields.of(index), self.clock)
            _make(self.work.parent)  # of a watched folder it is there
        else:
            spare = [self.work, *self.places.folders.values()]
            source = FolderSource(self.folder, self.poll, self.clock, spare)
        how, work = Extractor(self.extraction), Work(self.work)
        return Flow(source, index, work, self.places, self.poll, self.clock, how)

    def _problems(self, url: str) -> list[str]:
        found = []
        if self.folder is not None and not self.folder.is_dir():
            found.append(f"There is no folder {self.folder} to watch.")
        if self.places.forward is None and not self.places.command:
            found.append("Nothing is said about originals: give --forward, --exec or both.")
        if not 0 < self.poll < 1e6:
            found.append(f"--poll is {self.poll}; expected seconds, such as 0.5.")
        return [*found, *self._mixed(), *self._swallowed(url)]

    def _mixed(self) -> list[str]:
        """Places must differ, and none may be the source."""
        folders = [self.folder, *self.places.folders.values()]
        known = [folder.resolve() for folder in folders if folder is not None]
        twice = [str(folder) for i, folder in enumerate(known) if folder in known[:i]]
        return [f"{folder} is named twice; every place is a folder of its own." for folder in twice]

    def _swallowed(self, url: str) -> list[str]:
        path = Path(url.removeprefix("sqlite:"))
        if self.folder is None or "://" in url or path.name.startswith("."):
            return []
        if self.folder.resolve() not in path.resolve().parents:
            return []
        return [f"The index {path} is inside the watched folder and would be taken for an item."]


def _extraction(how: str | None, source: str) -> tuple[Extraction, str | None]:
    """What is not named may never come, and is missed when it does."""
    try:
        extraction = Extraction(how)
        if extraction.columns:
            extraction.check((HTML,), source)
    except (SettingsError, MissingExtraError) as error:
        return Extraction(), str(error)
    return extraction, None


def _words(command: str | None) -> tuple[tuple[str, ...], str | None]:
    """The command in words, or what is wrong with it."""
    if command is None:
        return (), None
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        return (), f"--exec is {command!r}: {error}."
    if not words or shutil.which(words[0]) is None:
        return words or ("",), f"--exec is {command!r}: there is no such command."
    return words, None


def _make(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
