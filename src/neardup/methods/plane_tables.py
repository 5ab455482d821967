"""How many hyperplanes make a key, and how many keys a document has (Charikar 2002).

With ``k`` bits a key and ``L`` keys, each of a table of its own, a pair with the angle θ shares no
key with probability (1 − (1 − θ/π)ᵏ)ᴸ. More bits let fewer unlike documents meet, and ask for more
tables.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from neardup.features.hyperplanes import sides
from neardup.methods.bit_tables import mixed
from neardup.schema import Array, Ragged

FEWEST_BITS, MOST_BITS = 8, 32
MOST_TABLES = 1024


def agreement(cosine: float) -> float:
    """1 − θ/π: the probability that two vectors lie on the same side of a random plane."""
    return 1 - math.acos(cosine) / math.pi


class PlaneTables(NamedTuple):
    bits: int
    tables: int

    def miss_rate(self, cosine: float) -> float:
        """(1 − pᵏ)ᴸ: no table agrees."""
        return float((1 - agreement(cosine) ** self.bits) ** self.tables)


def choose_tables(
    cosine: float, most: int, miss_rate: float, bits: int | None = None
) -> PlaneTables | None:
    """The most bits, unless they are given, for which at most ``most`` tables miss so few; and the
    fewest tables for these bits. None where there are no such tables."""
    wanted = range(MOST_BITS, FEWEST_BITS - 1, -1) if bits is None else (bits,)
    for k in wanted:
        tables = tables_needed(cosine, k, miss_rate)
        if tables <= most:
            return PlaneTables(k, tables)
    return None


def tables_needed(cosine: float, bits: int, miss_rate: float) -> int:
    hit = agreement(cosine) ** bits
    return 1 if hit >= 1 else math.ceil(math.log(miss_rate) / math.log1p(-hit))


def plane_keys(vectors: Array, chosen: PlaneTables) -> tuple[Ragged, Array]:
    """Keys of vectors of 8-bit numbers, and how many of them look: all."""
    count, (bits, tables) = len(vectors), chosen
    packed = np.zeros((count, tables, 8), np.uint8)
    found = sides(vectors, bits * tables).reshape(count, tables, bits)
    packed[:, :, : -(-bits // 8)] = np.packbits(found, axis=2, bitorder="little")
    words = packed.reshape(-1, 8).view(np.dtype("<u8")).astype(np.uint64)
    keys = mixed(words, np.tile(np.arange(tables, dtype=np.uint64), count))
    ends = np.arange(count + 1, dtype=np.int64) * tables
    return Ragged(keys, ends), np.full(count, tables, np.int32)
