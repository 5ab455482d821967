"""What ``neardup evaluate`` does: asks the library, shows the answer and writes it.

Sections of an evaluation on the terminal.

``neardup evaluate --papers``: the experiments there are.
"""

from __future__ import annotations

import importlib
import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from neardup import papers
from neardup.cli.command import INTERRUPTED
from neardup.cli.evaluate_options import READING
from neardup.cli.terminal import progress_for, show_table
from neardup.documents import Collection
from neardup.documents.collection import collect_inputs
from neardup.documents.extraction.extractor import Extraction
from neardup.errors import UsageError
from neardup.evaluation.evaluation import PAIRS
from neardup.evaluation.evaluation import evaluate as evaluate_settings
from neardup.evaluation.evaluation_report import DATA, REPORT, Section, save_report
from neardup.evaluation.swept_settings import parse_thresholds
from neardup.labels.gold_request import GoldRequest
from neardup.labels.labelled_pairs import pair_columns
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.methods.registry import parse_assignments, read_method
from neardup.papers.experiment import Options
from neardup.progress import Progress
from neardup.report.html_page import Table, paragraphs, shown
from neardup.runs.result import Result
from neardup.runs.run_folder import load, spare_inputs
from neardup.settings import Settings

WIDTH = 100


def show_sections(sections: Sequence[Section]) -> None:
    for number, section in enumerate(sections):
        if number:
            click.echo()
        click.secho(section.title, bold=True)
        for paragraph in paragraphs(section.text):
            click.echo(_filled(paragraph))
        if section.table:
            _show(section.table)


def _filled(paragraph: str) -> str:
    """Commands stay on one line, to be pasted."""
    if paragraph.startswith("$ "):
        return f"\n  {paragraph[2:]}"
    return textwrap.fill(paragraph, WIDTH, break_on_hyphens=False, break_long_words=False)


def _show(table: Table) -> None:
    rows = [[shown(cell) for cell in row] for row in table.rows]
    for number in table.marked:
        rows[number][-1] += "  ←"
    numeric = [
        name
        for i, name in enumerate(table.header)
        if all(isinstance(row[i], int | float | None) for row in table.rows)
    ]
    show_table(table.header, rows, right=numeric)


ALONE = {
    "run": ("inputs", "plant", "paper", "methods", "assignments", "within", "text", "id", "limit"),
    "plant": ("group", "pairs", "paper", "wish"),
    "paper": ("methods", "assignments", "threshold", "sweep", "thresholds", "wish"),
}


