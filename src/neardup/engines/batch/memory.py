"""Memory of the process that is not used goes back to the system, where it is scarce.

Otherwise the allocator keeps what was freed, because fresh memory costs time. Where a run is near
its limit that would be counted twice: arrays are then mapped one by one, and end when they are let
go.
"""

from __future__ import annotations

import ctypes
import functools
import sys

import pyarrow as pa

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # malloc.h of glibc
_MAPPED = 1 << 20  # bytes of an array that is mapped by itself
_KEPT = 32 << 20  # bytes that are kept for the next block of documents


@functools.cache
def be_frugal() -> None:
    """Sets the allocator to return freed memory to the system, for the rest of the process. The
    settings of malloc are those of glibc; another allocator keeps its own."""
    pa.set_memory_pool(pa.system_memory_pool())
    if libc := _libc():
        libc.mallopt(_TRIM_THRESHOLD, _KEPT // 2)
        libc.mallopt(_MMAP_THRESHOLD, _MAPPED)
        libc.mallopt(_ARENA_MAX, 2)
    give_back()


def keep_freed() -> None:
    """Sets the allocator to keep some freed memory, unless it is frugal already. glibc comes to
    such settings by itself, but only when an array as large was freed, and blocks of documents are
    smaller: their memory would be fresh again and again."""
    libc = None if be_frugal.cache_info().currsize else _libc()
    if libc:
        libc.mallopt(_TRIM_THRESHOLD, _KEPT)
        libc.mallopt(_MMAP_THRESHOLD, _KEPT)


def relieve() -> None:
    """Gives back what a stage has freed, if memory is scarce."""
    if be_frugal.cache_info().currsize:
        give_back()


def give_back() -> None:
    """What was freed."""
    pa.default_memory_pool().release_unused()
    if libc := _libc():
        libc.malloc_trim(0)


@functools.cache
def _libc() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    libc = ctypes.CDLL(None)
    return libc if hasattr(libc, "malloc_trim") else None
