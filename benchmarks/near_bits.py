"""What a key of a fingerprint costs on Spark, of our own work: packed, and met in its bucket.

`python -m benchmarks.near_bits` makes a million random fingerprints and the tables of as many as
docs/scale.md speaks of, and says nanoseconds of CPU and bytes a key. What Java does to sort and
move them comes on top.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from neardup.engines.spark.bits_join import PACKED_PRINTS, Tables, met, packed_prints, tables_for
from neardup.engines.spark.session import BATCH_ROWS
from neardup.methods.simhash import SimHash

PRINTS = 1_000_000
PRETENDED = (10**9, 8 * 10**9)
CORES = 640
LOOKED_AT = 10  # buckets that hold a whole table


def batches() -> Iterator[pa.RecordBatch]:
    rng = np.random.default_rng(1)
    for begin in range(0, PRINTS, BATCH_ROWS):
        prints = rng.integers(0, 2**64, BATCH_ROWS, np.uint64)
        columns = {
            "node": pa.array(prints.view(np.int64)),
            "id": pa.array([str(begin + i) for i in range(BATCH_ROWS)]),
            "rejected": pa.nulls(BATCH_ROWS, pa.string()),
            "flags": pa.array(np.zeros(BATCH_ROWS, np.int32)),
            "within": pa.nulls(BATCH_ROWS, pa.string()),
            "evidence": pa.array([one.tobytes() for one in prints], pa.binary()),
        }
        yield pa.RecordBatch.from_pydict(columns)


def packed(given: list[pa.RecordBatch], tables: Tables) -> tuple[pa.Table, float]:
    began = time.process_time()
    made = pa.Table.from_batches(
        [b for one in given for b in packed_prints(one, tables)], PACKED_PRINTS
    )
    return made, time.process_time() - began


def meeting(table: pa.Table, tables: Tables) -> float:
    took = 0.0
    for bucket in range(LOOKED_AT):
        rows = table.filter(pa.compute.equal(table["bucket"], bucket))
        began = time.process_time()
        met(rows, tables)
        took += time.process_time() - began
    return took / LOOKED_AT


def main() -> None:
    given = list(batches())
    for pretended in PRETENDED:
        made = [
            tables_for(SimHash(), pretended, pretended, cores=CORES, each=each, grouped=False)
            for each in (None, 1)
        ]
        spread, whole = made
        keys = PRINTS * len(spread.masks)
        table, took = packed(given, spread)
        compared = meeting(packed(given, whole)[0], whole)
        print(
            f"{pretended:.0e} fingerprints: {len(spread.masks)} tables in {spread.buckets:,} "
            f"buckets; packed {took / keys * 1e9:.0f} ns and {table.nbytes / keys:.1f} bytes a "
            f"key, met {compared / PRINTS * 1e9:.0f} ns a key"
        )


if __name__ == "__main__":
    main()
