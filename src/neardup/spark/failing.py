"""What went wrong in a task, said on the driver as it would be said of a local run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from neardup import errors
from neardup.errors import NeardupError

_RAISED = re.compile(r"neardup\.errors\.(\w+): (.*?)(?:\n\n|\n\s*SQLSTATE|\n\tat |\Z)", re.DOTALL)
HINT = " Hint: "


@contextmanager
def as_ours() -> Iterator[None]:
    """An error of ours that a task raised, raised again; all others as they are."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:  # what a collect raises is the latter
        found = _ours(str(error))
        if found is None:
            raise
        raise found from error


def _ours(said: str) -> NeardupError | None:
    match = _RAISED.search(said)
    kind = getattr(errors, match[1], None) if match else None
    if match is None or not (isinstance(kind, type) and issubclass(kind, NeardupError)):
        return None
    message, _, hint = match[2].strip().partition(HINT)
    return kind(message, hint=hint or None)
