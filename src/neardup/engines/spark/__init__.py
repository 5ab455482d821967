"""The engine for more than one machine: the same methods and the same rule on Apache Spark.

    import neardup as nd
    result = nd.spark.dedup(frame, method="shingles")
    result.kept, result.decisions, result.counts

Spark divides the collection into parts; tasks make keys and evidence with the native functions and
decide each part with the functions of the batch engine. pyspark is imported when it is first used.

A run uses the files in this order:

    spark_frames, spark_files   the input; files are divided into pieces that a task reads
    spark_run                   the order of all following steps; documents of ``--against``
    calibration_jobs            tables that the method needs, and its calibration
    spark_signing               documents → keys and evidence
    bits_join, components       documents that meet → connected components
    large_components            components too large for one task, divided by verified pairs
    positions                   positions in the input and in the order of the policy
    component_task              each part decided by the batch engine, and its rows
    kind_tasks                  texts of duplicates read again and aligned
    spark_result                decisions and pairs, as the user gets them
    spark_folder                the same as folders of Parquet, with signatures for a next run

Passages of files are found by ``passage_search``, in rounds.

All steps use ``session.py`` (the Spark session, the plan in tasks, errors of tasks) and
``spark_columns.py`` (tables between steps, their sizes, stages that are kept).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.engines.spark.passage_search import clean, passages, trace
    from neardup.engines.spark.spark_frames import dedup, find
    from neardup.engines.spark.spark_result import SparkResult

__all__ = ["SparkResult", "clean", "dedup", "find", "passages", "trace"]

_HOMES = {
    "SparkResult": "spark_result",
    **dict.fromkeys(("dedup", "find"), "spark_frames"),
    **dict.fromkeys(("clean", "passages", "trace"), "passage_search"),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        import importlib

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from neardup.engines.spark.session import check_pyspark

        check_pyspark()
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
