"""A corpus of news-length pseudo-English with planted near-duplicates: same number, same bytes.

Words are drawn by a Zipf law from 50,000 pseudo-words, lengths are log-normal (mean about 800
words), and a fifth of the documents are copies of one of the 20,000 originals before them: words
substituted, inserted or deleted at .5, 1, 2, 5 or 10 %, an excerpt, a paragraph added, or
boilerplate around. `group` is the id of the original, `kind` what was done to it. A smaller corpus
is the head of a larger one.

It stands in for the generator that NEARDUP_BENCH may name, and differs from it: punctuation and
paragraph breaks belong to the word before them, so that an edit never moves the breaks behind it
(there a break comes every 80 words, which costs tools that do not normalise white space their
recall); the commonest words never end a sentence; the vocabulary, the seed and so the figures are
its own.

usage: generate DOCUMENTS PREFIX (writes PREFIX.jsonl and PREFIX.parquet)
"""

from __future__ import annotations

import itertools
import json
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

SEED = 7
VOCABULARY, COMMON = 50_000, 100
ZIPF_EXPONENT, ZIPF_SHIFT = 1.05, 2.7
MEAN_WORDS, SIGMA, SHORTEST, LONGEST = 800, 0.6, 60, 6_000
COPIES = 0.2
WINDOW = 20_000
EDITS = {f"edit-{rate:g}%": rate / 100 for rate in (0.5, 1, 2, 5, 10)}
KINDS = [*EDITS, "excerpt", "paragraph", "boilerplate"]
ORIGINAL = "original"
BATCH = 5_000

STARTS = [*"bcdfghjklmnprstvwz", "ch", "dr", "fl", "gr", "pl", "pr", "sh", "sl", "st", "th", "tr"]
VOWELS = [*"aeiou", "ai", "ea", "ou"]
ENDS = ["", "", "", *"nrstldm", "nd", "nt", "st"]


class Document(NamedTuple):
    id: int
    text: str
    group: int
    kind: str


class Source:
    """Words, and documents made of them; all from one stream of random numbers."""

    def __init__(self, seed: int = SEED) -> None:
        self.rng = np.random.default_rng(seed)
        words = _vocabulary(self.rng)
        self.ends_sentence, self.forms = _forms(words, self.rng)
        self.by_chance = _zipf_table()
        self.frames = [self.words(int(n)) for n in self.rng.integers(20, 81, 8)]

    def words(self, n: int) -> np.ndarray:
        return self.by_chance[self.rng.integers(0, len(self.by_chance), n)]

    def original(self) -> np.ndarray:
        n = self.rng.lognormal(np.log(MEAN_WORDS) - SIGMA**2 / 2, SIGMA)
        return self.words(int(np.clip(n, SHORTEST, LONGEST)))

    def copy(self, words: np.ndarray, kind: str) -> np.ndarray:
        if kind in EDITS:
            return self._edited(words, EDITS[kind])
        if kind == "excerpt":
            length = int(len(words) * self.rng.uniform(0.5, 0.95))
            start = self._place(len(words) - length)
            return words[start : start + length]
        if kind == "paragraph":
            added = self.words(int(self.rng.integers(40, 121)))
            return np.insert(words, self._place(len(words)), added)
        head, foot = self.rng.integers(0, 4, 2)
        return np.concatenate([self.frames[head], words, self.frames[4 + foot]])

    def text(self, words: np.ndarray) -> str:
        """A word after a full stop, and the first one, is capitalised."""
        starts = np.empty(len(words), dtype=bool)
        starts[0] = True
        starts[1:] = self.ends_sentence[words[:-1]]
        return "".join(self.forms[words + VOCABULARY * starts].tolist()).rstrip()

    def _edited(self, words: np.ndarray, rate: float) -> np.ndarray:
        """Each place that is touched is substituted, inserted before, or deleted."""
        count = max(1, int(self.rng.binomial(len(words), rate)))
        places = np.sort(self.rng.choice(len(words), count, replace=False))
        acts = self.rng.integers(0, 3, count)
        edited = words.copy()
        edited[places[acts == 0]] = self.words(int((acts == 0).sum()))
        fresh = self.words(int((acts == 1).sum()))
        keep = np.ones(len(words), dtype=bool)
        keep[places[acts == 2]] = False
        inserted = np.insert(edited, places[acts == 1], fresh)
        return inserted[np.insert(keep, places[acts == 1], True)]

    def _place(self, last: int) -> int:
        return int(self.rng.integers(0, last + 1))


def documents() -> Iterator[Document]:
    """Without end: take as many as needed."""
    source = Source()
    recent: deque[tuple[int, np.ndarray]] = deque(maxlen=WINDOW)
    for number in itertools.count():
        if recent and source.rng.random() < COPIES:
            group, words = recent[int(source.rng.integers(len(recent)))]
            kind = KINDS[int(source.rng.integers(len(KINDS)))]
            words = source.copy(words, kind)
        else:
            group, kind, words = number, ORIGINAL, source.original()
            recent.append((number, words))
        yield Document(number, source.text(words), group, kind)


def write(count: int, prefix: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = [pa.int64(), pa.string(), pa.int64(), pa.string()]
    schema = pa.schema(list(zip(Document._fields, types, strict=True)))
    stream = itertools.islice(documents(), count)
    with (
        open(f"{prefix}.jsonl", "w", encoding="utf-8") as lines,
        pq.ParquetWriter(f"{prefix}.parquet", schema, compression="zstd") as table,
    ):
        while batch := list(itertools.islice(stream, BATCH)):
            lines.writelines(json.dumps(document._asdict()) + "\n" for document in batch)
            columns = [pa.array(c, t) for c, t in zip(zip(*batch, strict=True), types, strict=True)]
            table.write_table(pa.table(columns, schema=schema))


def _vocabulary(rng: np.random.Generator) -> list[str]:
    """Distinct pseudo-words of one to three syllables, the commoner the shorter."""
    words: dict[str, None] = {}
    while len(words) < VOCABULARY:
        syllables = 1 + (rng.random(2) < np.log10(len(words) + 1) / [5, 8]).sum()
        parts = rng.random((syllables, 3)) * [len(STARTS), len(VOWELS), len(ENDS)]
        spelled = [(STARTS[s], VOWELS[v], ENDS[e]) for s, v, e in parts.astype(int).tolist()]
        words["".join(itertools.chain.from_iterable(spelled))] = None
    return list(words)


def _forms(words: list[str], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which words end a sentence; every word with what follows it, plain and then capitalised."""
    chance = rng.random(len(words))
    chance[:COMMON] = 1
    marks = np.select([chance < 0.02, chance < 0.12, chance < 0.22], [".\n\n", ". ", ", "], " ")
    followed = [word + mark for word, mark in zip(words, marks.tolist(), strict=True)]
    forms = followed + [form[0].upper() + form[1:] for form in followed]
    return chance < 0.12, np.array(forms, dtype=object)


def _zipf_table(size: int = 1 << 20) -> np.ndarray:
    """Words at equal steps of the cumulative law: a random entry is a word drawn by it."""
    weights = 1 / (np.arange(1, VOCABULARY + 1) + ZIPF_SHIFT) ** ZIPF_EXPONENT
    steps = (np.arange(size) + 0.5) / size
    return np.searchsorted(np.cumsum(weights / weights.sum()), steps).astype(np.int32)


if __name__ == "__main__":
    write(int(sys.argv[1]), Path(sys.argv[2]))
