"""The look of a page: readable on paper, on a telephone and in the dark."""

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
