"""A ranked list in its original form: columns by row, the ranking, and signatures as bytes.

Lists of texts or dicts, tables of every library, and files become an Arrow table. A list is never
shortened: a row whose text cannot be used has a reason and keeps its place. Ids are labels and may
repeat.

A signature is the prepared form of one document, for a search engine to store with it:

    "nd" · format · length of the name · name of the method
    8 bytes each: digest of the parameters, of the artefacts     } the same for all of a Grouper
    8 bytes: digest of what follows
    flags (1) · probes (4) · keys (4) · characters (8) · digests of the text and its normal form
    the keys (8 each) · the evidence

All numbers are little-endian. Signatures of different methods, parameters or artefacts are refused
with the difference; truncated or modified bytes are refused too.
"""

from __future__ import annotations

import functools
import hashlib
import json
import numbers
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from neardup import _native
from neardup.decisions.order import sortable
from neardup.documents.collection import Collection, collect
from neardup.documents.columns import DEFAULT_ID, Columns, Rejected, unknown_column
from neardup.documents.jsonl import value_at
from neardup.documents.lists import ListSource, has_value
from neardup.documents.memory_tables import TableSource, arrow_source
from neardup.documents.text_columns import Column, is_missing, json_like, text_column
from neardup.errors import ColumnError, InputError, SignatureError
from neardup.methods.base import SIGNATURE_FORMAT, TOO_SHORT, Prepared, signed_parameters
from neardup.methods.preparation import evidence_digests
from neardup.plan import Plan
from neardup.runs.annotated_sources import as_dicts, reordered
from neardup.schema import Array, Ragged, offsets_of

TEXT = "text"


@dataclass(frozen=True)
class RankedList:
    """``file`` is the name of the list in messages and in derived ids."""

    source: ListSource | TableSource
    file: str = "input"

    def __len__(self) -> int:
        return len(self.source.items) if isinstance(self.source, ListSource) else self.source.rows

    @functools.cached_property
    def given(self) -> Any:
        """The original object; an Arrow table for objects that only have the Arrow protocol."""
        if isinstance(self.source, ListSource):
            return self.source.items
        return self.source.kept(np.ones(len(self), np.bool_))[0]

    @functools.cached_property
    def names(self) -> list[str]:
        """The names of the columns; a list of texts has none."""
        if isinstance(self.source, TableSource):
            return self.source.names
        dicts = (item for item in self.source.items if isinstance(item, dict))
        return list(dict.fromkeys(str(key) for item in dicts for key in item))

    def values(self, name: str) -> pa.Array | Sequence[Any]:
        """The original values of a column, one for each row."""
        self.check(name)
        if isinstance(self.source, TableSource):
            return self._column_values(self.source, name)
        items = self.source.items
        if name == TEXT:
            return [item.get(name) if isinstance(item, dict) else item for item in items]
        return [value_at(item, name) if isinstance(item, dict) else None for item in items]

    def _column_values(self, source: TableSource, name: str) -> pa.Array | Sequence[Any]:
        """A column, or the field of a structure that a path such as ``_source.text`` leads to."""
        top, *below = [name] if name in self.names else name.split(".")
        values = source.slice([top], 0, len(self))[top]
        if not below:
            return values
        rows = values.to_pylist() if isinstance(values, pa.Array) else values
        return [value_at(row, ".".join(below)) if isinstance(row, dict) else None for row in rows]

    def check(self, name: str) -> None:
        """Refuses a missing column, unless the list is empty."""
        if name in self.names or not len(self) or self._leads_somewhere(name):
            return
        if isinstance(self.source, TableSource):
            row = as_dicts(reordered(self.given, np.arange(1)))[0]
            raise unknown_column(name, row, self.file)
        if self.names or name != TEXT:
            where = "the list of dicts" if self.names else "a list of texts"
            dicts = (item for item in self.source.items if isinstance(item, dict))
            row = dict(item for document in dicts for item in document.items())
            raise unknown_column(name, row or [TEXT], where)

    def _leads_somewhere(self, name: str) -> bool:
        if "." not in name or name.partition(".")[0] not in self.names:
            return False
        if isinstance(self.source, TableSource):
            return any(value is not None for value in self._column_values(self.source, name))
        return any(has_value(item, name) for item in self.source.items if isinstance(item, dict))

    def column(self, name: str) -> pa.Array:
        """A column as policies read it: in its own type, or as JSON."""
        values = self.values(name)
        if isinstance(values, pa.Array):
            return values
        return pa.array([json_like(value) for value in values], pa.large_string())

    def texts(self, name: str) -> Column:
        return text_column(self.values(name), name, self.file)

    def ids(self, name: str | None) -> list[str]:
        """The id of a row, otherwise its place in the input."""
        wanted = name or (DEFAULT_ID if DEFAULT_ID in self.names else None)
        places = [f"{self.file}:{row}" for row in range(1, len(self) + 1)]
        if wanted is None:
            return places
        values = self.values(wanted)
        named = values.to_pylist() if isinstance(values, pa.Array) else values
        return [_label(id) or place for id, place in zip(named, places, strict=True)]

    def labels(self, name: str) -> list[str | None]:
        """A column for people to read, such as the title; None in all rows if it is missing."""
        if name not in self.names and not self._leads_somewhere(name):
            return [None] * len(self)
        values = self.values(name)
        listed = values.to_pylist() if isinstance(values, pa.Array) else values
        return [None if value is None else str(value) for value in listed]

    def best_first(self, rank: str | None, score: str | None) -> npt.NDArray[np.int64]:
        """Rows ordered by a column, or in input order. Rows without a value come last, in input
        order."""
        name = rank or score
        if name is None:
            return np.arange(len(self), dtype=np.int64)
        values = self._numbers(name)
        table = pa.table({"value": values, "row": np.arange(len(values))})
        keys = [("value", "ascending" if rank else "descending"), ("row", "ascending")]
        return np.asarray(pc.sort_indices(table, keys)).astype(np.int64)

    def _numbers(self, name: str) -> pa.Array:
        column = self.column(name)
        values = sortable(column, name)
        if pt.is_floating(values.type):
            return pc.if_else(pc.is_nan(values), None, values)
        if pt.is_integer(values.type) or values.null_count == len(values):
            return values
        row, value = _first_that_is_none(column)
        raise ColumnError(
            f"Column {name!r} of {self.file} has to be numbers, to rank by it; row {row + 1} has "
            f"{value!r}.",
            hint="name the column of the rank or of the score, or leave it out if the list is in "
            "order.",
        )