class Evaluating:
    def __init__(self, inputs: Sequence[str], options: dict[str, Any]) -> None:
        self.options = options
        self.given = {n: v for n, v in {**options, "inputs": inputs}.items() if v not in (None, ())}
        self.inputs = inputs
        self.out: Path | None = options["out"]

    def run(self) -> None:
        documents = self._documents()
        if self.out:
            check_folder(self.out, documents.paths if isinstance(documents, Collection) else [])
            click.get_current_context().meta[INTERRUPTED] = self._interrupted
        progress = progress_for(quiet=self.options["quiet"])
        try:
            found = self._found(documents, progress)
        finally:
            progress.finish()
        self._told(found)

    def _documents(self) -> Collection | Result:
        if self.options["paper"]:
            papers.check_name(self.options["paper"])
        for alone, others in ALONE.items():
            if self.options[alone]:
                self._refuse(alone, others)
        if self.options["run"]:
            return load(self.options["run"])
        if not self.inputs:
            raise click.UsageError("Missing argument 'INPUT...'. Hint: name files, or - for stdin.")
        given, how = [(None, one) for one in self.inputs], Extraction(self.options["extract"])
        return collect_inputs(given, encoding=self.options["encoding"], extraction=how)

    def _refuse(self, alone: str, others: Sequence[str]) -> None:
        names = {"inputs": "INPUT", "methods": "--method", "wish": "--recommend"}
        names |= {"assignments": "--set"}
        for other in others:
            if self.given.get(other):
                written = names.get(other, f"--{other}")
                raise click.UsageError(f"--{alone} and {written} do not go together.")

    def _found(self, documents: Collection | Result, progress: Progress) -> Any:
        if self.options["paper"]:
            return self._paper(documents, progress)
        if self.options["plant"]:
            return self._planted(documents, progress)
        asked = {n: self.options[n] for n in ("group", "positive", "negative", "complete")}
        return evaluate_settings(
            documents,
            pairs=list(self.options["pairs"]) or None,
            columns=self.options["columns"] or ("a", "b", "label"),
            method=self._methods(),
            threshold=self.options["threshold"],
            sweep=self._sweep(),
            wish=self.options["wish"],
            clusters=self.options["clusters"],
            folder=self.out,
            progress=progress,
            **asked,
            **({} if isinstance(documents, Result) else self._reading()),
        )

    def _reading(self) -> dict[str, Any]:
        return {name: self.given[name] for name in READING if name in self.given}

    def _methods(self) -> list[Method]:
        parameters = parse_assignments(self.options["assignments"])
        written = self.options["methods"] or (registry.DEFAULT,)
        return [read_method(one, parameters, self.given.get("date")) for one in written]

    def _sweep(self) -> bool | str:
        if self.options["thresholds"]:
            return str(self.options["thresholds"])
        wished = self.options["wish"] and self.options["threshold"] is None
        return bool(self.options["sweep"] or wished)

    def _paper(self, documents: Any, progress: Progress) -> Any:
        names = ("text", "id", "date", "source", "limit", "workers", "sample", "seed")
        told = {name: self.given[name] for name in names if name in self.given}
        if self.options["group"] or self.options["pairs"]:
            asked = self._asked()
            told |= {"gold": asked.of_table, "columns": asked.needed}
        if self.out:
            told["folder"] = self.out / PAIRS
        return papers.run(self.options["paper"], documents, Options(**told), progress)

    def _asked(self) -> GoldRequest:
        asked = GoldRequest(
            self.options["group"],
            list(self.options["pairs"]) or None,
            pair_columns(self.options["columns"] or ("a", "b", "label")),
            self.options["positive"],
            self.options["negative"],
            self.options["complete"],
        )
        asked.check(self.options["text"] or "text")
        return asked

    def _planted(self, documents: Any, progress: Progress) -> Any:
        planting = importlib.import_module("neardup.evaluation.planted_experiment")
        (method, *more) = self._methods()
        if more:
            raise click.UsageError("--plant takes one --method at a time.")
        settings = Settings(method=method, threshold=self.options["threshold"], **self._reading())
        told = {"edits": list(self.options["edits"]) or None, "seed": self.options["seed"] or 0}
        if self.options["sample"]:
            told["per_edit"] = self.options["sample"]
        if self.options["thresholds"]:
            told["thresholds"] = parse_thresholds(self.options["thresholds"])
        return planting.evaluate(documents, settings, progress, **told)

    def _told(self, found: Any) -> None:
        if self.out:
            save = getattr(found, "save", None)
            save(self.out) if save else save_report(found, self.out)
        if self.options["as_json"]:
            click.echo(json.dumps(found.data(), indent=2, ensure_ascii=False))
        else:
            show_sections(getattr(found, "summary", found.sections)())
        if self.out and not self.options["quiet"]:
            click.echo(f"The report is {self.out / REPORT}, the data {self.out / DATA}.", err=True)

    def _interrupted(self) -> str:
        kept = self.out and (self.out / PAIRS).is_dir()
        return "the same command goes on from here" if kept else "nothing was written"


def check_folder(folder: Path, inputs: Sequence[Any]) -> None:
    """An evaluation may go on in its own folder, and writes over nothing else."""
    spare_inputs(folder, inputs)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; -o names a folder.", hint="name another with -o.")
    there = folder.is_dir() and any(folder.iterdir())
    if there and not any((folder / name).exists() for name in (DATA, PAIRS)):
        raise UsageError(
            f"The output folder {folder} holds files that are not of an evaluation.",
            hint="name another folder with -o.",
        )
