"""``neardup watch``: check what comes into a folder, and pass on what is new.

The flow is shown as a live line on a terminal, as plain lines in a log, or as events in JSON.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import INTERRUPTED, echo, echo_json
from neardup.cli.index_options import hint_of, new_index_options, open_index_options, opened_or_new
from neardup.wording import sayable

if TYPE_CHECKING:
    from neardup.engines.index.flow.flow import Flow
    from neardup.engines.index.flow.flow_settings import FlowSettings
    from neardup.engines.index.flow.items import Event

LINE_SECONDS = 10.0  # between two lines of a log
LIVE_SECONDS = 0.2


@click.command(short_help="Check new files in a folder, and forward those that are new.")
@click.argument("source", metavar="DIR|URL...", nargs=-1, required=True)
@click.option(
    "--index",
    "url",
    metavar="STORE",
    help="Index to check against and add to; it is created if it does not exist. Required, "
    "except with --recipe, where it is WORK/index.db if it is left out.",
)
@click.option("--forward", metavar="DIR", type=shared.PATH, help="Folder for originals.")
@click.option(
    "--exec",
    "command",
    metavar="CMD",
    help="Command to run for each original, which it receives as JSON on stdin; no shell. It runs "
    "before --forward.",
)
@click.option(
    "--aside",
    metavar="DIR",
    type=shared.PATH,
    help="Folder for duplicates, each with a note of its match.  [default: WORK/aside]",
)
@click.option(
    "--unreadable",
    metavar="DIR",
    type=shared.PATH,
    help="Folder for items that cannot be read, with the reason.  [default: WORK/unreadable]",
)
@click.option(
    "--work",
    metavar="DIR",
    type=shared.PATH,
    help="Folder for items in progress.  [default: .neardup-watch in the watched folder; for stdin "
    "in that of --forward, else in the current folder]",
)
@new_index_options
@open_index_options
@shared.extract_option
@click.option("--once", is_flag=True, help="Process what is there, then stop.")
@click.option(
    "--poll",
    metavar="SECONDS",
    type=float,
    help="Seconds between two looks; a file is complete if it did not change between them.  "
    "[default: 1, and 600 for feeds on the web]",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print every event as a line of JSON to stdout."
)
@shared.verbose_option
@click.option("--quiet", is_flag=True, help="Show no status and no totals; problems are shown.")
@shared.debug_option
def watch(
    source: tuple[str, ...], url: str | None, as_json: bool, quiet: bool, once: bool, **options: Any
) -> None:
    """Check the items that arrive in DIR, and forward those that are new.

    DIR: a folder, or - for JSON Lines on stdin. Items are text, HTML, PDF and office files,
    messages (.eml, .msg, .mbox), JSON (one object, a list, or lines) and the entries of RSS, Atom,
    NewsML-G2 and other news in XML.
    URL: a feed on the web (http, https), which is asked for what is new. Originals go to --forward
    or --exec, duplicates to --aside, and unreadable items to --unreadable. Every item goes to
    exactly one place, once, even if the process is killed and started again. Ctrl-C finishes the
    current items and stops.
    """
    from neardup.engines.index.flow.flow_settings import FlowSettings

    names = ("forward", "command", "aside", "unreadable", "work", "poll", "extract")
    flow = {name: options.pop(name) for name in names}
    if options["recipe"]:
        url = _by_recipe(source[0], url, options["recipe"], flow)
    elif url is None:
        raise click.UsageError("Missing option '--index'. Hint: only --recipe goes without one.")
    asked = FlowSettings.of(source, url, once=once, **flow)
    with opened_or_new(url, options) as index:
        watcher = Watcher(asked.flow(index), as_json=as_json, quiet=quiet)
        watcher.run(asked)
        hint_of(index, quiet=quiet)


def _by_recipe(source: str, url: str | None, recipe: str, flow: dict[str, Any]) -> str:
    """Completes the settings of a flow that has a recipe, so that one command is enough: the index
    and the originals are in the working folder unless places are named. Returns the index, and puts
    the rest into ``flow``."""
    from neardup.engines.index.flow.polled_feeds import is_address
    from neardup.engines.index.flow.workplace import NAME
    from neardup.papers.recipe import read_recipe

    if flow["extract"] is None:
        flow["extract"] = read_recipe(recipe).get("extract")
    here = source == "-" or is_address(source)
    work = flow["work"] or (Path() if here else Path(source)) / NAME
    if flow["forward"] is None and not flow["command"]:
        flow |= {"work": work, "forward": work / "forward"}
    if url is not None:
        return url
    if here or Path(source).is_dir():
        work.mkdir(parents=True, exist_ok=True)
    return str(work / "index.db")


class Watcher:
    """One flow with its status, its events and what is reported at its end."""

    def __init__(self, flow: Flow, *, as_json: bool, quiet: bool) -> None:
        self._flow, self._as_json, self._quiet = flow, as_json, quiet
        self._live = not quiet and sys.stderr.isatty()
        self._stop = threading.Event()
        self._told, self._items = time.monotonic(), 0
        self._reasons = Counter[str]()  # why items are unreadable
        self._show: Callable[[str], None] = lambda line: echo(line, err=True)
        flow.tell = self._tell

    def run(self, asked: FlowSettings) -> None:
        click.get_current_context().meta[INTERRUPTED] = lambda: "the next start continues from here"
        if not self._quiet:
            echo(
                f"Watching {asked.watched}; Ctrl-C finishes the current items and stops.", err=True
            )
        with _signals(self._interrupt), self._status():
            self._flow.run(self._wait, once=asked.once)
        self._end(asked)

    def _interrupt(self) -> None:
        self._flow.stopped = True
        self._stop.set()

    def _wait(self, seconds: float) -> None:
        self._say()
        from neardup.engines.index.flow.items import LinesSource

        if isinstance(self._flow.source, LinesSource):
            self._flow.source.wait(seconds)
        else:
            self._stop.wait(seconds)

    def _tell(self, event: Event) -> None:
        if self._as_json:
            echo_json(json.dumps(event.data(), ensure_ascii=False))
        from neardup.engines.index.flow.items import PROBLEM
        from neardup.engines.index.flow.places import UNREADABLE

        if event.what == PROBLEM:
            echo(str(event), err=True)
        if event.what == UNREADABLE and "reason" in event.note:
            self._reasons[event.note["reason"]] += 1
        self._say()

    def _say(self) -> None:
        """Shows the status, not more often than a person can read it."""
        now, items = time.monotonic(), self._flow.totals.items
        pause = LIVE_SECONDS if self._live else LINE_SECONDS
        if self._quiet or now - self._told < pause or (not self._live and items == self._items):
            return
        self._told, self._items = now, items
        self._show(self._line())

    def _line(self) -> str:
        return self._flow.totals.line(self._flow.clock())

    @contextmanager
    def _status(self) -> Iterator[None]:
        """One live line on a terminal, below all other output."""
        if not self._live:
            with nullcontext():
                yield
            return
        from rich.console import Console

        with Console(stderr=True).status(self._line()) as status:
            self._show = status.update
            yield

    def _end(self, asked: FlowSettings) -> None:
        from neardup.engines.index.flow.places import UNREADABLE

        totals, left = self._flow.totals, self._flow.totals.waiting
        if self._as_json:
            echo_json(json.dumps({"event": "end", **totals.data(self._flow.clock())}))
        if not self._quiet:
            echo(f"{totals.sentence()}.", err=True)
            if totals.counts[UNREADABLE]:
                place = asked.places.unreadable
                echo(f"Unreadable items are in {place}, each with its reason.", err=True)
            for reason, count in self._reasons.most_common(1):
                echo(f"The most frequent reason ({count:,}): {sayable(reason)}.", err=True)
        if lost := self._flow.unclaimed():
            echo(f"{lost} lines that were read could not be stored.", err=True)
        if left:
            waits = "1 item waits" if left == 1 else f"{left} items wait"
            echo(f"{waits} in {asked.work}; the next start continues there.", err=True)
        failing = getattr(self._flow.source, "failing", ())
        for feed in failing:
            echo(f"The feed {feed} could not be read.", err=True)
        nothing_read = totals.counts[UNREADABLE] == totals.items > 0
        if left or lost or failing or (asked.once and nothing_read):
            click.get_current_context().exit(1)


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """The first signal asks to stop, the second stops at once; neither loses an item."""
    names = [signal.SIGINT, signal.SIGTERM]

    def heard(number: int, _: Any) -> None:
        signal.signal(number, before[signal.Signals(number)])
        stop()

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {name: signal.signal(name, heard) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
