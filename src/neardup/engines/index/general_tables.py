"""Where the tables of an index come from: what its description stores, and what users are told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from neardup.artefacts.artefact import Artefacts
from neardup.wording import many

ENOUGH = 1000  # documents of which own tables are better than general ones


@dataclass(frozen=True)
class Tables:
    """Frozen on a day, and counted from so many documents: of other collections where they are
    ``general``."""

    general: bool
    documents: int
    frozen: str

    @classmethod
    def of(cls, artefacts: Artefacts, *, general: bool) -> Tables | None:
        """None where nothing was counted."""
        counted = [getattr(one, "documents", None) for one in artefacts.values()]
        known = [count for count in counted if count is not None]
        today = datetime.now(UTC).date().isoformat()
        return cls(general, max(known), today) if known else None

    @classmethod
    def in_use(cls, description: dict[str, Any]) -> Tables | None:
        """Those of an index; None also where an earlier version did not write it down."""
        stored = description.get("tables")
        return cls(**stored) if stored else None

    def data(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        if self.general:
            return f"general tables shipped with neardup, since {self.frozen}"
        return f"counted from {many(self.documents, 'document')}, frozen on {self.frozen}"


def hint(description: dict[str, Any], documents: int) -> str | None:
    """What to do about general tables, once the index has enough to count from."""
    tables = Tables.in_use(description)
    if tables is None or not tables.general or documents < ENOUGH:
        return None
    if not description["texts"]:
        return (
            "Hint: this index runs on general tables and has no texts to count. `neardup index "
            "build` makes one from documents, with tables of its own."
        )
    return (
        "Hint: this index runs on general tables. `neardup index refresh STORE NEW` makes one with "
        f"tables counted from its own {documents:,} documents, which finds duplicates more surely."
    )
