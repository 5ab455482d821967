"""Signs documents: computes what an index stores of them, by ``prepare`` of the method.

A :class:`Signature` is one entry of :class:`~neardup.methods.base.Prepared`: keys, evidence and
digests, packed into bytes for a store. Documents that meet in a bitmap window have no keys. A
document with its own threshold by a calibration also has the keys of its exceptions
(``matching/scorer.py``).

Only documents of the same ``group`` meet. The group is mixed into keys and digest, so that postings
need not know groups. In a bitmap window, where documents meet by evidence alone, those of different
groups are removed afterwards (``index_memory.py``).
"""

from __future__ import annotations

import functools
import hashlib
import math
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa

from neardup.artefacts.artefact import Artefacts
from neardup.documents.columns import Columns
from neardup.documents.inputs import SOURCE
from neardup.documents.lists import DictChunk
from neardup.engines.index.seals import damaged
from neardup.engines.index.store import Row
from neardup.engines.index.time_window import milliseconds
from neardup.errors import RejectedError
from neardup.matching.scorer import Scorer
from neardup.methods.base import TOO_SHORT, Method, Prepared, StoreForm
from neardup.methods.preparation import evidence_digests
from neardup.runs.signatures import as_strings
from neardup.schema import Array, Ragged

NO_THRESHOLD = math.nan
NO_GROUP = 0  # without ``within``, all documents are in one group
# Digests, group, own threshold, flags, probes, number of keys, CRC-32 of all else: 64 bytes, so
# that keys are aligned and can be read without a copy.
_HEAD = struct.Struct("<16sQQQdBxxxIII")
_CRC_BYTES = 4
# Before the smaller form of a method (``StoreForm``): what cannot be computed from it.
_SMALL_HEAD = struct.Struct("<QQQI")


