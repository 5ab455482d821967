"""One HTML page about a pair, offline and without a script, light or dark as the reader has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.names import shortened
from neardup.outputs.html.page import page
from neardup.outputs.html.safe import html
from neardup.outputs.html.table import Table, table_html
from neardup.outputs.sidebyside.html import CSS, fragment

if TYPE_CHECKING:
    from neardup.outputs.comparison import Comparison
    from neardup.outputs.explain import Explanation

STYLE = """
main { max-width: 90rem; }
h1 { font-size: 1.4rem; margin-bottom: 1rem; }
h2 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
table { margin: 0 0 1.25rem; }
th, td { white-space: normal; overflow-wrap: anywhere; }
th { white-space: nowrap; font-weight: 400; }
.nd-pair { background: var(--card); }
.nd-pair summary { margin: 0; }
summary { cursor: pointer; color: var(--soft); margin: 0 0 .75rem; }
p.key { color: var(--soft); font-size: .85rem; }
p.key del, p.key ins, p.key mark { padding: 0 .3rem; }
"""
# The same marks as in the texts, so their colours are those of the fragment.
KEY = (
    '<p class="key nd-pair" style="border:0;background:none;font:inherit;font-size:.85rem">'
    "<del>only in the first</del> <ins>only in the second</ins> "
    "<mark>moved</mark>: in both, elsewhere, with one number</p>"
)


def comparison_page(compared: Comparison, title: str | None = None) -> str:
    first, second = map(shortened, compared.names)
    return _page(title or f"{first} and {second}", comparison_parts(compared))


def comparison_parts(compared: Comparison) -> list[str]:
    both = fragment(compared.a, compared.b, compared.alignment, names=compared.names)
    measures = facts_table(compared.measure_facts())
    folded = f"<details><summary>All measures</summary>{measures}</details>"
    return [facts_table(compared.facts()), folded, KEY, both]


def facts_table(facts: Sequence[tuple[str, str]]) -> str:
    rows = (
        f'<tr><th scope="row">{html(name)}</th><td>{html(said)}</td></tr>' for name, said in facts
    )
    return f"<table>{''.join(rows)}</table>"


def _page(title: str, parts: Sequence[str]) -> str:
    return page(title, [f"<h1>{html(title)}</h1>", *parts], STYLE + CSS)


def explanation_page(explained: Explanation) -> str:
    parts = [f"<p>{html(line)}</p>" for line in explained.head(pairs=False)]
    if compared := explained.comparison:
        parts.append(f"<h2>{' and '.join(html(shortened(one)) for one in compared.names)}</h2>")
        parts += comparison_parts(compared)
    if explained.pairs:
        parts += ["<h2>Its pairs, the strongest first</h2>", _pairs(explained)]
    return _page(f"Why {explained.id} was {_became(explained.decision)}", parts)


def _pairs(explained: Explanation) -> str:
    rows = [
        (pair.id, f"{pair.score:.4f}", pair.kind or "", pair.decision or "reference")
        for pair in explained.pairs
    ]
    more = explained.pair_count - len(rows)
    rows += [(f"… {more:,} more", "", "", "")] if more else []
    return table_html(Table(("document", "score", "kind", "decision"), rows))


def _became(decision: str) -> str:
    return {"duplicate": "set aside"}.get(decision, decision)
