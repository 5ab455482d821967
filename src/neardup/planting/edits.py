"""The table of edits that turn a document into a planted copy.

An edit is a pure function of (text, rate, random, material): the same seed gives the same copy. It
accepts texts of any language and length, and returns a text unchanged if there is nothing to edit,
for example no number or only one sentence. The kind of an edit, one of ``schema.KINDS``, is the
kind of the pair (original, copy).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from neardup.errors import SettingsError
from neardup.planting import noise_edits, part_edits, word_edits
from neardup.planting.material import Material

Made = str | tuple[str, list[str]]
REWRITE_FROM = 0.1  # the share of changed words at which a revision becomes a rewrite


class Copy(NamedTuple):
    """``donors`` are the ids of documents from which passages of the copy were taken."""

    text: str
    donors: tuple[str, ...]


@dataclass(frozen=True)
class Edit:
    name: str
    make: Callable[[str, float, Random, Material], Made]
    kind: str
    rates: tuple[float, ...]
    of: str  # what the rate is a share of
    heavy: str | None = None  # the kind from REWRITE_FROM on

    def kind_at(self, rate: float) -> str:
        return self.heavy if self.heavy and rate >= REWRITE_FROM else self.kind

    def copy(self, text: str, rate: float, seed: str, material: Material) -> Copy:
        made = self.make(text, rate, Random(seed), material)
        return Copy(made, ()) if isinstance(made, str) else Copy(made[0], tuple(made[1]))


WORD_RATES = (0.01, 0.05, 0.1, 0.2, 0.3)
PART_RATES = (0.25, 0.5, 0.75)
NOISE_RATES = (0.01, 0.05, 0.1, 0.2)

_ALL = (
    Edit("substitutions", word_edits.substitutions, "revision", WORD_RATES, "words", "rewrite"),
    Edit("insertions", word_edits.insertions, "insertion", WORD_RATES, "words"),
    Edit("deletions", word_edits.deletions, "insertion", WORD_RATES, "words"),
    Edit("numbers", word_edits.numbers, "revision", (0.25, 1.0), "numbers"),
    Edit("excerpt-first", part_edits.excerpt_first, "excerpt", PART_RATES, "words kept"),
    Edit("excerpt-middle", part_edits.excerpt_middle, "excerpt", PART_RATES, "words kept"),
    Edit("paragraphs", part_edits.paragraphs, "elaboration", (0.1, 0.25, 0.5), "words added"),
    Edit("sentences", part_edits.sentences, "insertion", (0.05, 0.1, 0.25), "words added"),
    Edit("reordered-paragraphs", part_edits.reordered_paragraphs, "other", (0.25, 1.0), "parts"),
    Edit("reordered-sentences", part_edits.reordered_sentences, "other", (0.25, 1.0), "parts"),
    Edit("rewriting", part_edits.rewriting, "rewrite", (0.25, 0.5, 1.0), "sentences"),
    Edit("ocr", noise_edits.ocr, "other", NOISE_RATES, "characters"),
    Edit("scan", noise_edits.scan, "other", NOISE_RATES, "characters, beside new lines"),
    Edit("typing", noise_edits.typing, "other", NOISE_RATES, "characters"),
    Edit("spacing", noise_edits.spacing, "other", NOISE_RATES, "words merged or broken"),
    Edit("transcript", noise_edits.transcript, "revision", NOISE_RATES, "words", "rewrite"),
    Edit("boilerplate", word_edits.boilerplate, "layout", (0.1, 0.25, 0.5), "words added"),
    Edit("layout", word_edits.layout, "layout", (0.1, 0.5), "line ends hyphenated"),
    Edit("case", word_edits.case, "normalised", (0.1, 1.0), "words"),
    Edit("punctuation", word_edits.punctuation, "normalised", (0.25, 1.0), "marks"),
)
EDITS = {edit.name: edit for edit in _ALL}


def edits_named(names: Sequence[str | Edit] | None) -> list[Edit]:
    """A name is ``"ocr"``, or ``"ocr=0.05"`` for one rate only. Without names, all edits."""
    if not names:
        return list(_ALL)
    edits: dict[str, Edit] = {}
    for name in names:
        edit = name if isinstance(name, Edit) else _named(*name.partition("=")[::2])
        earlier = edits.get(edit.name)
        rates = {*edit.rates, *(earlier.rates if earlier else ())}
        edits[edit.name] = replace(edit, rates=tuple(sorted(rates)))
    return list(edits.values())


def _named(name: str, rate: str) -> Edit:
    if name not in EDITS:
        import difflib

        near = difflib.get_close_matches(name, EDITS, 1)
        raise SettingsError(
            f"There is no edit {name!r}.",
            hint=f"did you mean {near[0]!r}?" if near else f"edits are {', '.join(EDITS)}.",
        )
    return replace(EDITS[name], rates=(_rate(rate, name),)) if rate else EDITS[name]


def _rate(written: str, name: str) -> float:
    try:
        rate = float(written)
    except ValueError:
        rate = 0.0
    if not 0 < rate <= 1:
        raise SettingsError(
            f"The rate of {name} is {written!r}; expected a share above 0, up to 1.",
            hint=f"for example {name}=0.05.",
        )
    return rate
