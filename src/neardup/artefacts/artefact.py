"""The contract of artefacts, and of the needs by which methods ask for them.

An artefact is frozen data: it can be saved and loaded, and its digest is part of every signature
made with it. A method that needs an artefact either names a file, or the artefact is counted from
the input in a pass of its own, before any document is prepared.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.classes import dataclass


class Artefact(Protocol):
    @property
    def digest(self) -> str:
        """A digest of the content, which does not depend on the machine."""
        ...

    def describe(self) -> dict[str, Any]:
        """Plain data for ``run.json``."""
        ...

    def save(self, path: Path) -> None: ...


class StoredTable:
    """An artefact that is one table of an Arrow file, described in the metadata of the file."""

    kind: ClassVar[str]
    compression: ClassVar[str | None] = "zstd"

    def options(self) -> dict[str, Any]:
        """How it was made and how large it is, as plain data."""
        raise NotImplementedError

    def tables(self) -> Iterable[pa.Table]:
        """The parts of the table in their order."""
        raise NotImplementedError

    def content(self) -> Iterable[npt.NDArray[Any]]:
        """The arrays that the digest covers, in a fixed order."""
        raise NotImplementedError

    def lay_aside(self, folder: Path | None) -> None:
        """Leaves memory, as far as it is worth it, until it is needed again."""

    @functools.cached_property
    def digest(self) -> str:
        digest = hashlib.sha256(json.dumps(self.options(), sort_keys=True).encode())
        for array in self.content():
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()[:32]

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, **self.options(), "digest": self.digest}

    def save(self, path: Path) -> None:
        described = json.dumps({**self.options(), "digest": self.digest}).encode()
        tables = iter(self.tables())
        first = next(tables)
        schema = first.schema.with_metadata({f"neardup {self.kind}".encode(): described})
        options = pa.ipc.IpcWriteOptions(compression=self.compression)
        with (
            pa.OSFile(str(path), "wb") as sink,
            pa.ipc.new_file(sink, schema, options=options) as writer,
        ):
            for table in chain([first], tables):
                writer.write_table(table)


Artefacts = Mapping[str, Artefact]
NO_ARTEFACTS: Artefacts = {}


class Tally(Protocol):
    """Counts over a collection. Parts may be counted in any thread and added in any order, so that
    neither threads nor chunks change the result."""

    def count(self, batch: pa.RecordBatch) -> Any: ...

    def add(self, part: Any) -> None: ...


class Counter(Tally, Protocol):
    def finish(self) -> Artefact: ...


@runtime_checkable
class Mergeable(Counter, Protocol):
    """A counter whose parts may be counted on several machines."""

    def partial(self) -> bytes:
        """Everything counted so far."""
        ...

    def merge(self, partial: bytes) -> None:
        """Adds what another counter of the same kind has counted."""
        ...


class Need(Protocol):
    """A method's need for an artefact, under a name."""

    @property
    def name(self) -> str: ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are counted in addition to the text."""
        ...

    @property
    def file(self) -> str | None:
        """The file that the user named; None to count the artefact from the input."""
        ...

    def load(self, path: Path) -> Artefact:
        """Raises an error if the artefact was made with different options."""
        ...

    def counter(self) -> Counter: ...


@runtime_checkable
class ReadyNeed(Protocol):
    """A need that is met from its own parameters, without a collection."""

    def ready(self) -> Artefact: ...


GENERAL = "general"  # in place of a file name: the table that comes with the package


@runtime_checkable
class GeneralNeed(Protocol):
    """A need that can be met before there is a collection, by a general table of other texts."""

    def general(self) -> Artefact: ...


@contextmanager
def shipped(name: str) -> Iterator[Path]:
    """A file that comes with the package."""
    with resources.as_file(resources.files("neardup") / "models" / name) as file:
        yield file


@dataclass(frozen=True)
class NothingToCount:
    """The counter of a ``ReadyNeed``."""

    need: ReadyNeed

    def count(self, batch: pa.RecordBatch) -> None:
        pass

    def add(self, part: None) -> None:
        pass

    def finish(self) -> Any:
        return self.need.ready()


def packed_arrays(*arrays: npt.NDArray[Any]) -> bytes:
    """Arrays as bytes, to be sent from one machine to another."""
    import io

    out = io.BytesIO()
    np.savez_compressed(out, *arrays)
    return out.getvalue()


def unpacked_arrays(packed: bytes) -> list[npt.NDArray[Any]]:
    import io

    with np.load(io.BytesIO(packed)) as archive:
        return [archive[name] for name in archive.files]


def stored_table(path: Path, kind: str) -> tuple[pa.Table, dict[str, Any]]:
    """The table of a ``StoredTable`` of this kind, and its description. Its offsets and lengths are
    validated, and no value is missing: a file may be damaged, or come from anywhere."""
    with pa.OSFile(str(path), "rb") as source:
        table = pa.ipc.open_file(source).read_all()
    table.validate(full=True)
    described = json.loads((table.schema.metadata or {})[f"neardup {kind}".encode()])
    if not isinstance(described, dict) or any(column.null_count for column in table.columns):
        raise ValueError("it contains something else")
    return table, described


# What a damaged file of an artefact may raise, beside an error of the system.
DAMAGE = (pa.ArrowException, KeyError, ValueError, TypeError, AttributeError, RecursionError)


def why_unreadable(error: Exception, otherwise: str) -> str:
    """The system's reason, which is shorter than Arrow's message, or ``otherwise``."""
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else otherwise


def resolved(needs: Sequence[Need], batch: pa.RecordBatch) -> Artefacts:
    """All artefacts that a method needs, from files or else counted from this batch alone."""
    artefacts: dict[str, Artefact] = {}
    for need in needs:
        if need.file is not None:
            artefacts[need.name] = need.load(Path(need.file))
            continue
        counter = need.counter()
        counter.add(counter.count(batch))
        artefacts[need.name] = counter.finish()
    return artefacts
