"""The settings of a flow; all errors in them are reported before anything is moved."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from neardup.documents.extraction.extractor import Extraction, Extractor
from neardup.documents.file_formats import HTML
from neardup.engines.index.flow.flow import Flow, Source
from neardup.engines.index.flow.items import Fields, LinesSource
from neardup.engines.index.flow.places import Places
from neardup.engines.index.flow.polled_feeds import Feed, PolledFeeds, is_address
from neardup.engines.index.flow.watched_folder import FolderSource
from neardup.engines.index.flow.workplace import NAME, Work
from neardup.engines.index.index import Index
from neardup.errors import MissingExtraError, SettingsError, without_password

STDIN = "-"
FOLDER_SECONDS, FEED_SECONDS = 1.0, 600.0  # between two looks
ONE_FOLDER = "Several sources are given; only feeds (https://…) can be watched together."


@dataclass(frozen=True)
class FlowSettings:
    """A checked request to watch ``folder``, or ``feeds`` on the web, or else lines on stdin."""

    folder: Path | None
    work: Path
    places: Places
    poll: float
    clock: Callable[[], float] = time.time
    extraction: Extraction = field(default_factory=Extraction)
    feeds: tuple[str, ...] = ()
    once: bool = False

    @classmethod
    def of(
        cls,
        source: str | Sequence[str],
        url: str,
        *,
        forward: Path | None = None,
        command: str | None = None,
        aside: Path | None = None,
        unreadable: Path | None = None,
        work: Path | None = None,
        poll: float | None = None,
        extract: str | None = None,
        once: bool = False,
    ) -> FlowSettings:
        first, *more = [source] if isinstance(source, str) else source
        feeds = tuple(filter(is_address, (first, *more)))
        mixed = ONE_FOLDER if len(feeds) <= len(more) and more else None
        folder = None if feeds or first == STDIN else Path(first)
        poll = poll if poll is not None else FEED_SECONDS if feeds else FOLDER_SECONDS
        work = work or (folder or forward or Path()) / NAME
        command_words, unknown = _words(command)
        extraction, missing = _extraction(extract, first)
        places = Places(
            forward, aside or work / "aside", unreadable or work / "unreadable", command_words
        )
        settings = cls(folder, work, places, poll, extraction=extraction, feeds=feeds, once=once)
        problems = [*filter(None, (mixed, unknown, missing)), *settings._problems(url)]
        if problems:
            raise SettingsError(
                " ".join(problems), hint="see `neardup watch --help`.", problems=tuple(problems)
            )
        return settings

    def flow(self, index: Index) -> Flow:
        source: Source
        poll = self.poll
        if self.feeds:
            source = self._polled(index)
            poll = min(poll, FOLDER_SECONDS)
        elif self.folder is None:
            source = LinesSource(sys.stdin.fileno(), Fields.of(index), self.clock)
            self.work.parent.mkdir(parents=True, exist_ok=True)
        else:
            spare = [self.work, *self.places.folders.values()]
            source = FolderSource(self.folder, self.poll, self.clock, spare)
        extractor, work = Extractor(self.extraction), Work(self.work)
        return Flow(source, index, work, self.places, poll, self.clock, extractor)

    @property
    def watched(self) -> str:
        """What is watched, for people."""
        if len(self.feeds) > 1:
            return f"{len(self.feeds)} feeds"
        return without_password(self.feeds[0]) if self.feeds else str(self.folder or "stdin")

    def _polled(self, index: Index) -> PolledFeeds:
        self.work.parent.mkdir(parents=True, exist_ok=True)
        feeds = [Feed(url) for url in dict.fromkeys(self.feeds)]
        fields = Fields.of(index)
        return PolledFeeds(feeds, self.work, fields, self.clock, self.poll, self.once)

    def _problems(self, url: str) -> list[str]:
        problems = []
        if self.folder is not None and not self.folder.is_dir():
            file = " It is a file: put it into a folder." if self.folder.is_file() else ""
            problems.append(f"There is no folder {self.folder} to watch.{file}")
        if self.places.forward is None and not self.places.command:
            problems.append("Originals have no destination: give --forward, --exec or both.")
        if not 0 < self.poll < 1e6:
            problems.append(f"--poll is {self.poll}; expected seconds, such as 0.5.")
        return [*problems, *self._mixed(), *self._swallowed(url)]

    def _mixed(self) -> list[str]:
        """Errors of places that are the same folder, or that are the source."""
        folders = [self.folder, *self.places.folders.values()]
        known = [folder.resolve() for folder in folders if folder is not None]
        twice = [str(folder) for i, folder in enumerate(known) if folder in known[:i]]
        return [f"{folder} is named twice; every place is a folder of its own." for folder in twice]

    def _swallowed(self, url: str) -> list[str]:
        path = Path(url.removeprefix("sqlite:"))
        if self.folder is None or "://" in url or path.name.startswith("."):
            return []
        parents = path.resolve().parents
        if self.folder.resolve() not in parents or self.work.resolve() in parents:
            return []
        return [f"The index {path} is inside the watched folder and would be taken for an item."]


def _extraction(how: str | None, source: str) -> tuple[Extraction, str | None]:
    """The extraction, or what is wrong with it. A library for a format that may never come is not
    required here."""
    try:
        extraction = Extraction(how)
        if extraction.columns:
            extraction.check((HTML,), source)
    except (SettingsError, MissingExtraError) as error:
        return Extraction(), str(error)
    return extraction, None


def _words(command: str | None) -> tuple[tuple[str, ...], str | None]:
    """The command in words, and what is wrong with it."""
    if command is None:
        return (), None
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        return (), f"--exec is {command!r}: {error}."
    if not words or shutil.which(words[0]) is None:
        return words or ("",), f"--exec is {command!r}: there is no such command."
    return words, None
