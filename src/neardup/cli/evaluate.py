"""``neardup evaluate``: how good settings are on documents whose duplicates are known.

The command asks the library for an evaluation of labelled documents, of a finished run, of planted
copies or of a paper's experiment, shows its sections and writes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neardup.cli import options as shared
from neardup.cli.command import INTERRUPTED, Sectioned, echo, show_json
from neardup.cli.terminal import show_sections
from neardup.errors import UsageError
from neardup.files import check_parent
from neardup.progress import of_command

if TYPE_CHECKING:
    from neardup.documents.collection import Collection
    from neardup.labels.gold_request import GoldRequest
    from neardup.methods.base import Method
    from neardup.progress import Progress
    from neardup.runs.result import Result

READING = (
    *("text", "id", "date", "encoding", "extract", "within"),
    *("workers", "memory", "limit", "max_pairs"),
)
SECTIONS = {
    "Common": ("--group", "--pairs", "--method", "--sweep", "--recommend", "--out"),
    "Known duplicates": ("--columns", "--positive", "--negative", "--complete"),
    "Settings to measure": ("--recipe", "--set", "--threshold", "--thresholds", "--clusters"),
    "Input": ("--text", "--id", "--date", "--encoding", "--extract", "--within", "--limit"),
    "Other evaluations": (
        *("--run", "--plant", "--edit", "--paper", "--papers"),
        *("--source", "--title", "--sample", "--seed"),
    ),
    "Output": ("--export", "--json", "--verbose", "--quiet"),
    "Advanced": ("--workers", "--memory", "--max-pairs", "--debug", "--help"),
}
# The first excludes the others.
ALONE = {
    "run": (
        *("inputs", "plant", "paper", "methods", "recipes", "assignments"),
        *("within", "text", "id", "limit"),
    ),
    "plant": ("group", "pairs", "paper", "wish", "exports"),
    "paper": (
        *("methods", "recipes", "assignments", "threshold", "sweep", "thresholds", "wish"),
        "exports",
    ),
}


@click.command(
    cls=Sectioned,
    sections=SECTIONS,
    short_help="Measure settings on labelled documents, and recommend one.",
    epilog="""\b
