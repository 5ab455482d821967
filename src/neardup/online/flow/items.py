"""An item of a flow: bytes under a name, and what an index is asked about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from neardup.documents.encodings import decoded
from neardup.documents.extraction.visible import visible_text
from neardup.documents.json import parsed
from neardup.errors import UnreadableError
from neardup.online.index import Index

TEXT, HTML, JSON = "text", "html", "json"


class Fields(NamedTuple):
    """What the index calls text, id and date."""

    text: str = "text"
    id: str = "id"
    date: str = "date"

    @classmethod
    def of(cls, index: Index) -> Fields:
        signer = index._rule.signer
        return cls(signer.columns.text, signer.columns.id_name, signer.date or "date")


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


def document_of(data: bytes, form: str, id: str, fields: Fields) -> dict[str, Any]:
    """As the index wants it."""
    if form == JSON:
        return _checked(object_of(data), fields) | {fields.id: id}
    text, reason, _ = decoded(data)
    if text is None:
        raise unreadable(str(reason))
    return {fields.id: id, fields.text: visible_text(text) if form == HTML else text}


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


def _checked(found: dict[str, Any], fields: Fields) -> dict[str, Any]:
    if found.get(fields.text) is None:
        raise unreadable(f"it has no {fields.text!r}")
    if not isinstance(found[fields.text], str):
        raise unreadable(f"{fields.text!r} is {type(found[fields.text]).__name__}, not a text")
    return found


def own_id(found: dict[str, Any], fields: Fields) -> str | None:
    """The id it brings, if it is one."""
    id_ = found.get(fields.id)
    if isinstance(id_, bool) or not isinstance(id_, str | int) or id_ == "":
        return None
    return str(id_)


def unreadable(reason: str) -> UnreadableError:
    return UnreadableError(f"The item cannot be read: {reason}.", reason=reason)
