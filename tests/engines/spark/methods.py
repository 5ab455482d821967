"""`make spark`: every method, local = Spark, on real documents and on families of edited ones.

Each method runs as it comes and in the variants of ``tests/engines/index/test_equality.py``, on
four sets; on one of them with limits so low that components are joined by stars and taken apart. It
prints a line a comparison and ends with an error if one differs.
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa

import neardup as nd
from conftest import DATA
from engines.index.test_equality import VARIANTS, families, real
from neardup.engines.spark.session import session
from neardup.engines.spark.spark_frames import FrameInput
from neardup.engines.spark.spark_run import Tuning, run
from neardup.plan import resolve
from neardup.settings import settings_of

COLUMNS = ["id", "decision", "reason", "kept_id", "score", "kind", "cluster"]
LOW = Tuning(driver_edges=5, buckets=3, parts=3, giant=20)


def sets(data: Path) -> dict[str, list[dict[str, Any]]]:
    made = {name: real(data, name, 250) for name in ("press_de", "licences", "ocr_pairs")}
    return {"families": families(1, 120), **made}


def compared(spark: Any, documents: list[dict[str, Any]], given: dict[str, Any], low: bool) -> int:
    """How many decisions differ."""
    local = nd.dedup(documents, **given)
    rows = [{**one, "at": at} for at, one in enumerate(documents)]
    plan = resolve(settings_of(given))
    frame = spark.createDataFrame(pa.Table.from_pylist(rows)).repartition(3)
    found = run(spark, FrameInput(frame, plan.columns, "at"), plan, tuning=LOW if low else None)
    ours = found.collected().decisions.select(COLUMNS).to_pylist()
    theirs = local.decisions.select(COLUMNS).to_pylist()
    found.release()
    return sum(mine != other for mine, other in zip(ours, theirs, strict=True))


def main() -> None:
    warnings.simplefilter("ignore")
    spark = session(master="local[2]")
    spark.sparkContext.setLogLevel("OFF")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    wanted, wrong = sys.argv[1:], 0
    for name, parameters in VARIANTS:
        if wanted and name not in wanted:
            continue
        for where, documents in sets(DATA).items():
            began = time.perf_counter()
            given = {"method": name, "set": parameters, "kinds": "none"}
            low = where == "press_de"
            differ = compared(spark, documents, given, low)
            wrong += differ > 0
            took = time.perf_counter() - began
            print(f"{differ:4} differ  {took:6.1f} s  {where:9}  {name} {parameters}", flush=True)
    sys.exit(f"{wrong} comparisons differ" if wrong else 0)


if __name__ == "__main__":
    main()
