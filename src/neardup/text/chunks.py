"""Long texts in chunks of so many words, for whoever reads only the beginning of a text.

Encoders of sentences stop after some hundred tokens and say nothing of it. Words are those of
``Text()``, so that a chunk of a script without spaces has as many characters as others have words.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Ragged, offsets_of
from neardup.text.options import Text


class Chunks(NamedTuple):
    """Those of text ``i`` are ``texts[offsets[i]:offsets[i + 1]]``, joined they are the text;
    ``words`` of each."""

    texts: list[str]
    words: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int64]


def chunks(texts: Ragged, words: int) -> Chunks:
    """0 words: each text is one chunk. Every text has at least one, an empty one too."""
    plain = Text().native()
    _, begins, _, ends = _native.word_spans(texts.values, texts.offsets, plain, None)
    found: list[str] = []
    counts: list[int] = []
    many: list[int] = []
    for i, (first, last) in enumerate(pairwise(ends.tolist())):
        cuts = begins[first:last][words::words].tolist() if words else []
        whole = bytes(texts[i])
        found += [whole[a:b].decode() for a, b in pairwise([0, *cuts, len(whole)])]
        counts += [words] * len(cuts) + [last - first - words * len(cuts)]
        many.append(len(cuts) + 1)
    return Chunks(found, np.array(counts, np.int64), offsets_of(np.array(many, np.int64)))
