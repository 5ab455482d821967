"""The words and sentences of a text, and its normal form.

A word is a maximal run of letters, marks and numbers of the normalised text. In scripts without
spaces, words are overlapping pairs of characters. The native tokenizer does the work; kernels take
the same options, and a word map (``word_map``) for stop words and stems.

``. ! ? …`` end a sentence if white space or the end of the text follows. The marks of scripts
without spaces, such as ``。！？``, always end one. Closing quotes and brackets belong to the
sentence that they close. A blank line ends a sentence; a single line break does not, because copies
of a text may be wrapped at different places. Abbreviations are not recognised: "Dr. Who" is split
in every copy alike. The sentences joined are the text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Ragged
from neardup.text.text_options import STOP_WORDS, Text

_DROP = 0


def words(text: str, options: Text | None = None) -> list[str]:
    """The words that are compared: without stop words, and stemmed if the options ask for it."""
    options = options or Text()
    tokens = _tokens([text], options)
    if options.stop_words:
        dropped = stop_set(options)
        tokens = [word for word in tokens if word not in dropped]
    return tokens if options.stem is None else _stems(tokens, options.stem)


def normal_form(text: str, options: Text | None = None) -> str:
    """All words, separated by single spaces; a text without words keeps its symbols."""
    options = options or Text()
    values, _ = _native.normal_forms(*buffers([text]), options.native())
    return bytes(values).decode()


def word_map(
    text_values: npt.NDArray[np.uint8], text_offsets: npt.NDArray[np.int64], options: Text
) -> _native.WordMap | None:
    """The effect of stop words and stemming on the words of these texts; None if there is none."""
    if options.stem is None:
        return _stop_map(options) if options.stop_words else None
    values, offsets, hashes = _native.unique_words(text_values, text_offsets, options.native())
    distinct = _strings(values, offsets)
    dropped = stop_set(options)
    mapped = _hashes(_stems(distinct, options.stem))
    mapped[[word in dropped for word in distinct]] = _DROP
    changed = mapped != hashes
    return _native.WordMap(hashes[changed], mapped[changed])


def word_hashes(texts: Ragged, options: Text) -> Ragged:
    """The 64-bit hashes of the words that are compared, text by text."""
    vocabulary = word_map(texts.values, texts.offsets, options)
    return Ragged(*_native.word_hashes(texts.values, texts.offsets, options.native(), vocabulary))


def buffers(texts: Iterable[str]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """UTF-8 bytes and offsets for the kernels, where an unpaired surrogate separates words."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


@lru_cache(maxsize=64)
def _stop_map(options: Text) -> _native.WordMap:
    hashes = _hashes(sorted(stop_set(options)))
    return _native.WordMap(hashes, np.zeros_like(hashes))


@lru_cache(maxsize=64)
def stop_set(options: Text) -> frozenset[str]:
    """The stop words, tokenized and normalised like the texts."""
    listed = options.stop_words
    return frozenset(_tokens(STOP_WORDS[listed] if isinstance(listed, str) else listed, options))


def _tokens(texts: Iterable[str], options: Text) -> list[str]:
    values, offsets, _ = _native.words(*buffers(texts), options.native())
    return _strings(values, offsets)


def _stems(tokens: list[str], language: str) -> list[str]:
    import Stemmer  # Text has checked that it is installed

    return list(Stemmer.Stemmer(language).stemWords(tokens))


def _hashes(tokens: list[str]) -> npt.NDArray[np.uint64]:
    hashes: npt.NDArray[np.uint64] = _native.hash_words(*buffers(tokens))
    return hashes


def _strings(values: npt.NDArray[Any], offsets: npt.NDArray[np.int64]) -> list[str]:
    joined, ends = bytes(values), offsets.tolist()
    return [joined[a:b].decode() for a, b in pairwise(ends)]


def sentences(text: str) -> list[str]:
    """The sentences, each with the white space that follows it."""
    values, offsets = buffers([text])
    ends, _ = _native.sentences(values, offsets)
    whole = bytes(values)
    return [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends.tolist())]
