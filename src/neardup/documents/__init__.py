"""Stage 1: documents in, kept documents out.

``collect`` turns any supported input into a :class:`Collection`, whose chunks become record batches
of row, id and text. Columns that are not requested stay in the source and reappear unchanged in the
kept output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup.documents.collection import Collection, collect
    from neardup.documents.columns import Chunk, Columns, DocumentBatch, Rejected

_HOMES = {
    "Chunk": "columns",
    "Collection": "collection",
    "Columns": "columns",
    "DocumentBatch": "columns",
    "Rejected": "columns",
    "collect": "collection",
}

__all__ = ["Chunk", "Collection", "Columns", "DocumentBatch", "Rejected", "collect"]


def __getattr__(name: str) -> Any:
    """Imports on first use, because numpy and pyarrow take longer to load than ``--help`` may."""
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
