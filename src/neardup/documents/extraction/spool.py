"""Extracted pages of a run on disk, so that no page is extracted twice.

A run reads its documents up to three times: to count, to compare and to explain. The file lies in
the temporary folder and goes away with its owner; memory holds none of it.
"""

from __future__ import annotations

import os
import pickle
import sqlite3
import tempfile
import threading
import weakref
import zlib
from pathlib import Path

from neardup.documents.extraction.page import Extracted


class Spool:
    """Thread-safe. Equal pages are stored once."""

    def __init__(self) -> None:
        handle, name = tempfile.mkstemp(prefix="neardup-pages-")
        os.close(handle)
        self._lock = threading.Lock()
        self._base = sqlite3.connect(name, check_same_thread=False, isolation_level=None)
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("PRAGMA synchronous = OFF")
        self._base.execute("CREATE TABLE page (digest BLOB PRIMARY KEY, how TEXT, found BLOB)")
        weakref.finalize(self, _remove, self._base, Path(name))

    def get(self, digest: bytes) -> Extracted | None:
        with self._lock:
            row = self._base.execute(
                "SELECT found FROM page WHERE digest = ?", (digest,)
            ).fetchone()
        if row is None:
            return None
        found: Extracted = pickle.loads(zlib.decompress(row[0]))
        return found

    def put(self, digest: bytes, found: Extracted) -> None:
        data = zlib.compress(pickle.dumps(found, pickle.HIGHEST_PROTOCOL), 1)
        with self._lock:
            self._base.execute(
                "INSERT OR REPLACE INTO page VALUES (?, ?, ?)", (digest, found.how, data)
            )

    def counts(self) -> dict[str, int]:
        """How many pages were read by what, the most common first."""
        asked = "SELECT how, COUNT(*) FROM page WHERE how NOTNULL GROUP BY how ORDER BY 2 DESC, 1"
        with self._lock:
            return dict(self._base.execute(asked).fetchall())

    def clear(self) -> None:
        with self._lock:
            self._base.execute("DELETE FROM page")


def _remove(base: sqlite3.Connection, path: Path) -> None:
    base.close()
    path.unlink(missing_ok=True)
