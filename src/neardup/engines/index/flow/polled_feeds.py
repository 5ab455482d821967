"""Feeds on the web, fetched again and again: all XML that ``documents/news_items.py`` reads.

A feed is asked for only if it has changed (``ETag``, ``Last-Modified``), and entries that it had
before are passed over; an entry whose text has changed comes again. A feed that fails is asked
again later and later, up to a day, or when its server asks for it (``Retry-After``). Size and time
of an answer are bounded, and only the web is asked, also after a redirection.

What a feed has brought is noted in the working folder after its entries are staged there. If the
process is killed in between, they come again and are duplicates of themselves.
"""

from __future__ import annotations

import http.client
import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar
from urllib import request
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit, urlunsplit

from neardup import files
from neardup.engines.index.flow.items import Fields, Item, feed_entries, object_of
from neardup.errors import StoreError, UnreadableError, without_password

SCHEMES = ("http://", "https://")
MOST_BYTES, MOST_SECONDS, QUIET_SECONDS = 50_000_000, 60.0, 20.0
WHOLE_SECONDS = 2 * MOST_SECONDS  # of a request, with all that comes before the answer
MOST_SEEN = 5_000  # entries that are remembered of a feed
LONGEST_PAUSE = 86_400.0
NOTES = "feeds.json"
_AT_ONCE = 1 << 16
_UNCHANGED, _GONE = 304, 410


def is_address(source: str) -> bool:
    return source.lower().startswith(SCHEMES)


@dataclass
class Feed:
    """A feed and what is known of it; ``seen`` has digests of entries, the oldest first."""

    url: str
    etag: str | None = None
    modified: str | None = None
    failures: int = 0
    not_before: float = 0.0
    seen: dict[str, None] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        return without_password(self.url)

    def note(self) -> dict[str, Any]:
        known = asdict(self) | {"seen": list(self.seen)}
        return {name: value for name, value in known.items() if name != "url"}

    def read_note(self, note: object) -> None:
        """Takes what is usable of a note, which may be damaged."""
        for name, type_ in _NOTED.items():
            value = note.get(name) if isinstance(note, dict) else None
            if isinstance(value, type_) and not isinstance(value, bool):
                setattr(self, name, value)
        seen = note.get("seen") if isinstance(note, dict) else None
        if isinstance(seen, list):
            self.seen = dict.fromkeys(digest for digest in seen if isinstance(digest, str))


_NOTED = {"etag": str, "modified": str, "failures": int, "not_before": float}
assert {*_NOTED, "url", "seen"} == {one.name for one in fields(Feed)}


