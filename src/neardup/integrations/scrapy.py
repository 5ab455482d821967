"""Scrapy: drop or mark near-duplicate items, and skip near-duplicate pages, while crawling.

Both compare with a durable index, so that a crawl that is stopped or repeated remembers. An item
or a page whose id is in the index already replaces its older version: a page that is crawled again
is no duplicate of itself. An item without a text passes, and is counted.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

from neardup.documents.extraction.extractor import Extraction, Extractor
from neardup.documents.extraction.page import Page
from neardup.documents.file_formats import ALL_TEXT, HTML
from neardup.engines.index.arrival_rule import Match
from neardup.engines.index.index import Index
from neardup.errors import RejectedError, SettingsError
from neardup.integrations import FIELD, check_action, missing
from neardup.wording import score_text

try:
    from itemadapter import ItemAdapter
    from scrapy import signals
    from scrapy.exceptions import DropItem, IgnoreRequest
except ImportError as error:
    raise missing("The pipeline for Scrapy", error, "scrapy") from error


class _Seen:
    """The index of a crawl, as its settings say; ``setting`` names the one with its place."""

    def __init__(self, crawler: Any, setting: str) -> None:
        settings = crawler.settings
        if not settings.get(setting):
            raise SettingsError(
                f"The setting {setting} is empty; expected the place of an index.",
                hint=f'{setting} = "seen.db", or postgresql://…',
            )
        self.action = check_action(settings.get("NEARDUP_ACTION", "drop"), "NEARDUP_ACTION")
        self.stats = crawler.stats
        self._index = Index.open(settings.get(setting), **settings.getdict("NEARDUP_SETTINGS"))
        crawler.signals.connect(self._index.close, signal=signals.spider_closed)

    def match(self, id: Any, text: Any, unit: str) -> Match | None:
        """Stores a document, and returns the one that it is a duplicate of."""
        columns = self._index.columns
        try:
            match = self._index.update({columns.id_name: id, columns.text: text})
        except RejectedError:
            self.stats.inc_value(f"neardup/{unit}_unreadable")
            return None
        if match is None:
            self.stats.inc_value(f"neardup/{unit}_new")
        else:
            self.stats.inc_value(f"neardup/{unit}_{self.action}")
        return match


def _sentence(id: Any, match: Match) -> str:
    why = f"score {score_text(match.score, match.kind)}, {match.reason}"
    return f"{id} is a near-duplicate of {match.of} ({why})"


class NeardupPipeline:
    """An item pipeline. Settings: ``NEARDUP_INDEX``, ``NEARDUP_TEXT``, ``NEARDUP_ID``,
    ``NEARDUP_ACTION``, ``NEARDUP_SETTINGS``."""

    def __init__(self, crawler: Any) -> None:
        self._seen = _Seen(crawler, "NEARDUP_INDEX")
        self._text = crawler.settings.get("NEARDUP_TEXT", "text")
        self._id = crawler.settings.get("NEARDUP_ID", "url")

    @classmethod
    def from_crawler(cls, crawler: Any) -> NeardupPipeline:
        return cls(crawler)

    def process_item(self, item: Any) -> Any:
        fields = ItemAdapter(item)
        id = fields.get(self._id)
        match = self._seen.match(id, fields.get(self._text), "items")
        if match is None:
            return item
        if self._seen.action == "drop":
            raise DropItem(_sentence(id, match))
        try:
            fields[FIELD] = match.of
        except KeyError as error:
            raise SettingsError(
                f"Items of the class {type(item).__name__} have no field {FIELD}.",
                hint=f"declare it: {FIELD} = scrapy.Field()",
            ) from error
        return item


class NearDuplicatePage(IgnoreRequest):  # type: ignore[misc]  # Scrapy is not followed
    """A page that the spider does not get, because another one has its text."""


class NeardupSpiderMiddleware:
    """A spider middleware: near-duplicate pages are not parsed and their links not followed, or
    marked in ``response.meta``. Settings: ``NEARDUP_PAGES``, ``NEARDUP_EXTRACT``,
    ``NEARDUP_ACTION``, ``NEARDUP_SETTINGS``."""

    def __init__(self, crawler: Any) -> None:
        self._seen = _Seen(crawler, "NEARDUP_PAGES")
        usual = "trafilatura" if importlib.util.find_spec("trafilatura") else ALL_TEXT
        extraction = Extraction(crawler.settings.get("NEARDUP_EXTRACT", usual), workers=1)
        extraction.check([HTML], "The site")
        self._extractor = Extractor(extraction)

    @classmethod
    def from_crawler(cls, crawler: Any) -> NeardupSpiderMiddleware:
        return cls(crawler)

    def process_spider_input(self, response: Any) -> None:
        if not hasattr(response, "selector"):  # an image, a PDF
            return
        page = Page(HTML, response.body, response.encoding, url=response.url)
        (extracted,) = self._extractor.texts_once([page])
        match = self._seen.match(response.url, extracted.text, "pages")
        if match is None:
            return
        if self._seen.action == "drop":
            raise NearDuplicatePage(_sentence(response.url, match))
        response.meta[FIELD] = match.of

    def process_spider_exception(
        self,
        response: Any,  # noqa: ARG002
        exception: Exception,
    ) -> Iterable[Any] | None:
        return [] if isinstance(exception, NearDuplicatePage) else None
