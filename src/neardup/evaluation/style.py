"""The look of a report: readable on paper, on a telephone and in the dark."""

STYLE = """
:root { color-scheme: light; --ink: #1c2430; --soft: #5a6675; --line: #dfe4ea; --mark: #eaf3ec;
  --accent: #2f6f4f; }
* { box-sizing: border-box; }
body { margin: 0; background: #f6f7f9; color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 70rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 0 0 .5rem; }
p { margin: 0 0 .75rem; max-width: 46rem; overflow-wrap: anywhere; white-space: pre-line; }
p.lead { font-size: 1.05rem; border-left: 4px solid var(--accent); padding: .25rem 0 .25rem .9rem; }
p.warning { background: #fff4dc; border-left: 4px solid #d99a1b; padding: .5rem .75rem; }
section { background: #fff; border: 1px solid var(--line); border-radius: 8px;
  padding: 1.25rem 1.25rem 1rem; margin: 1.25rem 0; break-inside: avoid; }
figure { margin: .5rem 0 1rem; overflow-x: auto; }
figure svg { max-width: 100%; height: auto; overflow: visible; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem 1.1rem .3rem 0; text-align: left; border-bottom: 1px solid var(--line);
  vertical-align: top; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; }
th.n, td.n { text-align: right; }
small { color: var(--soft); font-weight: 400; margin-left: .25rem; }
tr.marked td { background: var(--mark); font-weight: 600; }
pre { background: #1c2430; color: #f2f5f8; padding: .75rem 1rem; border-radius: 6px;
  overflow-x: auto; font-size: .9rem; white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { body { background: #fff; } section { border: 0; padding: 0; } }
"""
