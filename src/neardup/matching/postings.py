"""What an index remembers of documents so that the next one meets them.

Documents have numbers in the order of their arrival. Postings are by keys
(``matching/shared_keys.py``) or a bitmap window (``matching/window.py``), as the ``meeting`` of the
method declares (``matching/finder.py``).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from neardup.schema import Array


class Signed(Protocol):
    """What postings use of a document."""

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
        """Numbers, ascending, of the documents to score; or all that pass, with scores. Forgotten
        ones may be among them."""
        ...

    def forget(self, number: int) -> None:
        """It cannot be matched any more; its number stays taken until ``keep``."""
        ...

    def keep(self, numbers: Array) -> None:
        """``numbers[i]`` is the new number of document i, negative where it was forgotten."""
        ...

    @property
    def bytes(self) -> int: ...

    def lasting_bytes(self, alive: float) -> int:
        """``bytes`` without what ``keep`` would give back; ``alive`` is a share of the numbers."""
        ...
