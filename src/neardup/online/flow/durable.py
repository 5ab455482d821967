"""Writing and moving files so that they are whole or not there, also after a crash."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any


def write(path: Path, data: bytes) -> None:
    """Whole under its name, or not there."""
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    sync([part])
    part.replace(path)


def write_json(path: Path, value: Any) -> None:
    write(path, json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n")


def copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
    with suppress(OSError):  # not every file system has times and rights
        shutil.copystat(source, target)
    sync([target])


def sync(paths: Iterable[Path]) -> None:
    """Files, or folders after renaming in them; Windows does not open folders."""
    for path in paths:
        if os.name == "nt" and path.is_dir():
            continue
        handle = os.open(path, os.O_RDONLY if os.name != "nt" else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def free(path: Path, taken: Callable[[Path], bool]) -> Path:
    """``path``, or as ``a~2.txt`` where there is one already, or where it is ``taken``."""
    made, number = path, 1
    while os.path.lexists(made) or taken(made):
        number += 1
        made = path.with_name(f"{path.stem}~{number}{path.suffix}")
    return made
