"""Beyond one machine: the same methods and the same rule on Apache Spark.

    import neardup as nd
    result = nd.spark.dedup(frame, method="shingles")
    result.kept, result.decisions, result.counts

Spark parts the collection; tasks make keys and evidence with the native functions and decide each
part with the functions of the local engine. pyspark is imported when it is first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.spark.frames import dedup, find
    from neardup.spark.result import SparkResult

__all__ = ["SparkResult", "dedup", "find"]

_HOMES = {"SparkResult": "result", "dedup": "frames", "find": "frames"}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        import importlib

        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from neardup.spark.session import check_pyspark

        check_pyspark()
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
