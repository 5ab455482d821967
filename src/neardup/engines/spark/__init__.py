"""Beyond one machine: the same methods and the same rule on Apache Spark.

    import neardup as nd
    result = nd.spark.dedup(frame, method="shingles")
    result.kept, result.decisions, result.counts

Spark parts the collection; tasks make keys and evidence with the native functions and decide each
part with the functions of the local engine. pyspark is imported when it is first needed.

The way of a run through the files, in order:

    frames, files    what comes in (``input.py``: what is asked of both)
    pieces           files cut into what a task reads
    run              the order of all that follows
    counting         artefacts that the method needs of the collection
    calibrating      where duplicates begin, by a run at the usual threshold
    carried          the plan on its way to the tasks
    signing          documents → keys and evidence
    references       those of ``--against``, signed before all input
    sizes            how much was signed
    joining          who meets whom: by ``meeting``, or of fingerprints by ``near_bits``
    components       edges → connected components
    verifying        giant components taken apart by verified pairs
    standing         positions and places (``sorting.py``: the policy's order as columns)
    matched          all of these as parts
    parts            each part decided by the local engine
    told             what a part says
    kinds            texts of duplicates read again and aligned
    tables           what parts said → decisions and pairs
    result           what the user gets
    saving           … as folders of Parquet
    signatures       … for a next run to build on

Beside the way: ``session`` (Spark itself), ``stages`` (what is kept), ``columns`` (tables between
steps), ``spreading`` (a list of work over tasks), ``failing`` (errors of tasks in our words).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.engines.spark.spark_frames import dedup, find
    from neardup.engines.spark.spark_result import SparkResult

__all__ = ["SparkResult", "dedup", "find"]

_HOMES = {"SparkResult": "spark_result", "dedup": "spark_frames", "find": "spark_frames"}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        import importlib

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from neardup.engines.spark.session import check_pyspark

        check_pyspark()
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
