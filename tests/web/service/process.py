"""A service in a process of its own, as users start it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SETTINGS = ("--method", "shingles", "--set", "words=3", "--threshold", "0.7")


@dataclass
class Served:
    url: str
    process: subprocess.Popen[str]
    log: list[str]

    def stop(self, sign: signal.Signals = signal.SIGTERM) -> int:
        """The exit code, when it has ended."""
        self.process.send_signal(sign)
        return self.wait()

    def wait(self) -> int:
        assert self.process.stderr
        self.log += self.process.stderr.readlines()
        return self.process.wait()


@contextmanager
def served(
    store: Path | str, *options: str, settings: Sequence[str] = SETTINGS
) -> Iterator[Served]:
    command = [sys.executable, "-m", "neardup", "serve", str(store), "--port", "0"]
    process = subprocess.Popen(
        [*command, *settings, *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stderr
    try:
        line = process.stderr.readline()
        assert " at http" in line, line + process.stderr.read()
        url = line.partition(" at ")[2].split()[0]
        yield Served(url, process, [line])
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        process.stderr.close()
