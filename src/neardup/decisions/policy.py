"""A policy: which of several copies comes first, and what to do with the others, by kind.

A policy is written as TOML or as a dict: ``order`` (criteria, see ``decisions/order.py``),
``actions`` (kind → action), ``default`` (for kinds that are not named and for pairs without one),
``contains`` (instead of drop and merge, for a copy that holds the kept document and more),
``needs`` (what an action asks of a pair; a pair that has less goes to review), ``fields`` (what a
merge fills) and ``date``. Everything that is wrong is said at once. Readers of law must never lose
a copy (Conrad et al., §8), so no action deletes one, and what is not named is linked.

What a policy does with each set-aside document: the action of its kind, or review.

A copy that contains the kept document says more than what is kept: it is not dropped or merged but
goes to review, unless the policy says so (``contains``). An action is taken only where the pair has
what the policy asks of it (``needs``); what is unknown is less than anything asked.
"""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.order import Order
from neardup.errors import NeardupError, SettingsError, all_problems
from neardup.schema import KINDS, Array

KEEP, LINK, MERGE, DROP, REVIEW = ACTIONS = ("keep", "link", "merge", "drop", "review")
KEYS = ("order", "actions", "default", "contains", "needs", "fields", "date")
MEASURES = ("score", "confidence")


@dataclass(frozen=True)
class Policy:
    """As understood. ``fields`` None: a merge fills every field but the text and the id."""

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
        """Only data, from which ``parse_policy`` makes the same policy."""
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
    given: str | Path | Mapping[str, Any],
    *,
    keep: str | Sequence[str] = "first",
    usual: str | Sequence[str] = "first",
    date: str | None = None,
) -> Policy:
    """A file or a dict. ``keep`` is an order that was given beside it, ``usual`` the one that
    counts where neither says one, ``date`` the date column where it names none."""
    if isinstance(given, Mapping):
        return parse_policy(given, "the policy", keep=keep, usual=usual, date=date)
    path = Path(given)
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

    def attempt(make: Callable[[], Any]) -> Any:
        try:
            return make()
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
    """Refuses an order by the text, which is let go once it is compared, and a merge that would
    fill it or the id."""
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


def _known(given: Any, there: Collection[str], what: str, listing: str) -> None:
    if isinstance(given, str) and given in there:
        return
    near = difflib.get_close_matches(str(given), there, 1)
    raise SettingsError(
        f"{what}.",
        hint=(f"did you mean {near[0]!r}? " if near else "") + f"{listing} {', '.join(there)}.",
    )


def _keys(written: Mapping[str, Any], where: str) -> None:
    problems: list[NeardupError] = []
    for name in written:
        try:
            _known(name, KEYS, f"{where} has {name!r}", "a policy has")
        except SettingsError as error:
            problems.append(error)
    if problems:
        raise all_problems(problems)


def _date(given: Any, where: str) -> str | None:
    if given is None or (isinstance(given, str) and given):
        return given
    raise SettingsError(f"{where}: date is {given!r}.", hint="name the column of the date.")


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
    given = written["order"]
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise SettingsError(
            f"{where}: order is {given!r}.",
            hint='expected criteria, for example order = ["source:a,b", "newest"].',
        )
    return Order.parse(listed if listed else "first", date, f"{where}: order")


def _actions(given: Any, where: str) -> dict[str, str]:
    if not isinstance(given, Mapping):
        raise SettingsError(
            f"{where}: actions is {given!r}.", hint='expected kinds, as in identical = "drop".'
        )
    problems: list[NeardupError] = []
    for kind, action in given.items():
        for value, there, what, listing in (
            (kind, KINDS, f"{where}: actions has {kind!r}", "kinds are"),
            (action, ACTIONS, f"{where}: the action of {kind} is {action!r}", "actions are"),
        ):
            try:
                _known(value, there, what, listing)
            except SettingsError as error:
                problems.append(error)
    if problems:
        raise all_problems(problems)
    return dict(given)


def _needs(given: Any, where: str) -> dict[str, dict[str, float]]:
    example = "for example [needs]\ndrop = {score = 0.95}"
    if not isinstance(given, Mapping) or not all(isinstance(v, Mapping) for v in given.values()):
        raise SettingsError(f"{where}: needs is {given!r}.", hint=example)
    problems: list[NeardupError] = []
    for action, least in given.items():
        try:
            _known(action, ACTIONS[:-1], f"{where}: needs has {action!r}", "it may have")
            for measure, value in least.items():
                _least(f"{where}: needs.{action}", measure, value)
        except SettingsError as error:
            problems.append(error)
    if problems:
        raise all_problems(problems)
    return {action: {n: float(v) for n, v in least.items()} for action, least in given.items()}


def _least(where: str, measure: str, value: Any) -> None:
    _known(measure, MEASURES, f"{where} has {measure!r}", "a pair has")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:
        raise SettingsError(f"{where}: {measure} is {value!r}.", hint="expected from 0 to 1.")


def _fields(given: Any, where: str) -> tuple[str, ...] | None:
    if given is None:
        return None
    if isinstance(given, list) and all(isinstance(one, str) and one for one in given) and given:
        return tuple(dict.fromkeys(given))
    raise SettingsError(
        f"{where}: fields is {given!r}.", hint='expected columns, as in fields = ["author"].'
    )


CONTAINS = "b_in_a"  # the direction of a set-aside document that contains the kept one


class Chosen(NamedTuple):
    """By document, as numbers in ``ACTIONS``: what is done, and what the kind alone would say."""

    action: Array
    by_kind: Array


def choose(
    policy: Policy, kind: pa.Array, score: Array, confidence: Array, contains: Array, ref: Array
) -> Chosen:
    """``score`` and ``confidence`` are NaN where unknown; ``contains`` marks copies that hold the
    kept one; ``ref`` copies of references, into which nothing is merged: they are linked."""
    actions = np.array([ACTIONS.index(policy.action(one)) for one in (None, *KINDS)], np.int8)
    known = pc.index_in(kind.cast(pa.string()), pa.array(KINDS, pa.string()))
    by_kind = actions[np.asarray(pc.fill_null(known, -1)).astype(np.int64) + 1]
    by_kind[ref & (by_kind == ACTIONS.index(MERGE))] = ACTIONS.index(LINK)
    action = by_kind.copy()
    lossy = np.isin(by_kind, [ACTIONS.index(DROP), ACTIONS.index(MERGE)])
    action[contains & lossy] = ACTIONS.index(policy.contains)
    for name, least in policy.needs.items():
        asked = by_kind == ACTIONS.index(name)
        for measure, value in least.items():
            has = score if measure == "score" else confidence
            action[asked & (action == by_kind) & ~(has >= value)] = ACTIONS.index(REVIEW)
    return Chosen(action, by_kind)
