"""The kind of a pair, as far as digests tell it: ``identical`` or ``normalised``.

Other kinds need both texts side by side; a pair without a kind was not classified.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from neardup.schema import KINDS, Array

IDENTICAL, NORMALISED = KINDS.index("identical"), KINDS.index("normalised")


def kinds_of(a: Array, b: Array, text_digests: Array, normal_digests: Array) -> pa.DictionaryArray:
    """−1 in ``a`` or ``b`` (no partner) gives no kind."""
    code = np.full(len(a), -1, np.int8)
    code[normal_digests[a] == normal_digests[b]] = NORMALISED
    code[text_digests[a] == text_digests[b]] = IDENTICAL
    none = (code < 0) | (a < 0) | (b < 0)
    indices = pa.array(np.where(none, 0, code).astype(np.int8), mask=none)
    return pa.DictionaryArray.from_arrays(indices, pa.array(KINDS, pa.string()))
