"""Bytes that are added to a file: on the disk before anybody is told so, one writer at a time."""

from __future__ import annotations

import os
from pathlib import Path


def append(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
    os.fsync(file)


def lock(file: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows: one writer at a time is up to the user
        return
    fcntl.flock(file, fcntl.LOCK_EX)


def sync_folder(folder: Path) -> None:
    """A new file is there after a power cut only when its folder is on the disk too."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folders
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
