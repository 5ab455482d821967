"""An item of a flow: bytes under a name, and the fields an index reads of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from neardup.documents.extraction.page import HTML, PDF
from neardup.documents.inputs import SOURCE
from neardup.documents.json import parsed
from neardup.errors import UnreadableError
from neardup.online.index import Index

TEXT, JSON = "text", "json"
FEED = "feed"  # an entry as JSON; its text is no page any more
PAGES = (HTML, PDF)


class Fields(NamedTuple):
    """What the index calls text, id, date and source."""

    text: str = "text"
    id: str = "id"
    date: str = "date"
    source: str = SOURCE

    @classmethod
    def of(cls, index: Index) -> Fields:
        signer = index._rule.signer
        return cls(
            signer.columns.text, signer.columns.id_name, signer.date or "date", signer.source
        )


@dataclass(frozen=True, slots=True)
class Item:
    """``name`` is that of its file wherever it goes, below the folder of the place; empty: made of
    the id. ``form`` says how ``data`` is read, ``problem`` why it cannot be."""

    id: str
    data: bytes
    form: str = JSON
    name: str = ""
    problem: str | None = None
    since: float = 0.0  # when it came, in seconds since 1970


def object_of(data: bytes) -> dict[str, Any]:
    try:
        found = parsed(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise unreadable(f"not valid UTF-8 at byte {error.start + 1}") from None
    except (ValueError, RecursionError) as error:
        raise unreadable(f"not valid JSON: {error}") from None
    if not isinstance(found, dict):
        raise unreadable(f"expected a JSON object, got {type(found).__name__}")
    return found


def own_id(found: dict[str, Any], fields: Fields) -> str | None:
    """The id it brings, if it is one."""
    id_ = found.get(fields.id)
    if isinstance(id_, bool) or not isinstance(id_, str | int) or id_ == "":
        return None
    return str(id_)


def unreadable(reason: str) -> UnreadableError:
    return UnreadableError(f"The item cannot be read: {reason}.", reason=reason)
