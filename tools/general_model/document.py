"""One text of the material."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """``group``: documents of one group are versions of one text. A planted copy has the group of
    its original, the ``edit`` and ``rate`` it was made with, and as ``donors`` the documents that
    it was given passages of; a trap stands beside the document it shares only a frame with,
    ``trap_of``."""

    id: str
    text: str
    group: str
    source: str
    licence: str
    lang: str
    of: str | None = None
    edit: str | None = None
    rate: float | None = None
    kind: str | None = None
    trap_of: str | None = None
    donors: tuple[str, ...] = ()


def ordered(name: str) -> bytes:
    """A key that puts names into an order which has nothing to do with what they say."""
    from hashlib import blake2b

    return blake2b(name.encode(), digest_size=8).digest()
