"""One HTML page about a pair, offline and without a script, light or dark as the reader has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.outputs.sidebyside.html import CSS, fragment, safe

if TYPE_CHECKING:
    from neardup.outputs.comparison import Comparison
    from neardup.outputs.explain import Explanation

STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5a6675; --line: #dfe4ea;
  --page: #f6f7f9; --sheet: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e3e8ee; --soft: #9aa7b5; --line: #333c47; --page: #14181d; --sheet: #1c2229; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 90rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.4rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; overflow-wrap: anywhere; }
p { margin: 0 0 .75rem; max-width: 60rem; overflow-wrap: anywhere; }
table { border-collapse: collapse; margin: 0 0 1.25rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .2rem 1.25rem .2rem 0;
  border-bottom: 1px solid var(--line); font-weight: 400; overflow-wrap: anywhere; }
th { color: var(--soft); white-space: nowrap; }
.nd-pair { background: var(--sheet); }
.nd-pair summary { margin: 0; }
summary { cursor: pointer; color: var(--soft); margin: 0 0 .75rem; }
p.key { color: var(--soft); font-size: .85rem; }
p.key del, p.key ins, p.key mark { padding: 0 .3rem; }
@media print { body { background: #fff; color: #000; } }
"""
# The same marks as in the texts, so their colours are those of the fragment.
KEY = (
    '<p class="key nd-pair" style="border:0;background:none;font:inherit;font-size:.85rem">'
    "<del>only in the first</del> <ins>only in the second</ins> "
    "<mark>moved</mark>: in both, elsewhere, with one number</p>"
)


def comparison_page(compared: Comparison, title: str | None = None) -> str:
    first, second = compared.names
    return page(title or f"{first} and {second}", comparison_parts(compared))


def comparison_parts(compared: Comparison) -> list[str]:
    both = fragment(compared.a, compared.b, compared.alignment, names=compared.names)
    measures = facts_table(compared.measure_facts())
    folded = f"<details><summary>All measures</summary>{measures}</details>"
    return [facts_table(compared.facts()), folded, KEY, both]


def facts_table(facts: Sequence[tuple[str, str]]) -> str:
    rows = (
        f'<tr><th scope="row">{safe(name)}</th><td>{safe(said)}</td></tr>' for name, said in facts
    )
    return f"<table>{''.join(rows)}</table>"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th scope="col">{safe(name)}</th>' for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{safe(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def page(title: str, parts: Sequence[str]) -> str:
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(title)}</title>\n<style>{STYLE}{CSS}</style>\n</head>\n"
        f"<body><main><h1>{safe(title)}</h1>\n{chr(10).join(parts)}\n</main></body>\n</html>\n"
    )


def explanation_page(explained: Explanation) -> str:
    parts = [f"<p>{safe(line)}</p>" for line in explained.head(pairs=False)]
    if compared := explained.comparison:
        parts.append(f"<h2>{' and '.join(map(safe, compared.names))}</h2>")
        parts += comparison_parts(compared)
    if explained.pairs:
        parts += ["<h2>Its pairs, the strongest first</h2>", _pairs(explained)]
    return page(f"Why {explained.id} was {_became(explained.decision)}", parts)


def _pairs(explained: Explanation) -> str:
    rows = [
        (pair.id, f"{pair.score:.4f}", pair.kind or "", pair.decision or "reference")
        for pair in explained.pairs
    ]
    more = explained.pair_count - len(rows)
    rows += [(f"… {more:,} more", "", "", "")] if more else []
    return table(("document", "score", "kind", "decision"), rows)


def _became(decision: str) -> str:
    return {"duplicate": "set aside"}.get(decision, decision)
