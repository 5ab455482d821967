"""Policies: the order of copies, and an action for each kind of duplicate.

A policy is written as TOML or as a dict with these keys. ``order`` lists criteria
(``decisions/order.py``). ``actions`` maps kinds to actions, and ``default`` is the action for the
remaining kinds and for pairs without a kind. ``contains`` replaces drop and merge for a duplicate
that contains the kept document, because that duplicate has content which the kept one lacks.
``needs`` sets the least score or confidence for an action; a pair that has less, or whose value is
unknown, goes to review. ``fields`` are the fields that a merge fills, and ``date`` is the date
column. One error reports all problems of a policy. Legal readers must never lose a copy (Conrad et
al., §8): no action deletes a document, and the default action is to link it.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.classes import dataclass
from neardup.decisions.order import Order
from neardup.errors import NeardupError, SettingsError, all_problems
from neardup.schema import KINDS, Array

KEEP, LINK, MERGE, DROP, REVIEW = ACTIONS = ("keep", "link", "merge", "drop", "review")
KEYS = ("order", "actions", "default", "contains", "needs", "fields", "date")
MEASURES = ("score", "confidence")


@dataclass(frozen=True)
class Policy:
    """A parsed policy. If ``fields`` is None, a merge fills every field except text and id."""

    order: Order = field(default_factory=Order)
    actions: Mapping[str, str] = field(default_factory=dict)
    default: str = LINK
    needs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    fields: tuple[str, ...] | None = None
    date: str | None = None
    contains: str = REVIEW

    def action(self, kind: str | None) -> str:
        return self.actions.get(kind or "", self.default)

    @property
    def merges(self) -> bool:
        return MERGE in {self.default, *self.actions.values()}

    def describe(self) -> dict[str, Any]:
        """Plain data, from which ``parse_policy`` builds the same policy."""
        return {
            "order": [criterion.written for criterion in self.order.criteria],
            "actions": dict(self.actions),
            "default": self.default,
            "contains": self.contains,
            "needs": {action: dict(least) for action, least in self.needs.items()},
            **({} if self.fields is None else {"fields": list(self.fields)}),
            **({} if self.date is None else {"date": self.date}),
        }


def read_policy(
    source: str | Path | Mapping[str, Any],
    *,
    keep: str | Sequence[str] = "first",
    usual: str | Sequence[str] = "first",
    date: str | None = None,
) -> Policy:
    """The policy in a file or a dict. ``keep`` is an order given in addition, ``usual`` the order
    if neither states one, ``date`` the date column if the policy names none."""
    if isinstance(source, Mapping):
        return parse_policy(source, "the policy", keep=keep, usual=usual, date=date)
    path = Path(source)
    try:
        written = tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise SettingsError(
            f"The policy {path} cannot be read: {error.strerror}.", hint="name a TOML file."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(
            f"The policy {path} is not valid TOML: {error}.",
            hint="see docs/policies.md for one that is.",
        ) from error
    return parse_policy(written, str(path), keep=keep, usual=usual, date=date)


def parse_policy(
    written: Mapping[str, Any],
    where: str,
    *,
    keep: str | Sequence[str] = "first",
    usual: str | Sequence[str] = "first",
    date: str | None = None,
) -> Policy:
    problems: list[NeardupError] = []

    def attempt(parse: Callable[[], Any]) -> Any:
        try:
            return parse()
        except NeardupError as error:
            problems.append(error)
            return None

    attempt(lambda: _keys(written, where))
    own_date = attempt(lambda: _date(written.get("date", date), where))
    order = attempt(lambda: _order(written, keep, usual, own_date, where))
    actions = attempt(lambda: _actions(written.get("actions", {}), where))
    default = written.get("default", LINK)
    attempt(lambda: _known(default, ACTIONS, f"{where}: default is {default!r}", "actions are"))
    contains = written.get("contains", REVIEW)
    attempt(lambda: _known(contains, ACTIONS, f"{where}: contains is {contains!r}", "actions are"))
    needs = attempt(lambda: _needs(written.get("needs", {}), where))
    fields = attempt(lambda: _fields(written.get("fields"), where))
    if problems:
        raise all_problems(problems)
    return Policy(order, actions, default, needs, fields, own_date, contains)


def check_names(policy: Policy, text: str, id: str) -> None:
    """Raises an error for an order by the text, which is not kept after the comparison, and for a
    merge that would change the text or the id."""
    problems: list[NeardupError] = []
    if text in policy.order.columns:
        hint = "order by longest or shortest, or by another column."
        problems.append(SettingsError(f"The order names the text column {text!r}.", hint=hint))
    problems += [
        SettingsError(
            f"A merge would fill {name!r}, but texts and ids are never changed.",
            hint="name other columns in fields.",
        )
        for name in policy.fields or ()
        if name in (text, id)
    ]
    if problems:
        raise all_problems(problems)


def _known(value: Any, choices: Collection[str], what: str, listing: str) -> None:
    if isinstance(value, str) and value in choices:
        return
    near = difflib.get_close_matches(str(value), choices, 1)
    raise SettingsError(
        f"{what}.",
        hint=(f"did you mean {near[0]!r}? " if near else "") + f"{listing} {', '.join(choices)}.",
    )


def _check_all(checks: Iterable[Callable[[], None]]) -> None:
    """Runs all checks and raises one error for all problems."""
    problems: list[NeardupError] = []
    for check in checks:
        try:
            check()
        except SettingsError as error:
            problems.append(error)
    if problems:
        raise all_problems(problems)


def _keys(written: Mapping[str, Any], where: str) -> None:
    _check_all(
        partial(_known, name, KEYS, f"{where} has {name!r}", "a policy has") for name in written
    )


def _date(value: Any, where: str) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    raise SettingsError(f"{where}: date is {value!r}.", hint="name the column of the date.")


def _order(
    written: Mapping[str, Any],
    keep: str | Sequence[str],
    usual: str | Sequence[str],
    date: str | None,
    where: str,
) -> Order:
    if "order" not in written:
        return Order.parse(usual if keep == "first" else keep, date)
    if keep != "first":
        raise SettingsError(
            f"{where} has an order, and keep is {keep!r}.", hint="give one of the two."
        )
    value = written["order"]
    criteria = [value] if isinstance(value, str) else value
    if not isinstance(criteria, list) or not all(isinstance(part, str) for part in criteria):
        raise SettingsError(
            f"{where}: order is {value!r}.",
            hint='expected criteria, for example order = ["source:a,b", "newest"].',
        )
    return Order.parse(criteria or "first", date, f"{where}: order")


def _actions(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise SettingsError(
            f"{where}: actions is {value!r}.", hint='expected kinds, as in identical = "drop".'
        )
    _check_all(
        partial(_known, *names)
        for kind, action in value.items()
        for names in (
            (kind, KINDS, f"{where}: actions has {kind!r}", "kinds are"),
            (action, ACTIONS, f"{where}: the action of {kind} is {action!r}", "actions are"),
        )
    )
    return dict(value)


def _needs(value: Any, where: str) -> dict[str, dict[str, float]]:
    example = "for example [needs]\ndrop = {score = 0.95}"
    if not isinstance(value, Mapping) or not all(isinstance(v, Mapping) for v in value.values()):
        raise SettingsError(f"{where}: needs is {value!r}.", hint=example)
    _check_all(partial(_check_need, where, *need) for need in value.items())
    return {action: {n: float(v) for n, v in least.items()} for action, least in value.items()}


def _check_need(where: str, action: str, least: Mapping[str, Any]) -> None:
    _known(action, ACTIONS[:-1], f"{where}: needs has {action!r}", "it may have")
    where = f"{where}: needs.{action}"
    for measure, value in least.items():
        _known(measure, MEASURES, f"{where} has {measure!r}", "a pair has")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value <= 1:
            raise SettingsError(f"{where}: {measure} is {value!r}.", hint="expected from 0 to 1.")


def _fields(value: Any, where: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, list) and all(isinstance(name, str) and name for name in value) and value:
        return tuple(dict.fromkeys(value))
    raise SettingsError(
        f"{where}: fields is {value!r}.", hint='expected columns, as in fields = ["author"].'
    )


CONTAINS = "b_in_a"  # the direction of a duplicate that contains the kept document


class Chosen(NamedTuple):
    """The action for each document, and the action that its kind alone would have; both as numbers
    in ``ACTIONS``."""

    action: Array
    by_kind: Array


def choose(
    policy: Policy, kind: pa.Array, score: Array, confidence: Array, contains: Array, ref: Array
) -> Chosen:
    """``score`` and ``confidence`` are NaN if unknown. ``contains`` marks duplicates that contain
    the kept document. ``ref`` marks duplicates of references, which are linked instead of merged,
    because references are never changed."""
    actions = np.array([ACTIONS.index(policy.action(name)) for name in (None, *KINDS)], np.int8)
    known = pc.index_in(kind.cast(pa.string()), pa.array(KINDS, pa.string()))
    by_kind = actions[np.asarray(pc.fill_null(known, -1)).astype(np.int64) + 1]
    by_kind[ref & (by_kind == ACTIONS.index(MERGE))] = ACTIONS.index(LINK)
    action = by_kind.copy()
    lossy = np.isin(by_kind, [ACTIONS.index(DROP), ACTIONS.index(MERGE)])
    action[contains & lossy] = ACTIONS.index(policy.contains)
    for name, least in policy.needs.items():
        affected = by_kind == ACTIONS.index(name)
        for measure, limit in least.items():
            value = score if measure == "score" else confidence
            action[affected & (action == by_kind) & ~(value >= limit)] = ACTIONS.index(REVIEW)
    return Chosen(action, by_kind)
