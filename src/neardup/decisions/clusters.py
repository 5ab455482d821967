"""Clusters of documents by components or by average link, and the bridges of a cluster.

By the rule, a cluster is a kept document and its duplicates (``decisions/rule.py``). Components are
the transitive closure: A and C are in one cluster because both match B. They are computed on
request only, because a chain may join documents that do not belong together. By average link,
clusters are merged only while the mean score over all their pairs reaches the threshold, so chains
do not grow. With constraints from labels (must-link, cannot-link; Yang & Callan 2006), pairs join
clusters from the highest score on, unless that would bring two documents together that were judged
to be different. A bridge is a pair without which a cluster falls apart into two groups; bridges
with a low score are the first to review (``Result.weakest``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neardup import _native
from neardup.decisions.rule import number_clusters
from neardup.matching.consistency import merged_groups
from neardup.matching.evidence import Pairs
from neardup.matching.scorer import ROUNDING
from neardup.schema import Array


def components(count: int, a: Array, b: Array) -> npt.NDArray[np.int32]:
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


def average_clusters(leader: Array, pairs: Pairs, threshold: float) -> npt.NDArray[np.int32]:
    """Average link over the pairs that pass; all others score 0, and a pair that passes below the
    threshold counts as one at it. ``leader`` is the document that stands for all with equal
    evidence: each of these counts."""
    everyone = np.arange(len(leader))
    first = everyone.copy()
    np.minimum.at(first, leader, everyone)
    name = first[leader]
    weights = np.bincount(name, minlength=len(name)).astype(np.float64)
    distinct = pairs.mapped(name).distinct()
    score = np.maximum(distinct.score, threshold)
    # A mean of equal scores may be rounded to below them.
    least = threshold - ROUNDING
    low, high, _ = _native.average_link(weights, distinct.a, distinct.b, score, least)
    return number_clusters(merged_groups(len(name), low, high)[name])


def constrained_clusters(
    count: int, pairs: Pairs, must: Sequence[tuple[int, int]], cannot: Sequence[tuple[int, int]]
) -> tuple[npt.NDArray[np.int32], int]:
    """The cluster number of each document, and how many pairs of ``cannot`` are together because
    of ``must``, which is applied first."""
    root = list(range(count))
    members = [[one] for one in root]
    apart: list[set[int]] = [set() for _ in root]  # documents that must not join the cluster

    def join(a: int, b: int) -> None:
        large, small = sorted((root[a], root[b]), key=lambda one: -len(members[one]))
        if large != small:
            for one in members[small]:
                root[one] = large
            members[large] += members[small]
            apart[large] |= apart[small]

    for a, b in must:
        join(a, b)
    conflicts = sum(root[a] == root[b] for a, b in cannot)
    for a, b in cannot:
        apart[root[a]].add(b)
        apart[root[b]].add(a)
    for pair in np.lexsort((pairs.b, pairs.a, -pairs.score)).tolist():
        a, b = int(pairs.a[pair]), int(pairs.b[pair])
        forbidden = apart[root[a]]
        if not forbidden or forbidden.isdisjoint(members[root[b]]):
            join(a, b)
    return number_clusters(np.array(root, np.int64)), conflicts


def bridges(count: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """Edges without which a component falls apart into two groups of two or more documents each.

    They are the edges of a depth-first tree that no other edge bypasses."""
    order, parent, parent_edge = _depth_first(count, edges)
    place = {node: i for i, node in enumerate(order)}
    bypasses, size, root = [0] * count, [1] * count, list(range(count))
    tree = set(parent_edge)
    for number, edge in enumerate(edges):
        if number not in tree:  # such an edge joins a node to one of its ancestors
            upper, lower = sorted(edge, key=place.__getitem__)
            bypasses[lower] += 1
            bypasses[upper] -= 1
    for node in order:
        root[node] = root[parent[node]] if parent[node] >= 0 else node
    for node in reversed(order):
        if parent[node] >= 0:
            bypasses[parent[node]] += bypasses[node]
            size[parent[node]] += size[node]
    return {
        parent_edge[node]
        for node in order
        if parent_edge[node] >= 0 and not bypasses[node] and 1 < size[node] < size[root[node]] - 1
    }


def _depth_first(
    count: int, edges: Sequence[tuple[int, int]]
) -> tuple[list[int], list[int], list[int]]:
    """The nodes in depth-first order; for each node its parent, and the edge to it, or −1."""
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for number, (a, b) in enumerate(edges):
        neighbours[a].append((b, number))
        neighbours[b].append((a, number))
    order: list[int] = []
    seen, parent, parent_edge = [False] * count, [-1] * count, [-1] * count
    stack = [(node, -1, -1) for node in reversed(range(count))]
    while stack:
        node, upper, edge = stack.pop()
        if not seen[node]:
            seen[node], parent[node], parent_edge[node] = True, upper, edge
            order.append(node)
            stack += [(neighbour, node, number) for neighbour, number in neighbours[node]]
    return order, parent, parent_edge
