"""Rows that come only once, kept on disk: a sequence that holds none of them in memory.

Each row is pickled by itself, so what comes back is equal to what came, whatever the types, and a
slice takes no more memory than its rows. The file is read only by the process that made it, and
goes away with the sequence.
"""

from __future__ import annotations

import os
import pickle
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, overload


class SpooledRows(Sequence[Any]):
    def __init__(self, rows: Iterable[Any]) -> None:
        handle, name = tempfile.mkstemp(prefix="neardup-rows-")
        self._path = Path(name)
        weakref.finalize(self, self._path.unlink, missing_ok=True)
        self._starts = array("q")
        with os.fdopen(handle, "wb", buffering=1 << 20) as out:
            for row in rows:
                self._starts.append(out.tell())
                out.write(pickle.dumps(row, pickle.HIGHEST_PROTOCOL))

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            wanted = range(*index.indices(len(self)))
            if wanted.step == 1:
                return list(self._rows(wanted.start, wanted.stop))
            return [self[i] for i in wanted]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        return next(self._rows(place, place + 1))

    def __iter__(self) -> Iterator[Any]:
        return self._rows(0, len(self))

    def _rows(self, start: int, stop: int) -> Iterator[Any]:
        if start >= stop:
            return
        with self._path.open("rb", buffering=1 << 16) as file:
            file.seek(self._starts[start])
            for _ in range(start, stop):
                yield pickle.load(file)
