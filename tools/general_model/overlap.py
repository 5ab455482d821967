"""Whether the material has texts of sets that neardup is measured on: none may be near one.

    python -m tools.general_model.overlap DIR SETS

Prints the pairs of a real document of the material and a document of a set that resemble each
other by half or more, in shingles of three words, and fails if there is one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import neardup as nd
from neardup.methods.shingles import Shingles
from neardup.runs.texts_again import REFERENCE
from tools.general_model.collect import read

NEAR = 0.5


def overlaps(material: Path, sets: Path) -> Iterator[tuple[str, str, float]]:
    """(id in the material, id in the set, resemblance)."""
    rows = [
        {"id": f"{path.stem}:{one.id}", "text": one.text}
        for path in sorted(material.glob("*.jsonl"))
        for one in read(path)
        if one.edit is None
    ]
    method = Shingles(words=3, threshold=NEAR)
    for path in sorted(sets.glob("*/docs.jsonl.zst")):
        for pair in nd.find(rows, method=method, against=path).pairs.to_pylist():
            if pair["a"].startswith(REFERENCE):
                yield pair["b"], f"{path.parent.name}:{pair['a']}", pair["score"]


def main() -> None:
    found = list(overlaps(Path(sys.argv[1]), Path(sys.argv[2])))
    for a, b, score in found:
        print(f"{a}\t{b}\t{score:.3f}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
