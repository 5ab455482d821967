"""Judging a pair: two texts and nothing that could tell what a method thinks of them.

Neither the page nor its twin has a score, a method, a decision, an id or anybody else's label.
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

from neardup.evaluation.agreement import verdicts
from neardup.evaluation.labels import LABELS, Label
from neardup.evaluation.sampling import Item
from neardup.evaluation.turns import ARBITER, ASSESSOR, Turn, check_assessor, turn_of
from neardup.outputs.html.safe import Html
from neardup.outputs.sidebyside.html import fragment
from neardup.schema import KINDS
from neardup.text.alignment import align
from neardup.web.judging.desk import Desk
from neardup.web.judging.posted import Posted, PostedFields, address, refused
from neardup.web.pages import Data, Pages
from neardup.web.problems import not_found

MOST_TEXT = 200_000  # characters of a text in the plain view
NAMES = ("First text", "Second text")
ALIGNED, PLAIN = "aligned", "plain"


class Pairs:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def add(self, router: APIRouter, pages: Pages) -> None:
        pages.add(router, "/judge/pair", "judging/pair.html", self.pair)
        router.add_api_route("/judge/label", self.label, methods=["POST"], include_in_schema=False)
        router.add_api_route("/judge/undo", self.undo, methods=["POST"], include_in_schema=False)

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
            "view": view,
            **_texts(shown, view),
        }

    def _turn(self, sample: str, who: str, role: str) -> Turn:
        folder = self.desk.folder
        items, labels = folder.items(sample), folder.labels()
        check_assessor(labels, who, role)
        return turn_of(items, labels, who, role)

    def label(self, posted: PostedFields) -> Response:
        """On the disk before it is answered."""
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
