"""``neardup.spark``: the public path of :mod:`neardup.engines.spark`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.engines.spark import SparkResult, clean, dedup, find, passages, trace

__all__ = ["SparkResult", "clean", "dedup", "find", "passages", "trace"]

if not TYPE_CHECKING:  # a type checker would conclude that any name exists

    def __getattr__(name: str) -> Any:
        from neardup.engines import spark

        return getattr(spark, name)