@dataclass
class PolledFeeds:
    """``every`` is the number of seconds between two requests to a feed."""

    feeds: Sequence[Feed]
    folder: Path
    fields: Fields
    clock: Callable[[], float]
    every: float
    once: bool = False  # whether nothing is asked twice
    ended: bool = False
    _next: dict[str, float] = field(default_factory=dict)
    _unnoted: bool = False  # a feed was asked since the last note

    def __post_init__(self) -> None:
        try:
            notes = json.loads((self.folder / NOTES).read_bytes())
        except (OSError, ValueError, RecursionError):
            notes = {}
        for feed in self.feeds:
            feed.read_note(notes.get(feed.shown) if isinstance(notes, dict) else None)

    @property
    def pending(self) -> int:
        """The number of feeds that can be asked now."""
        return sum(map(self._is_due, self.feeds))

    @property
    def failing(self) -> list[str]:
        return [feed.shown for feed in self.feeds if feed.failures]

    def _is_due(self, feed: Feed) -> bool:
        return self.clock() >= max(feed.not_before, self._next.get(feed.url, 0.0))

    def look(self) -> list[Item]:
        """The new entries of one feed. A feed that fails is an error, after which the others
        are asked."""
        feed = next(filter(self._is_due, self.feeds), None)
        if feed is None:
            return []
        self._next[feed.url] = self.clock() + self.every
        self._unnoted = True
        try:
            data, feed.etag, feed.modified = _within(WHOLE_SECONDS, lambda: self._answer(feed))
        except HTTPError as error:
            if error.code == _UNCHANGED:
                feed.failures, feed.not_before = 0, 0.0
                return []
            raise self._failed(feed, f"its server answers {error.code}", error) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            reason = str(getattr(error, "reason", "") or error) or type(error).__name__
            raise self._failed(feed, reason) from None
        feed.failures, feed.not_before = 0, 0.0
        return list(self._new(feed, data))

    def settle(self) -> None:
        """Notes what the feeds have brought; it is staged now."""
        if self._unnoted and self.folder.is_dir():
            notes = {feed.shown: feed.note() for feed in self.feeds}
            files.write(self.folder / NOTES, files.as_json(notes))
            self._unnoted = False

    def _answer(self, feed: Feed) -> tuple[bytes, str | None, str | None]:
        """The answer, and what the feed is asked by next time."""
        began, parts, size = self.clock(), list[bytes](), 0
        with _OPENER.open(_request(feed), timeout=QUIET_SECONDS) as answer:
            while part := answer.read1(_AT_ONCE):
                parts.append(part)
                size += len(part)
                if size > MOST_BYTES:
                    raise ValueError(f"it has more than {MOST_BYTES / 1e6:g} MB")
                if self.clock() - began > MOST_SECONDS:
                    raise ValueError(f"it has not ended after {MOST_SECONDS:g} seconds")
            if answer.length:
                raise ValueError("the connection was closed before its end")
            etag, modified = (answer.headers[name] for name in ("ETag", "Last-Modified"))
        return b"".join(parts), etag, modified

    def _failed(self, feed: Feed, reason: str, answer: HTTPError | None = None) -> StoreError:
        feed.failures += 1
        pause = self.every * 2 ** min(feed.failures, 20)
        if answer is not None:
            pause = max(pause, _asked_pause(answer.headers["Retry-After"], self.clock()))
        gone = answer is not None and answer.code == _GONE
        pause = LONGEST_PAUSE if gone else min(pause, LONGEST_PAUSE)
        feed.not_before = self.clock() + pause
        return StoreError(
            f"The feed {feed.shown} cannot be read: {reason.rstrip('.')}.",
            hint=f"start the command again in {_span(pause)}; an earlier start leaves the feed out."
            if self.once
            else f"it is asked again in {_span(pause)}.",
        )

    def _new(self, feed: Feed, data: bytes) -> Iterator[Item]:
        """The entries that the feed did not have before. A feed that is no feed is one item with a
        problem."""
        try:
            entries = list(feed_entries(data, feed.shown, self.fields))
        except UnreadableError as error:
            name = f"{(urlsplit(feed.url).hostname or 'feed')}.xml"
            entries = [Item(feed.shown, data, name=name, problem=error.reason)]
        for entry in entries:
            digest = self._digest(entry)
            if digest not in feed.seen:
                feed.seen[digest] = None
                yield entry
        most = max(MOST_SEEN, len(entries))
        for digest in list(feed.seen)[: max(len(feed.seen) - most, 0)]:
            del feed.seen[digest]

    def _digest(self, entry: Item) -> str:
        """The digest of id, title and text. The rest of an entry, such as a count of comments, may
        change without making it a new one."""
        content = entry.data
        if entry.problem is None:
            document = object_of(entry.data)
            names = (self.fields.id, "title", self.fields.text)
            content = json.dumps([document.get(name) for name in names]).encode()
        return blake2b(content, digest_size=12).hexdigest()


T = TypeVar("T")


def _within(seconds: float, work: Callable[[], T]) -> T:
    """The result of a request. One that hangs is left to itself: a server may send its head a
    letter at a time, or never answer for its name."""
    results: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(work())
        except Exception as error:
            if isinstance(error, HTTPError):
                error.close()
            errors.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise ValueError(f"there is no answer after {seconds:g} seconds")
    return results[0]


def _request(feed: Feed) -> request.Request:
    parts = urlsplit(feed.url)
    host = parts.netloc.rpartition("@")[2]
    asked = request.Request(urlunsplit(parts._replace(netloc=host)))
    asked.add_header("User-Agent", "neardup")
    asked.add_header("Accept-Encoding", "identity")
    if feed.etag:
        asked.add_header("If-None-Match", feed.etag)
    if feed.modified:
        asked.add_header("If-Modified-Since", feed.modified)
    if parts.username:  # for this server only, not for one that it redirects to
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        asked.add_unredirected_header(
            "Authorization", f"Basic {b64encode(login.encode()).decode()}"
        )
    return asked


def _opener() -> request.OpenerDirector:
    """Only the web: the usual opener would follow a redirection to FTP."""
    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(),
        request.HTTPRedirectHandler(),
        request.HTTPDefaultErrorHandler(),
        request.HTTPErrorProcessor(),
        request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


_OPENER = _opener()


def _asked_pause(written: str | None, now: float) -> float:
    """Seconds by ``Retry-After``, which is a number or a date."""
    if not written:
        return 0.0
    if written.strip().isdecimal():
        return float(written.strip()[:9])
    try:
        return parsedate_to_datetime(written).replace(tzinfo=UTC).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return 0.0


def _span(seconds: float) -> str:
    if seconds >= 7200:
        return f"{seconds / 3600:.0f} hours"
    return f"{seconds:.0f} seconds" if seconds < 120 else f"{seconds / 60:.0f} minutes"
