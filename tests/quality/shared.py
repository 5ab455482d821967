"""What documents that the usual method sets aside share with those they are set aside for.

Two floors, both on the texts alone and by slow, obvious code. Below the threshold three fifths of
the smaller text must be readable in the other. From the threshold on the weights of grams decide,
and three tenths of the word 3-shingles of the smaller must be in both: noise breaks the others.

``python -m quality.shared`` prints the lowest shares on the whole sets; ``make quality`` runs it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import neardup as nd
from conftest import DATA
from neardup.text.recognition import FLOOR
from reference.recognition import share, shingle_share
from test_real_data import rows

SETS = ("bbc_news", "press_de", "newsgroups20", "procedure_codes")
READ, WEIGHED = Fraction(FLOOR, 100), Fraction(3, 10)
# The codes in which different sections were once set aside for each other: 7,487 sections.
CODES = (
    *("AL1867", "AL1876", "CO1877", "CO1884", "GA1860"),
    *("GA1882", "IA1878", "LA1825french", "NY1829"),
)


class Aside(NamedTuple):
    """A document, the one it was set aside for, and the share by which the pair is judged."""

    id: str
    kept_id: str
    score: float
    below: bool  # the threshold
    share: Fraction

    @property
    def too_little(self) -> bool:
        return self.share < (READ if self.below else WEIGHED)

    def __str__(self) -> str:
        return (
            f"{self.id} for {self.kept_id}: score {self.score:.3f}, share {float(self.share):.3f}"
        )


def documents(folder: Path, codes: Sequence[str] = ()) -> list[dict[str, Any]]:
    return [
        {"id": one["id"], "text": one["text"]}
        for one in rows(folder / "docs.jsonl.zst")
        if not codes or one["code"] in codes
    ]


def set_aside(texts: list[dict[str, Any]]) -> list[Aside]:
    """All but equal ones."""
    result = nd.dedup(texts, kinds="none")
    text = {one["id"]: one["text"] for one in texts}
    found = []
    for row in result.duplicates.to_pylist():
        if row["reason"] == "equal":
            continue
        below = row["score"] < result.threshold
        shared = share if below else shingle_share
        pair = text[row["id"]], text[row["kept_id"]]
        found.append(Aside(row["id"], row["kept_id"], row["score"], below, shared(*pair)))
    return found


def main() -> int:
    wrong = 0
    for name in SETS:
        found = set_aside(documents(DATA / name))
        for below, said in ((True, "below the threshold"), (False, "from the threshold on")):
            some = [one for one in found if one.below == below]
            least = min(some, key=lambda one: one.share, default="none")
            print(f"{name:<20}{len(some):>8,} {said}; least: {least}", flush=True)
        wrong += sum(one.too_little for one in found)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
