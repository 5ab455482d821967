"""Limits of reading, which keep the memory bounded whatever a file contains.

What exceeds a limit is rejected with its place and the reason, and reading goes on after it. A file
of a few kilobytes may unpack to terabytes, so the ratio of unpacked to packed bytes has a limit,
which counts only above ``FREE_BYTES``, because small files of repeated text unpack well.
"""

from __future__ import annotations

from dataclasses import dataclass

FREE_BYTES = 200_000_000
MOST_COLUMNS = 100_000  # of a CSV file


@dataclass(frozen=True)
class Limits:
    """``document``: bytes of a line, a record or a file of one document. ``file``: unpacked bytes
    of a compressed file. ``ratio``: unpacked bytes for each packed one."""

    document: int = 100_000_000
    file: int = 1_000_000_000_000
    ratio: int = 2000

    def unpacking_fault(self, unpacked: int, packed: int) -> str | None:
        """The reason why unpacking stops, if a file of ``packed`` bytes has become so large."""
        if unpacked > self.file:
            return f"file unpacks to more than {shown(self.file)} (max_file); the rest is lost"
        if unpacked > FREE_BYTES and unpacked > self.ratio * max(packed, 1):
            return (
                f"file unpacks to more than {self.ratio:,} times its size (max_ratio); "
                "the rest is lost"
            )
        return None

    def document_fault(self, what: str, size: int) -> str:
        return f"{what} has {shown(size)}; the limit is {shown(self.document)} (max_document)"


def shown(size: int) -> str:
    units = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "KB"))
    for unit, name in units:
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


class OverLimitError(OSError):
    """A file that cannot be read on, because nothing shows where what is too long ends."""


class TooLong(bytes):
    """A line or record above the limit, without its content: a block that counts as one rejected
    document. ``size`` is its length in the file."""

    size: int
    reason: str

    @classmethod
    def of(cls, what: str, size: int, limits: Limits) -> TooLong:
        block = cls(b"!\n")
        block.size, block.reason = size, limits.document_fault(what, size)
        return block


def block_size(block: bytes) -> int:
    """The bytes of the file that a block stands for."""
    return block.size if isinstance(block, TooLong) else len(block)
