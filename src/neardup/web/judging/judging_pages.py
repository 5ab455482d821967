"""Judging as a part of an application: its doors, and its card on the front page of a review.

On the page of result lists, the duplicates among the results of a query are marked with numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from fastapi.responses import RedirectResponse, Response

from neardup.labels.agreement import (
    ARBITER,
    ASSESSOR,
    check_assessor,
    disputed_lists,
    free_name,
    list_agreements,
    run_agreement,
    verdicts,
)
from neardup.labels.label_store import Labels
from neardup.labels.result_lists import NONE, ResultList, add_lists, load_lists, read_lists
from neardup.labels.samples import DRAWN, guideline_of
from neardup.web.app import Link, Part
from neardup.web.doors import Door
from neardup.web.evaluation_pages import Evaluating
from neardup.web.judging.desk import Desk
from neardup.web.judging.judged_pairs import Pairs, Posted, PostedFields, address, refused
from neardup.web.judging.judging_front import Front
from neardup.web.judging.judging_results import Disputes, Exchange, Results, measured
from neardup.web.pages import Data, not_found
from neardup.wording import shortened


def card(desk: Desk) -> Data | None:
    """An invitation, or precision with its interval where something was judged; None where there is
    nothing to judge."""
    if not len(desk.results()[desk.name].pairs):
        return None
    said = _precision(desk)
    if said is None:
        return {
            "title": "How good is it?",
            "text": "Judge twenty of its pairs with the keys 1, 2 and 3. That takes a few minutes, "
            "and says how many of all pairs are right, and how sure that is.",
            "href": "/judge",
            "link": "Judge 20 pairs",
            "main": True,
        }
    return {
        "title": "How good it is",
        "text": said,
        "href": "/evaluation",
        "link": "See the evaluation",
        "main": False,
    }


def _precision(desk: Desk) -> str | None:
    """The sentence on precision, from the sample of which most is decided; None if there is
    none."""
    word = verdicts(desk.folder.labels())
    drawn = [name for name in desk.folder.samples() if name.startswith(DRAWN)]
    found = [one for name in drawn for one in measured(desk.key(name), word)]
    own = [one for one in found if one["name"] == desk.name and one["sentence"]]
    best = max(own, key=lambda one: one["decided"], default=None)
    return str(best["sentence"]) if best else None


class Judging(Part):
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def links(self) -> Sequence[Link]:
        found = [Link("/judge", "Judge")]
        if self.desk.folder.lists_path.exists():
            found.append(Link("/judge/lists", "Result lists"))
        return [*found, Link("/judge/disputes", "Disagreements")]

    def card(self) -> Data | None:
        return card(self.desk)

    def doors(self) -> Sequence[Door]:
        pages = (Front, Pairs, Results, Disputes, Exchange, Lists)
        return [door for page in pages for door in page(self.desk).doors()]


class JudgingParts(NamedTuple):
    judging: Judging
    evaluating: Evaluating


def judging_parts(
    target: Path,
    *,
    others: Sequence[Path] = (),
    lists: str | Path | None = None,
    guideline: str | None = None,
) -> JudgingParts:
    """``others`` are runs whose pairs are mixed into the samples; ``lists`` a file of result lists
    that is added to those that are there."""
    desk = Desk.of(target, tuple(others))
    desk.guideline = guideline_of(guideline) if guideline else None
    if lists is not None:
        add_lists(desk.folder.lists_path, read_lists(lists))
    return JudgingParts(Judging(desk), Evaluating(desk))


EXCERPT, MOST_TEXT = 300, 20_000  # characters of a result, folded and open
MOST_SETS = 10  # of at most twenty results


class Lists:
    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def doors(self) -> Sequence[Door]:
        return [
            Door("/judge/lists", self.front, template="judging/lists.html"),
            Door("/judge/list", self.one, template="judging/list.html"),
            Door("/judge/practice", self.practice, template="judging/practice.html"),
            Door("/judge/lists/begin", self.begin, "POST"),
            Door("/judge/list", self.marked, "POST"),
        ]

    def _lists(self, *, practice: bool = False) -> list[ResultList]:
        found = load_lists(self.desk.folder.lists_path)
        return [one for one in found if one.practice == practice]

    def front(self, assessor: str = "") -> Data:
        labels, lists = self.desk.folder.labels(), self._lists()
        return {
            "lists": len(lists),
            "results": sum(len(one.results) for one in lists),
            "practice": len(self._lists(practice=True)),
            "assessor": assessor,
            "proposed": free_name(labels),
            "proposed_arbiter": free_name(labels, ARBITER),
            "assessors": _progress(lists, labels),
            "disputed": len(disputed_lists(lists, labels)),
            "agreements": list_agreements(lists, labels),
            "runs": self._runs(lists, labels),
        }

    def _runs(self, lists: Sequence[ResultList], labels: Labels) -> dict[str, Any]:
        """How each run agrees with what people settled on, where they did."""
        settled = verdicts(labels.among({pair for one in lists for pair in one.pairs})).settled
        if not settled:
            return {}
        found = {
            name: run_agreement(lists, settled, result)
            for name, result in self.desk.results().items()
        }
        return {name: one for name, one in found.items() if one}

    def begin(self, posted: PostedFields) -> Response:
        """Sends an assessor to the lists; those who have judged none yet practise first."""
        labels = self.desk.folder.labels()
        who, role = posted.get("assessor", free_name(labels)), posted.get("role", ASSESSOR)
        check_assessor(labels, who, role)
        fresh = not any(one.sets_of(labels, who) for one in self._lists())
        if role == ASSESSOR and fresh and self._lists(practice=True):
            return posted.answer(address("/judge/practice", assessor=who))
        return posted.answer(_place(who, role))

    def practice(self, assessor: str, sets: str = "", number: int = 1) -> Data:
        """``sets`` are what was marked; then the page says what is known of the list."""
        assessor = assessor.strip()
        check_assessor(self.desk.folder.labels(), assessor, ASSESSOR)
        lists = self._lists(practice=True)
        if not 1 <= number <= len(lists):
            raise not_found("There is no list to practise on.", hint="judge the lists as they are.")
        chosen = lists[number - 1]
        marked = _sets(sets.split(","), chosen) if sets else None
        known = chosen.known_sets() if marked else None
        return {
            **_shown(chosen, marked),
            "assessor": assessor,
            "number": number,
            "practices": len(lists),
            "known": known and list(known),
            "of_the_file": chosen.sets is not None,
            "right": known == _renumbered(marked) if marked else None,
        }

    def one(self, assessor: str, role: str = ASSESSOR, name: str | None = None) -> Data | Response:
        labels, assessor = self.desk.folder.labels(), assessor.strip()
        check_assessor(labels, assessor, role)
        lists = self._turn(labels, assessor, role)
        done = [one for one in lists if one.sets_of(labels, assessor)]
        left = [one for one in lists if one not in done]
        chosen = _named(lists, name) if name else next(iter(left), None)
        if chosen is None:
            return RedirectResponse(address("/judge/lists", assessor=assessor))
        return {
            **_shown(chosen, chosen.sets_of(labels, assessor)),
            "assessor": assessor,
            "role": role,
            "done": len(done),
            "total": len(lists),
            "number": len(done) + (chosen in left),
        }

    def _turn(self, labels: Labels, who: str, role: str) -> list[ResultList]:
        """The lists in the order of this assessor; for an arbiter only those that are disputed, or
        that it has judged."""
        lists = sorted(self._lists(), key=lambda one: one.name)
        if role == ARBITER:
            disputed = disputed_lists(lists, labels)
            lists = [one for one in lists if one in disputed or one.sets_of(labels, who)]
        Random(f"{who}:lists").shuffle(lists)
        return lists

    def marked(self, posted: PostedFields) -> Response:
        """All labels of a list are on the disk before it is answered."""
        labels = self.desk.folder.labels()
        who, role = posted.get("assessor"), posted.get("role", ASSESSOR)
        check_assessor(labels, who, role)
        if number := posted.get("practice"):
            lists = self._lists(practice=True)
            chosen = _named(lists, posted.get("name"))
            sets = ",".join(map(str, _posted_sets(posted, chosen)))
            return posted.answer(address("/judge/practice", assessor=who, number=number, sets=sets))
        chosen = _named(self._turn(labels, who, role), posted.get("name"))
        given = {"arbiter": role == ARBITER, "seconds": posted.seconds()}
        made = chosen.labels(_posted_sets(posted, chosen), who, **given)  # type: ignore[arg-type]
        new = self.desk.folder.store.add_all(made, together=True)
        return posted.answer(_place(who, role), {"labels": len(made), "new": new})


def _place(who: str, role: str) -> str:
    return address("/judge/list", assessor=who, role=role if role == ARBITER else None)


def _named(lists: Sequence[ResultList], name: str) -> ResultList:
    found = next((one for one in lists if one.name == name), None)
    if found is None:
        raise not_found(f"There is no list {name!r} for you.", hint="go on with the next one.")
    return found


def _posted_sets(posted: Posted, chosen: ResultList) -> tuple[int, ...]:
    return _sets([posted.get(f"set-{i}", "0") for i in range(len(chosen.results))], chosen)


def _sets(written: Sequence[str], chosen: ResultList) -> tuple[int, ...]:
    """A number a result; one alone in its set is in none."""
    if len(written) != len(chosen.results):
        raise refused(f"There are {len(written)} sets for {len(chosen.results)} results.")
    found = [
        int(one) if one.isascii() and one.isdigit() and len(one) < 4 else -1 for one in written
    ]
    if min(found) < 0:
        odd = written[found.index(min(found))]
        raise refused(f"A set is {odd[:20]!r}.", hint="expected a number, 0 for none.")
    return tuple(one if found.count(one) > 1 else NONE for one in found)


def _renumbered(sets: Sequence[int]) -> tuple[int, ...]:
    """The sets, numbered in the order of their first results, so that equal sets have equal
    numbers."""
    names: dict[int, int] = {}
    return tuple(NONE if one == NONE else names.setdefault(one, len(names) + 1) for one in sets)


def _shown(chosen: ResultList, sets: Sequence[int] | None) -> dict[str, Any]:
    results = [
        {
            "number": i + 1,
            "title": one.title,
            "excerpt": shortened(one.text, EXCERPT),
            "text": one.text[:MOST_TEXT] if len(one.text) > EXCERPT else None,
            "left_out": max(len(one.text) - MOST_TEXT, 0),
            "set": sets[i] if sets else NONE,
        }
        for i, one in enumerate(chosen.results)
    ]
    most = max(MOST_SETS, *(sets or (0,)))
    return {
        "name": chosen.name,
        "query": chosen.query,
        "results": results,
        "marked": bool(sets),
        "sets": list(range(1, most + 1)),
    }


def _progress(lists: Sequence[ResultList], labels: Labels) -> list[dict[str, Any]]:
    names = list(dict.fromkeys((label.assessor, label.arbiter) for label in labels))
    found = []
    for name, arbiter in names:
        done = sum(one.sets_of(labels, name) is not None for one in lists)
        if done:
            found.append({"name": name, "arbiter": arbiter, "done": done, "of": len(lists)})
    return found
