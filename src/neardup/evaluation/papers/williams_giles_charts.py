"""The figures of Williams & Giles, from the rows of their treatments."""

from __future__ import annotations

from typing import Any

from neardup.evaluation.papers.charts import beside, lines
from neardup.evaluation.papers.experiment import Row

PRINTED_COSINES = (1.0, 0.97, 0.97, 0.99, 0.89, 0.97, 0.81, 0.75, 0.66, 0.54, 0.49)  # Table 1
K = ("k", "k: bits that may differ")
R = ("R", "R: least resemblance")


def _simhash(rows: list[Row]) -> list[Row]:
    return [row for row in rows if "k" in row]


def _shingles(rows: list[Row]) -> list[Row]:
    return [{**row, "words": f"w = {row['w']}"} for row in rows if "w" in row]


def measures(rows: list[Row]) -> Any:
    names = ("precision", "recall", "F")
    simhash = [
        {"k": row["k"], "value": row[name], "measure": name}
        for row in _simhash(rows)
        for name in names
    ]
    first = lines(simhash, K, ("value", "share"), "measure", unit=True, title="(a) SimHash")
    others = [
        lines(
            _shingles(rows), R, (name, name), "words", unit=True, title=f"({at}) shingles: {name}"
        )
        for at, name in zip("bcd", names, strict=True)
    ]
    return beside(first, *others)


def pairs(rows: list[Row]) -> Any:
    of = ("pairs", "pairs returned")
    one = [{**row, "method": "SimHash"} for row in _simhash(rows)]
    return beside(
        lines(one, K, of, "method", log=True, form=",d", title="(a) SimHash (logarithmic)"),
        lines(
            _shingles(rows), R, of, "words", log=True, form=",d", title="(b) shingles (logarithmic)"
        ),
    )


def cosines(rows: list[Row]) -> Any:
    of = ("mean cosine", "mean cosine of the pairs")
    here = [{**row, "series": "here"} for row in _simhash(rows)]
    printed = [
        {"k": k, "mean cosine": cosine, "series": "Williams & Giles, Table 1"}
        for k, cosine in enumerate(PRINTED_COSINES)
    ]
    return beside(
        lines([*here, *printed], K, of, "series", unit=True, title="SimHash"),
        lines(_shingles(rows), R, of, "words", unit=True, title="shingles"),
    )
