"""Inputs of which nothing can be read, and inputs that change during a run.

A file or folder that cannot be read is represented by one rejected document at its row 1, and the
run continues with the others. Readable inputs must not change until the kept documents are written.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup import _native
from neardup.documents.columns import Chunk, Columns, LostChunk, Mask, Rejected
from neardup.documents.remote import WILDCARDS, Place, Remote
from neardup.documents.source import Source
from neardup.documents.streams import cause
from neardup.errors import ChangedError, UnreadableError


@dataclass(frozen=True)
class LostSource(Source):
    """A file or folder that cannot be read. It counts as one document, which is rejected."""

    path: Place
    file: str
    error: UnreadableError

    @property
    def rejected(self) -> Rejected:
        reason = f"nothing of it can be read: {self.error.reason}"
        return Rejected(self.file, 1, reason, None, self.file)

    def path_of(self, row: int) -> str:  # noqa: ARG002 (as of a folder)
        return self.file

    def chunks(self, columns: Columns) -> Iterator[Chunk]:
        yield LostChunk(self.rejected, dict.fromkeys(columns.found(()), pa.null()))

    def texts(self, rows: Sequence[int], columns: Columns) -> list[str]:  # noqa: ARG002 (protocol)
        return ["" for _ in rows]

    def kept(self, keep: Mask) -> tuple[None, int]:  # noqa: ARG002 (protocol)
        return None, 1


class Watch:
    """Remembers the state of a file when it was read, and reports if it has changed.

    A source and everything made from it share one watch. If nothing was read in this process (the
    folder of an earlier run), there is nothing to compare with.
    """

    def __init__(self) -> None:
        self._seen: tuple[int, ...] | None = None
        self._blocks: dict[tuple[int, int], int] = {}
        self._lost: set[int] | None = None

    def begin(self, path: Place) -> None:
        # The state from the listing of a store is enough: it is also compared at each opening.
        self._seen = path.found if isinstance(path, Remote) else _stamp(path)
        self._lost = set()

    def check_block(self, row: int, data: bytes, file: str) -> None:
        """Refuses a block of a file whose content differs from that of an earlier reading; size and
        time of a file may stay the same. ``row`` is the first one of the block."""
        if self._seen is None:
            return
        whole = np.array([0, len(data)], np.int64)
        checksum = int(_native.bytes_digests(np.frombuffer(data, np.uint8), whole, 0)[0])
        # A source made from this one may read in blocks of another size.
        if self._blocks.setdefault((row, len(data)), checksum) != checksum:
            raise changed(file, "was changed")

    def expect(self, rows: Iterable[int]) -> None:
        """Records the rows that an earlier run could not use."""
        self._lost = set(rows)

    def lose(self, row: int) -> None:
        if self._lost is not None:
            self._lost.add(row)

    def check_lost(self, row: int, reason: str, file: str) -> None:
        """Refuses a part that was readable before: it had a different number of rows, so all later
        rows would move."""
        if self._lost is not None and row not in self._lost:
            raise UnreadableError(
                f"{file}, row {row}: {reason}, but it was read before.",
                hint="check the file; a column that was not compared may be broken.",
            )

    def check(self, path: Place, file: str) -> None:
        if self._seen is None:
            return
        now = _stamp(path)
        if now != self._seen:
            raise changed(file, "is gone" if now is None else "was changed")


def changed(file: str, how: str) -> ChangedError:
    return ChangedError(
        f"{file} {how} after it was read, so its kept documents cannot be written.",
        hint="run again; if something still writes to the file, give a copy of it.",
    )


def _stamp(path: Place) -> tuple[int, ...] | None:
    if isinstance(path, Remote):
        return path.now()
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def check_unchanged(source: Any) -> None:
    watch: Watch | None = getattr(source, "watch", None)
    if watch is not None:
        watch.check(source.path, source.file)


def lost_from_here(error: Exception) -> str:
    return f"file cannot be read from here on ({cause(error)}); the rest is lost"


def locked_folders(pattern: str) -> list[tuple[Path, UnreadableError]]:
    """Folders that a glob would search but may not read; the glob itself does not report them."""
    parts = Path(pattern).parts
    locked: dict[str, None] = {}
    for i in range(1, len(parts)):
        needed = os.X_OK | (os.R_OK if any(sign in parts[i] for sign in WILDCARDS) else 0)
        folders = glob.glob(os.path.join(*parts[:i], ""), recursive=True)
        locked |= dict.fromkeys(f for f in folders if not os.access(f, needed))
    return [(Path(place), _locked(Path(place))) for place in sorted(locked)]


def _locked(folder: Path) -> UnreadableError:
    try:
        os.listdir(folder)
        reason = "its files may not be opened"
    except OSError as error:
        reason = error.strerror or str(error)
    return UnreadableError(
        f"Cannot read {folder}: {reason}.", hint="check the permissions.", reason=reason
    )
