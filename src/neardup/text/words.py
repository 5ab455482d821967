"""The words of a text, its normal form, and the word map of a batch.

A word is a maximal run of letters, marks and numbers of the normalised text; scripts without
spaces give overlapping pairs of characters. The work is done by the native tokenizer: kernels take
the same options and, for stop words and stems, the map that ``word_map`` makes.

The sentences of a text, in any script.

``. ! ? …`` end a sentence where white space or the end of the text follows; the marks of scripts
that put no space after them (``。！？`` and their kin) always do. Closing quotes and brackets
belong to what they close. A blank line ends a sentence, a single line break does not: hard-wrapped
copies of one text break their lines elsewhere. There is no list of abbreviations: "Dr. Who" is cut
in two, in every copy alike. Nothing is lost: the sentences joined are the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.text.stopwords import STOP_WORDS
from neardup.text.text_options import Text

_DROP = 0


def words(text: str, options: Text | None = None) -> list[str]:
    """The words that are compared: stop words left out, the others stemmed where asked."""
    options = options or Text()
    found = _cut([text], options)
    dropped = _stop_set(options)
    return _stems([word for word in found if word not in dropped], options)


def normal_form(text: str, options: Text | None = None) -> str:
    """All words with one space between; a text without words keeps its symbols."""
    options = options or Text()
    values, _ = _native.normal_forms(*buffers([text]), options.native())
    return bytes(values).decode()


def word_map(
    text_values: npt.NDArray[np.uint8], text_offsets: npt.NDArray[np.int64], options: Text
) -> _native.WordMap | None:
    """What stop words and stemming do to the words of these texts; None if nothing."""
    if options.stem is None:
        return _stop_map(options) if options.stop_words else None
    values, offsets, hashes = _native.unique_words(text_values, text_offsets, options.native())
    distinct = _strings(values, offsets)
    dropped = _stop_set(options)
    to = _hashes(_stems(distinct, options))
    to[[word in dropped for word in distinct]] = _DROP
    changed = to != hashes
    return _native.WordMap(hashes[changed], to[changed])


def buffers(texts: Iterable[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Texts as the kernels take them. A lone surrogate is no UTF-8: there it separates words."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


@lru_cache(maxsize=64)
def _stop_map(options: Text) -> _native.WordMap:
    hashes = _hashes(sorted(_stop_set(options)))
    return _native.WordMap(hashes, np.zeros_like(hashes))


@lru_cache(maxsize=64)
def _stop_set(options: Text) -> frozenset[str]:
    """The stop words, cut and normalised as the texts are."""
    chosen = options.stop_words
    return frozenset(_cut(STOP_WORDS[chosen] if isinstance(chosen, str) else chosen, options))


def _cut(texts: Iterable[str], options: Text) -> list[str]:
    values, offsets, _ = _native.words(*buffers(texts), options.native())
    return _strings(values, offsets)


def _stems(found: list[str], options: Text) -> list[str]:
    if options.stem is None:
        return found
    import Stemmer  # Text has checked that it is there

    return list(Stemmer.Stemmer(options.stem).stemWords(found))


def _hashes(found: list[str]) -> npt.NDArray[np.uint64]:
    hashes: npt.NDArray[np.uint64] = _native.hash_words(*buffers(found))
    return hashes


def _strings(values: npt.NDArray[Any], offsets: npt.NDArray[np.int64]) -> list[str]:
    joined, ends = bytes(values), offsets.tolist()
    return [joined[a:b].decode() for a, b in pairwise(ends)]


def sentences(text: str) -> list[str]:
    """With the white space that follows each."""
    values, offsets = buffers([text])
    ends, _ = _native.sentences(values, offsets)
    whole = bytes(values)
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends.tolist())]
