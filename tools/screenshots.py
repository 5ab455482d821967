"""`python -m tools.screenshots [NAME…]`: the pictures of pages in docs/images, of the example news.

Each entry of ``PAGES`` is a picture: where it is taken, how wide, light or dark, and what is done
before. Pages are those of a real run, served on a port of this machine, in the browser that the
tests use (`make system`). Pictures have few colours, so that they stay small; look at each one.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fastapi import FastAPI
from PIL import Image
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import neardup as nd  # noqa: E402
from browser import started  # noqa: E402
from neardup.cli import main as cli  # noqa: E402
from neardup.web.access import (  # noqa: E402
    Access,
    Tokens,
    make_token,
)
from neardup.web.app import Login, make_app  # noqa: E402
from neardup.web.flow_pages import FlowPart  # noqa: E402
from neardup.web.guard import Guard  # noqa: E402
from neardup.web.limits import Limits  # noqa: E402
from neardup.web.review.review_pages import review_parts  # noqa: E402
from neardup.web.service.service import Service  # noqa: E402
from web.serving import serving  # noqa: E402

IMAGES = ROOT / "docs" / "images"
COLOURS = 96
MOST_BYTES = 150_000


@dataclass(frozen=True)
class Picture:
    path: str
    width: int = 1100
    height: int = 720
    dark: bool = False
    before: Callable[[Page], None] | None = None


def move_slider(page: Page) -> None:
    slider = page.get_by_label("Threshold")
    with page.expect_response(lambda answer: "at=0.6" in answer.url):
        slider.evaluate(
            "one => { one.value = 0.6; for (const name of ['input', 'change']) "
            "one.dispatchEvent(new Event(name)); }"
        )
    page.wait_for_selector("[data-fallen] table")


PAGES = {
    "review-front": Picture("/"),
    "review-clusters": Picture("/clusters"),
    "review-pair": Picture("/pair?a=en-harbour-1&b=en-harbour-6&sort=weakest"),
    "review-original": Picture("/pair?a=en-harbour-1&b=en-harbour-5&view=original", height=780),
    "review-cluster": Picture("/cluster?of=en-harbour-1", height=800, dark=True),
    "review-threshold": Picture("/threshold", height=900, before=move_slider),
    "review-documents": Picture("/documents?q=harbour&sort=weakest"),
    "review-changes": Picture("/changes", height=740),
    "review-telephone": Picture("/clusters", width=400, height=900),
}
SERVED = {  # of an index, by ``neardup serve``
    "flow": Picture("/flow", height=980, before=lambda page: page.wait_for_selector("#matches tr")),
    "service": Picture("/service"),
    "login": Picture("/login", height=380),
}
FILES = {  # pages that commands write as files of their own
    "gallery-report": Picture("out/report.html", height=900),
    "gallery-compare": Picture("compare.html", height=760),
    "gallery-trace": Picture("trace.html", height=560),
    "gallery-passages": Picture("passages/report.html", height=900),
}
COMMANDS = (
    "compare --run out en-harbour-1 en-harbour-6 --html compare.html",
    "trace essay.txt --against news.jsonl --html trace.html",
    "passages news.jsonl -o passages",
)
FIGURE = "gallery-figure"  # drawn by an evaluation


def main() -> None:
    wanted = sys.argv[1:] or [*PAGES, *SERVED, *FILES, FIGURE]
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), started() as browser:
        shutil.copy(ROOT / "examples" / "news.jsonl", "news.jsonl")
        nd.dedup("news.jsonl").save("out")
        with serving(make_app(review_parts("out"), Guard())) as address:
            change(address)
            for name in (one for one in wanted if one in PAGES):
                take(browser, address, name, PAGES[name])
        with index() as found, serving(service(found)) as address:
            for name in (one for one in wanted if one in SERVED):
                take(browser, address, name, SERVED[name])
        write_files()
        for name in (one for one in wanted if one in FILES):
            take(browser, f"file://{folder}/", name, FILES[name])
        if FIGURE in wanted:
            draw_figure(IMAGES / f"{FIGURE}.svg")


def write_files() -> None:
    """An essay with a passage of one item and a sentence of another, and what commands make."""
    texts = {row["id"]: row["text"] for row in rows()}
    harbour, weather = texts["en-harbour-1"].split(". "), texts["en-weather-1"].split(". ")
    essay = ["Our class went to the coast", harbour[1], "I liked the wood", weather[0], "It rained"]
    Path("essay.txt").write_text(". ".join(essay) + ".\n", "utf-8")
    for command in COMMANDS:
        cli(command.split(), standalone_mode=False)


def draw_figure(path: Path) -> None:
    recipes = ["williams2013-shingles", "charikar2002", "theobald2008"]
    labelled = [
        {**row, "same": row["id"] if row["kind"] == "different" else row["story"]} for row in rows()
    ]
    nd.evaluate(
        labelled, group="same", method="raregrams", recipe=recipes, sweep="0.1:0.9:0.05"
    ).export(path)


def rows() -> list[dict[str, str]]:
    return [json.loads(line) for line in Path("news.jsonl").read_text("utf-8").splitlines()]


def index() -> nd.Index:
    made = nd.Index.open("news.db", method="shingles", threshold=0.5, date="date", texts=True)
    dated = [row for row in rows() if row.get("date")]  # others would be of today
    made.add_many(sorted(dated, key=lambda row: row["date"]))
    return made


def service(index: nd.Index) -> FastAPI:
    """As the command puts it together, with a login, but no token is asked for."""
    served, tokens = Service(index, Limits()), Path("tokens.json")
    make_token(tokens, "reader", read_only=True)
    parts = [served, FlowPart("news.db", lambda: index), Login(Access(Tokens(tokens)))]
    return make_app(parts, served.behind(Guard()))


def change(address: str) -> None:
    """So that there is something to see on the page of changes."""
    import httpx

    for path, data in (
        ("/changes/first", {"id": "fr-musee-2"}),
        ("/changes/act", {"action": "drop", "clusters": ["de-bruecke-1", "es-tren-1"]}),
        ("/changes/act", {"action": "keep", "ids": ["de-boerse-2"]}),
        ("/changes/undo", {"number": 2}),
    ):
        httpx.post(address + path, json=data).raise_for_status()


def take(browser: Browser, address: str, name: str, picture: Picture) -> None:
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        color_scheme="dark" if picture.dark else "light",
    )
    page = context.new_page()
    page.goto(address + picture.path)
    if picture.before:
        picture.before(page)
    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    context.close()
    path = IMAGES / f"{name}.png"
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    size = path.stat().st_size
    assert size <= MOST_BYTES, f"{path} has {size:,} bytes"
    print(f"{path.relative_to(ROOT)}: {size:,} bytes")


if __name__ == "__main__":
    main()
