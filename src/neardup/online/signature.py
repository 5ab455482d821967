"""What an index keeps of a document: keys, evidence and digests, packed into bytes for a store.

Documents of one ``group`` meet, others never: it is mixed into keys and digest, so that postings
need not know of groups. Where documents meet by evidence alone (a bitmap window) those of other
groups are left out afterwards (``memory.py``).
"""

from __future__ import annotations

import hashlib
import math
import struct
from typing import Any, NamedTuple

import numpy as np

from neardup.methods.method import TOO_SHORT
from neardup.schema import Array

NO_CUT = math.nan
NO_GROUP = 0  # all documents are of one
# Digests, group, own cut, flags, probes, keys; 64 bytes, so that keys can be read where they lie.
_HEAD = struct.Struct("<16sQQQdBxxxIIxxxx")


class Signature(NamedTuple):
    """Of one document. It looks with the first ``probes`` of its ``keys``. ``cut`` is its own cut
    by a calibration, ``NO_CUT`` without one; ``group`` a digest of its value of ``within``."""

    digest: bytes
    text_digest: int
    normal_digest: int
    flags: int
    probes: int
    keys: Array
    evidence: Array
    cut: float = NO_CUT
    group: int = NO_GROUP

    @property
    def too_short(self) -> bool:
        return bool(self.flags & TOO_SHORT)

    def pack(self) -> bytes:
        head = _HEAD.pack(
            self.digest,
            self.text_digest,
            self.normal_digest,
            self.group,
            self.cut,
            self.flags,
            self.probes,
            len(self.keys),
        )
        return head + self.keys.tobytes() + self.evidence.tobytes()

    @classmethod
    def unpack(cls, packed: bytes, dtype: np.dtype[Any]) -> Signature:
        digest, text, normal, group, cut, flags, probes, count = _HEAD.unpack_from(packed)
        keys = np.frombuffer(packed, np.uint64, count, _HEAD.size)
        size = dtype.itemsize
        start = _HEAD.size + 8 * count
        evidence = np.frombuffer(packed, dtype, (len(packed) - start) // size, start)
        return cls(digest, text, normal, flags, probes, keys, evidence.copy(), cut, group)

    def in_group(self, group: int) -> Signature:
        """The signature, which is of no group yet, in one."""
        mixed = int.from_bytes(self.digest, "little") ^ (group << 64 | group)
        keys = self.keys ^ np.uint64(group)
        return self._replace(digest=mixed.to_bytes(16, "little"), keys=keys, group=group)


class Arrival(NamedTuple):
    """A document at the door. ``id``, ``time``, ``within`` and ``source`` are None where it brings
    none."""

    id: str | None
    time: int | None
    signature: Signature
    text: str | None = None
    within: str | None = None
    source: str | None = None


def group_of(value: str | None) -> int:
    """Of a value of ``within``; documents without one are a group of their own."""
    said = b"" if value is None else b"=" + value.encode()
    return int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "little") or 1
