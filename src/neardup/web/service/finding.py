"""Documents of the index by id; one that is not there is a 404 with the sentence of the index."""

from __future__ import annotations

from neardup.errors import RejectedError
from neardup.online.entries import Entry, unknown
from neardup.online.index import Index
from neardup.web.problems import ProblemError, not_found


def found(index: Index, id: str) -> Entry:
    try:
        return index.get(id)
    except RejectedError as error:
        raise not_found(error.message, hint=error.hint) from None


def missing(id: str) -> ProblemError:
    said = unknown(id)
    return not_found(said.message, hint=said.hint)
