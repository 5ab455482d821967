"""Counts in sentences: ``1 pair``, ``2 pairs``."""

from __future__ import annotations


def many(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"
