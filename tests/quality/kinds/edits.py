"""Edits whose kind is beyond doubt: those of ``evaluation/planting`` but for a few, some more, and
two in a row, where the first makes most of the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from neardup.planting.edits import EDITS, Edit
from neardup.planting.material import Material, sentence_parts, units
from neardup.planting.word_edits import layout

RUNNING = 12  # lines of a page with a running header
# Sentences of other documents may be paragraphs here, and one letter in a hundred that is misread
# looks like a typing error that was corrected. So do other kinds of noise, in part.
UNCLEAR = {("sentences", None), ("ocr", 0.01), ("scan", None), ("typing", None)}
UNCLEAR |= {("spacing", None), ("transcript", None), ("rewriting", None)}


class Step(NamedTuple):
    edit: str
    rate: float


@dataclass(frozen=True)
class Change:
    """One edit or more; ``inside``: the document that contains the other, where there is one."""

    steps: tuple[Step, ...]
    kind: str
    inside: str | None

    def __str__(self) -> str:
        return " + ".join(f"{edit} {rate:g}" for edit, rate in self.steps)

    def copy(self, text: str, seed: str, material: Material) -> str:
        for edit, rate in self.steps:
            text = ALL[edit].copy(text, rate, f"{seed}:{edit}:{rate:g}", material).text
        return text


def inner_sentences(
    text: str, rate: float, random: Random, material: Material
) -> tuple[str, list[str]]:
    """Sentences of other documents between two of the same paragraph."""
    own = sentence_parts(text)
    places = [i for i in range(1, len(own)) if own[i - 1].text and "\n" not in own[i - 1].gap]
    if not places:
        return text, []
    added, donors = material.sentences(random, text, max(1, round(rate * len(units(text)))))
    put: dict[int, str] = {}
    for part in added:
        at = random.choice(places)
        flowing = " ".join(part.text.split())
        spaceless = any(unit.spaceless for unit in units(flowing)[-1:])
        put[at] = put.get(at, "") + flowing + ("" if spaceless else " ")
    return "".join(put.get(i, "") + part.text + part.gap for i, part in enumerate(own)), donors


def last_part(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """The last ``rate`` of the words."""
    there = units(text)
    return text[there[len(there) - max(1, round(rate * len(there)))].start :] if there else text


def pasted(text: str, rate: float, random: Random, material: Material) -> tuple[str, list[str]]:
    """``rate`` of the words in a row, from anywhere, among sentences of other documents: they are
    the same share of the copy."""
    there = units(text)
    if not there:
        return text, []
    count = max(1, round(rate * len(there)))
    begin = random.randint(0, len(there) - count)
    block = text[there[begin].start : there[begin + count - 1].end]
    added, donors = material.sentences(random, text, len(there) - count)
    at = random.randint(0, len(added))
    around = [" ".join(part.text for part in some) for some in (added[:at], added[at:])]
    return "\n\n".join([around[0], block, around[1]]).strip(), donors


def running_headers(text: str, rate: float, random: Random, material: Material) -> str:
    """Pages with a header and a number; ``rate`` of the line ends are inside a word."""
    lines = layout(text, rate, random, material).split("\n")
    title = " ".join(material.phrases(f"title {random.random()}", 4))
    pages = [lines[i : i + RUNNING] for i in range(0, len(lines), RUNNING)]
    return "\n".join(
        line
        for number, page in enumerate(pages)
        for line in [*page, "", f"{title}  {number + 7}", ""]
    )


OWN = (
    Edit("inner-sentences", inner_sentences, "insertion", (0.05, 0.1, 0.25), "words added"),
    Edit("excerpt-last", last_part, "excerpt", (0.25, 0.5, 0.75), "words kept"),
    Edit("running-headers", running_headers, "layout", (0.1, 0.5), "line ends hyphenated"),
    Edit("pasted", pasted, "other", (), "words kept"),
)
ALL = EDITS | {edit.name: edit for edit in OWN}
COPY, ORIGINAL = "copy", "original"
INSIDE = {
    "insertions": ORIGINAL,
    "deletions": COPY,
    "inner-sentences": ORIGINAL,
    "excerpt-first": COPY,
    "excerpt-middle": COPY,
    "excerpt-last": COPY,
    "paragraphs": ORIGINAL,
    "boilerplate": ORIGINAL,
}
PAIRED = (
    (Step("paragraphs", 0.25), Step("substitutions", 0.01)),
    (Step("paragraphs", 0.5), Step("numbers", 0.25)),
    (Step("excerpt-first", 0.5), Step("substitutions", 0.01)),
    (Step("excerpt-middle", 0.5), Step("case", 0.1)),
    (Step("excerpt-last", 0.5), Step("layout", 0.1)),
    (Step("boilerplate", 0.25), Step("substitutions", 0.01)),
    (Step("boilerplate", 0.5), Step("numbers", 0.25)),
    (Step("layout", 0.1), Step("punctuation", 0.25)),
    (Step("layout", 0.1), Step("boilerplate", 0.25)),
    (Step("inner-sentences", 0.25), Step("numbers", 0.25)),
    (Step("substitutions", 0.2), Step("inner-sentences", 0.05)),
    (Step("substitutions", 0.05), Step("numbers", 0.25)),
    (Step("reordered-sentences", 1.0), Step("substitutions", 0.01)),
)
# Last, so that the documents of all others stay as they were drawn.
PASTED = tuple((Step("pasted", rate),) for rate in (0.4, 0.5, 0.6))

MIXED = ("paragraphs", "inner-sentences", "boilerplate", "excerpt-first", "substitutions")
MIXED_RATES = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3)


def mixed() -> list[Change]:
    """Two edits of unlike size: the pair has the kind of the larger one. How clear that is, which
    confidence is calibrated on, depends on how unlike they are."""
    return [
        _mixed(one, other)
        for one in (Step(edit, rate) for edit in MIXED for rate in MIXED_RATES)
        for other in (Step(edit, rate) for edit in MIXED for rate in MIXED_RATES)
        if one.edit != other.edit and one.rate > other.rate
    ]


def _mixed(larger: Step, smaller: Step) -> Change:
    # What is cut off is cut first; what is added is added last.
    order = sorted((larger, smaller), key=lambda step: ("ers".find(step.edit[0]) < 0, step.edit))
    steps = [
        Step(edit, 1 - rate) if edit.startswith("excerpt") else Step(edit, rate)
        for edit, rate in order
    ]
    kind = ALL[larger.edit].kind_at(larger.rate)
    return Change(tuple(steps), kind, None)


def changes() -> list[Change]:
    alone = [
        (Step(edit.name, rate),)
        for edit in ALL.values()
        for rate in edit.rates
        if not {(edit.name, None), (edit.name, rate)} & UNCLEAR
    ]
    return [_change(steps) for steps in (*alone, *PAIRED, *PASTED)]


def _change(steps: Sequence[Step]) -> Change:
    first = steps[0]
    return Change(tuple(steps), ALL[first.edit].kind_at(first.rate), INSIDE.get(first.edit))
