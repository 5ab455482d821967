"""MinHash values, their bands as keys, and sketches, which compare sets on a sample of themselves.

The hash family is ``h_i(x, y) = y + a_i·x mod 2³²`` over the two halves of a 64-bit feature; its
proof and kernel are in ``native/features/minhash.hpp``. The multipliers come from SplitMix64 with a
fixed seed and carry their own index in their low bits, so that any two of them differ modulo 2¹².
Shorter signatures are prefixes of longer ones.

With a sketch, the relation is defined on the sample, and every pair that passes there is found. The
sample estimates the measure on the whole sets with a standard error:

- minima: the least value under each of m functions; agreeing positions / m estimates the
  resemblance r with standard error ``√(r(1−r)/m)`` (Broder 1997; Williams & Giles 2013).
- mod: the features ≡ 0 modulo ``modulus``; estimates both measures on n = |A∪B| / modulus features
  with standard error ``√(r(1−r)/n)``. If the sample reaches ``sample_limit``, it is a bottom
  sketch, which cannot estimate containment (Broder et al. 1997).
- bottom: the s smallest features; the share of common ones among the s smallest of the union has a
  standard error of at most ``√(r(1−r)/s)``. Sets of fewer than s features are compared whole.

``native/features/sketch.hpp`` has the kernels.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.errors import SettingsError
from neardup.methods.base import UNRELIABLE, Prepared, Scores, agreeing
from neardup.methods.meeting import Rarity
from neardup.methods.preparation import Reading, prepared, read_words
from neardup.methods.set_measures import (
    NO_COUNTS,
    rare_set_keys,
    set_scores,
    whole_set_score,
)
from neardup.schema import Array, Ragged

if TYPE_CHECKING:
    from neardup.methods.shingles import Shingles

MOST_VALUES = 4096
LANES = 16  # the kernel works on whole vectors of this many values
_SEED = 0x6E656172647570  # "neardup"
_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1


def _splitmix64(state: int) -> int:
    """The generator of Steele, Lea & Flood 2014."""
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & _MASK
    return state ^ (state >> 31)


def stream(seed: int, count: int) -> list[int]:
    """The first 64-bit numbers that SplitMix64 generates from a seed."""
    return [_splitmix64(seed + (i + 1) * _GOLDEN & _MASK) for i in range(count)]


@functools.cache
def multipliers(count: int) -> npt.NDArray[np.uint32]:
    """The first ``count`` multipliers, padded to whole vectors."""
    padded = -(-count // LANES) * LANES
    values = [(x >> 32) & ~(MOST_VALUES - 1) | i for i, x in enumerate(stream(_SEED, padded))]
    return np.array(values, np.uint32)


class Bands(NamedTuple):
    bands: int
    rows: int

    @property
    def values(self) -> int:
        return self.bands * self.rows

    def miss_rate(self, t: float) -> float:
        """(1 − tʳ)ᵇ: the probability that no band agrees at resemblance t."""
        return float((1 - t**self.rows) ** self.bands)


FEWEST_ROWS = 3  # with 2, unlike documents meet: 1 − (1 − .1²)⁶⁴ = .47 at resemblance .1
VALUES_LIMIT = 1024


def choose_bands(threshold: float, values: int, miss_rate: float) -> Bands | None:
    """The most rows a band with which a pair at the threshold is missed at most at ``miss_rate``.

    More rows let fewer documents meet by accident. If ``values`` do not allow three rows, more
    values are used, up to ``VALUES_LIMIT``. Beyond that no banding is possible, and a prefix join
    is used.
    """
    for rows in range(values, FEWEST_ROWS - 1, -1):
        bands = Bands(values // rows, rows)
        if bands.miss_rate(threshold) <= miss_rate:
            return bands
    needed = math.ceil(math.log(miss_rate) / math.log1p(-(threshold**FEWEST_ROWS)))
    bands = Bands(needed, FEWEST_ROWS)
    return bands if bands.values <= VALUES_LIMIT else None


def band_keys(sets: Ragged, bands: Bands) -> tuple[Ragged, Array]:
    """Keys of sets of 32-bit features, and the number of them that search: all."""
    family = multipliers(bands.values)
    keys = _native.band_keys(sets.values, sets.offsets, family, bands.bands, bands.rows)
    ends = np.arange(len(sets) + 1, dtype=np.int64) * bands.bands
    return Ragged(keys, ends), np.full(len(sets), bands.bands, np.int32)


SAMPLINGS = ("none", "minima", "mod", "bottom")
FAMILIES = ("fast", "classic")
FEWEST_RELIABLE = 16  # smaller samples have a standard error above an eighth at r = .5
_CLASSIC_SEED = 0x636C6173736963  # "classic"
_SALT_SEED = 0x706C61636573  # "places"


@functools.cache
def family(name: str, count: int) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Multipliers and addends of ``count`` functions, padded to whole vectors. The fast family (see
    the top of this file) has no addends. The classic family is ``(Ax + B) mod p``, with A from 1
    and B from 0 to p − 1, which SplitMix64 generates in turn from a fixed seed."""
    if name == "fast":
        return multipliers(count), np.empty(0, np.uint32)
    padded = -(-count // LANES) * LANES
    drawn = stream(_CLASSIC_SEED, 2 * padded)
    p = _native.CLASSIC_PRIME
    a, b = [1 + x % (p - 1) for x in drawn[::2]], [x % p for x in drawn[1::2]]
    return np.array(a, np.uint32), np.array(b, np.uint32)


def minima(
    words: Ragged, width: int, ignored: Array, functions: str, count: int
) -> tuple[npt.NDArray[np.uint32], Array]:
    """One row of ``count`` minima for each document, and the number of its shingles."""
    values, shingles = _native.sketch_minima(
        words.values, words.offsets, width, ignored, *family(functions, count), count
    )
    return values.reshape(len(words), count), shingles


@functools.cache
def salts(count: int) -> npt.NDArray[np.uint32]:
    """A number for each position of a sketch, by which values at different positions differ."""
    return np.array([x >> 32 for x in stream(_SALT_SEED, count)], np.uint32)


def check(method: Shingles) -> None:
    """Refuses options that have no meaning on samples."""
    if method.sampling == "none":
        _check_whole_sets(method)
        return
    if method.family != "fast" and method.sampling != "minima":
        raise SettingsError(
            f"shingles: family is {method.family!r}, but sampling='{method.sampling}' has no "
            "hash functions to choose.",
            hint="sampling='minima' has.",
        )
    if method.keys == "bands":
        raise SettingsError(
            "shingles: keys='bands' is for whole sets; samples are joined completely.",
            hint="leave keys='auto', or take keys='all' for sort-and-count as in the papers.",
        )
    if method.sampling == "bottom" and not method.sample_limit:
        raise SettingsError(
            "shingles: sampling='bottom' keeps the sample_limit smallest features; it is 0.",
            hint="400 is Broder's number.",
        )
    if method.measure == "containment" and (method.sampling != "mod" or method.sample_limit):
        raise SettingsError(
            "shingles: containment cannot be told from samples of bounded size: the smallest "
            "features of a long document say nothing about those of its excerpt.",
            hint="sampling='mod' with sample_limit=0 has containment, and sampling='none'.",
        )


def _check_whole_sets(method: Shingles) -> None:
    if method.family != "fast":
        raise SettingsError(
            f"shingles: family is {method.family!r}, but whole sets are compared; values only "
            "make keys there.",
            hint="sampling='minima' compares the values themselves.",
        )
    if method.keys == "all":
        raise SettingsError(
            "shingles: keys='all' is for samples.",
            hint="keys='prefix' finds the same pairs with fewer keys.",
        )


def standard_error(method: Shingles) -> float | None:
    """The standard error of the estimate at the threshold, for sets larger than the sample; None if
    the size of the sample depends on the document."""
    size = {"minima": method.permutations, "bottom": method.sample_limit}.get(method.sampling)
    return math.sqrt(method.threshold * (1 - method.threshold) / size) if size else None


def prepare(method: Shingles, batch: pa.RecordBatch) -> Prepared:
    reading = read_words(batch, method.text)
    sample, flags = _sample(method, reading)
    short = reading.shorter_than(method.min_words) | (sample.lengths == 0)
    keys, probes = _own_keys(method, sample)
    return prepared(reading, sample, keys, probes, short, flags)


def _sample(method: Shingles, reading: Reading) -> tuple[Ragged, Array | None]:
    """The sampled features, and the flags of documents. A document without shingles has no
    features."""
    words, ignored = reading.words, method.ignored
    if method.sampling == "minima":
        count = method.permutations
        rows, shingles = minima(words, method.words, ignored, method.family, count)
        offsets = np.arange(len(rows) + 1, dtype=np.int64) * count
        places = Ragged((rows ^ salts(count)).reshape(-1), offsets)
        return _without(places, shingles == 0), None
    modulus = method.modulus if method.sampling == "mod" else 1
    sample = Ragged(
        *_native.sample_features(
            words.values, words.offsets, method.words, ignored, modulus, method.sample_limit
        )
    )
    few = (sample.lengths < FEWEST_RELIABLE) & (modulus > 1)
    return sample, few * np.uint8(UNRELIABLE)


def _without(rows: Ragged, empty: npt.NDArray[np.bool_]) -> Ragged:
    if not empty.any():
        return rows
    lengths = np.where(empty, 0, rows.lengths)
    inside = np.repeat(~empty, rows.lengths)
    return Ragged(rows.values[inside], np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))