Examples:
  neardup evaluate news.jsonl --group story --sweep
  neardup evaluate news.jsonl --pairs labels.csv --method shingles --recommend precision=0.99""",
)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option("--group", metavar="COL", help="Documents with equal values in COL are duplicates.")
@click.option(
    "--pairs",
    metavar="FILE",
    multiple=True,
    help="File of labelled pairs (JSON Lines, CSV, TSV, Parquet, Arrow) with the columns a, b and "
    "label. Repeatable.",
)
@shared.columns_option
@shared.positive_option
@shared.negative_option
@click.option(
    "--complete/--labelled-only",
    default=None,
    help="Pairs without a label are not duplicates, or unknown.  [default: complete for --group, "
    "labelled-only for --pairs]",
)
@click.option(
    "--method",
    "methods",
    metavar="METHOD",
    multiple=True,
    help="Method to measure, with parameters if quoted: 'shingles words=3'. Repeatable.  "
    "[default: raregrams]",
)
@click.option(
    "--recipe",
    "recipes",
    metavar="FILE|NAME",
    multiple=True,
    help="Measure the method of a TOML file, or of a paper by name (`neardup papers`). Repeatable.",
)
@shared.set_option
@click.option(
    "--threshold",
    metavar="T|auto",
    type=shared.Threshold(),
    help="Measure this threshold only. auto lets the collection choose it; with --sweep or "
    "--thresholds, auto is measured beside the others.  [default: that of the method]",
)
@click.option(
    "--sweep", is_flag=True, help="Measure many thresholds; each method is still run only once."
)
@click.option(
    "--thresholds",
    metavar="LIST",
    help="Thresholds of the sweep: FROM:TO:STEP, or numbers separated by commas.  "
    "[default: 0.3:0.95:0.05]",
)
@click.option(
    "--recommend",
    "wish",
    metavar="GOAL",
    help="Recommend the best setting for f1, precision=0.99 or recall=0.95. Sweeps unless a "
    "threshold is given.  [default: f1]",
)
@click.option(
    "--clusters",
    metavar="rule|components|average",
    default="rule",
    help="Clusters to compare with the known groups.  [default: rule]",
)
@click.option(
    "--run",
    metavar="RUN",
    type=shared.PATH,
    help="Measure a finished run, by the scores in its folder, instead of INPUT.",
)
@click.option(
    "--plant",
    is_flag=True,
    help="Evaluate without labels: add edited copies of the documents and measure how many are "
    "found.",
)
@click.option(
    "--edit",
    "edits",
    metavar="NAME[=RATE]",
    multiple=True,
    help="Edit for --plant. Repeatable.  [default: all]",
)
@click.option("--paper", metavar="NAME", help="Repeat an experiment of a paper on INPUT.")
@click.option("--papers", is_flag=True, help="List the experiments of the papers.")
@click.option("--source", metavar="COL", help="Column of the site or outlet, for --paper.")
@click.option("--title", metavar="COL", help="Column of the title, for --paper.")
@click.option(
    "--sample",
    metavar="N",
    type=int,
    help="Sample size: copies for each edit (--plant), pairs for each treatment (--paper).",
)
@click.option("--seed", metavar="N", type=int, help="Seed of the random choice.  [default: 0]")
@shared.text_option
@shared.id_option
@shared.date_option
@shared.encoding_option
@shared.extract_option
@shared.within_option
@shared.workers_option
@shared.memory_option
@shared.limit_option
@click.option(
    "--max-pairs",
    metavar="N",
    type=int,
    help="Above N pairs, pairs are left out and recall is underestimated.  [default: 10000000]",
)
@click.option(
    "-o",
    "--out",
    metavar="OUT",
    type=shared.PATH,
    help="Folder for evaluation.json, sweep.parquet, report.html and scored pairs. The same "
    "command continues an interrupted evaluation there.",
)
@click.option(
    "--export",
    "exports",
    metavar="FILE",
    type=shared.PATH,
    multiple=True,
    help="Write a table (.csv, .xlsx, .parquet; .tex for LaTeX) or a figure (.svg, .pdf, .png) for "
    "an article. Repeatable.",
)
@shared.json_option
@shared.verbose_option
@shared.quiet_option
@shared.debug_option
def evaluate(inputs: tuple[str, ...], **options: Any) -> None:
    """Measure how good settings are on documents whose duplicates are known: by a column
    (--group) or by labelled pairs (--pairs).

    INPUT: documents in any format that `dedup` reads. Each method is run once, at the lowest
    threshold; higher thresholds select among its pairs. Precision, recall and F1 come with 95 %
    confidence intervals, and a recommended setting comes last.
    """
    if options["papers"]:
        from neardup.cli.methods import show_experiments

        show_experiments(as_json=options["as_json"])
    else:
        Evaluating(inputs, options).run()


class Evaluating:
    """One evaluation, from options to what is shown and written."""

    def __init__(self, inputs: Sequence[str], options: dict[str, Any]) -> None:
        self.options = options
        self.given = {n: v for n, v in {**options, "inputs": inputs}.items() if v not in (None, ())}
        self.inputs = inputs
        self.out: Path | None = options["out"]

    def run(self) -> None:
        from neardup.documents.collection import Collection

        documents = self._documents()
        self._check_exports()
        if self.out:
            check_folder(self.out, documents.paths if isinstance(documents, Collection) else [])
            click.get_current_context().meta[INTERRUPTED] = self._interrupted
        progress = of_command(quiet=self.options["quiet"])
        try:
            evaluation = self._evaluation(documents, progress)
        finally:
            progress.finish()
        self._report(evaluation)

    def _check_exports(self) -> None:
        if self.options["exports"]:
            from neardup.evaluation.article import check_article

            for path in self.options["exports"]:
                check_article(path)
                if path.parent != self.out:  # which is made
                    check_parent(path)

    def _documents(self) -> Collection | Result:
        from neardup import papers
        from neardup.documents.collection import collect_inputs
        from neardup.documents.extraction.extractor import Extraction
        from neardup.runs.stored_run import load

        if self.options["paper"]:
            papers.check_name(self.options["paper"])
        for alone, others in ALONE.items():
            if self.options[alone]:
                self._refuse(alone, others)
        if self.options["run"]:
            return load(self.options["run"])
        if not self.inputs:
            raise click.UsageError("Missing argument 'INPUT...'. Hint: name files, or - for stdin.")
        inputs, how = [(None, path) for path in self.inputs], Extraction(self.options["extract"])
        return collect_inputs(inputs, encoding=self.options["encoding"], extraction=how)

    def _refuse(self, alone: str, others: Sequence[str]) -> None:
        names = {"inputs": "INPUT", "methods": "--method", "wish": "--recommend"}
        names |= {"assignments": "--set", "recipes": "--recipe", "exports": "--export"}
        for other in others:
            if self.given.get(other):
                written = names.get(other, f"--{other}")
                raise click.UsageError(f"--{alone} and {written} cannot be combined.")

    def _evaluation(self, documents: Collection | Result, progress: Progress) -> Any:
        from neardup.evaluation.evaluation import evaluate as evaluate_settings
        from neardup.methods.registry import parse_assignments

        if self.options["paper"]:
            return self._paper(documents, progress)
        if self.options["plant"]:
            return self._planted(documents, progress)
        parameters = parse_assignments(self.options["assignments"])
        labels = {n: self.options[n] for n in ("group", "positive", "negative", "complete")}
        return evaluate_settings(
            documents,
            pairs=list(self.options["pairs"]) or None,
            columns=self.options["columns"] or ("a", "b", "label"),
            method=list(self.options["methods"]) or None,
            recipe=list(self.options["recipes"]),
            threshold=self.options["threshold"],
            sweep=self._sweep(),
            wish=self.options["wish"],
            clusters=self.options["clusters"],
            folder=self.out,
            progress=progress,
            **labels,
            **self._reading() | ({} if self.options["run"] else {"set": parameters}),
        )

    def _reading(self) -> dict[str, Any]:
        return {name: self.given[name] for name in READING if name in self.given}

    def _methods(self) -> list[Method]:
        from neardup.methods import registry
        from neardup.papers.recipe import recipe_method

        parameters = registry.parse_assignments(self.options["assignments"])
        date, recipes = self.given.get("date"), self.options["recipes"]
        written = self.options["methods"] or (() if recipes else (registry.DEFAULT,))
        methods = [registry.read_method(one, parameters, date) for one in written]
        return methods + [recipe_method(one, set=parameters, date=date) for one in recipes]

    def _sweep(self) -> bool | str:
        if self.options["thresholds"]:
            return str(self.options["thresholds"])
        wished = self.options["wish"] and self.options["threshold"] is None
        return bool(self.options["sweep"] or wished)

    def _paper(self, documents: Any, progress: Progress) -> Any:
        from neardup import papers
        from neardup.evaluation.evaluation import PAIRS
        from neardup.papers.experiment import Options

        names = ("text", "id", "date", "source", "title", "limit", "workers", "sample", "seed")
        settings = {name: self.given[name] for name in names if name in self.given}
        if self.options["group"] or self.options["pairs"]:
            asked = self._asked()
            settings |= {"gold": asked.of_table, "columns": asked.needed}
        if self.out:
            settings["folder"] = self.out / PAIRS
        return papers.run(self.options["paper"], documents, Options(**settings), progress)

    def _asked(self) -> GoldRequest:
        from neardup.labels.gold_request import GoldRequest
        from neardup.labels.labelled_pairs import pair_columns

        asked = GoldRequest(
            self.options["group"],
            list(self.options["pairs"]) or None,
            pair_columns(self.options["columns"] or ("a", "b", "label")),
            self.options["positive"],
            self.options["negative"],
            self.options["complete"],
            self.options["encoding"],
        )
        asked.check(self.options["text"] or "text")
        return asked

    def _planted(self, documents: Any, progress: Progress) -> Any:
        from neardup.evaluation.planted_experiment import evaluate as evaluate_planted
        from neardup.evaluation.swept_settings import parse_thresholds
        from neardup.settings import Settings

        method, *more = self._methods()
        if more:
            raise click.UsageError("--plant takes one --method at a time.")
        settings = Settings(method=method, threshold=self.options["threshold"], **self._reading())
        edits, seed = list(self.options["edits"]) or None, self.options["seed"] or 0
        sample = self.options["sample"]
        wanted: dict[str, Any] = {"per_edit": sample} if sample else {}
        if self.options["thresholds"]:
            wanted["thresholds"] = parse_thresholds(self.options["thresholds"])
        return evaluate_planted(documents, settings, progress, edits=edits, seed=seed, **wanted)

    def _report(self, evaluation: Any) -> None:
        from neardup.evaluation.sections import DATA, REPORT, save_report

        if self.out:
            save = getattr(evaluation, "save", None)
            save(self.out) if save else save_report(evaluation, self.out)
        if self.options["as_json"]:
            show_json(evaluation.data())
        else:
            show_sections(getattr(evaluation, "summary", evaluation.sections)())
        for path in self.options["exports"]:
            evaluation.export(path)
        if self.options["exports"] and not self.options["quiet"]:
            echo(f"Written: {', '.join(map(str, self.options['exports']))}.", err=True)
        if self.out and not self.options["quiet"]:
            echo(f"The report is {self.out / REPORT}, the data {self.out / DATA}.", err=True)

    def _interrupted(self) -> str:
        from neardup.evaluation.evaluation import PAIRS

        kept = self.out and (self.out / PAIRS).is_dir()
        return "the same command continues from here" if kept else "nothing was written"


def check_folder(folder: Path, inputs: Sequence[Any]) -> None:
    """Refuses a folder with anything but an evaluation in it, which is then continued."""
    from neardup.evaluation.evaluation import PAIRS
    from neardup.evaluation.sections import DATA
    from neardup.runs.run_folder import spare_inputs

    spare_inputs(folder, inputs)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; -o names a folder.", hint="name another with -o.")
    filled = folder.is_dir() and any(folder.iterdir())
    if filled and not any((folder / name).exists() for name in (DATA, PAIRS)):
        raise UsageError(
            f"The output folder {folder} holds files that are not part of an evaluation.",
            hint="name another folder with -o.",
        )
