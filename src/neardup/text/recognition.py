"""Whether a reader would find one text again in another, scan errors and all.

The smaller text is cut into pieces of 60 characters of its normal form. A piece is found again
where 60 characters in a row of the other text have 70 % of the piece's characters in the same order
(their longest common subsequence). Two texts on different things in one language have some half of
them in order, wherever one looks; a scan with every fifth character wrong has four fifths.

Three in five pieces must be found again in every pair that passes below a threshold: the floor
(docs/decisions/0021-the-floor.md). At most 40 pieces are looked for, spread evenly, so that a book
costs no more than 40 lines of it. All is decided in whole numbers, and does not depend on which
text comes first.
"""

from __future__ import annotations

from typing import NamedTuple

from rapidfuzz import fuzz

from neardup.text.words import normal_form

PIECE = 60  # characters; rapidfuzz compares up to 64 with every stretch of the other text
LIKE = 70  # percent of a piece's characters that a stretch has in the same order
MOST_PIECES = 40
FLOOR = 60  # percent of the pieces
_EDGE = "\n" * PIECE  # in no normal form: stretches at the edges are as long as all others


class Recognised(NamedTuple):
    """How many of the pieces of the smaller text are in the other."""

    found: int
    pieces: int

    @property
    def enough(self) -> bool:
        return 100 * self.found >= FLOOR * self.pieces

    @property
    def share(self) -> float:
        return self.found / self.pieces


def recognised(a: str, b: str) -> Recognised:
    smaller, larger = sorted(map(normal_form, (a, b)), key=lambda text: (len(text), text))
    pieces = _pieces(smaller)
    there = f"{_EDGE}{larger}{_EDGE}"
    return Recognised(sum(_is_in(piece, there) for piece in pieces), len(pieces))


def _pieces(text: str) -> list[str]:
    """What is left over at the end is no piece, unless it is all there is."""
    count = max(len(text) // PIECE, 1)
    asked = min(count, MOST_PIECES)
    starts = (PIECE * (number * count // asked) for number in range(asked))
    return [text[start : start + PIECE] for start in starts]


def _is_in(piece: str, text: str) -> bool:
    """A score is 100 times the characters in order by those of the piece: half a character below
    the least that is enough, no rounding matters."""
    least = -(-LIKE * len(piece) // 100)
    cutoff = 100 * (least - 0.5) / max(len(piece), 1)
    return piece in text or bool(fuzz.partial_ratio(piece, text, score_cutoff=cutoff) > 0)
