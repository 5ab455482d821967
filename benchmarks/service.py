"""`python -m benchmarks.service [--minutes 10]`: one server process under load, over loopback.

An index of 100,000 documents of 5 KB from the benchmark corpus, `shingles` as it comes, in SQLite,
served by `neardup serve` as users start it. This process asks, over connections that stay open.
First checks alone: as fast as eight connections can, then 1,000 a second. Then checks, adds and
removals together for some minutes, with what fails, the 99th percentile and the server's memory
minute by minute, beside how long the disk alone takes to sync a page; then SIGTERM under load. At
last a second server under load is ended by SIGKILL. After both the store is opened and compared
with what was acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import neardup as nd
from benchmarks import corpus
from benchmarks.__main__ import machine

DOCUMENTS, SIZE, BATCH = 100_000, 5_000, 1_000
CONNECTIONS = 8
RATE = 1_000  # checks a second, where they are paced
MIXED = {"check": 500.0, "add": 50.0, "remove": 50.0}  # a second, in the long run
ASKED = 2_000  # texts that checks take turns with


HEAD = """\
| | request | a second | median ms | 99 % ms | longest ms | failed | a sync ms | longest ms | MB |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|"""


@dataclass
class Tally:
    """Of one kind of request."""

    seconds: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def line(self, lasted: float) -> str:
        ms = 1000 * np.percentile(self.seconds or [0.0], [50, 99, 100])
        rate = len(self.seconds) / lasted
        return f"{rate:,.0f} | {ms[0]:.2f} | {ms[1]:.2f} | {ms[2]:.0f} | {len(self.failed)}"


class Connection:
    """The least that a client can do."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, url: str) -> Connection:
        parts = urlsplit(url)
        return cls(*await asyncio.open_connection(parts.hostname, parts.port))

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        self._writer.write(head.encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        size = int(answer.partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return int(answer[9:12]), await self._reader.readexactly(size)

    def close(self) -> None:
        self._writer.close()


class Texts:
    """Documents of the corpus cut to 5 KB; new ones are made of their words."""

    def __init__(self, lines: Sequence[bytes], seed: int = 1) -> None:
        self._texts = [json.loads(line)["text"][:SIZE] for line in lines]
        self._rng, self._seed = random.Random(seed), seed
        self._number = count()

    def check(self) -> bytes:
        """Half are in the index but for a word, half resemble nothing."""
        text = self._rng.choice(self._texts)
        made = f"{text} changed" if self._rng.random() < 0.5 else self._shuffled(text)
        return json.dumps({"text": made}).encode()

    def add(self) -> tuple[str, bytes]:
        id_ = f"new-{self._seed}-{next(self._number)}"
        text = self._shuffled(self._rng.choice(self._texts))
        return id_, json.dumps({"id": id_, "text": text}).encode()

    def _shuffled(self, text: str) -> str:
        words = text.split()
        self._rng.shuffle(words)
        return " ".join(words)


@dataclass
class Load:
    """What was sent, what came back, and what is acknowledged."""

    url: str
    texts: Texts
    there: deque[str] = field(default_factory=deque)  # added, acknowledged
    gone: set[str] = field(default_factory=set)  # removed, acknowledged
    unsure: set[str] = field(default_factory=set)  # sent, not answered
    tallies: dict[str, Tally] = field(default_factory=dict)
    ended: bool = False  # the server was told to end: errors are no failures

    def __post_init__(self) -> None:
        self.bodies = [self.texts.check() for _ in range(ASKED)]
        self.clear()

    def clear(self) -> dict[str, Tally]:
        before, self.tallies = self.tallies, {kind: Tally() for kind in MIXED}
        return before

    async def check(self, connection: Connection) -> None:
        await self._timed(connection, "check", "POST", "/v1/check", random.choice(self.bodies))

    async def add(self, connection: Connection) -> None:
        id_, body = self.texts.add()
        self.unsure.add(id_)
        if await self._timed(connection, "add", "POST", "/v1/documents", body):
            self.there.append(id_)
            self.unsure.discard(id_)

    async def remove(self, connection: Connection) -> None:
        if len(self.there) < 100:
            await asyncio.sleep(0.001)
            return
        id_ = self.there.popleft()
        self.unsure.add(id_)
        if await self._timed(connection, "remove", "DELETE", f"/v1/documents?id={id_}"):
            self.gone.add(id_)
            self.unsure.discard(id_)

    async def _timed(
        self, connection: Connection, kind: str, method: str, path: str, body: bytes = b""
    ) -> bool:
        began = time.perf_counter()
        status, said = await connection.ask(method, path, body)
        tally = self.tallies[kind]
        tally.seconds.append(time.perf_counter() - began)
        if status != 200 and not self.ended:
            tally.failed.append(said.decode())
        return status == 200

    async def repeat(self, what: str, rate: float, until: float) -> None:
        """On one connection; ``rate`` a second, 0: as fast as it can."""
        connection = await Connection.open(self.url)
        act = getattr(self, what)
        due = time.perf_counter()
        try:
            while time.perf_counter() < until:
                if rate:
                    due += random.expovariate(rate)
                    await asyncio.sleep(max(0.0, due - time.perf_counter()))
                await act(connection)
        except (OSError, asyncio.IncompleteReadError) as error:
            if not self.ended:
                self.tallies[what].failed.append(repr(error))
        finally:
            connection.close()

    async def checks(self, rate: float, seconds: float) -> None:
        until = time.perf_counter() + seconds
        share = rate / CONNECTIONS
        await asyncio.gather(*(self.repeat("check", share, until) for _ in range(CONNECTIONS)))

    async def mixed(self, seconds: float) -> None:
        until = time.perf_counter() + seconds
        share = {"check": 4, "add": 2, "remove": 2}
        await asyncio.gather(
            *(
                self.repeat(kind, MIXED[kind] / places, until)
                for kind, places in share.items()
                for _ in range(places)
            )
        )


class Disk(threading.Thread):
    """Appends a page and syncs it, five times a second, in the folder of the store: how long the
    disk alone takes, which may have other work to do."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self._file = (folder / "page").open("ab", buffering=0)
        self._seconds = [0.0]

    def run(self) -> None:
        while True:
            began = time.perf_counter()
            self._file.write(bytes(4096))
            os.fsync(self._file.fileno())
            self._seconds.append(time.perf_counter() - began)
            time.sleep(0.2)

    def line(self) -> str:
        """Since the last one."""
        found, self._seconds = 1000 * np.array(self._seconds), [0.0]
        return f"{np.percentile(found, 50):.1f} | {found.max():.0f}"


@contextmanager
def server(store: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "neardup", "serve", str(store), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    try:
        line = process.stderr.readline()
        yield process, line.partition(" at ")[2].split()[0]
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def resident(process: subprocess.Popen[str]) -> float:
    """MB."""
    status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1000


def worked(process: subprocess.Popen[str]) -> float:
    """Seconds of processor time so far: what a busy machine does not change."""
    fields = Path(f"/proc/{process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def build(store: Path, lines: Sequence[bytes]) -> None:
    with nd.Index.open(store, method="shingles") as index:
        for start in range(0, len(lines), BATCH):
            found = [json.loads(line) for line in lines[start : start + BATCH]]
            index.add_many([{"id": str(d["id"]), "text": d["text"][:SIZE]} for d in found])


def show(name: str, tallies: dict[str, Tally], lasted: float, more: str = "| | ") -> None:
    for kind, tally in tallies.items():
        if tally.seconds or tally.failed:
            print(f"| {name} | {kind} | {tally.line(lasted)} | {more} |", flush=True)
        for sentence in tally.failed[:3]:
            print(f"    failed: {sentence}", flush=True)


def lost(store: Path, load: Load) -> str:
    with nd.Index.open(store, create=False) as index:
        there = {entry.id for entry in index if entry.id.startswith("new-")}
    missing, back = {*load.there} - there - load.unsure, load.gone & there
    acknowledged = len(load.there) + len(load.gone)
    return (
        f"{acknowledged:,} adds and {len(load.gone):,} removals were acknowledged; "
        f"{len(missing)} adds and {len(back)} removals of them are lost."
    )


async def minutes(load: Load, process: subprocess.Popen[str], how_many: int, folder: Path) -> None:
    disk = Disk(folder)
    disk.start()
    for minute in range(1, how_many + 1):
        await load.mixed(60)
        more = f"{disk.line()} | {resident(process):,.0f}"
        show(f"minute {minute}", load.clear(), 60, more)


async def end(load: Load, process: subprocess.Popen[str], sign: signal.Signals) -> None:
    """Under load, after five seconds of it."""

    async def later() -> None:
        await asyncio.sleep(5)
        load.ended = True
        process.send_signal(sign)

    await asyncio.gather(load.mixed(8), later())
    process.wait()


def measured(store: Path, lines: Sequence[bytes], how_many: int, seconds: float) -> None:
    with server(store) as (process, url):
        load = Load(url, Texts(lines[:20_000]))
        asyncio.run(load.checks(0, 2))
        load.clear()
        print(f"server: {resident(process):,.0f} MB\n")
        print(HEAD)
        before = worked(process)
        asyncio.run(load.checks(0, seconds))
        each = (worked(process) - before) / max(1, len(load.tallies["check"].seconds))
        show(f"{CONNECTIONS} connections, no pause", load.clear(), seconds)
        asyncio.run(load.checks(RATE, seconds))
        show(f"{RATE:,} a second", load.clear(), seconds)
        asyncio.run(minutes(load, process, how_many, store.parent))
        asyncio.run(end(load, process, signal.SIGTERM))
    print(f"\nA check took {1e6 * each:.0f} µs of the server's processor time.")
    print(f"SIGTERM: exit code {process.returncode}. {lost(store, load)}", flush=True)
    with server(store) as (process, url):
        load = Load(url, Texts(lines[:20_000], seed=2))
        asyncio.run(end(load, process, signal.SIGKILL))
    print(f"SIGKILL: {lost(store, load)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=int, default=10, help="of mixed load")
    parser.add_argument("--seconds", type=float, default=30, help="of checks alone")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    given = parser.parse_args()
    with (corpus.WORK / "corpus.jsonl").open("rb") as file:
        lines = [line for line, _ in zip(file, range(given.documents), strict=False)]
    print(f"{machine()}; {len(lines):,} documents, load {os.getloadavg()[0]:.1f} before")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "index.db"
        build(store, lines)
        measured(store, lines, given.minutes, given.seconds)


if __name__ == "__main__":
    main()
