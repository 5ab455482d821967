"""Memory of the process that is not used goes back to the system, where it is scarce.

By default an allocator keeps what was freed, because fresh memory costs time. Where a run is near
its limit that would be counted twice: arrays are then mapped one by one, and end when they are let
go.
"""

from __future__ import annotations

import ctypes
import functools
import sys

import pyarrow as pa

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # malloc.h of glibc
_MAPPED = 1 << 20  # bytes of an array that is mapped by itself


@functools.cache
def be_frugal() -> None:
    """Sets the allocator to return freed memory to the system, for the rest of the process. The
    settings of malloc are those of glibc; another allocator keeps its own."""
    pa.set_memory_pool(pa.system_memory_pool())
    if libc := _libc():
        libc.mallopt(_MMAP_THRESHOLD, _MAPPED)
        libc.mallopt(_ARENA_MAX, 2)
    give_back()


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
