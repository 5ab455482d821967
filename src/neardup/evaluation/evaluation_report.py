"""A report: one HTML file of sections, offline, without a script; charts are SVG inside it.

Everything that comes from documents, labels or settings is escaped. Without the extra `plots` the
tables are there and the report says what is missing.

Figures of evaluations as Vega-Lite, drawn without a network: SVG, PNG or one HTML file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from neardup.artefacts.idf import IdfTable
from neardup.artefacts.idf_agreement import Correlation, common_terms
from neardup.documents.streams import whole_file
from neardup.errors import MissingExtraError, SettingsError
from neardup.evaluation.stability import Stability
from neardup.report.html_page import Table, card, html, page, prose, table_html, write_page

if TYPE_CHECKING:
    import altair

DATA, REPORT = "evaluation.json", "report.html"


@dataclass(frozen=True)
class Section:
    """``text`` is plain, paragraphs parted by blank lines; one that begins with "$ " is a command
    to paste, one that begins with WARNING stands out. ``chart`` makes an altair chart, and is
    called only where it is drawn."""

    title: str
    text: str = ""
    table: Table | None = None
    chart: Callable[[], Any] | None = None


def write_report(path: Path, title: str, sections: Sequence[Section], lead: str = "") -> None:
    write_page(path, html_page(title, sections, lead))


class Reported(Protocol):
    """What an evaluation of any sort gives."""

    def data(self) -> dict[str, Any]: ...

    def sections(self) -> list[Section]: ...


def save_report(found: Reported, folder: Path, title: str = "Evaluation") -> None:
    """``report.html`` and, when that is whole, ``evaluation.json``."""
    folder.mkdir(parents=True, exist_ok=True)
    lead = getattr(found, "lead", str)()
    write_report(folder / REPORT, title, found.sections(), lead)
    with whole_file(folder / DATA) as part:
        part.write_text(json.dumps(found.data(), indent=2, ensure_ascii=False) + "\n", "utf-8")


def html_page(title: str, sections: Sequence[Section], lead: str = "") -> str:
    missing: list[str] = []
    body = [_section(section, missing) for section in sections]
    told = f'<p class="warning">{html(missing[0])}</p>' if missing else ""
    return page(title, [f"<h1>{html(title)}</h1>{prose(lead, 'lead')}{told}", *body])


def _section(section: Section, missing: list[str]) -> str:
    table = table_html(section.table) if section.table else ""
    return card(section.title, prose(section.text), _chart(section, missing), table)


def _chart(section: Section, missing: list[str]) -> str:
    if section.chart is None:
        return ""
    try:
        drawn = svg(section.chart())
    except MissingExtraError as error:
        missing.append(f"{error.message} {error.hint}")
        return ""
    return f'<figure role="img" aria-label="{html(section.title)}">{drawn}</figure>'


def svg(chart: Any) -> str:
    """The chart as an SVG element: no script, no network, texts escaped by the renderer."""
    import vl_convert

    drawn: str = vl_convert.vegalite_to_svg(chart.to_json(), format_locale=None)
    return drawn


SUFFIXES = (".svg", ".png", ".html")
CELLS = 50  # of the map of idf values, each way
GROUPS = 5  # panels beside that of all documents
SIZE = 260
KINDS = ["ranked list", "set"]


def check_plot(path: Path) -> None:
    """Raises now what would make a figure impossible after the work."""
    if path.suffix.lower() not in SUFFIXES:
        raise SettingsError(
            f"{path} is no figure that can be drawn.",
            hint=f"end its name with {', '.join(SUFFIXES)}.",
        )
    altair_module()


def altair_module() -> Any:
    try:
        import altair
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError(
            "Figures need altair and vl-convert, which are not installed.",
            hint="pip install 'neardup[plots]'",
        ) from None
    return altair


def save_plot(chart: altair.TopLevelMixin, path: Path) -> None:
    """The file appears only when it is whole; HTML has all scripts in it."""
    form = path.suffix.lower()[1:]
    options: dict[str, Any] = {"inline": True} if form == "html" else {}
    options |= {"scale_factor": 2} if form == "png" else {}
    with whole_file(path) as part:
        chart.save(str(part), format=form, **options)


def agreement_plot(
    tables: tuple[IdfTable, IdfTable],
    names: tuple[str, str],
    correlation: Correlation,
    found: Stability | None,
) -> Any:
    """Where each common term stands in both tables and, of documents, whose signature changes."""
    shown = _idf_map(tables, names, correlation)
    if found is None:
        return shown.properties(background="white")
    alt = altair_module()
    panels = 1 + min(len(found.groups), GROUPS)
    columns = math.ceil(math.sqrt(panels))
    both = alt.hconcat(shown, _changes(found, columns), spacing=40)
    return both.resolve_scale(color="independent").properties(background="white")


def _idf_map(
    tables: tuple[IdfTable, IdfTable], names: tuple[str, str], correlation: Correlation
) -> Any:
    alt = altair_module()
    a, b = tables
    in_a, in_b = common_terms(a, b)
    cells, _, _ = np.histogram2d(a.idf[in_a], b.idf[in_b], CELLS, range=[[0, 1], [0, 1]])
    step = 1 / CELLS
    rows = [
        {"x": i * step, "x2": (i + 1) * step, "y": j * step, "y2": (j + 1) * step, "n": cells[i, j]}
        for i, j in np.argwhere(cells > 0).tolist()
    ]
    r = "undefined" if correlation.coefficient is None else f"{correlation.coefficient:.4f}"
    title = alt.TitleParams(
        f"Spearman {r}", subtitle=f"{correlation.common:,} common terms by idf", anchor="start"
    )
    unit = alt.Scale(domain=[0, 1])
    return (
        alt.Chart(alt.Data(values=rows), title=title, width=SIZE, height=SIZE)
        .mark_rect()
        .encode(
            x=alt.X("x:Q", title=f"idf in {names[0]}", scale=unit),
            x2="x2:Q",
            y=alt.Y("y:Q", title=f"idf in {names[1]}", scale=unit),
            y2="y2:Q",
            color=alt.Color("n:Q", title="terms", scale=alt.Scale(type="log", scheme="blues")),
        )
    )


def _changes(found: Stability, columns: int) -> Any:
    alt = altair_module()
    rows = _change_rows(found)
    order = list(dict.fromkeys(row["group"] for row in rows))
    lines = (
        alt.Chart(alt.Data(values=rows), width=SIZE, height=SIZE)
        .mark_line(point=alt.OverlayMarkDef(size=16))
        .encode(
            x=alt.X("n:Q", title="terms in the signature"),
            y=alt.Y("share:Q", title="signatures that change", axis=alt.Axis(format="%")),
            color=alt.Color("as:N", title="compared as", sort=KINDS),
            strokeDash=alt.StrokeDash("as:N", sort=KINDS, legend=None),
        )
    )
    facet = alt.Facet("group:N", title=None, sort=order, header=alt.Header(labelFontSize=13))
    title = alt.TitleParams("Signature stability", anchor="start")
    return lines.facet(facet=facet, columns=columns, title=title)


def _change_rows(found: Stability) -> Sequence[dict[str, Any]]:
    largest = sorted(found.groups.items(), key=lambda item: -item[1].documents)[:GROUPS]
    rows = []
    for name, changes in [("all", found.total), *largest]:
        label = f"{name}: {changes.documents:,} documents"
        for share in changes.shares():
            for kind, key in zip(KINDS, ("as_list", "as_set"), strict=True):
                rows.append({"group": label, "n": share["n"], "as": kind, "share": share[key]})
    return rows
