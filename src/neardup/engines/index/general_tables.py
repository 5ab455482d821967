"""The origin of the tables of an index, as it is stored and as it is reported to users."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from neardup.artefacts.artefact import Artefacts
from neardup.wording import many

ENOUGH = 1000  # with so many documents, own tables are better than general ones


@dataclass(frozen=True)
class Tables:
    """The day on which tables were frozen and the number of documents they were counted from; if
    ``general``, these are documents of other collections."""

    general: bool
    documents: int
    frozen: str

    @classmethod
    def of(cls, artefacts: Artefacts, *, general: bool) -> Tables | None:
        """The origin of these tables; None if nothing was counted."""
        counted = [getattr(artefact, "documents", None) for artefact in artefacts.values()]
        known = [count for count in counted if count is not None]
        today = datetime.now(UTC).date().isoformat()
        return cls(general, max(known), today) if known else None

    @classmethod
    def in_use(cls, description: dict[str, Any]) -> Tables | None:
        """The tables of an index; None also if an earlier version did not record them."""
        stored = description.get("tables")
        return cls(**stored) if stored else None

    def data(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        if self.general:
            return f"general tables shipped with neardup, since {self.frozen}"
        return f"counted from {many(self.documents, 'document')}, frozen on {self.frozen}"


def hint(description: dict[str, Any], documents: int) -> str | None:
    """Advice to replace general tables, if the index has enough documents to count its own."""
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