def _own_keys(method: Shingles, sample: Ragged) -> tuple[Ragged, Array]:
    if method.keys == "all":
        keys, ends, probes = _native.rare_prefixes(
            sample.values, sample.offsets, sample.lengths, NO_COUNTS, False, 0, 1
        )
        return Ragged(keys, ends), probes
    return rare_keys(method, sample, Rarity(NO_COUNTS))


def rare_keys(method: Shingles, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
    """Keys that miss no pair. With any sampling, a pair that passes shares ⌈t·|A|⌉ features of each
    set: of the m positions; of the s smallest of the union, where s ≥ |A|; or of the union."""
    return rare_set_keys(method.set_measure, method.fraction, evidence, rarity)


def score(method: Shingles, evidence: Ragged, a: Array, b: Array) -> Scores:
    if method.sampling == "minima":
        agree = _native.equal_places(evidence.values, evidence.offsets, a, b)
        return shares(agree, evidence.lengths[a], method.fraction)
    if method.sample_limit:
        shared, whole = _native.bottom_overlaps(
            evidence.values, evidence.offsets, a, b, method.sample_limit
        )
        return shares(shared, whole, method.fraction)
    return set_scores(method.set_measure, method.fraction, evidence, a, b)


def whole_score(method: Shingles, evidence: Ragged, a: Array, b: Array) -> Array:
    if method.sampling == "minima" or method.sample_limit:
        return score(method, evidence, a, b).score
    return whole_set_score(method.set_measure, evidence, a, b)


def shares(part: Array, whole: Array, t: Fraction) -> Scores:
    passed = part * t.denominator >= whole * t.numerator
    return Scores(passed, agreeing(part / np.maximum(whole, 1), passed, float(t)))
