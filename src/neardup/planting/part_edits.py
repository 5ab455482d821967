"""Edits of whole parts: excerpts, added and inserted passages, parts in another order."""

from __future__ import annotations

import re
from random import Random

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
SWAPPED = 0.4  # of the sentences that are put otherwise, with the one before


def excerpt_first(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """The first ``rate`` of the words."""
    there = units(text)
    return text[: there[how_many(rate, len(there)) - 1].end] if there else text


def excerpt_middle(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the words from the middle, as many left out before as behind."""
    there = units(text)
    if not there:
        return text
    count = how_many(rate, len(there))
    begin = (len(there) - count) // 2
    return text[there[begin].start : there[begin + count - 1].end]


def paragraphs(text: str, rate: float, random: Random, material: Material) -> tuple[str, list[str]]:
    """A passage of another document, ``rate`` as long as the text, as paragraphs of its own."""
    added, donors = material.sentences(random, text, _length(text, rate))
    if not added:
        return text, []
    own = paragraph_parts(text) or [Part("", "")]
    at = random.randint(1, len(own))
    before, after = joined(own[:at]).rstrip(), joined(own[at:])
    passage = "\n\n".join([before, _flowing(added).strip(), after]).strip()
    return passage, donors


def sentences(text: str, rate: float, random: Random, material: Material) -> tuple[str, list[str]]:
    """Sentences of other documents put between those of the text, ``rate`` of it in length."""
    own = sentence_parts(text)
    added, donors = material.sentences(random, text, _length(text, rate))
    for part in added:
        at = random.randint(0, len(own))
        own.insert(at, _spaced(part))
        if at:
            own[at - 1] = _spaced(own[at - 1])
    return joined(own).strip(), donors


def reordered_sentences(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the sentences stand elsewhere; none is lost."""
    return _reordered(text, sentence_parts(text), rate, random)


def reordered_paragraphs(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the paragraphs stand elsewhere; none is lost."""
    return _reordered(text, paragraph_parts(text), rate, random)


def _reordered(text: str, parts: list[Part], rate: float, random: Random) -> str:
    if len(parts) < 2:
        return text
    share = max(rate, 2 / len(parts))  # one part alone has nowhere to go
    places = chosen(len(parts), share, random)
    random.shuffle(places)
    order = list(range(len(parts)))
    # A rotation of the shuffled places: every one of them gets another part.
    for place, other in zip(places, [*places[1:], places[0]], strict=True):
        order[place] = other
    return shuffled_bodies(parts, order)


def rewriting(text: str, rate: float, random: Random, material: Material) -> str:  # noqa: ARG001
    """``rate`` of the sentences put otherwise: without one of their clauses, cut in two, joined
    with the next one or standing behind it."""
    parts = sentence_parts(text)
    touched = set(chosen(len(parts), rate, random))
    made: list[Part] = []
    for i, part in enumerate(parts):
        follows = bool(made) and bool(made[-1].gap) and "\n" not in made[-1].gap
        alone = not follows or random.random() > SWAPPED
        recast = _recast(part, random) if i in touched and alone else part
        if i in touched and follows and recast == part:
            made[-1:] = _together(made[-1], part, random)
        else:
            made.append(recast)
    return joined(made)


def _together(before: Part, part: Part, random: Random) -> list[Part]:
    """Two sentences in the other order, or as one."""
    if random.random() < 0.5 or not _ENDS.search(before.text):
        return [Part(part.text, before.gap), Part(before.text, part.gap)]
    small = part.text[:1].lower() + part.text[1:]
    return [Part(_ENDS.sub("", before.text) + random.choice((",", ";")) + f" {small}", part.gap)]


def _recast(part: Part, random: Random) -> Part:
    """One clause less, or cut in two at the end of a clause."""
    clauses = [one for one in _CLAUSE.split(part.text) if one]
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
    """A script without spaces needs none behind a sentence; others do."""
    last = units(part.text)[-1:]
    return part if part.gap or (last and last[0].spaceless) else Part(part.text, " ")


def _flowing(parts: list[Part]) -> str:
    return joined([_spaced(part) for part in parts])
