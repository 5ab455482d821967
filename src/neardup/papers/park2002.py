"""Lexical signatures as in Park et al. 2002 (as Conrad et al. describe them, §2.2).

A signature is five words of a document. It is judged as a query: whether the document itself comes
first (unique identification), and how alike the other answers are to it (relevance). The search is
SQLite FTS5, ranked by BM25, over all documents; the documents asked for are a sample.
"""

from __future__ import annotations

import math
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from neardup.features.field_alignment import cosine
from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, bars
from neardup.papers.paper_pass import read
from neardup.progress import Progress
from neardup.text.words import words

PAPER = "Park, Pennock, Giles & Krovetz 2002, by Conrad et al."
WORDS, ANSWERS, ASKED = 5, 10, 200
CAPPED = 5  # occurrences of a word that count (Phelps & Wilensky)
MEASURES = ("unique", "first", "in the first ten")
FORMATS = {"signature": "", **dict.fromkeys(MEASURES, ".1%"), "relevance": ".3f"}
NOTE = (
    "Unique: no other document has all five words. First: the document, or one of equal words, is "
    "the first answer to any of the five. Relevance: the mean cosine of the words of the document "
    "and of the other answers."
)

Weight = Callable[[str, int], float]  # of a word that occurs so often in the document


class Library(NamedTuple):
    """The words of all documents with their counts, and in how many documents each word is."""

    counts: Sequence[Counter[str]]
    df: Mapping[str, int]
    search: sqlite3.Connection

    def idf(self, word: str) -> float:
        return math.log(len(self.counts) / self.df[word])


def signatures(inputs: Any, options: Options, progress: Progress) -> Experiment:
    material = read(inputs, options, progress)
    library = _library(material.column("text"))
    long = [i for i, counts in enumerate(library.counts) if len(counts) > WORDS]
    asked = sorted(random.Random(options.seed).sample(long, min(ASKED, len(long))))
    rows = [_row(name, of, library, asked) for name, of in _signatures(library).items()]
    library.search.close()
    table = Table("signatures", "Eight signatures of five words", FORMATS, rows, note=NOTE)
    return material.experiment(
        "park2002",
        PAPER,
        {"words": WORDS, "asked": len(asked), "answers": ANSWERS},
        [table],
        [Figure("signatures", "Documents that their signature identifies", lambda: _chart(rows))],
        notes=["Conrad et al.: a couple of rare words with several of high tf or tf·idf is best."],
    )


def _library(texts: Sequence[str]) -> Library:
    counts = [Counter(words(text)) for text in texts]
    search = sqlite3.connect(":memory:")
    search.execute("CREATE VIRTUAL TABLE documents USING fts5(words)")
    search.executemany(
        "INSERT INTO documents (rowid, words) VALUES (?, ?)",
        ((i, " ".join(one.elements())) for i, one in enumerate(counts)),
    )
    return Library(counts, Counter(word for one in counts for word in one), search)


def _signatures(library: Library) -> dict[str, Callable[[Counter[str]], list[str]]]:
    """The eight signatures: words of greatest weight, then the rarest of the others."""

    def of(weight: Weight, rare: int = 0) -> Callable[[Counter[str]], list[str]]:
        return lambda counts: _signature(counts, weight, rare, library)

    tf: Weight = lambda _, count: count  # noqa: E731  # a formula
    df: Weight = lambda word, _: library.idf(word)  # noqa: E731
    both: Weight = lambda word, count: count * library.idf(word)  # noqa: E731
    capped: Weight = lambda word, count: min(count, CAPPED) * library.idf(word)  # noqa: E731
    return {
        "tf": of(tf),
        "df": of(df),
        "tf·idf": of(both),
        "tf·idf, tf up to 5": of(capped),
        "3 tf + 2 df": of(tf, 2),
        "4 tf + 1 df": of(tf, 1),
        "3 tf·idf + 2 df": of(both, 2),
        "4 tf·idf + 1 df": of(both, 1),
    }


def _signature(counts: Counter[str], weight: Weight, rare: int, library: Library) -> list[str]:
    by_weight = sorted(counts, key=lambda word: (-weight(word, counts[word]), word))
    first = by_weight[: WORDS - rare]
    others = sorted(set(counts) - set(first), key=lambda word: (library.df[word], word))
    return first + others[:rare]


def _row(
    name: str, signature: Callable[[Counter[str]], list[str]], library: Library, asked: list[int]
) -> Row:
    tallies: Counter[str] = Counter()
    relevance = []
    for i in asked:
        quoted = [f'"{word}"' for word in signature(library.counts[i])]
        answers = _answers(library, " OR ".join(quoted), ANSWERS)
        equal = [j == i or library.counts[j] == library.counts[i] for j in answers]
        everything = _answers(library, " AND ".join(quoted), ANSWERS)
        same = all(j == i or library.counts[j] == library.counts[i] for j in everything)
        tallies["unique"] += bool(everything) and same
        tallies["first"] += equal[:1] == [True]
        tallies["in the first ten"] += any(equal)
        others = [j for j, one in zip(answers, equal, strict=True) if not one]
        relevance += [cosine(library.counts[i], library.counts[j]) for j in others]
    shares = {measure: tallies[measure] / max(len(asked), 1) for measure in MEASURES}
    mean = sum(relevance) / len(relevance) if relevance else 0.0
    return {"signature": name, **shares, "relevance": mean}


def _answers(library: Library, query: str, most: int) -> list[int]:
    found = library.search.execute(
        "SELECT rowid FROM documents WHERE documents MATCH ? ORDER BY rank, rowid LIMIT ?",
        [query, most],
    )
    return [row for (row,) in found]


def _chart(rows: Sequence[Row]) -> Any:
    drawn = [
        {"signature": row["signature"], "share": row[measure], "of": measure}
        for row in rows
        for measure in MEASURES
    ]
    order = [row["signature"] for row in rows]
    return bars(
        drawn, ("signature", "signature"), ("share", "share of documents"), "of", order, form=".0%"
    )
