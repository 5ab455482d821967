"""``evaluate``: measures how good methods and thresholds are on the user's documents and labels.

The result, an ``Evaluation``, gives its data as JSON, a table with a row for every setting and
threshold, and the sections of a report.
"""

from __future__ import annotations

import difflib
import inspect
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import pyarrow as pa

from neardup.arguments import ReadingArguments, documented
from neardup.documents.collection import Collection, collect
from neardup.documents.extraction.extractor import Extraction
from neardup.errors import SettingsError
from neardup.evaluation.measurement import AtCut, Measured, Truth, measure
from neardup.evaluation.recommendation import Recommendation, Wish, recommend
from neardup.evaluation.scored_pairs import Survey, of_result, survey
from neardup.evaluation.sections import (
    Section,
    all_sections,
    save_report,
    summary_sections,
    write_report,
)
from neardup.evaluation.sweep import Sweep
from neardup.evaluation.swept_settings import (
    SWEEP,
    Setting,
    parse_thresholds,
    recipe_name,
    settings_of,
)
from neardup.files import make_folder
from neardup.labels.gold_request import GoldRequest, about_gold
from neardup.labels.labelled_pairs import as_label, pair_columns
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.methods.registry import read_method
from neardup.methods.thresholds import AUTO
from neardup.papers.recipe import recipe_method
from neardup.progress import Progress, Silent
from neardup.report.notebook import evaluation_html
from neardup.runs.result import Result
from neardup.runs.run_folder import write_table
from neardup.settings import CLUSTERS, Settings

TABLE = "sweep.parquet"
TITLE = "Evaluation"


@dataclass(frozen=True)
class Evaluation:
    """``about`` describes the documents, the gold, and the labels that could not be used."""

    about: dict[str, Any]
    measured: Sequence[Measured]
    recommendation: Recommendation | None

    def pasted(self, inputs: str) -> Evaluation:
        """The same evaluation, whose recommended command names these inputs."""
        recommendation = self.recommendation and replace(self.recommendation, inputs=inputs)
        return replace(self, recommendation=recommendation)

    def data(self) -> dict[str, Any]:
        return {
            **self.about,
            "settings": [setting.data() for setting in self.measured],
            "recommendation": self.recommendation.data() if self.recommendation else None,
        }

    def sections(self) -> list[Section]:
        return all_sections(self.about, self.measured, self.recommendation)

    def _repr_html_(self) -> str:
        return evaluation_html(self.lead(), self.summary())

    def __repr__(self) -> str:
        choices = sum(len(setting.at) for setting in self.measured)
        return f"<Evaluation of {choices} settings: {self.lead() or 'nothing to choose from'}>"

    def lead(self) -> str:
        """The recommendation in one sentence."""
        return self.recommendation.text if self.recommendation else ""

    def summary(self) -> list[Section]:
        """The sections that a terminal has room for."""
        return summary_sections(self.about, self.measured, self.recommendation)

    @property
    def table(self) -> pa.Table:
        """A row for each setting and threshold."""
        rows = [_row(measured, at) for measured in self.measured for at in measured.at]
        return pa.Table.from_pylist(rows, schema=_schema())

    def report(self, path: str | Path) -> None:
        """Write one HTML file that contains all figures."""
        write_report(Path(path), TITLE, self.sections(), self.lead())

    def export(self, path: str | Path) -> Path:
        """Write what an article shows: a table (.csv, .xlsx, .parquet, .tex) or a figure (.svg,
        .pdf, .png), by the ending of the name."""
        from neardup.evaluation.article import write_article

        return write_article(self, Path(path))

    def save(self, folder: str | Path) -> Path:
        """Write ``sweep.parquet``, ``report.html`` and, last, ``evaluation.json``."""
        place = Path(folder)
        make_folder(place)
        write_table(self.table, place / TABLE)
        save_report(self, place, TITLE)
        return place


_SHARES = ("precision", "recall", "f1")
_COUNTS = ("tp", "fp", "fn", "unlabelled")


def _row(measured: Measured, at: AtCut) -> dict[str, Any]:
    row: dict[str, Any] = {
        "method": measured.setting.name,
        "parameter": at.cut.parameter,
        "value": at.cut.value,
        "threshold": at.cut.threshold,
        "predicted": at.predicted,
        "adjusted_rand": at.adjusted_rand,
        "auto": at.cut.auto,
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
            ("auto", pa.bool_()),
        ]
    )


SHOWN_FILES = 3
SETTINGS = (
    *("text", "id", "date", "encoding", "extract", "within"),
    *("workers", "memory", "limit", "max_pairs"),
    *("strict", "set"),
)
PAIRS = "pairs"  # the folder of scored pairs inside the folder of the evaluation


