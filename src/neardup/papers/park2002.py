"""Lexical signatures as in Park et al. 2002 (as Conrad et al. describe them, §2.2).

A signature is five words of a document. It is judged as a query: whether the document itself comes
first (unique identification), and how alike the other answers are to it (relevance). The search is
SQLite FTS5, ranked by BM25, over all documents; the documents asked for are a sample.

``align_fields`` finds which columns of unlike tables mean the same, by their values. Raveena &
Nandini print a fragment named ALIGN: group data items of the same concept if their
similarity is above T, then shift items by the mean similarity of groups. This is our reading of it:
an item is a column, its similarity to another is the cosine of the words of all their values, and a
group has at most one column of each table. Columns join from the greatest similarity on; then a
column moves to a group that it resembles more on average than its own.
"""

from __future__ import annotations

import math
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from neardup.papers.experiment import Experiment, Figure, Options, Row, Table, bars
from neardup.papers.paper_pass import read
from neardup.progress import Progress
from neardup.text.words import words

Record = Mapping[str, Any]
Column = tuple[int, str]  # the number of its table, and its name


def align_fields(
    tables: Sequence[Sequence[Record]], threshold: float = 0.5
) -> list[dict[int, str]]:
    """Groups of columns, each as the name by the number of the table, in the order of the first
    table that has them. Columns without a partner are left out."""
    profiles = {
        (number, name): _profile(records, name)
        for number, records in enumerate(tables)
        for name in dict.fromkeys(name for record in records for name in record)
    }
    alike = {
        frozenset((one, other)): cosine(profiles[one], profiles[other])
        for one, other in combinations(profiles, 2)
        if one[0] != other[0]
    }
    groups = _shifted(_joined(list(profiles), alike, threshold), alike, threshold)
    return [dict(sorted(group)) for group in groups if len(group) > 1]


def cosine(a: Counter[str], b: Counter[str]) -> float:
    shared = sum(count * b[word] for word, count in a.items())
    sizes = math.prod(math.sqrt(sum(n * n for n in one.values())) for one in (a, b))
    return shared / sizes if sizes else 0.0


def _profile(records: Sequence[Record], name: str) -> Counter[str]:
    values = (record.get(name) for record in records)
    return Counter(word for value in values if value is not None for word in words(str(value)))


def _joined(
    columns: list[Column], alike: Mapping[frozenset[Column], float], threshold: float
) -> list[list[Column]]:
    group = {column: [column] for column in columns}
    for pair in sorted(alike, key=lambda pair: (-alike[pair], sorted(pair))):
        one, other = (group[column] for column in sorted(pair))
        tables = {number for number, _ in (*one, *other)}
        if one is not other and alike[pair] > threshold and len(tables) == len(one) + len(other):
            one += other
            group.update(dict.fromkeys(other, one))
    return list({id(one): one for one in group.values()}.values())


def _shifted(
    groups: list[list[Column]], alike: Mapping[frozenset[Column], float], threshold: float
) -> list[list[Column]]:
    """Each column once to the group of greatest mean similarity that has none of its table."""

    def mean(column: Column, group: list[Column]) -> float:
        others = [alike[frozenset((column, one))] for one in group if one != column]
        return sum(others) / len(others) if others else 0.0

    for own in list(groups):
        for column in list(own):
            free = [group for group in groups if column[0] not in {number for number, _ in group}]
            best = max(free, key=lambda group: mean(column, group), default=own)
            if mean(column, best) > max(mean(column, own), threshold):
                own.remove(column)
                best.append(column)
    return groups


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
