"""Count the general tables that an index begins with.

    python -m tools.general_tables --cache DIR

Writes ``general-shingles.arrow`` and ``general-words.arrow`` into ``src/neardup/models``. They are
counted from the Debian texts of the general model (docs/general-model.md), one version of each.
Only what many texts have is kept, as hashes and as single words: no text can be read from it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.artefacts.frequencies import (
    MOST_COUNT,
    UNKNOWN_COUNT,
    Frequencies,
    Grams,
    SlotCounts,
    shingle_sets,
)
from neardup.artefacts.idf import IdfCounter, IdfTable
from neardup.schema import Ragged
from neardup.text.text_options import Text
from tools.general_model.document import Document
from tools.general_model.sources import debian

MODELS = Path(__file__).parents[1] / "src" / "neardup" / "models"
WORDS, FEWEST_TEXTS, SLOTS = 3, 8, 1 << 21  # of a shingle; that have it; one in fifty is taken
FEWEST_TEXTS_OF_WORDS = 3


def first_versions(documents: Iterable[Document]) -> pa.LargeStringArray:
    """One text of each group: what all versions of a text have is not common for that."""
    texts: dict[str, str] = {}
    for one in documents:
        texts.setdefault(one.group, one.text)
    return pa.array(texts.values(), pa.large_string())


def shingle_table(texts: pa.LargeStringArray) -> Frequencies:
    """What fewer texts have, and what is not known, counts as what two have."""
    text = Text()
    features = shingle_sets(Ragged.of_strings(texts), WORDS, text).values
    known, counts = np.unique(features, return_counts=True)
    common = counts >= FEWEST_TEXTS
    table = np.full(SLOTS, UNKNOWN_COUNT, np.uint16)
    slots = known[common] & np.uint32(SLOTS - 1)
    np.maximum.at(table, slots, np.minimum(counts[common], MOST_COUNT).astype(np.uint16))
    return Frequencies(SlotCounts.of(table), len(texts), Grams(WORDS), text)


def word_table(texts: pa.LargeStringArray) -> IdfTable:
    counter = IdfCounter("words", Text())
    counter.add(counter.count(pa.RecordBatch.from_arrays([texts], ["text"])))
    return counter.finish().at_least(FEWEST_TEXTS_OF_WORDS)


def write(texts: pa.LargeStringArray, folder: Path) -> None:
    shingle_table(texts).save(folder / "general-shingles.arrow")
    words = folder / "general-words.arrow"
    word_table(texts).save(words)
    _compress(words)


def _compress(path: Path) -> None:
    with pa.OSFile(str(path), "rb") as source:
        table = pa.ipc.open_file(source).read_all()
    options = pa.ipc.IpcWriteOptions(compression=pa.Codec("zstd", 19))
    with pa.ipc.new_file(str(path), table.schema, options=options) as writer:
        writer.write_table(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cache", type=Path, required=True, help="where packages stay")
    parser.add_argument("-o", "--output", type=Path, default=MODELS, metavar="DIR")
    asked = parser.parse_args()
    texts = first_versions(one for _, one in debian(asked.cache))
    write(texts, asked.output)
    print(f"{len(texts):,} texts")


if __name__ == "__main__":
    main()
