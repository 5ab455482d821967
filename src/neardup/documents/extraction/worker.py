"""The main loop of an extraction process: pages in, texts out, until the pipe is closed.

It is started as a program and not by ``multiprocessing``, whose children run the user's script
again if it has no guard, or inherit locks of its threads. No other code may write to the pipe.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import sys
import warnings
from dataclasses import replace
from typing import IO

from neardup.documents.extraction.html import extract_html
from neardup.documents.extraction.page import Extracted, Meta, Page
from neardup.documents.file_formats import ALL_TEXT, DOCX, EPUB, HTML, ODF, PDF, PPTX, RTF

MEMORY = 4 << 30  # a page that takes more is hostile
# Module and function, imported when the first page of the kind comes.
_READERS = {
    PDF: ("pdf", "extract_pdf"),
    RTF: ("rtf", "extract_rtf"),
    **dict.fromkeys((DOCX, PPTX, ODF, EPUB), ("office", "extract_office")),
}


def extract(page: Page, how: str) -> Extracted:
    """If extraction fails, HTML is read as all its text, and other pages are reported."""
    try:
        if page.kind == HTML:
            return clean(extract_html(page, how))
        module, function = _READERS[page.kind]
        reader = importlib.import_module(f"neardup.documents.extraction.{module}")
        found: Extracted = getattr(reader, function)(page)
        return clean(found)
    except Exception as error:
        if page.kind != HTML:
            return Extracted(None, f"{page.kind.upper()} cannot be read: {type(error).__name__}")
        return clean(extract_html(page, ALL_TEXT))


def clean(found: Extracted) -> Extracted:
    """Text without lone surrogates, which character references and PDF fonts may contain."""
    text, meta = found.text, Meta(*map(_whole, found.meta))
    return replace(found, text=_whole(text), meta=meta)


def _whole(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "replace").decode()


def serve() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and closes the pipe
    warnings.simplefilter("ignore")
    pages, answers = sys.stdin.buffer, _private_stdout()
    _bound_memory()
    while True:
        try:
            page, how = pickle.load(pages)
        except EOFError:
            return
        try:
            pickle.dump(extract(page, how), answers, pickle.HIGHEST_PROTOCOL)
            answers.flush()
        except BrokenPipeError:
            os._exit(0)


def _private_stdout() -> IO[bytes]:
    kept = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return kept


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    except (ValueError, OSError):  # macOS may refuse
        return
