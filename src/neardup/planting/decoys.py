"""Traps: pairs of documents made from one template with other content.

A frame of header, menu and footer around sentences of two unrelated documents. They share the
frame and nothing else, as two notices of one authority or two pages of one site do, so a pair that
passes is a false alarm.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa

from neardup.planting.material import joined, sentence_parts, unit_count
from neardup.planting.plant import Planted, table_of
from neardup.planting.word_edits import framed

PREFIX = "trap:"
TRAP = "trap"
SHARES = (0.25, 0.5, 0.75)  # of a document that is frame
MOST_UNITS = 400  # of content; longer ones would only cost time


def traps(planted: Planted, pairs: int) -> pa.Table:
    """So many pairs for each share, in neighbouring rows; ``donors`` is whose sentences it has.
    Each pair has a template of its own, so that pairs are independent trials."""
    texts = planted.material.texts
    rows: list[dict[str, Any]] = []
    taken: list[int] = []
    for share in SHARES if len(texts) > 1 else ():
        random = Random(f"{planted.seed}:traps:{share:g}")
        for number in range(pairs):
            two = random.sample(range(len(texts)), 2)
            length = min(MOST_UNITS, *(unit_count(texts[i][1]) for i in two))
            for side, i in zip("ab", two, strict=True):
                name = f"{share:g}:{number}"
                frame = round(length * share / (1 - share))
                content = beginning(texts[i][1], length)
                text = framed(content, planted.material, f"{planted.seed}:{name}", frame)
                rows.append(_row(f"{PREFIX}{name}:{side}", text, share, texts[i][0]))
            taken += [two[0]] * 2  # equal dates and groups: these must not be what parts them
    return table_of(rows, planted.drawn.take(pa.array(taken, pa.int64())))


def _row(id: str, text: str, share: float, donor: str) -> dict[str, Any]:
    return {"id": id, "text": text, "edit": TRAP, "rate": share, "donors": [donor]}


def beginning(text: str, length: int) -> str:
    """The first sentences, of at least ``length`` units together."""
    parts = sentence_parts(text)
    taken = 0
    for number, part in enumerate(parts):
        taken += unit_count(part.text)
        if taken >= length:
            return joined(parts[: number + 1]).strip()
    return text.strip()
