"""Bridges of a cluster: links whose loss leaves two groups, where a chain may have joined what does
not belong together."""

from __future__ import annotations

from collections.abc import Sequence


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
