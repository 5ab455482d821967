"""The report in a real browser: calm, whole, and deaf to what documents ask for."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser import opened
from report import runs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NEWS = Path(__file__).parents[2] / "examples" / "news.jsonl"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    hostile = runs.run(runs.hostile(folder))
    assert hostile.counts.duplicates > 20
    assert hostile.counts.rejected == 4
    return {
        "news": runs.run(NEWS).report(folder / "news.html"),
        "hostile": hostile.report(folder / "hostile.html"),
        "by": hostile.report(folder / "by.html", by="site"),
        "empty": runs.run([]).report(folder / "empty.html"),
    }


def count(page: Page, name: str) -> int:
    return int(page.locator(f"[data-count={name}]").inner_text().replace(",", ""))


@pytest.mark.parametrize(
    ("name", "width"),
    [("news", 400), ("news", 1400), ("hostile", 400), ("by", 400), ("empty", 1400)],
)
def test_it_shows_everything_and_does_nothing(
    browser: Browser, reports: dict[str, Path], name: str, width: int
) -> None:
    with opened(browser, reports[name], width=width, dark=width == 400) as found:
        page = found.page
        page.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
        page.mouse.move(width / 2, 300)
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width
        kept, aside, rejected = (count(page, n) for n in ("kept", "duplicates", "rejected"))
        assert count(page, "documents") == kept + aside + rejected
        cells = page.locator("#accounts tbody td:nth-of-type(2)").all_inner_texts()
        numbers = [int(cell.replace(",", "")) for cell in cells]
        assert sum(numbers[:-1]) == numbers[-1] == count(page, "documents")
        assert page.locator("script, iframe, img, base, link, object, embed, form").count() == 0
        assert page.locator("h1").is_visible()
    assert found.faults == []


def test_what_a_document_hides_is_shown(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["hostile"]) as found:
        text = found.page.locator("main").text_content() or ""
    assert runs.SCRIPT in text
    assert "⟨202E⟩" in text
    assert "\u202e" not in text
    assert "␛[31m" in text
    assert found.faults == []


def test_headings_tables_and_figures_have_names(browser: Browser, reports: dict[str, Path]) -> None:
    with opened(browser, reports["news"]) as found:
        page = found.page
        assert page.locator("html").get_attribute("lang") == "en"
        for table in page.locator("table").all():
            assert table.locator("thead th[scope=col]").count() >= 2
        for figure in page.locator("svg:not([aria-hidden])").all():
            assert figure.get_attribute("aria-label")
        for link in page.locator("nav a").all():
            assert page.locator(link.get_attribute("href") or "").count() == 1
        levels = [int(h.evaluate("h => h.tagName[1]")) for h in page.locator("h1,h2,h3").all()]
        assert levels[0] == 1
        assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


@pytest.mark.parametrize("dark", [False, True])
def test_texts_have_contrast(browser: Browser, reports: dict[str, Path], dark: bool) -> None:
    """4.5 to 1 against the nearest background (WCAG 2.1, 1.4.3)."""
    with opened(browser, reports["news"], dark=dark) as found:
        low = found.page.evaluate(CONTRAST)
    assert low == []


CONTRAST = """() => {
  const numbers = c => (c.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = e => {
    const over = [];
    for (; e; e = e.parentElement) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return over.reduceRight((under, one) =>
        under.map((v, i) => v * (1 - one[3]) + one[i] * one[3]), c.slice(0, 3));
      if (c[3] > 0) over.push(c);
    }
    return [255, 255, 255];
  };
  const low = [];
  const texts = "p,td,th,dt,dd,h1,h2,h3,a,summary,small,code,pre,del,ins,mark,text";
  for (const e of document.querySelectorAll(texts)) {
    if (!e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    const ground = behind(e.closest("svg") || e);
    let ink = numbers(e.tagName === "text" ? style.fill : style.color).slice(0, 3);
    let fade = 1;
    for (let p = e; p; p = p.parentElement) fade *= Number(getComputedStyle(p).opacity);
    ink = ink.map((v, i) => v * fade + ground[i] * (1 - fade));
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    const ratio = (a + .05) / (b + .05);
    if (ratio < 4.5) low.push([e.tagName, ratio.toFixed(2), e.textContent.slice(0, 30)].join(" "));
  }
  return [...new Set(low)].slice(0, 10);
}"""