@documented(Settings, only=SETTINGS)
def evaluate(
    documents: Any,
    *,
    group: str | None = None,
    pairs: Any = None,
    columns: Sequence[str] = ("a", "b", "label"),
    positive: Sequence[object] | None = None,
    negative: Sequence[object] | None = None,
    complete: bool | None = None,
    method: str | Method | Sequence[str | Method] | None = None,
    recipe: str | Path | Sequence[str | Path] = (),
    threshold: float | str | None = None,
    sweep: bool | str | Sequence[float] = False,
    thresholds: str | Sequence[float] | None = None,
    wish: str | None = None,
    clusters: str = "rule",
    folder: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Unpack[ReadingArguments],
) -> Evaluation:
    """Measure methods on documents whose duplicates are known.

    ``documents``: as for ``neardup.dedup``, or the Result of a run.
    ``group``: the column whose equal values make documents duplicates.
    ``pairs``: labelled pairs instead: paths, or rows of ``a``, ``b`` and ``label``.
    ``columns``: the names of these three columns.
    ``positive``: labels that mean duplicate, such as ``[3, 4]``; None: true, 1, duplicate, yes, y,
    dup, correct.
    ``negative``: labels that mean not a duplicate; None: false, 0, not, no, n,
    incorrect, different.
    ``complete``: whether unlisted pairs are not duplicates; None: for groups, but not for pairs.
    ``method``: one method or several: names, as written ("shingles words=3"), or objects; None
    takes those of ``recipe``, else the default.
    ``recipe``: one recipe or several, files or those of papers; their methods are measured too.
    ``threshold``: measure this threshold only; None takes that of the method; "auto" lets the
    collection choose it, also beside a sweep.
    ``sweep``: True measures many thresholds.
    ``thresholds``: those of the sweep, as numbers or "0.3:0.95:0.05"; ``sweep`` takes them too.
    ``wish``: what to recommend a setting for: "f1", "precision=0.99" or "recall=0.95".
    ``clusters``: "rule", "components" or "average".
    ``folder``: where scored pairs are stored and found again; None stores none.
    ``progress``: receives the progress.
    """
    request = GoldRequest(
        *(group, pairs, pair_columns(columns), _labels(positive), _labels(negative), complete),
        encoding=settings.get("encoding"),
    )
    wished = Wish.parse(wish or "f1")
    if clusters not in CLUSTERS:
        raise SettingsError(f"clusters is {clusters!r}.", hint=f"expected {' or '.join(CLUSTERS)}.")
    swept = _thresholds(sweep, thresholds, threshold)
    reporter = progress or Silent()
    if isinstance(documents, Result):
        return _of_run(documents, request, threshold, swept, wished, clusters, reporter)
    base = _settings(settings)
    recipes = _several(recipe)
    usual = () if recipes else (registry.DEFAULT,)
    methods = [_method(written, base) for written in _several(method, usual)]
    usual_sweep = sweep is True and thresholds is None
    asked = partial(settings_of, threshold=threshold, thresholds=swept, usual=usual_sweep)
    chosen = asked(methods) if methods else []
    for name in recipes:
        of_recipe = asked([recipe_method(name, set=dict(base.set), date=base.date)])
        written = recipe_name(str(name), base.set)
        chosen += [replace(setting, recipe=written) for setting in of_recipe]
    request.check(base.text)
    collection = collect(documents, base.encoding, Extraction(base.extract))
    pairs_folder = None if folder is None else Path(folder) / PAIRS
    job = Sweep(collection, replace(base, set={}), chosen, "", pairs_folder, clusters)
    compared = sorted({name for plan in job.plans() for name in plan.columns.extra})
    documents_read = survey(collection, base, reporter, group=request.group, compared=compared)
    truth = Truth.of(documents_read.gold(request), documents_read.similarity)
    measured = list(replace(job, digest=documents_read.digest).measured(truth, reporter))
    about = _about(documents_read, collection, clusters, truth)
    evaluation = _finished(about, measured, wished, asked_for=wish is not None)
    return evaluation.pasted(pasted_inputs(collection, base))


def _labels(labels: Sequence[object] | None) -> list[str] | None:
    """Labels as files have them: ``[3, 4]`` and ``["3", "4"]`` are the same, ``True`` is true."""
    if labels is None:
        return None
    if isinstance(labels, str):
        raise SettingsError(
            f"The labels are {labels!r}; expected a list of labels.", hint=f"give [{labels!r}]."
        )
    return [as_label(label) or "" for label in labels]


_OF_COMMAND = {"recommend": "wish", "methods": "method", "recipes": "recipe", "out": "folder"}


