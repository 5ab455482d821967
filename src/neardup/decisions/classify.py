"""The kind of two texts, or of many pairs: measured on their alignment, then by the rules."""

from __future__ import annotations

import numpy as np

from neardup.decisions.kind_rules import decided
from neardup.decisions.kinds import Kind, Kinds
from neardup.decisions.passages import measured
from neardup.schema import Array, Ragged
from neardup.text.options import Text
from neardup.text.words import normal_form


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
