"""What can happen to an index, one event or several, between the begin and the end of one writing.

An event checks first and changes then: one that is refused with a ``RejectedError`` has changed
nothing, and others may follow it. After any other error the writing has to be given up as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from neardup.errors import RejectedError
from neardup.online.arrivals import Writing
from neardup.online.entries import unknown
from neardup.online.rule import Match
from neardup.online.signature import Arrival, Signature
from neardup.online.store import Row


class Events:
    def __init__(self, writing: Writing) -> None:
        self._writing = writing

    def add(self, arrivals: Sequence[Arrival]) -> list[Match | None]:
        """In order, all or none; one answer a document."""
        self._writing.refuse_known(arrivals)
        return self._writing.arrive(arrivals)

    def update(self, arrival: Arrival) -> Match | None:
        if arrival.id is None:
            raise RejectedError(
                "A document without an id cannot replace another.",
                hint="give a dict with the id of the one to replace.",
            )
        old = self.rows([arrival.id]).get(arrival.id)
        orphans = self._writing.take_out(old) if old else []
        (match,) = self._writing.arrive([arrival])
        self._writing.again(orphans)
        return match

    def remove(self, id: str) -> dict[str, Match | None]:
        row = self.rows([id]).get(id)
        if row is None:
            raise unknown(id)
        return self._writing.again(self._writing.take_out(row))

    def rows(self, ids: Sequence[str]) -> dict[str, Row]:
        """Those that are there by now, earlier events of this writing included."""
        return self._writing.store.get(ids)

    def same(self, row: Row, arrival: Arrival) -> bool:
        """Whether a document that is there has the text of one that comes, and its group."""
        if row.within != arrival.within:
            return False
        if row.text is not None and arrival.text is not None:
            return row.text == arrival.text
        known = Signature.unpack(row.signature, self._writing.rule.method.evidence_dtype)
        return known.text_digest == arrival.signature.text_digest
