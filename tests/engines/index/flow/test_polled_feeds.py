"""Feeds on the web, polled from a server on loopback with a clock of its own: nothing waits."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cli.sample import Run, run
from engines.index.flow.sample import feed, story
from neardup.engines.index.flow import polled_feeds
from neardup.engines.index.flow.flow import Flow
from neardup.engines.index.flow.flow_settings import FlowSettings
from neardup.engines.index.flow.items import Event
from neardup.engines.index.index import Index
from neardup.errors import SettingsError

__all__ = ["run"]  # a fixture
Answer = tuple[int, dict[str, str], bytes]


class Site:
    """A server; ``pages`` are what it answers by path, ``asked`` what it was asked."""

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.ended = threading.Event()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append((self.path, dict(self.headers)))
                if self.path == "/silent":
                    site.ended.wait()
                status, headers, body = site.pages.get(self.path, (404, {}, b""))
                if headers.get("ETag") and self.headers["If-None-Match"] == headers["ETag"]:
                    status, body = 304, b""
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                if body == b"endless":
                    while True:
                        try:
                            self.wfile.write(bytes(1 << 16))
                        except OSError:
                            return
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def put(self, path: str, content: str, status: int = 200, **headers: str) -> str:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = status, named, content.encode()
        return f"{self.url}{path}"


@pytest.fixture(scope="module")
def server() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield site
    site.ended.set()
    site.server.shutdown()
    thread.join()
    site.server.server_close()


@pytest.fixture
def site(server: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("no_proxy", "*")
    server.pages.clear()
    server.asked.clear()
    return server


class Place:
    def __init__(self, root: Path) -> None:
        self.root, self.now = root, 1e9
        self.events: list[Event] = []
        self.index = Index.open("memory:", method="qgrams", clock=lambda: self.now)

    def flow(self, *urls: str, **options: Any) -> Flow:
        places = {name: self.root / name for name in ("forward", "aside", "unreadable", "work")}
        asked = FlowSettings.of(urls, "memory:", **places, **options)
        made = replace(asked, clock=lambda: self.now).flow(self.index)
        made.tell = self.events.append
        return made

    def once(self, *urls: str, **options: Any) -> Flow:
        flow = self.flow(*urls, **options)
        flow.run(self.pass_time, once=True)
        return flow

    def pass_time(self, seconds: float) -> None:
        self.now += seconds

    def names(self, folder: str) -> list[str]:
        return sorted(path.name for path in (self.root / folder).glob("*"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_feed_is_asked_for_what_is_new(place: Place, site: Site) -> None:
    url = site.put(
        "/rss", feed([story(1)]), ETag='"a"', Last_Modified="Tue, 05 Mar 2024 10:00:00 GMT"
    )
    flow = place.flow(url, poll=60)
    for _ in range(3):  # asked once, because the clock stands
        flow.step()
    assert place.names("forward") == ["http_x_0.json"]
    place.now += 61
    flow.step()
    assert len(site.asked) == 2
    assert site.asked[1][1]["If-None-Match"] == '"a"'
    assert site.asked[1][1]["If-Modified-Since"] == "Tue, 05 Mar 2024 10:00:00 GMT"
    site.put("/rss", feed([story(1), story(2)]), ETag='"b"')
    place.now += 61
    flow.step()
    assert place.names("forward") == ["http_x_0.json", "http_x_1.json"]
    assert place.names("aside") == []  # the first entry came once
    again = place.once(url)  # of a new process
    assert (again.totals.items, len(site.asked)) == (0, 4)
    site.put("/rss", feed([story(3)]))
    place.now += 61
    flow.step()  # an entry that was rewritten comes again
    assert len(place.names("forward")) == 3


def test_a_feed_that_fails_is_asked_later_and_later(place: Place, site: Site) -> None:
    good = site.put("/good", feed([story(1)]))
    bad = site.put("/bad", "", status=500)
    flow = place.flow(bad, good, poll=60)
    flow.step()
    flow.step()
    assert place.names("forward") == ["http_x_0.json"]  # others go on
    problem = place.events[0].note["problem"]
    assert "answers 500" in problem
    assert "again in 2 minutes" in problem
    for _ in range(40):
        place.now += 60
        flow.step()
        flow.step()
    assert [path for path, _ in site.asked].count("/bad") == 5  # after 2, 4, 8, 16 minutes
    site.put("/bad", feed([story(2)]))
    place.now += 4000
    flow.step()
    assert len(place.names("forward")) == 2
    assert flow.source.failing == []  # type: ignore[attr-defined]


@pytest.mark.parametrize("after", ["7200", "Sun, 09 Sep 2001 03:46:40 GMT"])
def test_a_server_says_when_to_come_again(place: Place, site: Site, after: str) -> None:
    flow = place.flow(site.put("/busy", "", status=503, Retry_After=after), poll=1)
    flow.step()
    place.now += 7100
    flow.step()
    place.now += 101
    flow.step()
    assert len(site.asked) == 2


def test_an_answer_is_bounded_in_size_and_time(
    place: Place, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = site.put("/endless", "endless")
    monkeypatch.setattr(polled_feeds, "MOST_BYTES", 300_000)
    place.once(endless)
    assert "more than 0.3 MB" in place.events[-1].note["problem"]
    monkeypatch.setattr(polled_feeds, "MOST_SECONDS", -1.0)
    place.now += 86_401
    place.once(endless)
    assert "has not ended" in place.events[-1].note["problem"]
    monkeypatch.setattr(polled_feeds, "WHOLE_SECONDS", 0.1)
    place.once(f"{site.url}/silent")
    assert "no answer after 0.1 seconds" in place.events[-1].note["problem"]
    monkeypatch.undo()
    place.once(site.put("/short", "<rss/>", Content_Length="100"))
    assert place.names("forward") == []


def test_what_is_no_feed_is_unreadable_once(place: Place, site: Site) -> None:
    url = site.put("/page", "<html><p>no feed</p></html>")
    place.once(url)
    place.once(url)
    assert place.names("unreadable") == ["127.0.0.1.xml", "127.0.0.1.xml.why.json"]
    note = json.loads((place.root / "unreadable/127.0.0.1.xml.why.json").read_bytes())
    assert "expected a feed" in note["reason"]
    laughs = '<!DOCTYPE r [<!ENTITY a "aaaa">]><rss>&a;</rss>'
    place.once(site.put("/laughs", laughs))
    assert len(place.names("unreadable")) == 4


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/x", "file:///etc/passwd", "/moved"])
def test_a_redirection_leads_only_to_the_web(place: Place, site: Site, target: str) -> None:
    site.put("/moved", feed([story(1)]))
    url = site.put("/old", "", status=302, Location=target)
    place.once(url.replace("http://", "http://me:s3cret@"))
    assert bool(place.names("forward")) is (target == "/moved")
    assert "Authorization" in site.asked[0][1]
    assert not any("Authorization" in headers for _, headers in site.asked[1:])
    assert "s3cret" not in "".join(str(event) for event in place.events)
    assert "s3cret" not in (place.root / "work/feeds.json").read_text()


def test_notes_that_are_damaged_count_as_none(place: Place, site: Site) -> None:
    url = site.put("/rss", feed([story(1)]))
    (place.root / "work").mkdir()
    for damaged in ("{", "[]", json.dumps({url: {"etag": 1, "failures": "x", "seen": [1, {}]}})):
        (place.root / "work/feeds.json").write_text(damaged)
        place.now += 1
        assert place.once(url).totals.items == 1


def test_the_command(site: Site, tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    url = site.put("/rss", feed([story(1), story(2), story(1)]))
    done = run("watch", url, "--index", "news.db", "--forward", "out", "--aside", "dup", "--once")
    assert done.exit_code == 0, done.output
    assert "3 items: 2 originals, 1 duplicate, 0 unreadable." in done.output
    failed = run("watch", f"{site.url}/none", "--index", "news.db", "--forward", "out", "--once")
    assert failed.exit_code == 1
    assert "answers 404" in failed.output
    assert "Hint: start the command again in 20 minutes" in failed.output
    with pytest.raises(SettingsError, match="only feeds"):
        FlowSettings.of([url, str(tmp_path)], "memory:", forward=tmp_path / "out")
