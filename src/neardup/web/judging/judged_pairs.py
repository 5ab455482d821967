"""The page on which a pair is judged: two texts, and no hint of what a method thinks of them.

Neither the page nor its twin has a score, a method, a decision, an id or the label of anybody else.
Answers come as the fields of a form or as a JSON object, bounded and plain text. A form is answered
with the next page, so that judging works without a script; JSON with JSON.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Depends, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from neardup.labels.agreement import ARBITER, ASSESSOR, Turn, check_assessor, turn_of, verdicts
from neardup.labels.label_store import LABELS, Label
from neardup.labels.sampling import Item
from neardup.report.html_page import Html
from neardup.report.side_by_side import fragment
from neardup.schema import KINDS
from neardup.text.alignment import align
from neardup.web.doors import Door
from neardup.web.judging.desk import Desk
from neardup.web.pages import Data, ProblemError, not_found

MOST_FIELDS = 256 << 10  # bytes of a form
LONGEST = 2000  # characters of a field


@dataclass(frozen=True)
class Posted:
    fields: dict[str, str]
    form: bool

    def get(self, name: str, default: str = "") -> str:
        return self.fields.get(name, default).strip() or default

    def number(self, name: str, default: int, most: int) -> int:
        """A whole number from 1 (a seed: from 0) on."""
        written = self.get(name, str(default))
        try:
            found = int(written)
        except ValueError:
            found = -1
        if not 0 <= found <= most:
            raise refused(f"{name} is {written!r}.", hint=f"expected a number up to {most:,}.")
        return found

    def seconds(self) -> float | None:
        try:
            found = float(self.get("seconds", "nan"))
        except ValueError:
            return None
        return round(found, 1) if math.isfinite(found) and 0 <= found < 1e6 else None

    def answer(self, location: str, data: dict[str, Any] | None = None) -> Response:
        if self.form:
            return RedirectResponse(location, HTTPStatus.SEE_OTHER)
        return JSONResponse({**(data or {}), "next": location})


def refused(message: str, *, hint: str | None = None) -> ProblemError:
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, message, hint=hint)


def address(path: str, **given: str | None) -> str:
    """The address with those parameters that have a value."""
    named = {name: value for name, value in given.items() if value}
    return f"{path}?{urlencode(named, quote_via=quote)}" if named else path


async def read_bytes(request: Request, most: int) -> bytes:
    """Stops reading what is too long."""
    found = bytearray()
    async for piece in request.stream():
        found += piece
        if len(found) > most:
            raise ProblemError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"What was sent has more than {most:,} bytes.",
                hint="send less at a time.",
            )
    return bytes(found)


async def _posted(request: Request) -> Posted:
    body = await read_bytes(request, MOST_FIELDS)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return Posted(_checked(_json(body)), form=False)
    return Posted(_checked(dict(parse_qsl(body.decode("utf-8", "replace")))), form=True)


def _json(body: bytes) -> dict[str, str]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise refused(f"What was sent is no JSON: {error}.") from error
    if not isinstance(found, dict):
        raise refused("What was sent is no JSON object.", hint="send fields with their values.")
    return {name: str(value) for name, value in found.items() if value is not None}


def _checked(fields: dict[str, str]) -> dict[str, str]:
    for name, value in fields.items():
        if len(value) > LONGEST:
            raise refused(f"{name[:40]!r} has more than {LONGEST:,} characters.")
        if any("\ud800" <= sign <= "\udfff" for sign in name + value):
            raise refused(f"{name[:40]!r} is no text: it has half a character.")
    return fields


PostedFields = Annotated[Posted, Depends(_posted)]


MOST_TEXT = 200_000  # characters of a text in the plain view
NAMES = ("First text", "Second text")
ALIGNED, PLAIN = "aligned", "plain"


class Pairs:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def doors(self) -> Sequence[Door]:
        return [
            Door("/judge/pair", self.pair, template="judging/pair.html"),
            Door("/judge/label", self.label, "POST"),
            Door("/judge/undo", self.undo, "POST"),
        ]

    def pair(
        self,
        sample: str,
        assessor: str,
        role: str = ASSESSOR,
        item: str | None = None,
        view: str = ALIGNED,
    ) -> Data | Response:
        assessor = assessor.strip()
        turn = self._turn(sample, assessor, role)
        shown = _item(turn, item) if item else turn.next
        if shown is None:
            return RedirectResponse(address("/judge/result", sample=sample, assessor=assessor))
        said = turn.done.get(shown.item)
        place = len(turn.done) + (said is None)
        return {
            "sample": sample,
            "assessor": assessor,
            "role": role,
            "item": shown.item,
            "number": place,
            "total": len(turn.items),
            "done": len(turn.done),
            "seconds": round(turn.seconds, 1),
            "said": said and {"label": said.label, "kind": said.kind, "note": said.note},
            "kinds": list(KINDS),
            "guideline": self.desk.guideline and self.desk.guideline.data(),
            "view": view,
            **_texts(shown, view),
        }

    def _turn(self, sample: str, who: str, role: str) -> Turn:
        folder = self.desk.folder
        items, labels = folder.items(sample), folder.labels()
        check_assessor(labels, who, role)
        return turn_of(items, labels, who, role)

    def label(self, posted: PostedFields) -> Response:
        """Writes the label to the disk before it answers."""
        sample, who, role = _named(posted)
        item = _item(self._turn(sample, who, role), posted.get("item"))
        label = posted.get("label")
        if label not in LABELS:
            raise refused(f"The label is {label!r}.", hint=f"expected {', '.join(LABELS)}.")
        made = Label(
            *item.pair,
            label,
            who,
            kind=posted.get("kind") or None,
            note=posted.get("note") or None,
            sample=sample,
            item=item.item,
            arbiter=role == ARBITER,
            guideline=self.desk.guideline.name if self.desk.guideline else None,
            seconds=posted.seconds(),
        )
        self.desk.folder.store.add(made)
        turn = self._turn(sample, who, role)
        return posted.answer(
            _next(posted, sample, who, role, None), {"done": len(turn.done), "left": turn.left}
        )

    def undo(self, posted: PostedFields) -> Response:
        """Back to what was judged last."""
        sample, who, role = _named(posted)
        names = {item.pair: item.item for item in self.desk.folder.items(sample)}
        check_assessor(self.desk.folder.labels(), who, role)
        taken = self.desk.folder.store.undo(who, among=names)
        item = names[taken[0].pair] if taken else None
        if item and role == ARBITER and not self._waits(taken[0]):
            item = None
        return posted.answer(_next(posted, sample, who, role, item), {"taken_back": len(taken)})

    def _waits(self, label: Label) -> bool:
        return label.pair in verdicts(self.desk.folder.labels()).disputed


def _named(posted: Posted) -> tuple[str, str, str]:
    return posted.get("sample"), posted.get("assessor"), posted.get("role", ASSESSOR)


def _next(posted: Posted, sample: str, who: str, role: str, item: str | None) -> str:
    view = posted.get("view", ALIGNED)
    given = {"role": role if role == ARBITER else None, "view": view if view == PLAIN else None}
    return address("/judge/pair", sample=sample, assessor=who, item=item, **given)


def _item(turn: Turn, name: str) -> Item:
    found = next((item for item in turn.items if item.item == name), None)
    if found is None:
        raise not_found(
            f"There is no pair {name!r} for you in this sample.", hint="go on with the next one."
        )
    return found


def _texts(item: Item, view: str) -> Data:
    """Both texts as they are, and aligned where that is looked at."""
    both = (item.text_a, item.text_b)
    cut = [text[:MOST_TEXT] for text in both]
    more = [len(text) - len(short) for text, short in zip(both, cut, strict=True)]
    aligned = None if view == PLAIN else Html(fragment(*both, align(*both), names=NAMES))
    return {"texts": cut, "left_out": more, "aligned": aligned}
