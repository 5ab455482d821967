"""Buckets of tables join what is near, and nothing else, whatever tables are taken."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from neardup.decisions.clusters import components
from neardup.engines.spark.bits_join import PACKED_PRINTS, Tables, met, packed_prints, tables_for
from neardup.engines.spark.spark_signing import group_digests
from neardup.errors import SettingsError
from neardup.methods.simhash import SimHash
from neardup.schema import Array

COUNT = 300


def fingerprints(bits: int, seed: int) -> Array:
    """Some within three bits of another, most of nobody."""
    rng = np.random.default_rng(seed)
    lanes = -(-bits // 64)
    made = rng.integers(0, 2**64, (COUNT, lanes), np.uint64)
    for one in range(0, COUNT, 3):
        made[one] = made[one - 30]
        for bit in rng.choice(64, rng.integers(0, 5), replace=False).tolist():
            made[one, bit % lanes] ^= np.uint64(1 << bit)
    return made & np.uint64(0xFFFFFFFF) if bits == 32 else made


def rows(prints: Array, groups: list[str | None]) -> pa.RecordBatch:
    """As they are signed; the last is what stands for a short document, and the first comes twice,
    as from two tasks, the second time under an id that is taken."""
    ids = [str(i) for i in range(COUNT)]
    columns = {
        "node": pa.array([*range(COUNT), COUNT, 0], pa.int64()),
        "id": pa.array([*ids, "short", "7"]),
        "rejected": pa.nulls(COUNT + 2, pa.string()),
        "flags": pa.array([0] * COUNT + [1, 0], pa.int32()),
        "within": pa.array([*groups, groups[0], groups[0]], pa.string()),
        "evidence": pa.array([*(one.tobytes() for one in prints), bytes(32), prints[0].tobytes()]),
    }
    return pa.RecordBatch.from_pydict(columns)


def joined(batch: pa.RecordBatch, tables: Tables) -> tuple[list[int], int]:
    """Which node is with which, and how many ids came twice."""
    packed = pa.Table.from_batches(list(packed_prints(batch, tables)), PACKED_PRINTS)
    numbers = packed["bucket"].unique().to_pylist()
    assert max(numbers) < tables.buckets
    found = pa.concat_tables(
        met(packed.filter(pa.compute.equal(packed["bucket"], number)), tables) for number in numbers
    )
    twice = found["b"].null_count
    there = found.filter(found["b"].is_valid())
    return labels(there["a"].to_numpy(), there["b"].to_numpy()), twice


def labels(a: Array, b: Array) -> list[int]:
    found: list[int] = components(COUNT + 1, a, b).tolist()
    return found


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("bits", [32, 64, 128])
@pytest.mark.parametrize("count", [100, 10**7, 10**9, 8 * 10**9])
def test_buckets_join_what_is_near(bits: int, count: int, grouped: bool) -> None:
    prints = fingerprints(bits, bits)
    groups = ["a" if i % 4 else None for i in range(COUNT)]
    method = SimHash(bits=bits)
    tables = tables_for(method, count, 100, cores=640, each=3, grouped=grouped)
    differ = np.bitwise_count(prints[:, None] ^ prints[None]).sum(axis=2)
    near = differ <= method.distance
    if grouped:
        codes = group_digests(pa.array(groups, pa.string()))
        near &= codes[:, None] == codes[None]
    expected = labels(*np.nonzero(np.triu(near, 1)))
    assert joined(rows(prints, groups), tables) == (expected, 1)
    assert max(expected) > 5


def test_tables_and_buckets_follow_the_count() -> None:
    def made(count: int, cores: int) -> tuple[int, int]:
        found = tables_for(SimHash(), count, count, cores=cores, each=None, grouped=False)
        return len(found.masks), found.each

    assert made(1000, 2) == (4, 1)
    assert made(1000, 640) == (4, 160)
    assert made(10**9, 2) == (10, 239)
    assert made(8 * 10**9, 640) == (20, 1908)


def test_what_one_machine_refuses_many_do() -> None:
    with pytest.raises(SettingsError, match=r"the limit is 4e\+12, for 2 cores\. Hint: "):
        SimHash().masks(8 * 10**9, cores=2)
    assert len(SimHash().masks(8 * 10**9, cores=4)) == 20
