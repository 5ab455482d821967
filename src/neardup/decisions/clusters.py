"""Clusters: by the rule (a kept document and what was set aside for it) or by components.

Components are the transitive closure: A and C land together because both match B. They are made
on request only, and their weak bridges are worth a look (``Result.weakest``).
"""

from __future__ import annotations

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
