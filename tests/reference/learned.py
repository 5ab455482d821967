"""The slow, obvious twin of native/methods/learned: keys, noise and rare grams of one document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

COMMON, RARE, LONE, NOISE = range(4)
SPREAD, ORDER = 0x9E3779B97F4A7C15, 0x85EBCA6B
MASK = (1 << 64) - 1
CLASSES = ((48, 2, 20), (8, 21, 100), (32, 0, 1))


def key(gram: int, number: int) -> int:
    return (gram + (number << 32)) * SPREAD & MASK


def keys(counts: Mapping[int, int], bands: Sequence[int], *, closed: bool = False) -> list[int]:
    """``counts`` has for each gram how many documents have it; three keys stand for each band."""
    found = [band * SPREAD + number & MASK for band in bands for number in range(3)]
    for number, (most, least, last) in enumerate(CLASSES[: 2 if closed else 3], 1):
        grams = [gram for gram, count in counts.items() if least <= count <= last]
        order = {gram: gram * ORDER % (1 << 32) for gram in grams}
        near = [gram for gram in grams if order[gram] < min(3 * most / len(grams), 1) * (1 << 32)]
        found += [key(gram, number) for gram in sorted(near, key=lambda gram: order[gram])[:most]]
    return sorted(found)


def entries(features: Sequence[int], weight_of: Mapping[int, int]) -> list[int]:
    return [feature << 32 | weight_of[feature] for feature in features]


def marked(entries: Sequence[int]) -> list[int]:
    """Of a noisy document the unique words are noise."""
    lone = [entry for entry in entries if entry % 4 == LONE]
    if len(entries) < 20 or 100 * len(lone) < 12 * len(entries):
        return list(entries)
    return [entry | NOISE if entry % 4 == LONE else entry for entry in entries]


def rare(entries: Sequence[int], least: int, every: int) -> list[int]:
    if len(entries) < least:
        return []
    return [entry for entry in entries if entry % 4 == RARE and (entry >> 32) % every == 0]


def known(entries: Sequence[int]) -> int:
    return sum(entry % (1 << 32) >> 2 for entry in entries if entry % 4 in (COMMON, RARE))
