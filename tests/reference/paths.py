"""The slow, obvious twin of native/matching/paths: one path, one feature at a time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from reference.shingles import scramble

SECRET_2, SECRET_3 = 0x8BB84B93962EACC9, 0x4B33A62ED433D4A3
HASH, DEPTH = (1 << 64) - 1 - 0x3FF, 0xF


def child(path: int, feature: int) -> int:
    product = (path ^ SECRET_2) * (feature ^ SECRET_3)
    return scramble(product & (1 << 64) - 1 ^ product >> 64) & HASH


def chosen(path: int, features: Sequence[int], m: int) -> list[int]:
    """Those in the window, as they come after its beginning."""
    first = scramble(path & HASH) >> 32
    width = -(-(1 << 32) // m) if m > 1 else (1 << 32) - 1
    after = {(feature - first) % (1 << 32): feature for feature in features}
    return [after[distance] for distance in sorted(after) if distance < width]


def longer(
    path: int, features: Sequence[int], rarity: Sequence[int], m: int, few_bits: int, deepest: int
) -> list[int]:
    crowd = 8 * ((path >> 4 & 0x3F) - few_bits)
    return _longer(path & HASH, path & DEPTH, crowd, crowd, (), features, rarity, m, deepest)


def _longer(
    path: int,
    depth: int,
    start: int,
    crowd: int,
    on_path: tuple[int, ...],
    features: Sequence[int],
    rarity: Sequence[int],
    m: int,
    deepest: int,
) -> list[int]:
    made = []
    for feature in chosen(path, features, m):
        after = child(path, feature)
        left = crowd - (0 if feature in on_path else rarity[feature % len(rarity)])
        parts_few = len(on_path) == 2 and start - left < 20
        if left <= 0 or depth + 1 >= deepest or parts_few:
            made.append(after | depth + 1)
        else:
            seen = (*on_path, feature)
            made += _longer(after, depth + 1, start, left, seen, features, rarity, m, deepest)
    return made


def parity(features: Sequence[int], words: int) -> set[int]:
    """The bits on which an odd number of features fall."""
    bits: set[int] = set()
    for feature in features:
        bits ^= {scramble(feature ^ 0xD1B54A32D192ED03) % (64 * words)}
    return bits


def may_pass(a: Sequence[int], b: Sequence[int], words: int, share: Fraction) -> bool:
    differing = len(parity(a, words) ^ parity(b, words))
    most = (len(a) + len(b) - differing) // 2
    return most >= -(-max(len(a), len(b)) * share.numerator // share.denominator)
