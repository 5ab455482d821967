"""One page, one file: style inside, no script, and no leave to load anything from anywhere.

Text of documents made harmless and honest for a page: escaped, cut, and with nothing hidden.

Documents are hostile. Markup is escaped; characters that act instead of being seen are shown.

The look of a page: readable on paper, on a telephone and in the dark.

Tables of a page, and how numbers are written in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import NamedTuple

from neardup.documents.streams import whole_file
from neardup.report.side_by_side import visible
from neardup.wording import LONGEST_NAME, shortened

LONGEST_PATH = 40
ONE_LINE = 30


class Html(str):
    """Markup that is safe as it stands; any other string is escaped where it is shown."""

    __slots__ = ()


def html(text: str) -> Html:
    return text if isinstance(text, Html) else Html(escape(visible(text)))


def name(text: str | None, most: int = LONGEST_NAME) -> Html:
    """An id or a source, apart from the direction of what stands around it."""
    if text is None:
        return Html("–")
    return _apart(shortened(text, most))


def _apart(line: str) -> Html:
    made = Html(f"<bdi>{html(line)}</bdi>")
    return made if len(line) <= ONE_LINE else wrapped(made)


def place(file: str, row: int, path: str | None = None) -> Html:
    """Where a document stands, as ``names.where`` has it; of a long path the end."""
    whole = path or file
    end = whole if len(whole) <= LONGEST_PATH else "…" + whole[1 - LONGEST_PATH :]
    made = Html(f"<bdi>{html(end)}</bdi>" + ("" if path else f", row {row:,}"))
    return made if len(end) <= ONE_LINE else wrapped(made)


def wrapped(text: str) -> Html:
    """May have several lines in a cell."""
    return Html(f"<span class=wrap>{html(text)}</span>")


_LIGHT = """--paper: #f6f7f9; --card: #fff; --ink: #1c2430; --soft: #566170; --line: #dfe4ea;
  --mark: #eaf3ec; --accent: #2f6f4f; --warn: #fff4dc; --warn-line: #b97f0c;
  --code: #eef1f5; --code-ink: #1c2430;"""
_DARK = """--paper: #12161c; --card: #1a2028; --ink: #e4e9ef; --soft: #a3afbd; --line: #2f3843;
  --mark: #1f3327; --accent: #6fc297; --warn: #3a2f17; --warn-line: #d9a441;
  --code: #10141a; --code-ink: #dbe2ea;"""

STYLE = f"""
:root {{ color-scheme: light dark; {_LIGHT} }}
@media screen and (prefers-color-scheme: dark) {{ :root {{ {_DARK} }} }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }}
main {{ max-width: 70rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }}
h1 {{ font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.15rem; margin: 0 0 .5rem; }}
p {{ margin: 0 0 .75rem; max-width: 46rem; overflow-wrap: anywhere; white-space: pre-line; }}
p.lead {{ font-size: 1.05rem; border-left: 4px solid var(--accent);
  padding: .25rem 0 .25rem .9rem; }}
p.warning {{ background: var(--warn); border-left: 4px solid var(--warn-line);
  padding: .5rem .75rem; }}
section {{ background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 1.25rem 1.25rem 1rem; margin: 1.25rem 0; }}
figure {{ margin: .5rem 0 1rem; overflow-x: auto; }}
figure svg {{ max-width: 100%; height: auto; overflow: visible; }}
.scroll {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .3rem 1.1rem .3rem 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--line); white-space: nowrap; }}
th {{ color: var(--soft); font-weight: 600; }}
th.n, td.n {{ text-align: right; }}
small {{ color: var(--soft); font-weight: 400; margin-left: .25rem; }}
tr.marked td {{ background: var(--mark); font-weight: 600; }}
pre {{ background: var(--code); color: var(--code-ink); border: 1px solid var(--line);
  padding: .75rem 1rem; border-radius: 6px; margin: 0 0 .75rem; overflow-x: auto;
  font-size: .9rem; white-space: pre-wrap; overflow-wrap: anywhere; }}
@media print {{ :root {{ color-scheme: light; }}
  html {{ font-size: 70%; }}
  body {{ background: none; font-size: 11px; print-color-adjust: exact; }}
  section {{ border: 0; padding: 0; break-inside: avoid; }}
  .scroll {{ overflow: visible; }} td:not(.n) {{ white-space: normal; }} }}
"""


