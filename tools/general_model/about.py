"""What the general model says of itself: what it was trained on, and how good it was there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tools.general_model.document import Document
from tools.general_model.pairs import Array, Pairs

REVISION, TRAP, OTHER = "revision", "trap", "other text"
FRAMED = {"trap", "form"}


def about(everything: Sequence[Pairs], passed: Mapping[str, Array]) -> dict[str, Any]:
    """``passed``: by collection, which pairs passed where the model was trained without it."""
    duplicates = sum(int(one.y.sum()) for one in everything)
    count = sum(len(one.y) for one in everything)
    collections = {one.collection: _row(one, passed[one.collection]) for one in everything}
    return {
        "labels": "revisions, planted copies and traps",
        "pairs": count,
        "duplicates": duplicates,
        "others": count - duplicates,
        "documents": sum(len(one.documents) for one in everything),
        "languages": sorted({doc.lang for one in everything for doc in one.documents}),
        "left_out_family": {name: _mean(collections, name) for name in ("recall", "apart")},
        "pairs_by_edit": _by_edit(everything, passed),
        "collections": collections,
    }


def _row(one: Pairs, passed: Array) -> dict[str, Any]:
    duplicate = one.y == 1
    return {
        "documents": len(one.documents),
        "duplicates": int(duplicate.sum()),
        "others": int((~duplicate).sum()),
        "recall": _share(passed[duplicate]),
        "apart": _share(~passed[~duplicate]),
    }


def _share(of: Array) -> float:
    return round(float(np.mean(of)), 4)


def _mean(collections: Mapping[str, dict[str, Any]], name: str) -> float:
    return _share(np.array([row[name] for row in collections.values()]))


def _by_edit(everything: Sequence[Pairs], passed: Mapping[str, Array]) -> dict[str, Any]:
    found = defaultdict[str, list[bool]](list)
    for one in everything:
        rows = zip(one.a, one.b, one.y, passed[one.collection].tolist(), strict=True)
        for a, b, y, through in rows:
            for name in _names(one.documents[a], one.documents[b], same=y == 1):
                found[name].append(through)
    return {
        name: {"pairs": len(some), "passed": _share(np.array(some))}
        for name, some in sorted(found.items())
    }


def _names(a: Document, b: Document, *, same: bool) -> Iterator[str]:
    """Of others whether one is a trap, of duplicates the edit and rate; two copies have two."""
    made = {f"{one.edit} {one.rate:g}" for one in (a, b) if one.edit}
    if not same:
        yield TRAP if {a.edit, b.edit} & FRAMED else OTHER
    elif len(made) < 2:
        yield next(iter(made), REVISION)
    else:
        yield "several edits"