def _settings(settings: Mapping[str, Any]) -> Settings:
    """The settings; of an unknown name, the error says what it is called here, or the nearest."""
    known = [*SETTINGS, *inspect.signature(evaluate).parameters]
    for name in settings:
        if name not in SETTINGS:
            own = _OF_COMMAND.get(name)
            near = [own] if own else difflib.get_close_matches(name, known, 1)
            meant = f"did you mean {near[0]!r}? Otherwise " if near else ""
            raise SettingsError(
                f"{name!r} is no setting of an evaluation.",
                hint=f"{meant}parameters are written with their method, as in "
                f"'shingles words=3'; settings are {', '.join(SETTINGS)}.",
            )
    return Settings(**settings)


def _of_run(
    result: Result,
    request: GoldRequest,
    threshold: float | str | None,
    thresholds: Sequence[float] | None,
    wished: Wish,
    clusters: str,
    reporter: Progress,
) -> Evaluation:
    """Evaluate the scores of a run; its documents are read again for ids and similarities."""
    if threshold == AUTO:
        raise SettingsError(
            "A finished run has its threshold already, so it cannot be auto.",
            hint="evaluate the documents instead of the run.",
        )
    if result.info.get("against"):
        raise SettingsError(
            "This run was made against references, for which the gold has no labels.",
            hint="evaluate the documents instead.",
        )
    written = result.info["settings"]
    names = ("text", "id", "limit", "encoding", "extract")
    base = Settings(**{name: written[name] for name in names if written.get(name) is not None})
    request.check(base.text)
    method = registry.build(written["method"], written["parameters"])
    (setting,) = settings_of([method], threshold=threshold, thresholds=thresholds)
    cuts = tuple(cut for cut in setting.cuts if cut.threshold >= result.threshold)
    if not cuts:
        raise SettingsError(
            f"The run has scores from {result.threshold:g} on, which is above all thresholds.",
            hint="give higher thresholds, or evaluate the documents instead of the run.",
        )
    setting = Setting(method, method, cuts)
    collection = result.collection()
    documents_read = survey(collection, base, reporter, group=request.group)
    truth = Truth.of(documents_read.gold(request), documents_read.similarity)
    reporter.stage("measuring", len(setting.cuts), unit="thresholds")
    pairs, advance = of_result(result), reporter.advance
    measured = measure(setting, pairs, truth, clusters=clusters, advance=advance)
    about = _about(documents_read, collection, clusters, truth)
    evaluation = _finished(about, [measured], wished, asked_for=False)
    return evaluation.pasted(pasted_inputs(collection, base))


def _about(read: Survey, collection: Collection, clusters: str, truth: Truth) -> dict[str, Any]:
    return {
        "documents": read.documents,
        "rejected": read.rejected,
        "inputs": list(dict.fromkeys(collection.files)),
        "clusters": clusters,
        "gold": about_gold(truth.gold),
    }


def _finished(
    about: dict[str, Any], measured: Sequence[Measured], wished: Wish, *, asked_for: bool
) -> Evaluation:
    """The evaluation, with a recommendation if there is a choice or a wish to judge it by."""
    choices = sum(len(setting.at) for setting in measured)
    recommendation = recommend(measured, wished) if choices > 1 or asked_for else None
    return Evaluation(about, measured, recommendation)


def pasted_inputs(collection: Collection, base: Settings) -> str:
    """Files and options with which a command reads these documents; INPUT for many files."""
    files = [path.as_posix() for path in collection.paths if path]
    few = len(files) == len(collection.paths) <= SHOWN_FILES
    words = [shlex.quote(file) for file in files] if few and files else ["INPUT"]
    for name in ("text", "id", "date", "within", "encoding", "extract", "limit"):
        value = getattr(base, name)
        if value is not None and value != getattr(Settings(), name):
            words += [f"--{name}", shlex.quote(str(value))]
    return " ".join(words)


def _thresholds(
    sweep: bool | str | Sequence[float],
    thresholds: str | Sequence[float] | None,
    threshold: float | str | None,
) -> Sequence[float] | None:
    if thresholds is not None:
        if not isinstance(sweep, bool):
            raise SettingsError("Both sweep and thresholds have thresholds.", hint="give one.")
        sweep = thresholds
    if sweep is False:
        return None
    if threshold not in (None, AUTO):
        raise SettingsError(
            "Both a threshold and a sweep over thresholds are asked for.", hint="give one of them."
        )
    if sweep is True:
        return parse_thresholds(SWEEP)
    written = sweep if isinstance(sweep, str) else ",".join(map(str, sweep))
    return parse_thresholds(written)


def _several(written: Any, usual: Sequence[Any] = ()) -> list[Any]:
    if written is None:
        return list(usual)
    return list(written) if isinstance(written, list | tuple) else [written]


def _method(written: str | Method, base: Settings) -> Method:
    if isinstance(written, str):
        return read_method(written, dict(base.set), base.date)
    method, parameters = written, dict(base.set)
    if base.date is not None and "date" in registry.parameter_names(type(method)):
        parameters.setdefault("date", base.date)
    return registry.changed(method, parameters)
