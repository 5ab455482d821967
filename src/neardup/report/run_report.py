"""The report of a run, put together.

What the report of a run adds to the look of a page.
"""

from __future__ import annotations

from typing import Any

from neardup.report.html_page import Html, html, page
from neardup.report.run_figures import by_kind, by_source, scores
from neardup.report.run_headline import accounts, further, settings, timings, title, top
from neardup.report.run_lists import (
    Cluster,
    Shown,
    largest,
    largest_clusters,
    rejected,
    set_aside,
    sizes,
    too_short,
    weakest,
    weakest_pairs,
)
from neardup.report.run_view import Run, Texts, column_values, read_texts
from neardup.report.side_by_side_page import CSS
from neardup.runs.result import Result

_LIGHT = """--alone: #7d93a8; --leading: #2f6f4f; --short: #b3bfca; --aside: #c9822b;
  --rejected: #9a3f4f; --pairs: #4f7396; --track: #eef1f5; --cut: #9a3f4f;"""
_DARK = """--alone: #6d8298; --leading: #57a57e; --short: #475361; --aside: #d99a4e;
  --rejected: #d0707f; --pairs: #7ea6cc; --track: #252d37; --cut: #f0a0aa;"""

STYLE = f"""
:root {{ {_LIGHT} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
nav {{ font-size: .9rem; margin: 1rem 0 0; line-height: 1.9; }}
nav a {{ margin-right: 1rem; white-space: nowrap; }}
a {{ color: var(--accent); }}
h3 {{ font-size: .95rem; margin: 1.25rem 0 .25rem; }}
.tiles {{ display: grid; grid-template-columns: repeat(auto-fit, minmax(7.5rem, 1fr)); gap: .75rem;
  margin: 1.25rem 0; }}
.tiles div {{ background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: .6rem .9rem; }}
.tiles dt {{ color: var(--soft); font-size: .85rem; }}
.tiles dd {{ margin: 0; font-size: 1.5rem; font-weight: 600; line-height: 1.3;
  font-variant-numeric: tabular-nums; }}
svg.bar {{ display: block; width: 9rem; height: .7rem; margin-top: .35rem; border-radius: 2px; }}
svg.stacked {{ display: block; width: 100%; height: 1.9rem; border-radius: 4px;
  margin: .5rem 0 1rem; }}
svg.stacked rect {{ stroke: var(--card); stroke-width: 1px; }}
svg.histogram {{ display: block; width: 100%; }}
figure svg.histogram {{ height: auto; }}
.track {{ fill: var(--track); }}
.alone {{ fill: var(--alone); background: var(--alone); }}
.leading {{ fill: var(--leading); background: var(--leading); }}
.short {{ fill: var(--short); background: var(--short); }}
.aside {{ fill: var(--aside); background: var(--aside); }}
.rejected {{ fill: var(--rejected); background: var(--rejected); }}
.pairs {{ fill: var(--pairs); }}
.broken {{ fill: var(--card); }}
.swatch {{ display: inline-block; width: .7rem; height: .7rem; border-radius: 2px;
  margin-right: .5rem; }}
.histogram text {{ font-size: 12px; fill: var(--soft); text-anchor: middle; }}
.histogram text.first {{ text-anchor: start; }}
.histogram text.count {{ fill: var(--ink); font-size: 11px; }}
.histogram text.said {{ fill: var(--cut); font-weight: 600; }}
.histogram text.after {{ text-anchor: start; }}
.histogram text.before {{ text-anchor: end; }}
.histogram line {{ stroke: var(--line); }}
.histogram line.cut {{ stroke: var(--cut); stroke-width: 1.5px; stroke-dasharray: 5 4; }}
details {{ margin: .25rem 0 .5rem; }}
details.item {{ border-top: 1px solid var(--line); padding: .5rem 0 0; margin: 0 0 .5rem; }}
summary {{ cursor: pointer; overflow-wrap: anywhere; padding: .15rem 0; }}
details.item[open] > summary {{ margin-bottom: .5rem; font-weight: 600; }}
.nd-pair {{ margin: .75rem 0; font-family: inherit; }}
@media screen {{ .nd-pair {{ max-height: 34rem; overflow-y: auto; }} }}
.nd-pair small {{ opacity: 1; }}
p.key {{ border: 0; color: var(--soft); }}
p.key > * {{ color: var(--ink); padding: 0 .3rem; }}
p.lead {{ max-width: none; }}
p.more {{ font-size: .875rem; color: var(--soft); }}
code {{ font: .85rem/1.5 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace;
  overflow-wrap: anywhere; }}
td .wrap {{ display: inline-block; min-width: 13rem; white-space: normal;
  overflow-wrap: anywhere; }}
td {{ overflow: clip; }}
@media (max-width: 40rem) {{
  main {{ padding: 1.5rem .75rem 3rem; }}
  section {{ padding: 1rem .75rem .75rem; }}
  .histogram text.count, .histogram text.wide {{ display: none; }}
}}
@media print {{ nav {{ display: none; }}
  section:has(details.item) {{ break-inside: auto; }}
  details::details-content {{ content-visibility: visible; display: block; height: auto; }} }}
"""


REPORT = "report.html"
PLACES = {
    "accounts": "Counts",
    "sources": "Sources",
    "kinds": "Kinds",
    "scores": "Scores",
    "sizes": "Cluster sizes",
    "largest": "Largest clusters",
    "weakest": "Weakest pairs",
    "aside": "Set aside",
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
    """``by``: a column of the documents whose values are told apart."""
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
        set_aside(run),
        too_short(run),
        rejected(run),
        settings(run),
        timings(run),
        further(pairs),
    ]
    return page(title(run), [top(run), _contents(parts), *parts], CSS + STYLE)


def _texts(run: Run, clusters: list[Cluster], pairs: list[Shown]) -> Texts:
    found = [Shown.of(one.weakest) for one in clusters if one.weakest]
    ids = {id: None for pair in [*found, *pairs] for id in pair.ids}
    members = {row["id"]: None for one in clusters for row in one.members}
    return read_texts(run, list(ids), list(members))


def _contents(parts: list[Html]) -> str:
    there = [key for key in PLACES if any(f'<section id="{key}">' in part[:60] for part in parts)]
    links = " ".join(f'<a href="#{key}">{html(PLACES[key])}</a>' for key in there)
    return f'<nav aria-label="Parts of this report">{links}</nav>'
