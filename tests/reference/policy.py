"""A policy as it is stated, one document at a time: the twin of orders, actions and merges."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from reference import rule

Document = dict[str, Any]


def is_empty(value: Any) -> bool:
    return value is None or value in ([], {}) or (isinstance(value, str) and not value.strip())


def order(documents: Sequence[Document], criteria: Sequence[str]) -> list[int]:
    """Sorted by the weakest criterion first, and stably by each stronger one."""
    places = list(range(len(documents)))
    for criterion in reversed(criteria):
        places = _sorted(places, documents, criterion)
    return places


def _sorted(places: list[int], documents: Sequence[Document], criterion: str) -> list[int]:
    if criterion in ("first", "last"):
        return sorted(places, reverse=criterion == "last")
    value, descending = value_of(criterion)
    known = [i for i in places if value(documents[i]) is not None]
    known.sort(key=lambda i: value(documents[i]), reverse=descending)
    return known + [i for i in places if value(documents[i]) is None]


def value_of(criterion: str) -> tuple[Callable[[Document], Any], bool]:
    name, _, rest = criterion.partition(":")
    if criterion in ("longest", "shortest"):
        return lambda d: len(d["text"]), criterion == "longest"
    if criterion in ("newest", "oldest"):
        return lambda d: d["date"], criterion == "newest"
    if name == "source":
        preferred = {source: i for i, source in enumerate(rest.split(","))}
        return lambda d: preferred.get(d["source"]), False
    if name == "complete":
        return lambda d: sum(not is_empty(d.get(n)) for n in rest.split(",")), True
    return lambda d: d[name], rest == "desc"


class Done(NamedTuple):
    """``fills``: field → which document gave it."""

    kept: int | None
    action: str
    fills: dict[str, int]


class Told(NamedTuple):
    """What is known of a pair."""

    kind: str | None = None
    direction: str | None = None
    confidence: float | None = None


Kind = Callable[[int, int], Told]


def apply(
    documents: Sequence[Document], policy: dict[str, Any], match: rule.Match, kind: Kind
) -> tuple[list[Done], list[Document]]:
    """What is done with each document, and the documents that stay, with what was filled."""
    ranked = order(documents, policy["order"])
    decided = rule.decide(ranked, match)
    actions: dict[int, str] = {}
    for i, best in decided.items():
        actions[i] = "keep" if best is None else _action(policy, kind(i, best[0]), float(best[1]))
    filled = copy.deepcopy(list(documents))
    fills: dict[int, dict[str, int]] = {i: {} for i in decided}
    for source in ranked:
        best = decided[source]
        if best is None or actions[source] != "merge":
            continue
        for place, value in _leaves(documents[source]):
            top = place[0]
            wanted = top not in ("id", "text") and top in policy.get("fields", [top])
            if wanted and _fill(filled[best[0]], place, value):
                fills[best[0]][".".join(place)] = source
    done = [
        Done(best[0] if (best := decided[i]) else None, actions[i], fills[i])
        for i in range(len(documents))
    ]
    stay = [d for i, d in enumerate(filled) if actions[i] in ("keep", "link", "review")]
    return done, stay


def _leaves(document: Document) -> list[tuple[tuple[str, ...], Any]]:
    """Values that are there, inside objects too; the object itself comes before its members."""
    places: list[tuple[tuple[str, ...], Any]] = []
    for name, value in document.items():
        places += [] if is_empty(value) else [((name,), value)]
        inner = _leaves(value) if isinstance(value, dict) else []
        places += [((name, *place), leaf) for place, leaf in inner]
    return places


def _fill(document: Document, place: tuple[str, ...], value: Any) -> bool:
    """Sets what is empty there, if all objects around it are there."""
    name, *below = place
    if below:
        return isinstance(document.get(name), dict) and _fill(document[name], tuple(below), value)
    empty = is_empty(document.get(name))
    if empty:
        document[name] = copy.deepcopy(value)
    return empty


def _action(policy: dict[str, Any], told: Told, score: float) -> str:
    action: str = policy.get("actions", {}).get(told.kind, policy.get("default", "link"))
    contains: str = policy.get("contains", "review")
    if told.direction == "b_in_a" and action in ("drop", "merge") and action != contains:
        return contains
    least = policy.get("needs", {}).get(action, {})
    sure = -1.0 if told.confidence is None else told.confidence
    known = score >= least.get("score", 0) and sure >= least.get("confidence", -1)
    return action if known else "review"
