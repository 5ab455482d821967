"""What staged items are: asked of the index first, then added to it.

An item that the index knows by the id it was claimed under was added before a crash, and is what
the index says. A batch is added in one transaction, or item by item where one of it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from neardup.errors import RejectedError
from neardup.online.flow.items import Fields
from neardup.online.flow.opening import Opened, Opener, Staged
from neardup.online.flow.places import DUPLICATE, ORIGINAL, UNREADABLE, Outcome
from neardup.online.flow.work import TOLD, Batch, Entry
from neardup.online.index import Index
from neardup.online.rule import Match
from neardup.schema import DUPLICATE as SET_ASIDE

SAME_ID = "same id"


class Decided(NamedTuple):
    entry: Entry
    outcome: Outcome
    document: dict[str, Any]


def decided(batch: Batch, index: Index, opener: Opener) -> Iterator[Decided]:
    """Of all items that are still staged, in order of the batch."""
    fields, read = opener.fields, _read(batch, opener)
    known = {entry.id for entry, one in read if not one.problem and entry.id in index}
    new = [one.document for entry, one in read if not one.problem and entry.id not in known]
    outcomes = dict(zip((one[fields.id] for one in new), _added(index, new, fields), strict=True))
    for entry, (document, _, problem) in read:
        if problem:
            outcome = Outcome(UNREADABLE, reason=problem)
        elif batch.staged(entry, TOLD).exists():
            outcome = Outcome(ORIGINAL)
        else:
            outcome = outcomes.get(entry.id) or _remembered(index, entry)
        yield Decided(entry, outcome, document)


def _here(batch: Batch) -> list[Entry]:
    states = ("", TOLD)
    return [one for one in batch.entries if any(batch.staged(one, s).exists() for s in states)]


def _read(batch: Batch, opener: Opener) -> list[tuple[Entry, Opened]]:
    """The documents, or why there are none."""
    found = [(entry, _staged(batch, entry)) for entry in _here(batch)]
    opened = iter(opener.documents([one for _, one in found if isinstance(one, Staged)]))
    return [(entry, next(opened) if isinstance(one, Staged) else one) for entry, one in found]


def _staged(batch: Batch, entry: Entry) -> Staged | Opened:
    if entry.problem is not None:
        return Opened({}, problem=entry.problem)
    told = batch.staged(entry, TOLD)
    path = told if told.exists() else batch.staged(entry)
    try:
        folder = entry.name.rpartition("/")[0]
        return Staged(path.read_bytes(), entry.form, entry.id, folder)
    except PermissionError:
        return Opened({}, problem="there is no permission to read it")


def _added(index: Index, new: Sequence[dict[str, Any]], fields: Fields) -> list[Outcome]:
    try:
        return [_outcome(match) for match in index.add_many(new)] if new else []
    except RejectedError:
        return [_added_alone(index, document, fields) for document in new]


def _added_alone(index: Index, document: dict[str, Any], fields: Fields) -> Outcome:
    try:
        return _outcome(index.add(document))
    except RejectedError as error:
        id_ = document[fields.id]
        if id_ in index:  # since we asked: another process was faster
            return Outcome(DUPLICATE, Match(id_, 1.0, SAME_ID))
        return Outcome(UNREADABLE, reason=error.message)


def _outcome(match: Match | None) -> Outcome:
    return Outcome(ORIGINAL) if match is None else Outcome(DUPLICATE, match)


def _remembered(index: Index, entry: Entry) -> Outcome:
    found = index.get(entry.id)
    if found.decision != SET_ASIDE:
        return Outcome(ORIGINAL)
    of, score = found.kept_id or "", found.score or 0.0
    return Outcome(DUPLICATE, Match(of, score, found.reason, found.kind, found.by))