def _label(id: Any) -> str | None:
    if isinstance(id, str):
        return id
    usable = isinstance(id, numbers.Number | uuid.UUID) and not isinstance(id, bool)
    return str(id) if usable and not is_missing(id) else None


def _first_that_is_none(column: pa.Array) -> tuple[int, Any]:
    """The row and the value of the first entry that is no number, for the message."""
    for row, value in enumerate(column.to_pylist()):
        try:
            if value is not None and not isinstance(value, bool):
                float(value)
                continue
        except (TypeError, ValueError):
            return row, value
        if value is not None:
            return row, value
    return 0, None


def ranked_list(results: Any, text: str = TEXT) -> RankedList:
    """Reads ``results`` as in :func:`neardup.group`; ``text`` is a column that a file must have."""
    collection = collect(results)
    if len(collection.sources) != 1:
        raise InputError(
            f"A result list is one list; got {len(collection.sources)} inputs.",
            hint="put them together in one order, or group them one by one.",
        )
    source = collection.sources[0]
    if isinstance(source, ListSource | TableSource):
        return RankedList(source)
    return RankedList(arrow_source(_whole(collection, text)), source.file)


def _whole(collection: Collection, text: str) -> pa.Table:
    """A file as a table with all its rows; an unreadable row has no place in a ranking, so it is an
    error."""
    batches = [chunk.read() for chunk in collection.chunks(Columns(text=text))]
    rows = sum(map(len, batches))
    if not rows:  # an empty file has no columns either
        return pa.table({text: pa.array([], pa.large_string())})
    _check_encoding(collection.files[0], [lost for batch in batches for lost in batch.rejected])
    try:
        return collection.kept(np.ones(rows, np.bool_))
    except (ValueError, AttributeError, RecursionError) as error:  # a line that is no JSON object
        rejected = (lost for batch in batches for lost in batch.rejected)
        unread = (lost for lost in rejected if lost.reason.startswith("line"))
        why = next((f"row {lost.row}: {lost.reason}" for lost in unread), str(error))
        raise InputError(
            f"{collection.files[0]}, {why}; expected a whole list.",
            hint="write the list again: what is missing might be the best result.",
        ) from error


def _check_encoding(file: str, rejected: Sequence[Rejected]) -> None:
    for lost in rejected:
        if "is not valid" in lost.reason and "JSON" not in lost.reason:
            raise InputError(
                f"{file}, row {lost.row}: {lost.reason}; expected a whole list.",
                hint="convert the file to UTF-8, with iconv for example.",
            )


MAGIC = b"nd"
PARTS = ("parameters", "artefacts")
PART_BYTES = 8
CHECK = np.dtype("<u8")
FIXED = np.dtype(
    [
        ("flags", "u1"),
        ("probes", "<i4"),
        ("keys", "<u4"),
        ("length", "<u8"),
        ("text", "<u8"),
        ("normal", "<u8"),
    ]
)
_AGAIN = "sign the documents again with this Grouper, or give their texts."


@dataclass(frozen=True)
class Signed:
    """The contents of a batch of signatures; ``lengths`` are in characters."""

    prepared: Prepared
    lengths: npt.NDArray[np.int64]


def header_of(plan: Plan) -> bytes:
    """The first bytes that all comparable signatures share."""
    name = plan.method.name.encode()
    parts = [signed_parameters(plan.method), plan.digests]
    digests = [_digest(part) for part in parts]
    return b"".join([MAGIC, bytes([SIGNATURE_FORMAT, len(name)]), name, *digests])


