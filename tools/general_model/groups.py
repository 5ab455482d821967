"""Groups that can be trusted: one group for what is one text, and none for what no longer is.

Documents of unlike groups that have equal normal forms, or resemble each other by 0.9, are put into
one group, such as a passage that two handbooks share. Of a group only those documents stay that
resemble all the others of it, and no two of them are equal: what every method finds teaches
nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa

import neardup as nd
from neardup import schema
from neardup.methods.shingles import Shingles
from neardup.text.words import normal_form
from tools.general_model.document import Document

SAME, VERSION = 0.9, 0.2  # resemblance of shingles of three words
WORDS = 3


def trusted(documents: Sequence[Document]) -> list[Document]:
    names = _Names()
    unequal = _unequal(documents, names)
    _join_alike(unequal, names)
    return _versions([replace(one, group=names[one.group]) for one in unequal])


class _Names:
    """The first name of each group, however many were joined."""

    def __init__(self) -> None:
        self._of: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        while name in self._of:
            name = self._of[name]
        return name

    def join(self, a: str, b: str) -> None:
        first, last = sorted((self[a], self[b]))
        if first != last:
            self._of[last] = first


def _unequal(documents: Sequence[Document], names: _Names) -> list[Document]:
    """Equal texts once."""
    found: dict[str, Document] = {}
    for one in documents:
        names.join(found.setdefault(normal_form(one.text), one).group, one.group)
    return list(found.values())


def _join_alike(documents: Sequence[Document], names: _Names) -> None:
    rows = [{"id": one.id, "text": one.text} for one in documents]
    group = {one.id: one.group for one in documents}
    pairs = nd.find(rows, method=Shingles(words=WORDS, threshold=SAME)).pairs
    for a, b in zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True):
        names.join(group[a], group[b])


def _versions(documents: Sequence[Document]) -> list[Document]:
    """Those that resemble all of their group that were taken before them."""
    members: dict[str, list[Document]] = defaultdict(list)
    for one in documents:
        members[one.group].append(one)
    return [one for group in members.values() for one in _of_one_text(group)]


def _of_one_text(group: list[Document]) -> Iterator[Document]:
    alike = pairs_alike([one.text for one in group], VERSION)
    taken: list[int] = []
    for i, one in enumerate(group):
        if all((j, i) in alike for j in taken):
            taken.append(i)
            yield one


def pairs_alike(texts: Sequence[str], threshold: float) -> set[tuple[int, int]]:
    """Pairs (i, j), i < j, whose resemblance is at least the threshold."""
    pairs = np.array(list(combinations(range(len(texts)), 2)), np.int64).reshape(-1, 2)
    if not len(pairs):
        return set()
    method = Shingles(words=WORDS, threshold=threshold)
    table = pa.table({"id": [str(i) for i in range(len(texts))], "text": texts})
    batch = table.cast(pa.schema([schema.documents().field(n) for n in ("id", "text")]))
    evidence = method.prepare(batch.to_batches()[0]).evidence
    passed = method.score(evidence, pairs[:, 0], pairs[:, 1]).passed
    return {(int(a), int(b)) for a, b in pairs[passed]}
