"""The contract of postings: what an index remembers of its documents, so that arrivals meet them.

Documents are numbered in the order of arrival. The ``meeting`` of the method declares
(``matching/finder.py``) whether they are found by keys (``matching/shared_keys.py``) or in a bitmap
window (``matching/window.py``).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from neardup.schema import Array


class Signed(Protocol):
    """The properties of a document that postings use."""

    @property
    def keys(self) -> Array: ...

    @property
    def probes(self) -> int: ...

    @property
    def evidence(self) -> Array: ...

    @property
    def too_short(self) -> bool: ...


class Passing(NamedTuple):
    """Numbers of documents, ascending, and their scores."""

    numbers: Array
    scores: Array


class Postings(Protocol):
    def add(self, signed: Signed, number: int, time: int) -> None: ...

    def meet(self, signed: Signed) -> Array | Passing:
        """Either the numbers of the documents to score, ascending, or all documents that pass, with
        their scores. Forgotten documents may be among them."""
        ...

    def forget(self, number: int) -> None:
        """The document can no longer be matched; its number is not reused before ``keep``."""
        ...

    def keep(self, numbers: Array) -> None:
        """``numbers[i]`` is the new number of document i, negative if it was forgotten."""
        ...

    @property
    def bytes(self) -> int: ...

    def lasting_bytes(self, alive: float) -> int:
        """``bytes`` without what ``keep`` would free; ``alive`` is the share of live numbers."""
        ...
