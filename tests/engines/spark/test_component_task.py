"""A part decided twice (a speculative task, a retry) says the same, and nothing twice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from neardup.documents import collect
from neardup.engines.spark.component_task import PART, decided_rows
from neardup.engines.spark.components import packed_keys, unpacked_keys
from neardup.engines.spark.spark_columns import EVIDENCE
from neardup.engines.spark.spark_signing import Taken, filled, signed_rows
from neardup.plan import Plan, resolve
from neardup.settings import settings_of

TEXTS = [
    "one two three four five six seven eight nine ten eleven twelve",
    "one two three four five six seven eight nine ten eleven twelve!",
    "something else altogether that nobody would ever take for the first one here",
] * 3


def part(plan: Plan) -> list[pa.RecordBatch]:
    batches = [chunk.read() for chunk in collect(TEXTS).chunks(plan.columns)]
    rows = list(signed_rows((Taken(0, batch) for batch in batches), plan))
    made = []
    for batch in rows:
        columns = {name: batch.column(name) for name in PART.names if name in batch.schema.names}
        place = pa.array(np.arange(len(batch)))
        more = {"position": place, "place": place, "meets": pa.array([True] * len(batch))}
        slim = {name: one for name, one in columns.items() if name not in EVIDENCE.names}
        made.append(filled({**slim, **more}, len(batch), PART))
        evidence = batch.filter(batch.column("evidence").is_valid())
        names = ("node", "digest_a", "digest_b", *EVIDENCE.names)
        brought = {name: evidence.column(name) for name in names}
        made.append(filled(brought, len(evidence), PART))
    return made


def test_a_part_that_is_decided_twice() -> None:
    plan = resolve(settings_of({"method": "shingles", "words": 2, "workers": 1}))
    rows = part(plan)
    once = pa.Table.from_batches(decided_rows(iter(rows), plan))
    again = pa.Table.from_batches(decided_rows(iter(rows[::-1]), plan))
    assert once.equals(again)
    decided = once.filter(pa.compute.equal(once["tag"], 0))
    assert decided["position"].to_pylist() == list(range(len(TEXTS)))
    assert sum(decided["decision"].to_pylist()) == len(TEXTS) - 2


def test_equal_evidence_travels_once() -> None:
    plan = resolve(settings_of({"method": "shingles", "words": 2}))
    batches = [chunk.read() for chunk in collect(TEXTS).chunks(plan.columns)]
    [rows] = list(signed_rows((Taken(0, batch) for batch in batches), plan))
    assert rows.column("evidence").null_count == len(TEXTS) - 2


def test_keys_come_out_of_their_buckets_as_they_went_in() -> None:
    plan = resolve(settings_of({"method": "shingles", "words": 2}))
    batches = [chunk.read() for chunk in collect(TEXTS).chunks(plan.columns)]
    [rows] = list(signed_rows((Taken(0, batch) for batch in batches), plan))
    packed = pa.Table.from_batches([packed_keys(rows, 4)])
    found: dict[int, list[int]] = {}
    for bucket in range(4):
        nodes, keys, looks = unpacked_keys(packed.slice(bucket, 1))
        assert (looks == keys.lengths).all()
        for i, node in enumerate(nodes.tolist()):
            found.setdefault(node, []).extend(keys[i].tolist())
    for row in rows.filter(rows.column("keys").is_valid()).to_pylist():
        keys = np.frombuffer(row["keys"], np.uint64)
        assert sorted(found[row["node"] % 2**64]) == sorted(keys.tolist())
