"""Decoys: pairs of documents with the same template and different content.

A decoy is a frame of header, menu and footer around sentences of a document. The two decoys of a
pair share the frame and nothing else, like two pages of one web site. A decoy pair that is reported
as a duplicate is therefore a false alarm. Ids and the column ``edit`` call decoys ``trap``.
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
SHARES = (0.25, 0.5, 0.75)  # the share of a decoy that is frame
MOST_UNITS = 400  # of content; longer decoys would only cost time


def decoys(planted: Planted, pairs: int) -> pa.Table:
    """``pairs`` pairs of decoys for each share, a pair in neighbouring rows.

    ``donors`` names the document whose sentences a decoy contains. Each pair has its own template,
    so that pairs are independent trials."""
    texts = planted.material.texts
    rows: list[dict[str, Any]] = []
    originals: list[int] = []
    for share in SHARES if len(texts) > 1 else ():
        random = Random(f"{planted.seed}:traps:{share:g}")
        for number in range(pairs):
            donors = random.sample(range(len(texts)), 2)
            length = min(MOST_UNITS, *(unit_count(texts[donor][1]) for donor in donors))
            name = f"{share:g}:{number}"
            frame = round(length * share / (1 - share))
            for side, donor in zip("ab", donors, strict=True):
                id, text = texts[donor]
                content = beginning(text, length)
                rows.append(
                    {
                        "id": f"{PREFIX}{name}:{side}",
                        "text": framed(content, planted.material, f"{planted.seed}:{name}", frame),
                        "edit": TRAP,
                        "rate": share,
                        "donors": [id],
                    }
                )
            originals += [donors[0]] * 2  # equal dates and groups must not separate the pair
    return table_of(rows, planted.drawn.take(pa.array(originals, pa.int64())))


def beginning(text: str, length: int) -> str:
    """The first sentences, together at least ``length`` units long."""
    parts = sentence_parts(text)
    total = 0
    for number, part in enumerate(parts, 1):
        total += unit_count(part.text)
        if total >= length:
            return joined(parts[:number]).strip()
    return text.strip()
