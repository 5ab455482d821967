"""Clusters: by the rule (a kept document and what was set aside for it) or by components.

Components are the transitive closure: A and C land together because both match B. They are made
on request only, and their weak bridges are worth a look (``Result.weakest``).

Bridges of a cluster: links whose loss leaves two groups, where a chain may have joined what does
not belong together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neardup.schema import Array


def rule_clusters(kept_of: Array) -> npt.NDArray[np.int64]:
    """Cluster number of each document, −1 where it is alone. ``kept_of`` is −1 for kept ones."""
    root = np.where(kept_of < 0, np.arange(len(kept_of)), kept_of)
    return number_clusters(root)


def components(count: int, a: Array, b: Array) -> npt.NDArray[np.int64]:
    """Connected components by hooking and pointer jumping: a few vectorised rounds."""
    root = np.arange(count)
    while True:
        ra, rb = root[a], root[b]
        differ = ra != rb
        if not differ.any():
            return number_clusters(root)
        high, low = np.maximum(ra, rb)[differ], np.minimum(ra, rb)[differ]
        np.minimum.at(root, high, low)
        while (root[root] != root).any():
            root = root[root]


def number_clusters(root: Array) -> npt.NDArray[np.int64]:
    """Numbers clusters of two or more by their first member; −1 for those alone."""
    _, first, inverse, sizes = np.unique(
        root, return_index=True, return_inverse=True, return_counts=True
    )
    several = np.flatnonzero(sizes > 1)
    number = np.full(len(sizes), -1, np.int64)
    number[several[np.argsort(first[several])]] = np.arange(len(several))
    return number[inverse]


def bridges(count: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """Edges whose loss leaves two groups of two or more each: those of a tree, walked depth first,
    that no other edge goes around."""
    order, above, by = _walked(count, edges)
    place = {node: i for i, node in enumerate(order)}
    around, size, root = [0] * count, [1] * count, list(range(count))
    tree = set(by)
    for number, edge in enumerate(edges):
        if number not in tree:  # it joins a node to one above it
            upper, lower = sorted(edge, key=place.__getitem__)
            around[lower] += 1
            around[upper] -= 1
    for node in order:
        root[node] = root[above[node]] if above[node] >= 0 else node
    for node in reversed(order):
        if above[node] >= 0:
            around[above[node]] += around[node]
            size[above[node]] += size[node]
    return {
        by[node]
        for node in order
        if by[node] >= 0 and not around[node] and 1 < size[node] < size[root[node]] - 1
    }


def _walked(count: int, edges: Sequence[tuple[int, int]]) -> tuple[list[int], list[int], list[int]]:
    """Nodes in the order of a walk depth first; of each the one above it, and the edge to that."""
    beside: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for number, (a, b) in enumerate(edges):
        beside[a].append((b, number))
        beside[b].append((a, number))
    order: list[int] = []
    seen, above, by = [False] * count, [-1] * count, [-1] * count
    stack = [(node, -1, -1) for node in reversed(range(count))]
    while stack:
        node, upper, edge = stack.pop()
        if not seen[node]:
            seen[node], above[node], by[node] = True, upper, edge
            order.append(node)
            stack += [(other, node, number) for other, number in beside[node]]
    return order, above, by
