"""The figures as the tables of docs/quality.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from quality.floors import UNFINISHED
from quality.peers import ROWS
from quality.runs import METHODS, SYSTEMS
from quality.sets import AVERAGED, PAIRS, SETS, Figures

Measured = Mapping[tuple[str, str], Figures]
BY_PAIRS = tuple(name for name, wanted in SETS.items() if wanted == PAIRS)
# column → (set, figure)
TRAPS = {
    "newsgroups20: recall": ("newsgroups20", "recall"),
    "lee_news: apart": ("lee_news", "apart"),
    "press_de: stubs apart": ("press_de", "apart"),
    "press_de: copies found": ("press_de", "recall"),
}
ABSENT, TOO_LONG = "–", "†"


def tables(measured: Measured) -> str:
    return "\n\n".join(made(measured) for made in TABLES.values())


def f1(measured: Measured) -> str:
    def cells(method: str) -> list[str]:
        each = [cell(measured, method, name, "f1") for name in BY_PAIRS]
        return [*each[: len(AVERAGED)], mean(measured, method), *each[len(AVERAGED) :]]

    head = [*AVERAGED, "**mean of seven**", *BY_PAIRS[len(AVERAGED) :]]
    return markdown(["F1", *head], measured, cells)


def precision_and_recall(measured: Measured) -> str:
    def cells(method: str) -> list[str]:
        return [
            " / ".join(cell(measured, method, name, figure) for figure in ("precision", "recall"))
            for name in BY_PAIRS
        ]

    return markdown(["precision / recall", *BY_PAIRS], measured, cells)


def traps(measured: Measured) -> str:
    def cells(method: str) -> list[str]:
        return [cell(measured, method, *where) for where in TRAPS.values()]

    return markdown(["", *TRAPS], measured, cells)


def systems(measured: Measured) -> str:
    """Precision, recall and F1 of systems that are settings of a method."""
    sets = ("bill_pairs", "clough_stevenson", "ocr_pairs")
    head = ["", *(f"{name}: precision / recall / F1" for name in sets), "lee_news: apart"]
    rows = [
        [
            title,
            *(
                " / ".join(cell(measured, method, name, figure) for figure in PAIRS)
                for name in sets
            ),
            cell(measured, method, "lee_news", "apart"),
        ]
        for title, method in SYSTEMS.items()
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


EVERY = {"f1": f1, "precision and recall": precision_and_recall, "traps": traps}
TABLES = {**EVERY, "systems of the papers": systems}
OTHERS = {f"{name} of other tools": made for name, made in EVERY.items()}
BESIDE = {f"{name} beside other tools": made for name, made in (("f1", f1), ("traps", traps))}


def cell(measured: Measured, method: str, name: str, figure: str) -> str:
    figures = measured.get((method, name), {})
    if UNFINISHED in figures:
        return TOO_LONG
    return short(figures[figure]) if figure in figures else ABSENT


def short(value: float) -> str:
    """.905, and 1 for what is exactly that."""
    return "1" if value == 1 else f"{value:.3f}".removeprefix("0")


def mean(measured: Measured, method: str) -> str:
    values = [measured.get((method, name), {}).get("f1") for name in AVERAGED]
    there = [value for value in values if value is not None]
    return f"**{short(sum(there) / len(there))}**" if len(there) == len(values) else ABSENT


def markdown(head: Sequence[str], measured: Measured, cells: Callable[[str], Sequence[str]]) -> str:
    methods = [row for row in (*METHODS, *ROWS) if any(key[0] == row for key in measured)]
    rows = [[f"`{method}`", *cells(method)] for method in methods]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
