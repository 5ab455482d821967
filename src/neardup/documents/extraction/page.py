"""What goes into an extraction and what comes out of it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NamedTuple

HTML, PDF, TEXT = "html", "pdf", "text"
KINDS = {".html": HTML, ".htm": HTML, ".xhtml": HTML, ".xht": HTML, ".pdf": PDF}
META = ("title", "author", "date", "url", "lang")
ALL_TEXT = "all-text"
HOWS = ("trafilatura", "resiliparse", ALL_TEXT, "none")


class Meta(NamedTuple):
    """What a page says about itself; ``date`` is that of publication, as YYYY-MM-DD."""

    title: str | None = None
    author: str | None = None
    date: str | None = None
    url: str | None = None
    lang: str | None = None

    def over(self, other: Meta) -> Meta:
        """The same, with what is missing here as it is there."""
        return Meta(*(mine or theirs for mine, theirs in zip(self, other, strict=True)))


@dataclass(frozen=True)
class Page:
    """``charset``: the encoding that was stated outside of the bytes, by a user or a server;
    ``sure``: by a user, so that nothing else is tried."""

    kind: str
    data: bytes
    charset: str | None = None
    sure: bool = False
    url: str | None = None

    def digest(self, how: str) -> bytes:
        """The same page, extracted the same way."""
        said = repr((how, self.kind, self.charset, self.sure, self.url)).encode()
        return hashlib.blake2b(
            self.data, digest_size=16, key=hashlib.sha256(said).digest()
        ).digest()


NOTHING = Meta()


@dataclass(frozen=True)
class Extracted:
    """The text, or the reason why there is none. ``how``: by what it was found."""

    text: str | None
    reason: str | None = None
    meta: Meta = NOTHING
    how: str | None = None
    encoding: str | None = None
