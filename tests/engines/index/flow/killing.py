"""A flow that is killed again and again; run as a program, so that it can be.

One process starts quickly and forks a child for each life of the flow. The child counts its calls
to the system, to files and to SQLite, and kills itself before or after one of them; what was not
flushed by then is lost as in any crash. Between lives a consumer takes away what was forwarded.
"""

from __future__ import annotations

import errno
import io
import json
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

from neardup.engines.index.flow import flow
from neardup.engines.index.flow.flow_settings import FlowSettings
from neardup.engines.index.index import Index

# Calls after or before which something else is on the disk, or in the index.
COUNTED = {"rename", "replace", "unlink", "mkdir", "rmdir", "fsync", "write"}
COUNTED |= {"execute", "executemany"}
LIVES = (0.5, 2.5)  # calls that a life may last, as powers of ten
MOST_KILLS = 300
HOW = "all-text"  # in this process: a life is too short to start others
APPEND = 'import sys; open(sys.argv[1], "ab").write(sys.stdin.buffer.read() + b"\\n")'


def die_after(calls: int) -> None:
    left = calls

    def heard(_: Any, event: str, function: Any) -> None:
        nonlocal left
        if isinstance(getattr(function, "__self__", None), io.StringIO):
            return
        if event in ("c_call", "c_return") and function.__name__ in COUNTED:
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(heard)


def be_on_another_file_system(out: Path) -> None:
    """Renaming into ``out`` from elsewhere is refused, as between two file systems."""
    rename = os.rename

    def refusing(source: Any, target: Any) -> None:
        if out in Path(target).parents and out not in Path(source).parents:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        rename(source, target)

    os.rename = refusing


def live(root: Path, mode: str, calls: int | None) -> None:
    """One life, to the end of what is there or to the kill."""
    if mode == "far":
        be_on_another_file_system(root / "out")
    command = f"{sys.executable} -S -c '{APPEND}' {root / 'told'}"
    places = {"forward": root / "out", "aside": root / "dup", "unreadable": root / "bad"}
    if mode == "command":
        places["command"] = command
        del places["forward"]
    asked = FlowSettings.of(
        str(root / "in"), str(root / "index.db"), poll=1e-3, extract=HOW, **places
    )
    with Index.open(root / "index.db", method="qgrams") as index:
        made = asked.flow(index)
        if calls is not None:
            die_after(calls)
        made.run(lambda _: None, once=True)
        sys.setprofile(None)


def consume(root: Path) -> None:
    """As whoever waits for originals: takes them away, and writes down what it got."""
    with (root / "consumed.jsonl").open("a") as log:
        for path in sorted((root / "out").rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                log.write(json.dumps([path.name, path.read_text("utf-8")]) + "\n")
                path.unlink()


def was_killed(root: Path, mode: str, calls: int | None) -> bool:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            live(root, mode, calls)
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        assert os.WEXITSTATUS(status) == 0
        return False
    assert os.WTERMSIG(status) == signal.SIGKILL
    return True


def main(root: Path, mode: str, seed: int) -> None:
    """Lives and dies until a life of this seed comes to its end; says how often it died."""
    flow.BATCH_ITEMS = 8  # more ends of batches to die at
    choose, kills = random.Random(seed), 0
    while was_killed(root, mode, int(10 ** choose.uniform(*LIVES))):
        kills += 1
        assert kills < MOST_KILLS
        consume(root)
    was_killed(root, mode, None)
    consume(root)
    print(kills)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
