"""The keys of a whole collection: in memory while they are few, and in a spool file when not.

Keys are appended in the order of the documents. Beyond ``limit`` they are grouped one part of the
key space at a time: one reading divides them by their leading bits into a second spool file, and
the groups of all parts, in order, are those that are found in memory.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.errors import DataError
from neardup.matching.evidence import EvidenceStore
from neardup.methods.meeting import SPREAD
from neardup.schema import Array, Growing, Ragged

BLOCK_KEYS = 1 << 20  # that are divided at a time
PART_KEYS = 1 << 20  # of a part, on average, which are sorted in memory
MOST_PART_BITS = 10


class KeyStore:
    """A document is found by all its keys and looks with the first ``probes`` of them."""

    def __init__(self, *, limit: int, folder: Path | None = None) -> None:
        self._keys = EvidenceStore(np.uint64, limit=limit, folder=folder)
        self._probes = Growing(np.int32)

    def append(self, keys: Ragged, probes: Array) -> None:
        self._keys.append(keys)
        self._probes.append(probes)

    def __len__(self) -> int:
        return len(self._probes)

    @property
    def probes(self) -> npt.NDArray[np.int32]:
        return self._probes.values

    @property
    def whole(self) -> Ragged | None:
        """The keys of all documents; None if they are in a file."""
        return self._keys.whole

    @property
    def held(self) -> int:
        """Bytes in memory."""
        return self._keys.held

    @property
    def folder(self) -> Path | None:
        return self._keys.folder

    def bound(self, limit: int) -> None:
        self._keys.bound(limit)

    def take(self, documents: Array) -> tuple[Ragged, Array]:
        """The keys of these documents, in ascending order, and with how many each looks."""
        return self._keys.take(documents), self.probes[documents]

    def groups(
        self, order: Array, codes: Array | None
    ) -> Iterator[tuple[Array, Array, npt.NDArray[np.int64]]]:
        """Members, whether they look, and offsets of the groups of each part of the key space.
        ``order`` has the document at each place; only places with equal ``codes`` can meet."""
        total = int(self._keys.total)
        bits = min((total // PART_KEYS).bit_length(), MOST_PART_BITS)
        places = np.full(len(self), -1, np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        with _Parts(self._keys.folder, 1 << bits) as parts:
            for block in self._keys.blocks(BLOCK_KEYS):
                keys, at = self._keys.take(block), places[block]
                spread = np.empty(0, np.uint64)
                if codes is not None:
                    spread = (codes[at].astype(np.uint64) + np.uint64(1)) * SPREAD
                parts.write(
                    _native.part_keys(
                        keys.values, keys.offsets, self.probes[block], at, spread, bits
                    )
                )
            del places
            for part in range(1 << bits):
                yield _native.entry_groups(*parts.read(part), bits)

    def close(self) -> None:
        self._keys.close()


class _Parts:
    """Entries by part, in one spool file without a name."""

    def __init__(self, folder: Path | None, parts: int) -> None:
        self._folder = folder
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder, prefix="neardup-keys-")  # noqa: SIM115
        self._slices: list[list[tuple[int, int]]] = [[] for _ in range(parts)]
        self._end = 0

    def __enter__(self) -> _Parts:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, entries: tuple[Array, Array, Array]) -> None:
        keys, members, ends = entries
        for part, (begin, end) in enumerate(
            zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
        ):
            if begin < end:
                self._slices[part].append((self._end, end - begin))
                self._file.write(keys[begin:end].view(np.uint8).data)
                self._file.write(members[begin:end].view(np.uint8).data)
                self._end += (end - begin) * 12

    def read(self, part: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
        slices = self._slices[part]
        total = sum(size for _, size in slices)
        keys, members, at = np.empty(total, np.uint64), np.empty(total, np.uint32), 0
        for begin, size in slices:
            self._file.seek(begin)
            for column in (keys, members):
                some = column[at : at + size].view(np.uint8).data
                if self._file.readinto(some) != len(some):  # type: ignore[attr-defined]
                    raise unreadable(self._folder)
            at += size
        return keys, members


def unreadable(folder: Path | None) -> DataError:
    return DataError(
        "The spool file of the keys could not be read back.",
        hint=f"is the disk of {folder or tempfile.gettempdir()} full or failing?",
    )
