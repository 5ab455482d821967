"""Pairs side by side: where a threshold errs first, and what differs."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, fields
from typing import Any

import pyarrow.compute as pc

from neardup.decisions.kinds import said
from neardup.names import shortened
from neardup.outputs.html.page import WARNING, card, prose
from neardup.outputs.html.safe import Html, html, name
from neardup.outputs.report.run import Run
from neardup.outputs.report.texts import Texts
from neardup.outputs.sidebyside.html import fragment
from neardup.text.alignment import align

MOST_PAIRS = 10
KEY = Html(
    '<p class="key nd-pair"><del>only in the kept one</del> <ins>only in the set-aside one</ins> '
    "<mark>in both, elsewhere</mark></p>"
)
MOST_CHARACTERS = 16_000  # of both texts that one pair shows
LONGEST = 1_000_000  # characters of a text that is compared for a report
TYPEABLE = re.compile(r"[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]{1,200}")


@dataclass(frozen=True)
class Shown:
    """A set-aside document and the one it was set aside for."""

    id: str
    kept_id: str
    score: float
    kind: str | None
    reason: str
    direction: str | None = None
    confidence: float | None = None

    @classmethod
    def of(cls, row: dict[str, Any]) -> Shown:
        return cls(**{field.name: row[field.name] for field in fields(cls)})

    @property
    def said(self) -> str:
        """Why, and what sort of duplicate it is."""
        told = f"Why: {shortened(self.reason)}."
        if self.kind is None:
            return told
        kind = said(self.kind, self.direction)
        return f"{told} Kind: {kind}, confidence {self.confidence or 0:.2f}."

    @property
    def ids(self) -> tuple[str, str]:
        return self.kept_id, self.id


def weakest(run: Run) -> list[Shown]:
    """As ``Result.weakest``, with the reason."""
    table = run.result.duplicates
    first = pc.sort_indices(table, [("score", "ascending")])[:MOST_PAIRS]
    return [Shown.of(row) for row in table.take(first).to_pylist()]


def weakest_pairs(run: Run, pairs: list[Shown], texts: Texts) -> Html:
    if not pairs:
        return Html("")
    told = (
        "The set-aside documents that are least like the one they were set aside for. A threshold "
        "errs here first: where these are right, the others most likely are; where they are wrong, "
        "take a higher one."
    )
    if run.counts.duplicates > len(pairs):
        told = f"The first {len(pairs)} of {run.counts.duplicates:,}. {told}"
    made = [_item(i, pair, texts) for i, pair in enumerate(pairs, 1)]
    fault = prose(f"{WARNING}The texts could not be read again: {texts.fault}")
    key = fault if texts.fault else KEY
    return card("Weakest pairs", prose(told), key, *made, anchor="weakest")


def _item(number: int, pair: Shown, texts: Texts) -> str:
    kind = pair.kind or "not classified"
    return (
        f"<details class=item{' open' if number == 1 else ''}><summary>{number}. score "
        f"{pair.score:.4f}, {html(kind)} <small>{name(pair.id, 40)} set aside for "
        f"{name(pair.kept_id, 40)}</small></summary>{side_by_side(pair, texts)}</details>"
    )


def side_by_side(pair: Shown, texts: Texts) -> str:
    """Kept on the left, set aside on the right; then the command that shows all of it."""
    command = compare_command(pair)
    shown = f" All of it: <code>{html(command)}</code>" if command else ""
    more = f"<p class=more>{html(pair.said)}{shown}</p>"
    if texts.fault:
        return more
    found = [texts.texts.get(id) for id in pair.ids]
    if None in found:
        return "<p class=more>The kept document is a reference, whose text was not read.</p>"
    kept, aside = (text or "" for text in found)
    if max(len(kept), len(aside)) > LONGEST:
        size = f"{len(kept):,} and {len(aside):,} characters"
        return f"<p class=more>{size}: too long to be shown here.</p>{more}"
    names = f"kept: {shortened(pair.kept_id)}", f"set aside: {shortened(pair.id)}"
    alignment = align(kept, aside, texts.words)
    return fragment(kept, aside, alignment, names=names, most=MOST_CHARACTERS, folds=False) + more


def compare_command(pair: Shown) -> str | None:
    """To be pasted where the report lies; None for ids that nobody can type."""
    if not all(TYPEABLE.fullmatch(id) for id in pair.ids):
        return None
    ends_options = ["--"] if any(id.startswith("-") for id in pair.ids) else []
    return shlex.join(["neardup", "compare", "--run", ".", *ends_options, *pair.ids])