WARNING = "WARNING: "  # what a paragraph begins with that must not be overlooked
# Should markup of a document ever slip through, the browser still runs and loads nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(title: str, parts: Iterable[str], style: str = "") -> str:
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html(title)}</title><style>{STYLE}{style}</style></head><body><main>"
        f"{body}\n</main></body></html>\n"
    )


def write_page(path: Path, text: str) -> None:
    """The file appears only when it is whole."""
    with whole_file(path) as part:
        part.write_text(text, "utf-8")


def card(title: str, *parts: str, anchor: str = "") -> Html:
    place = f' id="{anchor}"' if anchor else ""
    return Html(f"<section{place}><h2>{html(title)}</h2>{''.join(parts)}</section>")


def paragraphs(text: str) -> list[str]:
    return [part for part in re.split(r"\n\s*\n", text.strip()) if part]


def prose(text: str, css: str = "") -> Html:
    """Plain text, paragraphs parted by blank lines; one that begins with "$ " is a command to
    paste, one that begins with WARNING stands out."""
    made = []
    for paragraph in paragraphs(text):
        if paragraph.startswith("$ "):
            made.append(f"<pre>{html(paragraph[2:])}</pre>")
        else:
            kind = "warning" if paragraph.startswith(WARNING) else css
            made.append(f"<p{f' class={kind}' if kind else ''}>{html(paragraph)}</p>")
    return Html("".join(made))


class Ranged(NamedTuple):
    """A value with its interval."""

    value: float | None
    interval: tuple[float, float] | None = None


class Share(NamedTuple):
    """A part of a whole, in percent."""

    part: int
    whole: int


Cell = str | int | float | Ranged | Share | None
NONE = "–"


@dataclass(frozen=True)
class Table:
    """Cells are shown by :func:`shown`; ``marked`` rows stand out."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    marked: Sequence[int] = ()


def shown(cell: Cell) -> str:
    """Scores with three decimals, whole numbers with commas, – for what is undefined."""
    if cell is None:
        return NONE
    if isinstance(cell, Share):
        return percent(cell)
    if isinstance(cell, Ranged):
        return " ".join(filter(None, _ranged(cell)))
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def percent(share: Share) -> str:
    """One decimal; what is neither nothing nor all is never written as 0 or 100."""
    part, whole = share
    if not whole:
        return NONE
    if 0 < part * 2000 < whole:
        return "< 0.1 %"
    if 0 < (whole - part) * 2000 < whole:
        return "> 99.9 %"
    return f"{100 * part / whole:.1f} %"


def _ranged(cell: Ranged) -> tuple[str, str]:
    if cell.value is None or cell.interval is None:
        return shown(cell.value), ""
    low, high = cell.interval
    return shown(cell.value), f"({low:.3f}–{high:.3f})"


def table_html(table: Table) -> Html:
    numeric = [
        bool(table.rows) and not any(isinstance(row[i], str) for row in table.rows)
        for i in range(len(table.header))
    ]
    head = "".join(
        _cell("th scope=col", html(name), right)
        for name, right in zip(table.header, numeric, strict=True)
    )
    body = "".join(
        f"<tr{' class=marked' if number in table.marked else ''}>"
        + "".join(_cell("td", _html(c), right) for c, right in zip(row, numeric, strict=True))
        + "</tr>"
        for number, row in enumerate(table.rows)
    )
    head, body = f"<thead><tr>{head}</tr></thead>", f"<tbody>{body}</tbody>"
    return Html(f'<div class="scroll"><table>{head}{body}</table></div>')


def _cell(tag: str, content: str, right: bool) -> str:
    return f"<{tag}{' class=n' if right else ''}>{content}</{tag.partition(' ')[0]}>"


def _html(cell: Cell) -> Html:
    if isinstance(cell, str):
        return html(cell)
    if not isinstance(cell, Ranged):
        return html(shown(cell))
    value, interval = _ranged(cell)
    return Html(f"{value} <small>{interval[1:-1]}</small>" if interval else value)
