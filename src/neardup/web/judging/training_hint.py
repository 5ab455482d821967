"""The command that makes a model of the labels, to paste."""

from __future__ import annotations

import functools
import shlex
from typing import TYPE_CHECKING

from neardup.errors import NeardupError
from neardup.evaluation.run import pasted_inputs
from neardup.plan import Settings
from neardup.web.judging.desk import Desk

if TYPE_CHECKING:
    from neardup.outputs.result import Result

READING = ("text", "id", "limit", "encoding", "extract")


@functools.lru_cache(maxsize=8)
def train_command(desk: Desk) -> str:
    """The inputs are looked for once: a folder may have a million files."""
    labels = shlex.quote(str(desk.folder.labels_path))
    return f"neardup train {labels} --documents {_documents(desk)} -o my.model"


def _documents(desk: Desk) -> str:
    """The inputs of the run as it names them; INPUT where they are not known any more."""
    try:
        result = desk.results()[desk.name]
        collection = result.collection()
    except (NeardupError, OSError):
        return "INPUT"
    files = [path for path in collection.paths if path]
    return pasted_inputs(collection, reading(result)) if len(files) == 1 else "INPUT"


def reading(result: Result) -> Settings:
    """How the documents of a run were read."""
    written = result.info["settings"]
    return Settings(**{name: written[name] for name in READING if written.get(name) is not None})
