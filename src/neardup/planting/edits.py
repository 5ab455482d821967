"""The table of edits that turn a document into a planted copy.

An edit is a pure function of (text, rate, random, material): the same seed gives the same copy. It
accepts texts of any language and length, and returns a text unchanged if there is nothing to edit,
for example no number or only one sentence. The kind of an edit, one of ``schema.KINDS``, is the
kind of the pair (original, copy).

This file also has the edits of whole sentences and paragraphs: excerpts, added passages,
reordering, rewriting.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

from neardup.errors import SettingsError
from neardup.planting import noise_edits, word_edits
from neardup.planting.material import (
    Material,
    Part,
    joined,
    paragraph_parts,
    sentence_parts,
    shuffled_bodies,
    units,
)
from neardup.planting.word_edits import chosen, how_many

_CLAUSE = re.compile(r"(?<=[,;:،，、；])\s*")
_ENDS = re.compile(r"[.!?。！？؟।]+$")
SWAPPED = 0.4  # the share of rewritten sentences that are combined with the one before


def excerpt_first(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """The first ``rate`` of the words."""
    words = units(text)
    return text[: words[how_many(rate, len(words)) - 1].end] if words else text


def excerpt_middle(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the words from the middle, with as many left out before as after."""
    words = units(text)
    if not words:
        return text
    count = how_many(rate, len(words))
    begin = (len(words) - count) // 2
    return text[words[begin].start : words[begin + count - 1].end]


def paragraphs(text: str, rate: float, random: Random, material: Material) -> tuple[str, list[str]]:
    """A passage of another document, ``rate`` as long as the text, is added between paragraphs."""
    added, donors = material.sentences(random, text, _length(text, rate))
    if not added:
        return text, []
    own = paragraph_parts(text) or [Part("", "")]
    at = random.randint(1, len(own))
    before, after = joined(own[:at]).rstrip(), joined(own[at:])
    passage = joined([_spaced(part) for part in added]).strip()
    return "\n\n".join([before, passage, after]).strip(), donors


def sentences(text: str, rate: float, random: Random, material: Material) -> tuple[str, list[str]]:
    """Sentences of other documents, together ``rate`` as long as the text, are inserted between its
    sentences."""
    own = sentence_parts(text)
    added, donors = material.sentences(random, text, _length(text, rate))
    for part in added:
        at = random.randint(0, len(own))
        own.insert(at, _spaced(part))
        if at:
            own[at - 1] = _spaced(own[at - 1])
    return joined(own).strip(), donors


def reordered_sentences(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the sentences change places; none is lost."""
    return _reordered(text, sentence_parts(text), rate, random)


def reordered_paragraphs(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the paragraphs change places; none is lost."""
    return _reordered(text, paragraph_parts(text), rate, random)


def _reordered(text: str, parts: list[Part], rate: float, random: Random) -> str:
    if len(parts) < 2:
        return text
    share = max(rate, 2 / len(parts))  # a single part has no one to change places with
    places = chosen(len(parts), share, random)
    random.shuffle(places)
    order = list(range(len(parts)))
    # A rotation of the shuffled places: each of them gets a different part.
    for place, other in zip(places, [*places[1:], places[0]], strict=True):
        order[place] = other
    return shuffled_bodies(parts, order)


def rewriting(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the sentences are rewritten: they lose a clause, are split in two, or are joined
    or exchanged with the sentence before."""
    parts = sentence_parts(text)
    touched = set(chosen(len(parts), rate, random))
    rewritten: list[Part] = []
    for i, part in enumerate(parts):
        follows = bool(rewritten) and bool(rewritten[-1].gap) and "\n" not in rewritten[-1].gap
        alone = not follows or random.random() > SWAPPED
        recast = _recast(part, random) if i in touched and alone else part
        if i in touched and follows and recast == part:
            rewritten[-1:] = _combined(rewritten[-1], part, random)
        else:
            rewritten.append(recast)
    return joined(rewritten)


def _combined(before: Part, part: Part, random: Random) -> list[Part]:
    """Two sentences in reverse order, or joined into one."""
    if random.random() < 0.5 or not _ENDS.search(before.text):
        return [Part(part.text, before.gap), Part(before.text, part.gap)]
    small = part.text[:1].lower() + part.text[1:]
    return [Part(_ENDS.sub("", before.text) + random.choice((",", ";")) + f" {small}", part.gap)]


def _recast(part: Part, random: Random) -> Part:
    """The sentence without one clause, or split in two at the end of a clause."""
    clauses = [clause for clause in _CLAUSE.split(part.text) if clause]
    if len(clauses) < 2:
        return part
    at = random.randrange(1, len(clauses))
    if random.random() < 0.5:
        del clauses[at - 1]
        whole = "".join(clauses)
        return Part(whole[:1].upper() + whole[1:], part.gap)
    head, tail = "".join(clauses[:at]).rstrip(" ,;:،，、；"), "".join(clauses[at:])
    end = "。" if "。" in part.text else ". "
    return Part(f"{head}{end}{tail[:1].upper()}{tail[1:]}", part.gap)


def _length(text: str, rate: float) -> int:
    return max(1, round(rate * len(units(text))))


def _spaced(part: Part) -> Part:
    """The sentence with a space after it, unless its script has no spaces."""
    last = units(part.text)[-1:]
    return part if part.gap or (last and last[0].spaceless) else Part(part.text, " ")


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
    Edit("excerpt-first", excerpt_first, "excerpt", PART_RATES, "words kept"),
    Edit("excerpt-middle", excerpt_middle, "excerpt", PART_RATES, "words kept"),
    Edit("paragraphs", paragraphs, "elaboration", (0.1, 0.25, 0.5), "words added"),
    Edit("sentences", sentences, "insertion", (0.05, 0.1, 0.25), "words added"),
    Edit("reordered-paragraphs", reordered_paragraphs, "other", (0.25, 1.0), "parts"),
    Edit("reordered-sentences", reordered_sentences, "other", (0.25, 1.0), "parts"),
    Edit("rewriting", rewriting, "rewrite", (0.25, 0.5, 1.0), "sentences"),
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
