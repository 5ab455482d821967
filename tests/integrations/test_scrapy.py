"""A real crawl of a site on loopback, in a process of its own: a reactor cannot be restarted."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import scrapy
from scrapy.utils.test import get_crawler

import neardup as nd
from neardup.integrations.scrapy import NeardupPipeline

STORY = (
    "The harbour of the old town was closed on Monday after a crane fell into the water. "
    "Nobody was hurt, the police said, but ferries to the islands will not run before Friday. "
    "Divers are looking for the load, which contained machines for a factory in the north."
)
OTHER = (
    "Parliament voted for the new library law by a narrow majority late at night. Small villages "
    "get money for books, and large towns have to open their houses on Sundays, too."
)
LAST = (
    "A comet can be seen without a telescope this week, low in the west after sunset. It comes "
    "back in four thousand years, astronomers of the observatory in the south have calculated."
)
SITE = {
    "/": ("", ["/story"]),
    "/story": (STORY, ["/copy", "/other", "/empty"]),
    "/copy": (STORY.replace("Friday", "Saturday"), ["/last"]),
    "/other": (OTHER, []),
    "/last": (LAST, []),
    "/empty": ("", []),
}
SPIDER = """
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Spider(scrapy.Spider):
    name = "site"
    start_urls = [sys.argv[1]]

    def parse(self, response):
        path = response.url.partition("//")[2].partition("/")[2]
        text = " ".join(response.css("article *::text").getall()) or None
        found = {"url": path, "text": text}
        if "near_dup_of" in response.meta:
            found["page"] = response.meta["near_dup_of"]
        yield found
        yield from response.follow_all(css="a")

settings = {
    "FEEDS": {sys.argv[2]: {"format": "jsonlines"}},
    "LOG_LEVEL": "WARNING",
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "CONCURRENT_REQUESTS": 1,
    **json.loads(sys.argv[3]),
}
process = CrawlerProcess(settings)
crawler = process.create_crawler(Spider)
process.crawl(crawler)
process.start()
counts = crawler.stats.get_stats()
print(json.dumps({name: counts[name] for name in sorted(counts) if "neardup" in name}))
"""
PIPELINE = {"ITEM_PIPELINES": {"neardup.integrations.scrapy.NeardupPipeline": 300}}
MIDDLEWARE = {"SPIDER_MIDDLEWARES": {"neardup.integrations.scrapy.NeardupSpiderMiddleware": 30}}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path not in SITE:
            self.send_error(404)
            return
        text, links = SITE[self.path]
        listed = "".join(f'<a href="{link}">x</a>' for link in links)
        body = f"<html><body><article><p>{text}</p></article>{listed}</body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def crawl(site: str, folder: Path, **settings: Any) -> tuple[dict[str, Any], dict[str, int], str]:
    """The items by URL, what was counted, and the log."""
    items = folder / "items.jsonl"
    items.unlink(missing_ok=True)
    command = [sys.executable, "-c", SPIDER, site, str(items), json.dumps(settings)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)
    found = items.read_text("utf-8").splitlines() if items.exists() else []
    rows = {row["url"]: row for row in map(json.loads, found)}
    return rows, json.loads(done.stdout.splitlines()[-1] if done.stdout else "{}"), done.stderr


def test_copies_are_dropped_and_the_index_remembers(site: str, tmp_path: Path) -> None:
    settings = {**PIPELINE, "NEARDUP_INDEX": "seen.db"}
    items, counted, log = crawl(site, tmp_path, **settings)
    assert items.keys() == {"", "story", "other", "last", "empty"}
    assert "copy is a near-duplicate of story" in log
    assert counted["neardup/items_drop"] == 1
    assert counted["neardup/items_unreadable"] == 2  # pages without a text pass
    settings |= {**MIDDLEWARE, "NEARDUP_PAGES": "pages.db"}
    again, counted, log = crawl(site, tmp_path, **settings)
    assert again.keys() == {"", "story", "other", "empty"}  # last is linked from copy only
    assert counted["neardup/pages_drop"] == 1
    assert "neardup/items_drop" not in counted  # a page is no duplicate of itself
    assert log == ""
    with nd.Index.open(tmp_path / "seen.db", create=False) as index:
        assert len(index) == 4


def test_copies_are_marked(site: str, tmp_path: Path) -> None:
    settings = {**PIPELINE, **MIDDLEWARE, "NEARDUP_INDEX": "seen.db", "NEARDUP_PAGES": "pages.db"}
    settings |= {"NEARDUP_ACTION": "mark", "NEARDUP_EXTRACT": "all-text"}
    settings |= {"NEARDUP_SETTINGS": {"method": "shingles", "threshold": 0.5}}
    items, _, log = crawl(site, tmp_path, **settings)
    marked = {name: row.get("near_dup_of") for name, row in items.items()}
    assert marked == {**dict.fromkeys(["", "story", "other", "last", "empty"]), "copy": "story"}
    assert {name for name, row in items.items() if "page" in row} == {"copy"}
    assert items["copy"]["page"] == f"{site}story"
    assert log == ""


def test_an_item_needs_the_field_for_the_mark(tmp_path: Path) -> None:
    class Item(scrapy.Item):  # type: ignore[misc]
        url = scrapy.Field()
        text = scrapy.Field()

    settings = {"NEARDUP_INDEX": str(tmp_path / "s.db"), "NEARDUP_ACTION": "mark"}
    pipeline = NeardupPipeline.from_crawler(get_crawler(settings_dict=settings))
    pipeline.process_item(Item(url="a", text=STORY))
    with pytest.raises(nd.NeardupError, match="no field near_dup_of"):
        pipeline.process_item(Item(url="b", text=STORY))


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({}, "The setting NEARDUP_INDEX is empty"),
        ({"NEARDUP_INDEX": "s.db", "NEARDUP_ACTION": "eat"}, "one of drop, mark"),
    ],
)
def test_wrong_settings(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(nd.NeardupError, match=sentence):
        NeardupPipeline.from_crawler(get_crawler(settings_dict=settings))
