"""How much of one text can be recognised in another, in spite of scan errors.

The normal form of the smaller text is divided into pieces of 60 characters. A piece is recognised
if some 60 consecutive characters of the larger text contain 70 % of its characters in the same
order (longest common subsequence). Unrelated texts of one language share about half of the
characters in order; a scan in which every fifth character is wrong keeps four fifths.

A pair that passes below the threshold must also reach the floor: at least 60 % of the pieces are
recognised (docs/decisions/0021-the-floor.md). At most 40 pieces, spread evenly over the text, are
searched for, so the cost does not grow with the smaller text. The decision is made in integers and
does not depend on the order of the two texts.
"""

from __future__ import annotations

from typing import NamedTuple

from neardup.text.words import normal_form

PIECE = 60  # characters; rapidfuzz compares up to 64 with every stretch of the larger text
LIKE = 70  # percent of a piece's characters that a stretch must contain in the same order
MOST_PIECES = 40
FLOOR = 60  # percent of the pieces
_EDGE = "\n" * PIECE  # no normal form contains it; stretches at the edges become equally long


class Recognised(NamedTuple):
    """``found`` of the ``pieces`` of the smaller text are recognised in the larger one."""

    found: int
    pieces: int

    @property
    def enough(self) -> bool:
        return self.reaches(FLOOR)

    def reaches(self, floor: int) -> bool:
        """Whether at least ``floor`` percent of the pieces are recognised."""
        return 100 * self.found >= floor * self.pieces

    @property
    def share(self) -> float:
        return self.found / self.pieces


def recognised(a: str, b: str) -> Recognised:
    smaller, larger = sorted(map(normal_form, (a, b)), key=lambda text: (len(text), text))
    pieces = _pieces(smaller)
    padded = f"{_EDGE}{larger}{_EDGE}"
    return Recognised(sum(_is_in(piece, padded) for piece in pieces), len(pieces))


def _pieces(text: str) -> list[str]:
    """A shorter remainder at the end is left out, unless the text is shorter than one piece."""
    count = max(len(text) // PIECE, 1)
    sampled = min(count, MOST_PIECES)
    starts = (PIECE * (number * count // sampled) for number in range(sampled))
    return [text[start : start + PIECE] for start in starts]


def _is_in(piece: str, text: str) -> bool:
    """The score is the percentage of the piece's characters found in order. The cutoff lies half a
    character below the least sufficient number, so rounding cannot change the decision."""
    from rapidfuzz import fuzz  # few runs compare pieces

    least = -(-LIKE * len(piece) // 100)
    cutoff = 100 * (least - 0.5) / max(len(piece), 1)
    return piece in text or bool(fuzz.partial_ratio(piece, text, score_cutoff=cutoff) > 0)
