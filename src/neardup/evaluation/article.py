"""What an article shows of an evaluation: a table as CSV, Excel, Parquet or LaTeX, or a figure.

CSV, Excel and Parquet have all thresholds. The LaTeX table has one row for each setting, at its
threshold of the highest F1, with 95 % intervals and the best row in bold; it needs the package
booktabs. The figure shows precision against recall, and F1 over the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import UsageError
from neardup.evaluation import charts
from neardup.evaluation.sections import best_cut
from neardup.files import whole_file
from neardup.report.figure_file import check_figure, save_figure
from neardup.runs.export import FORMS, write_tables

if TYPE_CHECKING:
    from neardup.evaluation.evaluation import Evaluation
    from neardup.evaluation.measurement import AtCut, Line, Measured
    from neardup.labels.intervals import Interval

LATEX, FIGURES = ".tex", (".svg", ".pdf", ".png")
TABLES = (*(f".{form}" for form in FORMS), LATEX)
_ESCAPED = str.maketrans(
    {**{mark: f"\\{mark}" for mark in "&%$#_{}"}, "\\": r"\textbackslash{}", "–": "--"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)
_LABELLED = " Precision is that of the labelled pairs."


def check_article(path: Path) -> None:
    """Raises before the work what would make the file impossible after it."""
    suffix = path.suffix.lower()
    if suffix in FIGURES:
        check_figure(path)
    elif suffix not in TABLES or path.is_dir():
        raise UsageError(
            f"{path} cannot be exported: expected a name that ends with "
            f"{', '.join((*TABLES, *FIGURES))}.",
            hint="the ending of the name says in which form it is written.",
        )


def write_article(evaluation: Evaluation, path: Path) -> Path:
    check_article(path)
    suffix = path.suffix.lower()
    if suffix in FIGURES:
        save_figure(charts.article(evaluation.measured), path)
        return path
    with whole_file(path) as part:
        if suffix == LATEX:
            part.write_text(latex(evaluation), "utf-8")
        else:
            write_tables({"sweep": evaluation.table}, part, path)
    return path


def latex(evaluation: Evaluation) -> str:
    rows = [(one, one.at[best_cut(one)]) for one in evaluation.measured]
    best = max(range(len(rows)), key=lambda i: (*rows[i][1].every.merit, -i), default=None)
    gold, documents = evaluation.about["gold"], evaluation.about["documents"]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{Near-duplicate pairs in {documents:,} documents, of which "
            rf"{gold['positives']:,} pairs are known duplicates: each method at its threshold of "
            rf"the highest $F_1$, with 95\,\% intervals.{'' if gold['complete'] else _LABELLED}}}",
            r"\label{tab:near-duplicates}",
            r"\begin{tabular}{llccc}",
            r"\toprule",
            r"Method & Threshold & Precision & Recall & $F_1$ \\",
            r"\midrule",
            *(_row(*row, bold=i == best and bool(row[1].every.f1)) for i, row in enumerate(rows)),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _row(one: Measured, at: AtCut, *, bold: bool) -> str:
    names = [one.setting.name.translate(_ESCAPED), str(at.cut).translate(_ESCAPED)]
    cells = [*names, *_measures(at.every)]
    return " & ".join(rf"\textbf{{{cell}}}" if bold else cell for cell in cells) + r" \\"


def _measures(line: Line) -> Sequence[str]:
    measured = (
        (line.precision, line.precision_interval),
        (line.recall, line.recall_interval),
        (line.f1, line.f1_interval),
    )
    return [_measure(value, interval) for value, interval in measured]


def _measure(value: float | None, interval: Interval | None) -> str:
    if value is None:
        return "--"
    return f"{value:.3f}" + (f" ({interval.low:.3f}--{interval.high:.3f})" if interval else "")
