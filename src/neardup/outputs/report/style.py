"""What the report of a run adds to the look of a page."""

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
