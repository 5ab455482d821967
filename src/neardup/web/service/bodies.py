"""Bodies of requests: JSON that may be anything, and documents in it.

What is checked by hand here is what the description (``/openapi.json``) says of a document. A model
would check the same in several times the time that an answer takes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NoReturn

from neardup.documents.columns import Columns
from neardup.web.limits import Limits
from neardup.web.problems import ProblemError

Object = dict[str, Any]


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def parsed(raw: bytes) -> Any:
    try:
        return _DECODER.decode(raw.decode())
    except UnicodeDecodeError as error:
        raise bad(f"The body is no UTF-8: byte {error.start} is wrong.") from None
    except RecursionError:
        raise bad("The JSON of the body is nested too deeply.") from None
    except ValueError as error:
        raise bad(f"The body is no JSON: {error}.") from None


def bad(sentence: str) -> ProblemError:
    return ProblemError(
        HTTPStatus.BAD_REQUEST, sentence, hint="/openapi.json describes every request."
    )


def unfit(sentence: str) -> ProblemError:
    return ProblemError(
        HTTPStatus.UNPROCESSABLE_ENTITY, sentence, hint="/openapi.json describes every request."
    )


def object_of(raw: bytes) -> Object:
    found = parsed(raw)
    if type(found) is not dict:
        raise unfit(f"The body is {named(found)}; expected an object.")
    return found


def named(value: Any) -> str:
    """What JSON calls it."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false"}
    return "null" if value is None else names.get(type(value), "a number")


def text_of(value: Any, where: str, limits: Limits) -> str:
    if type(value) is not str:
        raise unfit(f"{where} is {named(value)}; expected a string.")
    if len(value) > limits.text:
        raise unfit(f"{where} has {len(value):,} characters; at most {limits.text:,} are taken.")
    return value


def id_of(value: Any, where: str, limits: Limits) -> str:
    if type(value) is not str or not value:
        raise unfit(f"{where} is {'empty' if value == '' else named(value)}; expected an id.")
    if len(value) > limits.id:
        raise unfit(f"{where} has {len(value):,} characters; at most {limits.id:,} are taken.")
    return value


@dataclass(frozen=True)
class Documents:
    """Documents as the index reads them: objects with its columns, and any others."""

    columns: Columns
    limits: Limits

    def one(self, raw: bytes, *, named: bool) -> Object:
        """``named``: whether it has to have an id."""
        return self.checked(object_of(raw), named=named)

    def many(self, raw: bytes) -> list[Object]:
        found = parsed(raw)
        if type(found) is not list:
            raise unfit(f"The body is {named(found)}; expected a list of documents.")
        if not 1 <= len(found) <= self.limits.batch:
            raise unfit(
                f"The list has {len(found):,} documents; expected 1 to {self.limits.batch:,}."
            )
        return [self.checked(item, f"Document {n}: ") for n, item in enumerate(found, 1)]

    def checked(self, item: Any, where: str = "", *, named: bool = True) -> Object:
        if type(item) is not dict:
            raise unfit(f"{where or 'The body '}is no document; expected an object.")
        text, id_ = self.columns.text, self.columns.id_name
        text_of(item.get(text), f"{where}{text!r}", self.limits)
        if named or item.get(id_) is not None:
            id_of(item.get(id_), f"{where}{id_!r}", self.limits)
        return item

    def schema(self, *, named: bool) -> Object:
        """For the description."""
        text, id_ = self.columns.text, self.columns.id_name
        id_schema: Object = {"type": "string", "minLength": 1, "maxLength": self.limits.id}
        return {
            "type": "object",
            "required": [text, id_] if named else [text],
            "properties": {
                text: {"type": "string", "maxLength": self.limits.text},
                id_: id_schema if named else {"anyOf": [id_schema, {"type": "null"}]},
            },
            "additionalProperties": True,
            "example": {id_: "news-1", text: "The council voted on Tuesday."},
        }
