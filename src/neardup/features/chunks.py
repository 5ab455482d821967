"""Features beside shingles and q-grams: chunks of a text, and selections from a set of features.

- sentences: whole sentences, each one feature (COPS; Brin, Davis & García-Molina 1995)
- pauses: the words between two pause marks (Li et al. 2007, as Raveena & Nandini describe it)
- skips: k words, each the second one after the one before (the same)
- sentence_shingles: k words in a row that do not cross the end of a sentence (Wang & Chang 2009)
- windows: runs of many characters, of which those with a certain hash are selected and no two
  overlap (sif; Manber 1994)

Every feature is 32 bits of a hash; sets are sorted, without repeats.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.schema import Array, Ragged, offsets_of
from neardup.text.text_options import Text
from neardup.text.words import word_hashes

STRIDE = 2  # of skips: one word is left out between two
_SEED = 11
# ASCII marks are pauses before white space only: 3.14 and 10:30 have none. A long run of marks is
# tried once, from its first mark on.
_PAUSE = re.compile(
    rb"(?<![.,;:!?)\]\"'])[.,;:!?)\]\"']++(?=\s)|[(\[]|\n\s*\n|\xe2\x80[\x93\x94\x9c\x9d\x9e\xa6]|\xc2[\xab\xbb]"
    rb"|\xe3\x80[\x81\x82]|\xef\xbc[\x81\x8c\x9a\x9b\x9f]"
)
_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, so it has an inverse modulo 2⁶⁴
_INVERSE = np.uint64(pow(int(_BASE), -1, 1 << 64))


def sentence_sets(texts: Ragged, text: Text) -> Ragged:
    return _wholes(*_sentences(texts), text)


def pause_sets(texts: Ragged, text: Text) -> Ragged:
    values, own = _from_zero(texts)
    marks = [found.end() for found in _PAUSE.finditer(values.tobytes())]
    ends = np.unique(np.concatenate([own, np.array(marks, np.int64)]))
    rows = np.searchsorted(own, ends[:-1], side="right") - 1
    return _wholes(Ragged(values, ends), rows, len(texts), text)


def sentence_shingle_sets(texts: Ragged, words: int, text: Text) -> Ragged:
    pieces, rows, count = _sentences(texts)
    return _of_rows(shingle_sets(word_hashes(pieces, text), words), rows, count)


def skip_sets(texts: Ragged, words: int, text: Text) -> Ragged:
    hashes = word_hashes(texts, text)
    lengths = hashes.lengths
    place = np.arange(len(hashes.values)) - np.repeat(hashes.offsets[:-1], lengths)
    lane = np.repeat(np.arange(len(texts)) * STRIDE, lengths) + place % STRIDE
    rows = np.arange(len(texts) * STRIDE)
    sizes = np.bincount(lane, minlength=len(rows))
    apart = Ragged(hashes.values[np.argsort(lane, kind="stable")], offsets_of(sizes))
    return _of_rows(shingle_sets(apart, words), rows // STRIDE, len(texts))


def window_sets(texts: Ragged, size: int, every: int, text: Text) -> Ragged:
    """Hashes of runs of ``size`` characters of the normal form for q-grams, one in ``every``; a run
    that overlaps the one selected before it is left out, unless all are taken."""
    options = text.native()
    sets = [
        _windows(_native.qgram_form(texts[row], options), size, every) for row in range(len(texts))
    ]
    values = np.concatenate([np.empty(0, np.uint32), *sets])
    return Ragged(values, offsets_of(np.array([len(one) for one in sets], np.int64)))


def shingle_sets(words: Ragged, width: int) -> Ragged:
    nothing = np.empty(0, np.uint64)
    return Ragged(*_native.sample_features(words.values, words.offsets, width, nothing, 1, 0))


def selected(sets: Ragged, every: int, most: int) -> Ragged:
    """One feature in ``every``, by its value, so that all sets select alike; and of these the
    ``most`` smallest of each set. 0 is all."""
    inside = sets.values % np.uint32(every) == 0
    if most:
        rank = np.cumsum(inside) - inside
        first = np.concatenate([rank, [inside.sum()]])[sets.offsets[:-1]]
        inside &= rank - np.repeat(first, sets.lengths) < most
    ends = np.concatenate([[0], np.cumsum(inside)])[sets.offsets]
    return Ragged(sets.values[inside], offsets_of(np.diff(ends)))


def _from_zero(texts: Ragged) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    first = texts.offsets[0]
    return texts.values[first : texts.offsets[-1]], texts.offsets - first


def _sentences(texts: Ragged) -> tuple[Ragged, Array, int]:
    """The sentences as texts, and the number of the text that each is of."""
    values, own = _from_zero(texts)
    ends, counts = _native.sentences(values, own)
    return Ragged(values, ends), np.repeat(np.arange(len(texts)), np.diff(counts)), len(texts)


def _wholes(pieces: Ragged, rows: Array, count: int, text: Text) -> Ragged:
    """A feature for each piece that has words: its words in order."""
    words = word_hashes(pieces, text)
    digests = _native.bytes_digests(words.values.view(np.uint8), words.offsets * 8, _SEED)
    some = words.lengths > 0
    features = (digests[some] >> np.uint64(32)).astype(np.uint32)
    return united(features, rows[some], count)


def _of_rows(sets: Ragged, rows: Array, count: int) -> Ragged:
    return united(sets.values, np.repeat(rows, sets.lengths), count)


def united(features: Array, rows: Array, count: int) -> Ragged:
    """The set of the features of each row."""
    both = np.unique(rows.astype(np.uint64) << np.uint64(32) | features.astype(np.uint64))
    sizes = np.bincount((both >> np.uint64(32)).astype(np.int64), minlength=count)
    return Ragged(both.astype(np.uint32), offsets_of(sizes))


def _windows(form: bytes, size: int, every: int) -> npt.NDArray[np.uint32]:
    """A window from i has the hash ``Σ c_j·B^(j−i)`` modulo 2⁶⁴ (Karp & Rabin 1987), scrambled."""
    letters = np.frombuffer(form.decode("utf-8", "replace").encode("utf-32-le"), "<u4")
    if len(letters) < size:
        return np.empty(0, np.uint32)
    terms = scrambled(letters.astype(np.uint64)) * _powers(_BASE, len(letters))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(terms)])
    starts = len(letters) - size + 1
    hashes = scrambled((sums[size:] - sums[:starts]) * _powers(_INVERSE, starts))
    chosen = np.flatnonzero(hashes % np.uint64(every) == 0)
    if every > 1:
        chosen = _apart(chosen, size)
    return np.unique((hashes[chosen] >> np.uint64(32)).astype(np.uint32))


def _apart(places: Array, size: int) -> Array:
    kept: list[int] = []
    for place in places.tolist():
        if not kept or place >= kept[-1] + size:
            kept.append(place)
    return np.array(kept, np.int64)


def _powers(base: np.uint64, count: int) -> npt.NDArray[np.uint64]:
    factors = np.full(count, base, np.uint64)
    factors[:1] = 1
    powers: npt.NDArray[np.uint64] = np.cumprod(factors, dtype=np.uint64)
    return powers


def scrambled(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The last steps of SplitMix64, a bijection."""
    values = (values ^ values >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ values >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return values ^ values >> np.uint64(31)