class Signature(NamedTuple):
    """The data that an index stores of a document, which searches with the first ``probes`` of its
    ``keys``. ``threshold`` is its own by a calibration, otherwise ``NO_THRESHOLD``; ``group`` is a
    digest of its value of ``within``."""

    digest: bytes
    text_digest: int
    normal_digest: int
    flags: int
    probes: int
    keys: Array
    evidence: Array
    threshold: float = NO_THRESHOLD
    group: int = NO_GROUP

    @property
    def too_short(self) -> bool:
        return bool(self.flags & TOO_SHORT)

    def pack(self, method: Method) -> bytes:
        form = None if self.too_short else method.store_form
        return self._pack_whole() if form is None else self._pack_small(form)

    def _pack_small(self, form: StoreForm) -> bytes:
        stored = form.pack(self.evidence)
        kept = self.text_digest, self.normal_digest, self.group
        return _SMALL_HEAD.pack(*kept, _small_crc(*kept, stored)) + stored

    @classmethod
    def unpack_small(cls, packed: bytes, flags: int, form: StoreForm) -> Signature:
        """Raises :class:`ValueError` for bytes that no signature was packed into."""
        if len(packed) < _SMALL_HEAD.size:
            raise ValueError("it is too short")
        text, normal, group, crc = _SMALL_HEAD.unpack_from(packed)
        stored = packed[_SMALL_HEAD.size :]
        if crc != _small_crc(text, normal, group, stored):
            raise ValueError("its checksum differs")
        keys, evidence = form.unpack(stored)
        rows = Ragged(evidence, np.array([0, len(evidence)], np.int64))
        digest = evidence_digests(rows, np.zeros(1, np.bool_))[0].tobytes()
        signature = cls(digest, text, normal, flags, len(keys), keys, evidence)
        return signature.in_group(group) if group else signature

    def _pack_whole(self) -> bytes:
        head = _HEAD.pack(
            self.digest,
            self.text_digest,
            self.normal_digest,
            self.group,
            self.threshold,
            self.flags,
            self.probes,
            len(self.keys),
            0,
        )[:-_CRC_BYTES]
        rest = self.keys.tobytes() + self.evidence.tobytes()
        return head + crc32(rest, crc32(head)).to_bytes(_CRC_BYTES, "little") + rest

    @classmethod
    def unpack(cls, packed: bytes, dtype: np.dtype[Any]) -> Signature:
        """Raises :class:`ValueError` for bytes that no signature was packed into."""
        _check_packed(packed, dtype.itemsize)
        digest, text, normal, group, threshold, flags, probes, count, _ = _HEAD.unpack_from(packed)
        keys = np.frombuffer(packed, np.uint64, count, _HEAD.size)
        size = dtype.itemsize
        start = _HEAD.size + 8 * count
        evidence = np.frombuffer(packed, dtype, (len(packed) - start) // size, start)
        return cls(digest, text, normal, flags, probes, keys, evidence.copy(), threshold, group)

    def in_group(self, group: int) -> Signature:
        """The signature, which has no group yet, in this group."""
        mixed = int.from_bytes(self.digest, "little") ^ (group << 64 | group)
        keys = self.keys ^ np.uint64(group)
        return self._replace(digest=mixed.to_bytes(16, "little"), keys=keys, group=group)


def _small_crc(text: int, normal: int, group: int, stored: bytes) -> int:
    return crc32(stored, crc32(_SMALL_HEAD.pack(text, normal, group, 0)))


def _check_packed(packed: bytes, size: int) -> None:
    """Refuses what native code must not see: a store may be damaged, or come from anywhere."""
    if len(packed) < _HEAD.size:
        raise ValueError("it is too short")
    *_, probes, count, crc = _HEAD.unpack_from(packed)
    rest = len(packed) - _HEAD.size - 8 * count
    if rest < 0 or rest % size or probes > count:
        raise ValueError("its lengths do not fit")
    if crc != crc32(packed[_HEAD.size :], crc32(packed[: _HEAD.size - _CRC_BYTES])):
        raise ValueError("its checksum differs")


def stored_signature(row: Row, method: Method, url: str) -> Signature:
    """The signature of a document in the store ``url``."""
    form = None if row.flags & TOO_SHORT else method.store_form
    try:
        if form is not None:
            return Signature.unpack_small(row.signature, row.flags, form)
        return Signature.unpack(row.signature, method.evidence_dtype)
    except (ValueError, TypeError) as error:
        raise damaged(url, f"the signature of document {row.id!r}: {error}") from error


class Arrival(NamedTuple):
    """A document before it is decided. ``id``, ``time``, ``within`` and ``source`` are None if it
    has none."""

    id: str | None
    time: int | None
    signature: Signature
    text: str | None = None
    within: str | None = None
    source: str | None = None


def group_of(value: str | None) -> int:
    """The group of a value of ``within``; documents without a value form a group."""
    encoded = b"" if value is None else b"=" + value.encode()
    return int.from_bytes(hashlib.blake2b(encoded, digest_size=8).digest(), "little") or 1


LONGEST_SOURCE = 200
Document = str | dict[str, Any]
_TEXT = pa.schema([pa.field("text", pa.large_string(), nullable=False)])


@dataclass(frozen=True)
class Signer:
    method: Method
    artefacts: Artefacts
    columns: Columns
    date: str | None
    texts: bool  # whether texts are stored
    within: str | None = None  # the column whose values divide documents into groups
    source: str = SOURCE  # the column that names the source of a document; it may be missing

    @functools.cached_property
    def scorer(self) -> Scorer:
        return Scorer(self.method, self.artefacts)

    @property
    def reading(self) -> Columns:
        """The columns to read from files, including dates and sources if a file has them."""
        asked = dict.fromkeys((self.date, self.source))
        more = tuple(one for one in asked if one and one not in self._read)
        return replace(self.columns, extra=(*self.columns.extra, *more), optional=more)

    @property
    def _read(self) -> set[str]:
        return {*self.columns.extra, self.columns.text, self.columns.id_name}

    @functools.cached_property
    def _plain(self) -> bool:
        """Whether a document has nothing but its text and its group."""
        return set(self.columns.extra) <= {self.within}

    def sign_one(self, document: Document) -> Arrival:
        """``sign`` for one document, without the tables that pay only for many."""
        item = {} if isinstance(document, str) else document
        text = document if isinstance(document, str) else _field(item, self.columns.text)
        id_, within = _field(item, self.columns.id_name), _group(item, self.within)
        known = type(text) is str and _is_plain(id_) and _is_plain(within)
        if not self._plain or not known:
            return self.sign([document])[0]
        try:
            signature = self._read_one(text.encode())
        except UnicodeEncodeError:
            return self.sign([document])[0]  # raises the error that explains the problem
        time = milliseconds(item.get(self.date)) if self.date else None
        grouped = self._grouped(signature, within)
        source = self._source(item)
        return Arrival(id_, time, grouped, text if self.texts else None, within, source)

    @functools.cached_property
    def _read_one(self) -> Callable[[bytes], Signature]:
        method, dtype = self.method, self.method.evidence_dtype
        read = method.reader(self.artefacts)
        if read is None:
            return self._prepare_one

        def signature(text: bytes) -> Signature:
            keys, probes, evidence, digest, of_text, normal, flags = read(text)
            key_values, set_ = np.frombuffer(keys, np.uint64), np.frombuffer(evidence, dtype)
            return Signature(digest, of_text, normal, flags, probes, key_values, set_)

        return signature

    def _prepare_one(self, text: bytes) -> Signature:
        column = pa.array([text], pa.large_binary()).cast(pa.large_string())
        batch = pa.RecordBatch.from_arrays([column], schema=_TEXT)
        return self._signatures(self._prepare(batch, self.artefacts))[0]

    @functools.cached_property
    def _prepare(self) -> Callable[[pa.RecordBatch, Artefacts], Prepared]:
        method = self.method
        by_keys = method.meeting.arrival_needs_keys
        return method.prepare if by_keys else method.prepare_evidence

    def sign(self, documents: Sequence[Document]) -> list[Arrival]:
        """Signs all documents, or raises an error that names the first one that cannot be used."""
        items = [{self.columns.text: one} if isinstance(one, str) else one for one in documents]
        chunk = DictChunk("input", items, 2, self.columns)  # a column may be missing from all
        batch = chunk.read()
        if batch.rejected:
            lost = batch.rejected[0]
            name = f"number {lost.row - 1}" if lost.id is None else repr(lost.id)
            raise RejectedError(
                f"Document {name} cannot be taken into the index: {lost.reason}.",
                hint="nothing of this call was stored; leave it out or repair it.",
            )
        id_name = self.columns.id_name
        own = [isinstance(one, dict) and one.get(id_name) is not None for one in items]
        times = [one.get(self.date) if self.date else None for one in items]
        sources = map(self._source, items)
        return self._arrivals(batch.records, own, times, sources)

    def sign_records(self, records: pa.RecordBatch) -> list[Arrival]:
        """Signs documents from a reader, with the ids of the reader."""
        count = records.num_rows
        present = records.schema.names
        times, sources = (
            records.column(name).to_pylist() if name in present else [None] * count
            for name in (self.date, self.source)
        )
        return self._arrivals(records, [True] * count, times, map(_name, sources))

    def _arrivals(
        self,
        records: pa.RecordBatch,
        own: Sequence[bool],
        times: Sequence[Any],
        sources: Iterable[str | None],
    ) -> list[Arrival]:
        signatures = self._signatures(self._prepare(records, self.artefacts))
        nothing = [None] * len(signatures)
        groups = as_strings(records.column(self.within)).to_pylist() if self.within else nothing
        ids = zip(records.column("id").to_pylist(), own, strict=True)
        return list(
            map(
                Arrival,
                (id_ if has else None for id_, has in ids),
                map(milliseconds, times),
                map(self._grouped, signatures, groups),
                records.column("text").to_pylist() if self.texts else nothing,
                groups,
                sources,
            )
        )

    def _source(self, item: dict[str, Any]) -> str | None:
        return None if self.source == self.columns.text else _name(item.get(self.source))

    def _signatures(self, prepared: Prepared) -> list[Signature]:
        """Signatures without group and own threshold."""
        keys, evidence = prepared.keys, prepared.evidence
        rows = zip(
            prepared.digests,
            prepared.text_digests.tolist(),
            prepared.normal_digests.tolist(),
            prepared.flags.tolist(),
            prepared.probes.tolist(),
            strict=True,
        )
        return [
            Signature(digest.tobytes(), text, normal, flags, probes, keys[i], evidence[i].copy())
            for i, (digest, text, normal, flags, probes) in enumerate(rows)
        ]

    def _grouped(self, signature: Signature, within: str | None) -> Signature:
        """The signature in its group, then with its own threshold, whose keys depend on the
        group."""
        if self.within is not None:
            signature = signature.in_group(group_of(within))
        return self.with_threshold(signature, signature.normal_digest)

    def with_threshold(self, signature: Signature, form: int) -> Signature:
        """The signature with the own threshold of the normal form ``form``, and keys for it."""
        if self.scorer.exceptions is None:
            return signature
        if not math.isnan(signature.threshold):  # the threshold of a different form
            signature = self._without_threshold(signature)
        own = None if signature.too_short else self.scorer.own_threshold(form)
        if own is None:
            return signature
        keys = self._exception_keys(signature)
        return signature._replace(
            keys=np.concatenate([keys, signature.keys]),
            probes=signature.probes + len(keys),
            threshold=own,
        )

    def _without_threshold(self, signature: Signature) -> Signature:
        count = len(self._exception_keys(signature))
        return signature._replace(
            keys=signature.keys[count:],
            probes=signature.probes - count,
            threshold=NO_THRESHOLD,
        )

    def _exception_keys(self, signature: Signature) -> Array:
        evidence = Ragged(signature.evidence, np.array([0, len(signature.evidence)]))
        keys = self.scorer.exception_keys(evidence).values
        return np.asarray(keys ^ np.uint64(signature.group))


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else item


def _group(item: Any, name: str | None) -> Any:
    return item.get(name) if name is not None and isinstance(item, dict) else None


def _name(value: Any) -> str | None:
    """The name of a source in a form that can be stored; a document is never refused for it."""
    if value is None or isinstance(value, dict | list) or value == "":
        return None
    return str(value)[:LONGEST_SOURCE].encode("utf-8", "replace").decode()


def _is_plain(value: Any) -> bool:
    """Whether the value is None or a string that can be stored, without a lone surrogate."""
    if value is None:
        return True
    if type(value) is not str:
        return False
    return value.isascii() or _is_utf8(value)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