def _digest(part: Any) -> bytes:
    written = json.dumps(part, sort_keys=True, default=str)
    return hashlib.sha256(written.encode()).digest()[:PART_BYTES]


def signed(made: Signed, header: bytes) -> list[bytes]:
    prepared, lengths = made.prepared, made.lengths
    fixed = np.zeros(len(lengths), FIXED)
    fixed["flags"], fixed["probes"] = prepared.flags, prepared.probes
    fixed["keys"], fixed["length"] = prepared.keys.lengths, lengths
    fixed["text"], fixed["normal"] = prepared.text_digests, prepared.normal_digests
    bodies = [
        fixed[i].tobytes() + prepared.keys[i].tobytes() + prepared.evidence[i].tobytes()
        for i in range(len(lengths))
    ]
    checks = _checks(pa.array(bodies, pa.large_binary()))
    return [header + check.tobytes() + body for check, body in zip(checks, bodies, strict=True)]


def _checks(bodies: pa.Array) -> Array:
    ragged = Ragged.of_strings(bodies)
    return _native.bytes_digests(ragged.values, ragged.offsets, 0).astype(CHECK)


def read_signed(
    signatures: Sequence[bytes], header: bytes, dtype: np.dtype[np.generic], rows: Array
) -> Signed:
    """Evidence has this ``dtype``; ``rows`` are the rows of the signatures in the list, for
    messages."""
    _check_alike(signatures, header, rows)
    start = len(header) + CHECK.itemsize
    whole = np.array(
        [len(signature) >= start + FIXED.itemsize for signature in signatures], np.bool_
    )
    _check_whole(whole, rows)
    bodies = Ragged.of_strings(
        pa.array([signature[start:] for signature in signatures], pa.large_binary())
    )
    checks = np.frombuffer(
        b"".join(signature[len(header) : start] for signature in signatures), CHECK
    )
    _check_whole(_native.bytes_digests(bodies.values, bodies.offsets, 0) == checks, rows)
    return _unpacked(bodies, dtype, rows)


def _unpacked(bodies: Ragged, dtype: np.dtype[np.generic], rows: Array) -> Signed:
    begins = bodies.offsets[:-1]
    fixed = _cut(bodies, begins, np.full(len(bodies), FIXED.itemsize), FIXED).values
    key_bytes = fixed["keys"].astype(np.int64) * 8
    after = begins + FIXED.itemsize + key_bytes
    rest = bodies.offsets[1:] - after
    _check_whole((rest >= 0) & (rest % dtype.itemsize == 0), rows)  # even if the digest fits
    keys = _cut(bodies, begins + FIXED.itemsize, key_bytes, np.dtype("<u8"))
    evidence = _cut(bodies, after, rest, dtype)
    flags = np.ascontiguousarray(fixed["flags"])
    prepared = Prepared(
        keys=keys,
        probes=np.ascontiguousarray(fixed["probes"]),
        evidence=evidence,
        digests=evidence_digests(evidence, (flags & TOO_SHORT).astype(np.bool_)),
        text_digests=np.ascontiguousarray(fixed["text"]),
        normal_digests=np.ascontiguousarray(fixed["normal"]),
        flags=flags,
    )
    return Signed(prepared, fixed["length"].astype(np.int64))


def _cut(bodies: Ragged, begins: Array, sizes: Array, dtype: np.dtype[Any]) -> Ragged:
    out = np.empty(int(sizes.sum()) // dtype.itemsize, dtype)
    _native.gather_memory(bodies.values, begins, sizes.astype(np.int64), out.view(np.uint8))
    return Ragged(out, offsets_of(sizes // dtype.itemsize))


def _check_whole(whole: Array, rows: Array) -> None:
    if not whole.all():
        raise SignatureError(
            f"The signature in row {rows[int(np.argmin(whole))] + 1} was cut or changed since it "
            "was made.",
            hint=_AGAIN,
        )


def _check_alike(signatures: Sequence[bytes], header: bytes, rows: Array) -> None:
    unlike = [i for i, one in enumerate(signatures) if not one.startswith(header)]
    if not unlike:
        return
    first = unlike[0]
    raise SignatureError(
        f"{len(unlike)} of {len(signatures)} signatures were made with other settings than this "
        f"Grouper; the one in row {rows[first] + 1} {_difference(signatures[first], header)}.",
        hint=_AGAIN,
    )


def _difference(signature: bytes, header: bytes) -> str:
    if len(signature) < 4 or not signature.startswith(MAGIC):
        return "is no signature"
    if signature[2] != header[2]:
        return f"has format {signature[2]}, expected {header[2]}"
    ours, theirs = (one[4 : 4 + one[3]] for one in (header, signature))
    if ours != theirs:
        return f"is of {theirs.decode('ascii', 'replace')}, expected {ours.decode()}"
    begin = 4 + len(ours)
    places = (slice(begin + i * PART_BYTES, begin + (i + 1) * PART_BYTES) for i in range(2))
    differ = [n for n, at in zip(PARTS, places, strict=True) if signature[at] != header[at]]
    return f"has other {' and other '.join(differ)}"
