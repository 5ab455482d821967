"""How pages become texts in a run: which extractor, by how many processes, each page once.

A page that no process survives, or that takes longer than a minute, is read as all its text if it
is HTML, and rejected if it is a PDF.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from neardup.documents.extraction.html import extract_html
from neardup.documents.extraction.page import ALL_TEXT, HOWS, HTML, PDF, Extracted, Page
from neardup.documents.extraction.pool import Pool, shared_pool
from neardup.documents.extraction.spool import Spool
from neardup.errors import MissingExtraError, SettingsError

USUAL = "trafilatura"
_NEEDED = {
    "trafilatura": ("trafilatura", "html"),
    "resiliparse": ("resiliparse", "html"),
    PDF: ("pypdfium2", "pdf"),
}


@dataclass(frozen=True)
class Extraction:
    """As written. ``how=None``: pages (HTML, PDF, crawls) are extracted the usual way, and the
    text columns of tables and lines are text already. Named, it is for columns too."""

    how: str | None = None
    workers: int = field(default_factory=lambda: os.cpu_count() or 1)

    def __post_init__(self) -> None:
        if self.how not in (None, *HOWS):
            raise SettingsError(
                f"extract is {self.how!r}.", hint=f"expected one of {', '.join(HOWS)}."
            )

    @property
    def pages(self) -> bool:
        """Whether pages are extracted, or read as they are."""
        return self.how != "none"

    @property
    def columns(self) -> bool:
        return self.how not in (None, "none")

    @property
    def used(self) -> str:
        return self.how or USUAL

    def check(self, kinds: Iterable[str], file: str) -> None:
        """Raises before any work if a package that pages of these kinds need is not there."""
        for kind in kinds:
            module, extra = _NEEDED.get(self.used if kind == HTML else kind, (None, ""))
            if module and importlib.util.find_spec(module) is None:
                raise MissingExtraError(
                    f"{file} has pages in {kind.upper()}; to read them takes {module}, which is "
                    "not installed.",
                    hint=f"pip install 'neardup[{extra}]', or --extract "
                    + ("all-text." if kind == HTML else "none, which reads files as they are."),
                )


class Extractor:
    """An extraction at work, for all sources of a collection."""

    def __init__(self, extraction: Extraction | None = None) -> None:
        self.extraction = extraction or Extraction()
        self._made = threading.Lock()

    @cached_property
    def _spool(self) -> Spool:
        with self._made:  # the first pages may come in several threads
            return self.__dict__.get("_spool") or Spool()

    @property
    def _pool(self) -> Pool:
        return shared_pool(self.extraction.workers)

    def texts(self, pages: Sequence[Page]) -> list[Extracted]:
        """In the order of the pages."""
        how = self.extraction.used
        digests = [page.digest(how) for page in pages]
        known = {digest: self._spool.get(digest) for digest in digests}
        missing = {d: p for d, p in zip(digests, pages, strict=True) if known[d] is None}
        made = self._extracted(list(missing.values()), how)
        for digest, one in zip(missing, made, strict=True):
            self._spool.put(digest, one)
        known |= zip(missing, made, strict=True)
        return [found for digest in digests if (found := known[digest]) is not None]

    def texts_once(self, pages: Sequence[Page]) -> list[Extracted]:
        """``texts`` of pages that will not be asked for again: nothing is kept of them."""
        return self._extracted(pages, self.extraction.used)

    def _extracted(self, pages: Sequence[Page], how: str) -> list[Extracted]:
        if how == ALL_TEXT and all(page.kind == HTML for page in pages):
            return [extract_html(page, how) for page in pages]  # nothing can happen
        answers = self._pool.answers(pages, how)
        return [found or _given_up(page) for page, found in zip(pages, answers, strict=True)]

    def counts(self) -> dict[str, int]:
        """How many unlike pages were read by what."""
        return self._spool.counts() if "_spool" in self.__dict__ else {}

    def clear(self) -> None:
        """Forgets what was extracted, as before a run whose time counts."""
        if "_spool" in self.__dict__:
            self._spool.clear()


def _given_up(page: Page) -> Extracted:
    if page.kind == PDF:
        return Extracted(None, "PDF cannot be read: the reader crashed, or took a minute, over it")
    return extract_html(page, ALL_TEXT)


def page_of(text: str) -> Page:
    """A text that is HTML already, as from a column."""
    return Page(HTML, text.encode("utf-8", "replace"), "utf-8", sure=True)
