"""The outcome of an evaluation: data for JSON, a table of all cuts, sections to show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.evaluation.lines import AtCut, Measured
from neardup.evaluation.recommend import Recommendation
from neardup.evaluation.report import Section, save_report, write_report
from neardup.evaluation.tables import all_sections, summary_sections
from neardup.outputs.folder import write_table

TABLE = "sweep.parquet"
TITLE = "Evaluation"


@dataclass(frozen=True)
class Evaluation:
    """``about`` says of what: documents, gold and what of it could not be used."""

    about: dict[str, Any]
    measured: Sequence[Measured]
    recommendation: Recommendation | None

    def pasted(self, inputs: str) -> Evaluation:
        """The same, with a command for these inputs."""
        found = self.recommendation and replace(self.recommendation, inputs=inputs)
        return replace(self, recommendation=found)

    def data(self) -> dict[str, Any]:
        return {
            **self.about,
            "settings": [one.data() for one in self.measured],
            "recommendation": self.recommendation.data() if self.recommendation else None,
        }

    def sections(self) -> list[Section]:
        return all_sections(self.about, self.measured, self.recommendation)

    def __repr__(self) -> str:
        choices = sum(len(one.at) for one in self.measured)
        return f"<Evaluation of {choices} settings: {self.lead() or 'nothing to choose from'}>"

    def lead(self) -> str:
        """The answer in short."""
        return self.recommendation.text if self.recommendation else ""

    def summary(self) -> list[Section]:
        """What a terminal has room for."""
        return summary_sections(self.about, self.measured, self.recommendation)

    @property
    def table(self) -> pa.Table:
        """A row for each setting and threshold."""
        return pa.Table.from_pylist(
            [_row(one, at) for one in self.measured for at in one.at], schema=_schema()
        )

    def report(self, path: str | Path) -> None:
        """One HTML file, with all figures inside."""
        write_report(Path(path), TITLE, self.sections(), self.lead())

    def save(self, folder: str | Path) -> Path:
        """``evaluation.json``, ``sweep.parquet`` and ``report.html``; the first comes last."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        write_table(self.table, place / TABLE)
        save_report(self, place, TITLE)
        return place


_SHARES = ("precision", "recall", "f1")
_COUNTS = ("tp", "fp", "fn", "unlabelled")


def _row(one: Measured, at: AtCut) -> dict[str, Any]:
    row: dict[str, Any] = {
        "method": one.setting.name,
        "parameter": at.cut.parameter,
        "value": at.cut.value,
        "threshold": at.cut.threshold,
        "predicted": at.predicted,
        "adjusted_rand": at.adjusted_rand,
    }
    for name, line in (("", at.every), ("hard_", at.hard)):
        row |= {name + count: getattr(line.counts, count) for count in _COUNTS}
        for share in _SHARES:
            interval = getattr(line, f"{share}_interval")
            row[name + share] = getattr(line, share)
            row[f"{name}{share}_low"] = interval and interval.low
            row[f"{name}{share}_high"] = interval and interval.high
    for share in _SHARES:
        row[f"b_cubed_{share}"] = (
            getattr(at.b_cubed.every, share) if at.b_cubed and at.b_cubed.every else None
        )
    return row


def _schema() -> pa.Schema:
    shares = [
        f"{prefix}{share}{end}"
        for prefix in ("", "hard_")
        for share in _SHARES
        for end in ("", "_low", "_high")
    ]
    return pa.schema(
        [
            ("method", pa.string()),
            ("parameter", pa.string()),
            *((name, pa.float64()) for name in ("value", "threshold")),
            ("predicted", pa.int64()),
            *((f"{prefix}{count}", pa.int64()) for prefix in ("", "hard_") for count in _COUNTS),
            *((name, pa.float64()) for name in shares),
            *((f"b_cubed_{share}", pa.float64()) for share in _SHARES),
            ("adjusted_rand", pa.float64()),
        ]
    )
