"""The report of a run: one page for managers and engineers, put together from its sections."""

from __future__ import annotations

from typing import Any

from neardup.report.html_page import Html, html, page
from neardup.report.run_figures import by_kind, by_source, scores
from neardup.report.run_headline import accounts, further, settings, timings, title, top
from neardup.report.run_lists import (
    Cluster,
    Shown,
    duplicates,
    largest,
    largest_clusters,
    rejected,
    sizes,
    too_short,
    weakest,
    weakest_pairs,
)
from neardup.report.run_view import Run, Texts, column_values, read_texts
from neardup.runs.result import Result

REPORT = "report.html"
PLACES = {
    "accounts": "Counts",
    "sources": "Sources",
    "kinds": "Kinds",
    "scores": "Scores",
    "sizes": "Cluster sizes",
    "largest": "Largest clusters",
    "weakest": "Weakest pairs",
    "aside": "Duplicates",
    "notes": "Notes",
    "rejected": "Rejected",
    "settings": "Settings",
    "timings": "Time",
    "further": "Go further",
}


def run_page(result: Result, info: dict[str, Any]) -> str:
    """For the folder of a run, whose ``info`` says more than the result. References are not read
    for it: a run against many must not wait."""
    return _page(Run(result, info))


def report_page(result: Result, by: str | None = None) -> str:
    """``by``: a column of the documents; the shares of its values are listed."""
    groups = column_values(result, by) if by else None
    return _page(Run(result, result.info, by, groups, references=True))


def _page(run: Run) -> str:
    clusters, pairs = largest(run), weakest(run)
    texts = _texts(run, clusters, pairs)
    parts = [
        accounts(run),
        by_source(run),
        by_kind(run),
        scores(run),
        sizes(run),
        largest_clusters(run, clusters, texts),
        weakest_pairs(run, pairs, texts),
        duplicates(run),
        too_short(run),
        rejected(run),
        settings(run),
        timings(run),
        further(pairs),
    ]
    return page(title(run), [top(run), _contents(parts), *parts], "side_by_side", "run_report")


def _texts(run: Run, clusters: list[Cluster], pairs: list[Shown]) -> Texts:
    found = [Shown.of(one.weakest) for one in clusters if one.weakest]
    ids = {id: None for pair in [*found, *pairs] for id in pair.ids}
    members = {row["id"]: None for one in clusters for row in one.members}
    return read_texts(run, list(ids), list(members))


def _contents(parts: list[Html]) -> str:
    there = [key for key in PLACES if any(f'<section id="{key}">' in part[:60] for part in parts)]
    links = " ".join(f'<a href="#{key}">{html(PLACES[key])}</a>' for key in there)
    return f'<nav aria-label="Parts of this report">{links}</nav>'
