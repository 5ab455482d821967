"""A flow on the screen: a live line on a terminal, plain lines in a log, events as JSON."""

from __future__ import annotations

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from neardup.cli.command import INTERRUPTED
from neardup.engines.index.flow.item_files import LinesSource
from neardup.engines.index.flow.items import PROBLEM, Event

if TYPE_CHECKING:
    from neardup.engines.index.flow.flow import Flow
    from neardup.engines.index.flow.flow_settings import FlowSettings

LINE_SECONDS = 10.0  # between two lines of a log
LIVE_SECONDS = 0.2


class Watcher:
    def __init__(self, flow: Flow, *, as_json: bool, quiet: bool) -> None:
        self._flow, self._as_json, self._quiet = flow, as_json, quiet
        self._live = not quiet and sys.stderr.isatty()
        self._stop = threading.Event()
        self._told, self._items = time.monotonic(), 0
        self._show: Callable[[str], None] = lambda line: click.echo(line, err=True)
        flow.tell = self._tell

    def run(self, asked: FlowSettings, *, once: bool) -> None:
        click.get_current_context().meta[INTERRUPTED] = lambda: "the next start goes on from here"
        source = asked.folder or "stdin"
        if not self._quiet:
            click.echo(f"Watching {source}; Ctrl-C finishes what is at hand.", err=True)
        with _signals(self._interrupt), self._status():
            self._flow.run(self._wait, once=once)
        self._end(asked)

    def _interrupt(self) -> None:
        self._flow.stopped = True
        self._stop.set()

    def _wait(self, seconds: float) -> None:
        self._say()
        if isinstance(self._flow.source, LinesSource):
            self._flow.source.wait(seconds)
        else:
            self._stop.wait(seconds)

    def _tell(self, event: Event) -> None:
        if self._as_json:
            click.echo(json.dumps(event.data(), ensure_ascii=False))
        if event.what == PROBLEM:
            click.echo(str(event), err=True)
        self._say()

    def _say(self) -> None:
        """The status, as often as someone can read it."""
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
        """One line on a terminal, below whatever else is said."""
        if not self._live:
            with nullcontext():
                yield
            return
        from rich.console import Console

        with Console(stderr=True).status(self._line()) as status:
            self._show = status.update
            yield

    def _end(self, asked: FlowSettings) -> None:
        totals, left = self._flow.totals, self._flow.totals.waiting
        if self._as_json:
            click.echo(json.dumps({"event": "end", **totals.data(self._flow.clock())}))
        if not self._quiet:
            click.echo(f"{totals.sentence()}.", err=True)
        if lost := self._flow.unclaimed():
            click.echo(f"{lost} lines that were read could not be stored.", err=True)
        if left:
            waits = "1 item waits" if left == 1 else f"{left} items wait"
            click.echo(f"{waits} in {asked.work}: the next start goes on with it.", err=True)
        if left or lost:
            click.get_current_context().exit(1)


@contextmanager
def _signals(stop: Callable[[], None]) -> Iterator[None]:
    """The first asks to stop, the second does not ask: nothing is lost by it either."""
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
