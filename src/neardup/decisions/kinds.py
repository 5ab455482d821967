"""The kind of a pair of duplicates, one of ``schema.KINDS``; it does not decide whether they match.

Equal digests give ``identical`` and ``normalised``. All other kinds follow from the words that
differ in the alignment of the texts (``Measures``), by the first rule that holds:
texts that share little, have misread letters or a different order are ``other``; then ``layout``,
``excerpt``, ``elaboration`` or ``insertion``, if it makes up most of the difference; then ``other``
if one block was copied between otherwise separate texts, ``rewrite`` if words were replaced all
over the text, and else ``revision``. The confidence depends on how clearly the rule holds: it is
the share of equally clear planted pairs that are of this kind (docs/kinds.md). If the two texts are
exchanged, the direction is reversed, and kind and confidence stay the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup import _native
from neardup.classes import dataclass
from neardup.schema import DIRECTIONS, KINDS, Array, Ragged, coded_column
from neardup.text.alignment import native_settings
from neardup.text.text_options import Text
from neardup.text.words import normal_form

# In the order in which the kernel counts.
BOTH = ("replaced", "numbers", "misread", "rebroken")
ONE = ("furniture", "cut", "end_sentences", "end_paragraphs", "paragraphs", "inside")
FEATURES = (*BOTH, *(f"{name}_{side}" for side in "ab" for name in ONE))
ROW = {name: number for number, name in enumerate(FEATURES)}


@dataclass(frozen=True)
class Measures:
    """How the texts of pairs differ (``native/decisions/differences.hpp``). The last axis of every
    field is the pair.

    Each differing passage is put into a class by its wording. Words that replace others are
    ``numbers``, ``misread`` (letters that a scanner confuses), ``rebroken`` (divided at different
    places) or ``replaced``. Words that one text alone has are ``furniture`` of the page, stand at
    an end of the text (``cut``, ``end_sentences``, ``end_paragraphs``), are whole ``paragraphs``,
    or are ``inside`` a paragraph. A change that is repeated counts once. Counts are of words, or of
    characters in scripts without spaces.

    ``words`` are the lengths of both texts; ``counts`` has the rows ``FEATURES``. ``verbatim``
    are shared words in long runs, ``blocks`` those in even longer runs, ``longest`` those of the
    longest run. ``differs`` is False if all words are shared in order.
    """

    words: npt.NDArray[np.float64]
    shared: npt.NDArray[np.float64]
    verbatim: npt.NDArray[np.float64]
    blocks: npt.NDArray[np.float64]
    longest: npt.NDArray[np.float64]
    moved: npt.NDArray[np.float64]
    counts: npt.NDArray[np.float64]
    differs: npt.NDArray[np.bool_]

    def of(self, name: str) -> npt.NDArray[np.float64]:
        row: npt.NDArray[np.float64] = self.counts[ROW[name]]
        return row

    def sides(self, name: str) -> npt.NDArray[np.float64]:
        """The counts of a class that one text alone has, one row per text."""
        return self.counts[ROW[f"{name}_a"] :: len(ONE)]


def measured(texts: Ragged, a: Array, b: Array) -> Measures:
    """The measures of pairs of these texts. It is faster if consecutive pairs have the same text on
    the same side."""
    left, right = (np.ascontiguousarray(rows, np.int64) for rows in (a, b))
    words, *sums, counts, differs = _native.measure_pairs(
        texts.values, texts.offsets, left, right, *native_settings(texts, Text())
    )
    shared, verbatim, blocks, longest, moved = (column.astype(np.float64) for column in sums)
    return Measures(
        words=words.reshape(-1, 2).T.astype(np.float64, "C"),
        shared=shared,
        verbatim=verbatim,
        blocks=blocks,
        longest=longest,
        moved=moved,
        counts=counts.reshape(-1, len(FEATURES)).T.astype(np.float64, "C"),
        differs=differs.astype(np.bool_),
    )


# For a duplicate (a) and its kept document (b).
WHICH = {"a_in_b": "contained in the kept one", "b_in_a": "contains the kept one"}
IDENTICAL, NORMALISED = KINDS.index("identical"), KINDS.index("normalised")
NONE = -1  # no kind, no direction


def kind_phrase(kind: str, direction: str | None) -> str:
    """The kind of a duplicate for people: ``excerpt, contains the kept one``."""
    return f"{kind}, {WHICH[direction]}" if direction else kind


class Kind(NamedTuple):
    """The kind of two texts. ``direction`` is "a_in_b" if the second contains the first, "b_in_a"
    in the opposite case, or None. ``confidence`` is the share of planted pairs of equal clearness
    for which the kind is right."""

    kind: str
    direction: str | None
    confidence: float


@dataclass(frozen=True)
class Kinds:
    """The kinds of many pairs; kinds and directions as numbers, −1 for none."""

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
        """The inverse of ``columns``."""
        return cls(
            _numbers(table["kind"], KINDS),
            _numbers(table["direction"], DIRECTIONS),
            table["confidence"].fill_null(0.0).to_numpy().copy(),
        )

    def take(self, rows: Array) -> Kinds:
        return Kinds(self.kind[rows], self.direction[rows], self.confidence[rows])

    def turned(self, where: Array) -> Kinds:
        """The kinds after exchanging the two texts of the marked pairs."""
        turn = where & (self.direction >= 0)
        return Kinds(self.kind, np.where(turn, 1 - self.direction, self.direction), self.confidence)

    def put(self, where: Array, others: Kinds) -> None:
        """Replaces the kinds of the marked or numbered pairs by ``others``."""
        self.kind[where] = others.kind
        self.direction[where] = others.direction
        self.confidence[where] = others.confidence

    def columns(self) -> dict[str, pa.Array]:
        """The columns of ``schema.KIND_FIELDS``."""
        return {
            "kind": coded_column(self.kind, KINDS),
            "direction": coded_column(self.direction, DIRECTIONS),
            "confidence": pa.array(self.confidence, mask=self.kind < 0),
        }

    def counts(self) -> dict[str, int]:
        """The number of pairs of each kind that occurs."""
        of_kind = np.bincount(self.kind[self.kind >= 0], minlength=len(KINDS)).tolist()
        return {name: count for name, count in zip(KINDS, of_kind, strict=True) if count}


def _numbers(column: pa.ChunkedArray, names: tuple[str, ...]) -> npt.NDArray[np.int8]:
    numbers = pc.index_in(column.cast(pa.string()), pa.array(names, pa.string()))
    return np.array(pc.fill_null(numbers, NONE)).astype(np.int8)


def by_digests(a: Array, b: Array, text_digests: Array, normal_digests: Array) -> Kinds:
    """The kinds that follow from equal digests. −1 in ``a`` or ``b`` means no partner: no kind."""
    kinds = Kinds.none(len(a))
    kinds.kind[normal_digests[a] == normal_digests[b]] = NORMALISED
    kinds.kind[text_digests[a] == text_digests[b]] = IDENTICAL
    kinds.kind[(a < 0) | (b < 0)] = NONE
    kinds.confidence[kinds.kind >= 0] = 1.0
    return kinds


Shares = npt.NDArray[np.float64]

LITTLE = 0.33  # the least share of the shorter text that both must have
MISREAD, MISREAD_WORDS = 0.5, 0.03  # shares of the difference and of all words
FEWEST_MISREAD = 3  # words; a single similar word may be an edit
MOVED, ONLY_MOVED, MOVED_WORDS = 0.5, 0.8, 0.2
MOST, INSERTED, ONE_WAY = 0.5, 0.7, 0.9  # shares of the difference
# The least shares of the longer text whose loss at an end makes the rest an excerpt: within a
# sentence, whole sentences, whole paragraphs.
CUT, LOST_SENTENCES, LOST_PARAGRAPHS = 0.03, 0.15, 0.4
REPLACED, UNTOUCHED = 0.075, 0.58  # a rewrite: least share replaced, most share in long runs
COPIED = 0.5  # the share of the common words in blocks (or one block) that shows copying
PASTED, APART = 20, 0.25  # least words of the block, and least share of either text outside it
# The share of the shorter text that the longer one may lack and still contain it. It is larger for
# an excerpt, because a passage that is taken over often gets a new beginning.
LACKED = {"layout": 0.1, "excerpt": 0.2, "elaboration": 0.1, "insertion": 0.1}

# (clearness, confidence), measured by `python -m quality.kinds --calibrate` in tests/. A planted
# pair with two edits has the kind of the larger edit, so a revision that is mostly something else
# is almost never right there. Readers call such a pair a revision in most cases, hence the .5.
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
    """The words that differ in each pair, by the kind that they suggest."""

    layout: Shares
    excerpt: Shares
    elaboration: Shares
    insertion: Shares
    edits: Shares
    misread: Shares
    moved: Shares


def decided(measures: Measures) -> Kinds:
    """The kinds of pairs of texts that are not equal. Kinds that add or leave out text have a
    direction: which text is contained in the other."""
    kind, clear = by_rules(measures)
    contained, confidence = np.zeros(len(kind), np.bool_), np.ones(len(kind))
    lacking = _contained(measures)
    for number, name in enumerate(KINDS):
        of_kind = kind == number
        if name in lacking:
            contained |= of_kind & (lacking[name] >= 0)
        if points := CONFIDENCE.get(name):
            x, y = np.array(points).T
            confidence[of_kind] = np.interp(clear[of_kind], x, y)
    inside = measures.words[1] < measures.words[0]  # the shorter text lacks less
    direction = np.where(contained, inside, NONE).astype(np.int8)
    return Kinds(kind, direction, np.round(confidence, 2))


def by_rules(measures: Measures) -> tuple[npt.NDArray[np.int8], Shares]:
    """The kind of each pair by the first rule that holds, and how clearly it holds."""
    margins = _margins(measures, parts_of(measures))
    values = np.stack(list(margins.values()))
    rule = np.argmax(values >= 0, axis=0)
    kinds = np.array([KINDS.index(name.partition(" ")[0]) for name in margins], np.int8)
    return kinds[rule], values[rule, np.arange(len(rule))]


def parts_of(measures: Measures) -> Parts:
    """Words that one text alone has count for the kind only in the text that has more of them; in
    the opposite text they are edits."""
    longer = np.maximum(*measures.words)
    names = ("cut", "end_sentences", "end_paragraphs", "paragraphs", "inside")
    sides = [measures.sides(name) for name in names]
    alone = sum(sides, np.zeros((2, 1)))
    of_b = alone[1] > alone[0]
    cut, sentences, ends, paragraphs, inside = (np.where(of_b, b, a) for a, b in sides)
    inside = inside + np.where(cut < CUT * longer, cut, 0)
    cut = np.where(cut < CUT * longer, 0, cut)
    shortened = (cut > 0) | (sentences >= LOST_SENTENCES * longer)
    excerpt = cut + np.where(shortened, sentences, 0)
    paragraphs = paragraphs + np.where(shortened, 0, sentences)
    shortened = (excerpt > 0) | (ends > LOST_PARAGRAPHS * longer)
    return Parts(
        layout=measures.sides("furniture").sum(axis=0) + measures.of("rebroken"),
        excerpt=excerpt + np.where(shortened, ends, 0),
        elaboration=paragraphs + np.where(shortened, 0, ends),
        insertion=inside,
        edits=measures.of("replaced") + measures.of("numbers") + np.minimum(*alone),
        misread=measures.of("misread"),
        moved=measures.moved,
    )


def _margins(measures: Measures, parts: Parts) -> dict[str, Shares]:
    """How far a pair is above the limit of each rule, in the order of the rules. The last rule
    always holds."""
    different = sum(parts, np.zeros(1))
    total = np.maximum(different, 1.0)
    words = measures.words
    longer, shorter = (np.maximum(of(*words), 1.0) for of in (np.maximum, np.minimum))
    common = np.maximum(measures.shared / shorter - LITTLE, parts.misread / shorter - LITTLE)
    contained = _contained(measures)
    one_way = (parts.excerpt + parts.elaboration + parts.insertion) / total - ONE_WAY
    largest = np.maximum.reduce([parts.excerpt, parts.elaboration, parts.insertion])
    replaced = measures.of("replaced") + parts.misread + np.minimum(*measures.sides("inside"))
    return {
        "normalised": np.where(measures.differs | (np.minimum(*words) == 0), -1.0, 1.0),
        # The texts have the same letters, but words are divided at different places.
        "layout only": np.where(measures.differs & (different == 0), 1.0, -1.0),
        "other": -common,
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
        "other copied": _one_block(measures),
        "rewrite": np.minimum.reduce(
            [
                replaced / longer - REPLACED,
                UNTOUCHED - measures.verbatim / shorter,
                COPIED - measures.blocks / np.maximum(measures.shared, 1.0),
            ]
        ),
        "revision": (parts.edits + parts.misread) / total,
    }


def _one_block(measures: Measures) -> Shares:
    """How clearly the common words are one block, such as a quotation or a pasted passage, while
    both texts have much text of their own."""
    shared = np.maximum(measures.shared, 1.0)
    own = np.minimum(*(1 - measures.shared / np.maximum(measures.words, 1.0)))
    block = np.where(measures.longest >= PASTED, measures.longest / shared - COPIED, -1.0)
    return np.asarray(np.minimum(block, own - APART))


def _contained(measures: Measures) -> dict[str, Shares]:
    """For each kind that adds or leaves out text, how clearly one text is contained in the other;
    below 0 if it is not contained, or if the other text has hardly more words of its own."""
    a, b = measures.words - measures.shared
    least, words = np.minimum(a, b), np.where(b < a, *measures.words[::-1])
    lacked, has_more = least / np.maximum(words, 1.0), np.maximum(a, b) > 2 * least
    return {
        name: np.where(has_more, MOST * (1 - lacked / most), -1.0) for name, most in LACKED.items()
    }


def kind_of(a: str, b: str, options: Text | None = None) -> Kind:
    """The kind of two texts; ``options`` define which texts are equal after normalisation."""
    if a == b:
        return Kind("identical", None, 1.0)
    if normal_form(a, options) == normal_form(b, options):
        return Kind("normalised", None, 1.0)
    return aligned_kinds(Ragged.of_texts([a, b]), np.array([0]), np.array([1]))[0]


def aligned_kinds(texts: Ragged, a: Array, b: Array) -> Kinds:
    """The kinds of pairs of texts that differ also after normalisation. The longer text, or the one
    with the greater bytes if the lengths are equal, is measured second, so that a pair has the same
    measures whichever text comes first."""
    lengths = texts.lengths
    turn = np.asarray(lengths[a] > lengths[b])
    for i in np.flatnonzero(lengths[a] == lengths[b]).tolist():
        turn[i] = texts[a[i]].tobytes() > texts[b[i]].tobytes()
    first, second = np.where(turn, b, a), np.where(turn, a, b)
    return decided(measured(texts, first, second)).turned(turn)
