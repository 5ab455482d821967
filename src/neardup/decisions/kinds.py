"""What sort of duplicates the two documents of a pair are: the kinds of ``schema.KINDS``.

Digests tell ``identical`` and ``normalised``; all other kinds are read off the alignment of both
texts (``differences.py`` measures it). A kind says
nothing of whether a pair is one. It does not depend on which text comes first: the direction turns
with the texts, kind and confidence stay.

The rules of kinds: what most of a difference is made of names it.

Applied in this order to the words that ``decisions/differences.py`` counts, out of all words that
differ: texts that share little are ``other``, so are those with misread letters or another order;
then ``layout``, ``excerpt``, ``elaboration`` and ``insertion``, each where it is most of the
difference; what is left is ``other`` where one block was copied between two texts of their own, a
``rewrite`` where words were replaced all over the text, else a ``revision``. The confidence of a
kind comes from how clearly its rule was met, by the share of planted pairs, equally clear, of which
it was true (docs/kinds.md).

The kind of two texts, or of many pairs: measured on their alignment, then by the rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.differences import Measures, measured
from neardup.schema import DIRECTIONS, KINDS, Array, Ragged
from neardup.text.text_options import Text
from neardup.text.words import normal_form

# Of a set-aside document (a) and what it was set aside for (b).
WHICH = {"a_in_b": "contained in the kept one", "b_in_a": "contains the kept one"}
IDENTICAL, NORMALISED = KINDS.index("identical"), KINDS.index("normalised")
NONE = -1  # no kind, no direction


def said(kind: str, direction: str | None) -> str:
    """For people, of a set-aside document: ``excerpt, contains the kept one``."""
    return f"{kind}, {WHICH[direction]}" if direction else kind


class Kind(NamedTuple):
    """Of two texts. ``direction``: "a_in_b" where the second contains the first, "b_in_a", or None.
    ``confidence``: the share of planted pairs with features like these whose kind was right."""

    kind: str
    direction: str | None
    confidence: float


@dataclass(frozen=True)
class Kinds:
    """Of many pairs: numbers of kinds and directions, −1 where there is none."""

    kind: npt.NDArray[np.int8]
    direction: npt.NDArray[np.int8]
    confidence: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, i: int) -> Kind:
        direction = DIRECTIONS[self.direction[i]] if self.direction[i] >= 0 else None
        return Kind(KINDS[self.kind[i]], direction, float(self.confidence[i]))

    @classmethod
    def none(cls, count: int) -> Kinds:
        nothing = np.full(count, NONE, np.int8)
        return cls(nothing, nothing.copy(), np.zeros(count))

    @classmethod
    def concat(cls, parts: list[Kinds]) -> Kinds:
        return cls(
            np.concatenate([np.empty(0, np.int8), *(p.kind for p in parts)]),
            np.concatenate([np.empty(0, np.int8), *(p.direction for p in parts)]),
            np.concatenate([np.empty(0), *(p.confidence for p in parts)]),
        )

    @classmethod
    def of_columns(cls, table: pa.Table) -> Kinds:
        """What ``columns`` gave."""
        return cls(
            _numbers(table["kind"], KINDS),
            _numbers(table["direction"], DIRECTIONS),
            table["confidence"].fill_null(0.0).to_numpy().copy(),
        )

    def take(self, rows: Array) -> Kinds:
        return Kinds(self.kind[rows], self.direction[rows], self.confidence[rows])

    def turned(self, where: Array) -> Kinds:
        """With the other text first in these pairs."""
        turn = where & (self.direction >= 0)
        return Kinds(self.kind, np.where(turn, 1 - self.direction, self.direction), self.confidence)

    def put(self, where: Array, others: Kinds) -> None:
        """``others`` in the place of those marked or numbered."""
        self.kind[where] = others.kind
        self.direction[where] = others.direction
        self.confidence[where] = others.confidence

    def columns(self) -> dict[str, pa.Array]:
        """As ``schema.KIND_FIELDS`` has them."""
        return {
            "kind": _named(self.kind, KINDS),
            "direction": _named(self.direction, DIRECTIONS),
            "confidence": pa.array(self.confidence, mask=self.kind < 0),
        }

    def counts(self) -> dict[str, int]:
        """How many pairs are of each kind, where any is."""
        of_kind = np.bincount(self.kind[self.kind >= 0], minlength=len(KINDS)).tolist()
        return {name: count for name, count in zip(KINDS, of_kind, strict=True) if count}


def _named(codes: Array, names: tuple[str, ...]) -> pa.DictionaryArray:
    indices = pa.array(np.maximum(codes, 0).astype(np.int8), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))


def _numbers(column: pa.ChunkedArray, names: tuple[str, ...]) -> npt.NDArray[np.int8]:
    found = pc.index_in(column.cast(pa.string()), pa.array(names, pa.string()))
    return np.array(pc.fill_null(found, NONE)).astype(np.int8)


def by_digests(a: Array, b: Array, text_digests: Array, normal_digests: Array) -> Kinds:
    """As far as digests tell it. −1 in ``a`` or ``b`` (no partner) gives no kind."""
    found = Kinds.none(len(a))
    found.kind[normal_digests[a] == normal_digests[b]] = NORMALISED
    found.kind[text_digests[a] == text_digests[b]] = IDENTICAL
    found.kind[(a < 0) | (b < 0)] = NONE
    found.confidence[found.kind >= 0] = 1.0
    return found


Shares = npt.NDArray[np.float64]

LITTLE = 0.33  # of the shorter text that both must have
MISREAD, MISREAD_WORDS = 0.5, 0.03  # of the difference, and of all words
FEWEST_MISREAD = 3  # words: one that looks like another may be an edit
MOVED, ONLY_MOVED, MOVED_WORDS = 0.5, 0.8, 0.2
MOST, INSERTED, ONE_WAY = 0.5, 0.7, 0.9  # of the difference
CUT, LOST_SENTENCES, LOST_PARAGRAPHS = (
    0.03,
    0.15,
    0.4,
)  # of the longer text, from where on it is cut
REPLACED, UNTOUCHED = 0.075, 0.58  # of a rewrite: words replaced at least, long runs at most
COPIED = 0.5  # of what both have, in blocks or in one: it was copied, not rewritten
PASTED, APART = 20, 0.25  # words of one block, and what the rest is of either text, at least
# Of the shorter text, what the longer one may lack, to contain it: a passage that is taken over is
# often given another beginning.
LACKED = {"layout": 0.1, "excerpt": 0.2, "elaboration": 0.1, "insertion": 0.1}

# (clearness, confidence): measured by `python -m quality.kinds --calibrate` in tests/. A planted
# pair of two edits has the kind of the larger one, so a revision that is mostly something else is
# hardly ever true there; readers call such a pair a revision more often than not, hence the .5.
CONFIDENCE = {
    "layout": ((0.02, 0.98), (0.3, 0.99)),
    "excerpt": ((0.13, 0.93), (0.25, 0.94), (0.36, 0.95), (0.49, 0.99)),
    "elaboration": ((0.09, 0.65), (0.2, 0.8), (0.26, 0.9), (0.33, 0.96)),
    "insertion": ((0.04, 0.94), (0.11, 0.97), (0.3, 0.99)),
    "revision": ((0.74, 0.5), (0.97, 0.95), (1.0, 0.99)),
    "rewrite": ((0.01, 0.53), (0.04, 0.57), (0.07, 0.86), (0.12, 0.95), (0.2, 0.98)),
    "other": ((0.0, 0.98),),
}


class Parts(NamedTuple):
    """The difference of each pair in words, by what it would make the pair."""

    layout: Shares
    excerpt: Shares
    elaboration: Shares
    insertion: Shares
    edits: Shares
    misread: Shares
    moved: Shares

    @property
    def sum(self) -> Shares:
        return sum(self, np.zeros(1))


def decided(found: Measures) -> Kinds:
    """Of each pair of texts that are not equal."""
    kind, clear = told(found)
    return Kinds(kind, _directions(found, kind), _confidence(kind, clear))


def told(found: Measures) -> tuple[npt.NDArray[np.int8], Shares]:
    """The kind of each pair by the first rule that holds, and how clearly it does."""
    margins = _margins(found, parts_of(found))
    values = np.stack(list(margins.values()))
    rule = np.argmax(values >= 0, axis=0)
    kinds = np.array([KINDS.index(name.partition(" ")[0]) for name in margins], np.int8)
    return kinds[rule], values[rule, np.arange(len(rule))]


def parts_of(found: Measures) -> Parts:
    longer = found.words.max(axis=1)
    sides = {name: found.sides(name) for name in ("cut", "end_sentences", "end_paragraphs")}
    sides |= {name: found.sides(name) for name in ("paragraphs", "inside")}
    of_sides = sum(sides.values(), np.zeros((1, 2)))
    more = of_sides.argmax(axis=1)
    rows = np.arange(len(more))
    cut, sentences, ends, paragraphs, inside = (one[rows, more] for one in sides.values())
    inside = inside + np.where(cut < CUT * longer, cut, 0)
    cut = np.where(cut < CUT * longer, 0, cut)
    much = (cut > 0) | (sentences >= LOST_SENTENCES * longer)
    excerpt = cut + np.where(much, sentences, 0)
    paragraphs = paragraphs + np.where(much, 0, sentences)
    much = (excerpt > 0) | (ends > LOST_PARAGRAPHS * longer)
    return Parts(
        layout=found.sides("furniture").sum(axis=1) + found.of("rebroken"),
        excerpt=excerpt + np.where(much, ends, 0),
        elaboration=paragraphs + np.where(much, 0, ends),
        insertion=inside,
        edits=found.of("replaced") + found.of("numbers") + of_sides[rows, 1 - more],
        misread=found.of("misread"),
        moved=found.moved,
    )


def _margins(found: Measures, parts: Parts) -> dict[str, Shares]:
    """By rule, in their order: how far above its limit a pair is. The last one always holds."""
    total = np.maximum(parts.sum, 1.0)
    longer, shorter = (np.maximum(f(axis=1), 1.0) for f in (found.words.max, found.words.min))
    known = np.maximum(found.shared / shorter - LITTLE, parts.misread / shorter - LITTLE)
    contained = {name: _contained(found, most) for name, most in LACKED.items()}
    one_way = (parts.excerpt + parts.elaboration + parts.insertion) / total - ONE_WAY
    largest = np.maximum.reduce([parts.excerpt, parts.elaboration, parts.insertion])
    replaced = found.of("replaced") + parts.misread + found.sides("inside").min(axis=1)
    return {
        "normalised": np.where(found.differs | (found.words.min(axis=1) == 0), -1.0, 1.0),
        # Nothing is more or less, but words are broken elsewhere.
        "layout only": np.where(found.differs & (parts.sum == 0), 1.0, -1.0),
        "other": -known,
        "other misread": np.where(
            parts.misread < FEWEST_MISREAD,
            -1.0,
            np.minimum(parts.misread / total - MISREAD, parts.misread / longer - MISREAD_WORDS),
        ),
        "other moved": np.maximum(
            parts.moved / total - ONLY_MOVED,
            np.minimum(parts.moved / total - MOVED, parts.moved / longer - MOVED_WORDS),
        ),
        "layout": parts.layout / total - MOST,
        "excerpt": np.minimum(parts.excerpt / total - MOST, contained["excerpt"]),
        "elaboration": np.minimum(parts.elaboration / total - MOST, contained["elaboration"]),
        "insertion": np.minimum(parts.insertion / total - INSERTED, contained["insertion"]),
        **{
            f"{name} mostly": np.where(
                getattr(parts, name) == largest, np.minimum(one_way, contained[name]), -1.0
            )
            for name in ("excerpt", "elaboration", "insertion")
        },
        "other copied": _one_block(found),
        "rewrite": np.minimum.reduce(
            [
                replaced / longer - REPLACED,
                UNTOUCHED - found.verbatim / shorter,
                COPIED - found.blocks / np.maximum(found.shared, 1.0),
            ]
        ),
        "revision": (parts.edits + parts.misread) / total,
    }


def _one_block(found: Measures) -> Shares:
    """How clearly two texts have one block in common, a quotation or a passage that was pasted, and
    both go on with text of their own."""
    shared = np.maximum(found.shared, 1.0)
    own = (1 - found.shared[:, None] / np.maximum(found.words, 1.0)).min(axis=1)
    one = np.where(found.longest >= PASTED, found.longest / shared - COPIED, -1.0)
    return np.asarray(np.minimum(one, own - APART))


def _contained(found: Measures, most: float) -> Shares:
    """How clearly one text is in the other, but for ``most`` of it; below 0 where it is not, or
    where the other has hardly more of its own."""
    alone = found.words - found.shared[:, None]
    inside = alone.argmin(axis=1)
    least, more = alone.min(axis=1), alone.max(axis=1)
    words = np.maximum(found.words[np.arange(len(inside)), inside], 1.0)
    return np.where(more > 2 * least, MOST * (1 - least / words / most), -1.0)


def _directions(found: Measures, kind: npt.NDArray[np.int8]) -> npt.NDArray[np.int8]:
    """Where one text is in the other, of kinds that add or leave out."""
    inside = (found.words - found.shared[:, None]).argmin(axis=1)
    known = np.zeros(len(kind), np.bool_)
    for name, most in LACKED.items():
        known |= (kind == KINDS.index(name)) & (_contained(found, most) >= 0)
    return np.where(known, inside, NONE).astype(np.int8)


def _confidence(kind: npt.NDArray[np.int8], clear: Shares) -> Shares:
    found = np.ones(len(kind))
    for number, name in enumerate(KINDS):
        if points := CONFIDENCE.get(name):
            where, table = kind == number, np.array(points)
            found[where] = np.interp(clear[where], table[:, 0], table[:, 1])
    return np.round(found, 2)


def kind_of(a: str, b: str, options: Text | None = None) -> Kind:
    """Of two texts; ``options`` say which are equal after normalisation, as those of a run do."""
    if a == b:
        return Kind("identical", None, 1.0)
    if normal_form(a, options) == normal_form(b, options):
        return Kind("normalised", None, 1.0)
    return aligned_kinds(Ragged.of_texts([a, b]), np.array([0]), np.array([1]))[0]


def aligned_kinds(texts: Ragged, a: Array, b: Array) -> Kinds:
    """Of pairs of these texts that are not equal, not even after normalisation."""
    turn = _later(texts, a, b)
    first, second = np.where(turn, b, a), np.where(turn, a, b)
    return decided(measured(texts, first, second)).turned(turn)


def _later(texts: Ragged, a: Array, b: Array) -> Array:
    """Where ``a`` is the longer text; of equal lengths, the one with the greater bytes. So a pair
    is measured one way, however it is written."""
    longer, equal = texts.lengths[a] > texts.lengths[b], texts.lengths[a] == texts.lengths[b]
    for i in np.flatnonzero(equal).tolist():
        longer[i] = texts[a[i]].tobytes() > texts[b[i]].tobytes()
    return np.asarray(longer)
