"""A figure as a file of its own: SVG, PNG, PDF, or a page. White, with its colours in it.

A drawing program knows no CSS variables and a page has no style to lend, so the light colours are
written into the file. PNG and PDF need vl-convert (the extra ``plots``), the others nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

from neardup.errors import MissingExtraError, SettingsError
from neardup.files import whole_file
from neardup.report.figures import CHARACTER, Figure, sample
from neardup.report.html_page import page, style, text

SUFFIXES = (".svg", ".png", ".html", ".pdf")
CONVERTED = (".png", ".pdf")
MOST_WIDTH = 1000  # pixels of a row of figures


def check_figure(path: Path) -> None:
    """Raises now what would make a figure impossible after the work."""
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise SettingsError(
            f"{path} cannot be drawn: expected a name that ends with {', '.join(SUFFIXES)}.",
            hint="the ending of the name says in which form the figure is written.",
        )
    if suffix in CONVERTED:
        _converted("<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>", suffix)


def save_figure(figure: Figure, path: Path, title: str = "neardup") -> None:
    """The file appears only when it is whole."""
    suffix = path.suffix.lower()
    with whole_file(path) as part:
        if suffix in CONVERTED:
            part.write_bytes(_converted(figure_svg(figure), suffix))
        elif suffix == ".html":
            part.write_text(page(title, [figure.html()]), "utf-8")
        else:
            part.write_text(figure_svg(figure), "utf-8")


def figure_svg(figure: Figure) -> str:
    """Its parts side by side, as many in a row as fit into ``MOST_WIDTH``."""
    drawn, x, y, width, row = "", 0, 0, 0, 0
    for part in (figure, *figure.more):
        inner, wide, tall = _placed(part)
        if x and x + wide > MOST_WIDTH:
            x, y, row = 0, y + row, 0
        drawn += f'<svg x="{x}" y="{y}" width="{wide}" height="{tall}">{inner}</svg>'
        x, row = x + wide, max(row, tall)
        width = max(width, x)
    height = y + row
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}"><style>{_plain_style()}</style>'
        f'<rect width="{width}" height="{height}" fill="#fff"/>{drawn}</svg>\n'
    )


def _placed(figure: Figure) -> tuple[str, int, int]:
    """Key and panels, with their width and height in pixels; a long key has several lines."""
    columns = min(figure.columns, len(figure.panels))
    wide = max(panel.width for panel in figure.panels) + 20
    drawn, x, y = "", 10, 0
    for i, label in enumerate(figure.labels):
        needed = 28 + int(len(label) * CHARACTER) + 20
        if x > 10 and x + needed > wide * columns:
            x, y = 10, y + 20
        drawn += (
            f'<svg class="chart" x="{x}" y="{y + 4}" width="22" height="12">'
            f'{sample(figure.marks, i)}</svg><svg class="chart" x="{x + 28}" y="{y}" width="400" '
            f'height="20">{text(0, 14, label, "first")}</svg>'
        )
        x += needed
    head = y + 24 if figure.labels else 0
    tall = max(panel.height for panel in figure.panels) + 10
    for i, panel in enumerate(figure.panels):
        at = f'x="{wide * (i % columns) + 10}" y="{head + tall * (i // columns)}"'
        drawn += panel.element(f'{at} width="{panel.width}"')
    rows = -(-len(figure.panels) // columns)
    return drawn, max(wide * columns, x), head + tall * rows


def _plain_style() -> str:
    """The style of figures with the light values in the place of the variables."""
    written = style("colours", "figures")
    light = dict(re.findall(r"(--[\w-]+): ([^;]+);", written.partition("@media")[0]))
    rules = re.sub(r":root \{[^}]*\}|@media[^{]*\{(?:[^{}]|\{[^}]*\})*\}", "", written)
    return re.sub(r"var\((--[\w-]+)\)", lambda name: light[name[1]], rules)


def _converted(svg: str, suffix: str) -> bytes:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError(
            f"A {suffix} figure needs vl-convert, which is not installed.",
            hint="pip install 'neardup[plots]', or end the name with .svg.",
        ) from None
    picture: bytes = (
        vl_convert.svg_to_pdf(svg) if suffix == ".pdf" else vl_convert.svg_to_png(svg, scale=2)
    )
    return picture
