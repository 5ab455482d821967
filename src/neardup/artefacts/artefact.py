"""What an artefact is, and how a method asks for one.

An artefact is frozen: it has a digest, which is part of every signature made with it, and it can be
saved and loaded. A method that needs one either names a file, or has it counted from the input in
a pass of its own before any document is prepared (two passes).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class Artefact(Protocol):
    @property
    def digest(self) -> str:
        """Equal for equal content, wherever it was made."""
        ...

    def describe(self) -> dict[str, Any]:
        """For ``run.json``: only data."""
        ...

    def save(self, path: Path) -> None: ...


Artefacts = Mapping[str, Artefact]
NO_ARTEFACTS: Artefacts = {}


class Tally(Protocol):
    """Counts over a collection. Parts may be counted in any thread; adding them is not order
    dependent, so neither threads nor chunks change what comes out."""

    def count(self, batch: pa.RecordBatch) -> Any: ...

    def add(self, part: Any) -> None: ...


class Counter(Tally, Protocol):
    def finish(self) -> Artefact: ...


@runtime_checkable
class Mergeable(Counter, Protocol):
    """A counter whose parts may be counted on several machines."""

    def partial(self) -> bytes:
        """All that was counted so far."""
        ...

    def merge(self, partial: bytes) -> None:
        """As if what was counted elsewhere had been counted here."""
        ...


class Need(Protocol):
    """A wish for an artefact under a name."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are counted beside the text."""
        ...

    @property
    def file(self) -> str | None:
        """Where the user has it; None to count it from the input."""
        ...

    def load(self, path: Path) -> Artefact:
        """Refuses, with a sentence, one that was made with other options."""
        ...

    def counter(self) -> Counter: ...


@runtime_checkable
class ReadyNeed(Protocol):
    """A need that its own parameters satisfy: no collection is asked."""

    def ready(self) -> Artefact: ...


GENERAL = "general"  # named in the place of a file: the table that comes with the package


@runtime_checkable
class GeneralNeed(Protocol):
    """A need that can be met before there is a collection: by a table of other texts."""

    def general(self) -> Artefact: ...


@contextmanager
def shipped(name: str) -> Iterator[Path]:
    """A file that comes with the package."""
    with resources.as_file(resources.files("neardup") / "models" / name) as file:
        yield file


@dataclass(frozen=True)
class NothingToCount:
    """The counter of a need that is ready."""

    need: ReadyNeed

    def count(self, batch: pa.RecordBatch) -> None:
        pass

    def add(self, part: None) -> None:
        pass

    def finish(self) -> Any:
        return self.need.ready()


def packed_arrays(*arrays: npt.NDArray[Any]) -> bytes:
    """For the way between machines."""
    import io

    out = io.BytesIO()
    np.savez_compressed(out, *arrays)
    return out.getvalue()


def unpacked_arrays(packed: bytes) -> list[npt.NDArray[Any]]:
    import io

    with np.load(io.BytesIO(packed)) as found:
        return [found[name] for name in found.files]


def why_unreadable(error: Exception, otherwise: str) -> str:
    """In the words of the system; what Arrow says of a file that is not there is longer."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else otherwise


def resolved(needs: Sequence[Need], batch: pa.RecordBatch) -> Artefacts:
    """Everything a method needs: from files, else counted from this batch alone."""
    found: dict[str, Artefact] = {}
    for need in needs:
        if need.file is not None:
            found[need.name] = need.load(Path(need.file))
            continue
        counter = need.counter()
        counter.add(counter.count(batch))
        found[need.name] = counter.finish()
    return found
