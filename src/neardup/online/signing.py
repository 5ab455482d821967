"""Documents → what an index keeps of them, by the method's own ``prepare`` with frozen artefacts.

A :class:`Signature` is one entry of :class:`~neardup.methods.method.Prepared`, packed into bytes
for a store. Where documents meet in a bitmap window they have no keys. Where the method is
calibrated, a document with an own cut also gets keys for its faint pairs: its rare features.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import pyarrow as pa

from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.calibration import Calibration
from neardup.documents.columns import Columns
from neardup.documents.lists import DictChunk
from neardup.errors import RejectedError
from neardup.methods.method import (
    TOO_SHORT,
    CalibratedMethod,
    Method,
    Prepared,
    ReadsTexts,
    WindowMethod,
)
from neardup.online.windows import milliseconds
from neardup.schema import Array, Ragged

Document = str | dict[str, Any]
NO_CUT = math.nan
_HEAD = struct.Struct("<16sQQdBxxxII")  # digests, own cut, flags, probes, keys
_FAINT = np.uint64(0xD1B54A32D192ED03)  # faint keys never meet the others
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_TEXT = pa.schema([pa.field("text", pa.large_string(), nullable=False)])


class Signature(NamedTuple):
    """Of one document. It looks with the first ``probes`` of its ``keys``. ``cut`` is its own cut
    by a calibration, ``NO_CUT`` without one."""

    digest: bytes
    text_digest: int
    normal_digest: int
    flags: int
    probes: int
    keys: Array
    evidence: Array
    cut: float = NO_CUT

    @property
    def too_short(self) -> bool:
        return bool(self.flags & TOO_SHORT)

    def pack(self) -> bytes:
        head = _HEAD.pack(
            self.digest,
            self.text_digest,
            self.normal_digest,
            self.cut,
            self.flags,
            self.probes,
            len(self.keys),
        )
        return head + self.keys.tobytes() + self.evidence.tobytes()

    @classmethod
    def unpack(cls, packed: bytes, dtype: np.dtype[Any]) -> Signature:
        digest, text, normal, cut, flags, probes, count = _HEAD.unpack_from(packed)
        keys = np.frombuffer(packed, np.uint64, count, _HEAD.size)
        size = dtype.itemsize
        start = _HEAD.size + 8 * count
        evidence = np.frombuffer(packed, dtype, (len(packed) - start) // size, start)
        return cls(digest, text, normal, flags, probes, keys, evidence.copy(), cut)


class Arrival(NamedTuple):
    """A document at the door. ``id`` and ``time`` are None where it brings none."""

    id: str | None
    time: int | None
    signature: Signature
    text: str | None = None


def meets_in_window(method: Method) -> TypeGuard[WindowMethod]:
    """Whether documents meet in a bitmap window: then they need no keys (``meeting.py``)."""
    return isinstance(method, WindowMethod) and method.by_window


@dataclass(frozen=True)
class Signer:
    method: Method
    artefacts: Artefacts
    columns: Columns
    date: str | None
    texts: bool  # whether they are kept

    @functools.cached_property
    def cuts(self) -> Calibration | None:
        """Own cuts, where there are any."""
        found = self.artefacts.get(Calibration.kind)
        has_own = isinstance(found, Calibration) and len(found.digests)
        return found if has_own and isinstance(self.method, CalibratedMethod) else None  # type: ignore[return-value]

    @property
    def reading(self) -> Columns:
        """The columns to read of files: dates too, where a file has them."""
        if self.date is None or self.date in self.columns.extra:
            return self.columns
        extra = (*self.columns.extra, self.date)
        return replace(self.columns, extra=extra, optional=(self.date,))

    @functools.cached_property
    def _plain(self) -> bool:
        """Whether a document is its text alone."""
        return not self.columns.extra

    def sign_one(self, document: Document) -> Arrival:
        """``sign`` of one document, without the tables that only pay for many."""
        item = {} if isinstance(document, str) else document
        text = document if isinstance(document, str) else _field(item, self.columns.text)
        id_ = _field(item, self.columns.id_name)
        known = type(text) is str and (id_ is None or type(id_) is str) and _is_utf8(id_)
        if not self._plain or not known:
            return self.sign([document])[0]
        try:
            signature = self._read_one(text.encode())
        except UnicodeEncodeError:
            return self.sign([document])[0]  # which says what is wrong with it
        time = milliseconds(item.get(self.date)) if self.date else None
        return Arrival(id_, time, signature, text if self.texts else None)

    @functools.cached_property
    def _read_one(self) -> Callable[[bytes], Signature]:
        method, dtype = self.method, self.method.evidence_dtype
        read = method.reader(self.artefacts) if isinstance(method, ReadsTexts) else None
        if read is None:
            return self._prepare_one

        def signature(text: bytes) -> Signature:
            keys, probes, evidence, digest, of_text, normal, flags = read(text)
            found, set_ = np.frombuffer(keys, np.uint64), np.frombuffer(evidence, dtype)
            return Signature(digest, of_text, normal, flags, probes, found, set_)

        return signature

    def _prepare_one(self, text: bytes) -> Signature:
        column = pa.array([text], pa.large_binary()).cast(pa.large_string())
        batch = pa.RecordBatch.from_arrays([column], schema=_TEXT)
        return self.signatures(self._prepare(batch, self.artefacts))[0]

    @functools.cached_property
    def _prepare(self) -> Callable[[pa.RecordBatch, Artefacts], Prepared]:
        method = self.method
        return method.prepare_evidence if meets_in_window(method) else method.prepare

    def sign(self, documents: Sequence[Document]) -> list[Arrival]:
        """All of them, or an error that names the first that cannot be used."""
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
        return self._arrivals(batch.records, own, times)

    def sign_records(self, records: pa.RecordBatch) -> list[Arrival]:
        """Documents as a reader gives them; ids are those it gave."""
        count = records.num_rows
        dated = self.date is not None and self.date in records.schema.names
        times = records.column(self.date).to_pylist() if dated else [None] * count
        return self._arrivals(records, [True] * count, times)

    def _arrivals(
        self, records: pa.RecordBatch, own: Sequence[bool], times: Sequence[Any]
    ) -> list[Arrival]:
        signatures = self.signatures(self._prepare(records, self.artefacts))
        ids = records.column("id").to_pylist()
        texts = records.column("text").to_pylist() if self.texts else [None] * len(ids)
        return [
            Arrival(id_ if has else None, milliseconds(time), signature, text)
            for id_, has, time, signature, text in zip(
                ids, own, times, signatures, texts, strict=True
            )
        ]

    def signatures(self, prepared: Prepared) -> list[Signature]:
        keys, evidence = prepared.keys, prepared.evidence
        rows = zip(
            prepared.digests,
            prepared.text_digests.tolist(),
            prepared.normal_digests.tolist(),
            prepared.flags.tolist(),
            prepared.probes.tolist(),
            strict=True,
        )
        made = [
            Signature(digest.tobytes(), text, normal, flags, probes, keys[i], evidence[i].copy())
            for i, (digest, text, normal, flags, probes) in enumerate(rows)
        ]
        return [self.with_cut(one, one.normal_digest) for one in made] if self.cuts else made

    def with_cut(self, signature: Signature, normal_digest: int) -> Signature:
        """The signature with the own cut of the normal form ``normal_digest``, and keys for it."""
        cuts = self.cuts
        if signature.cut == signature.cut:  # that of another form
            signature = self._without_cut(signature)
        if cuts is None or signature.too_short:
            return signature
        at = int(np.searchsorted(cuts.digests, np.uint64(normal_digest)))
        if at == len(cuts.digests) or int(cuts.digests[at]) != normal_digest:
            return signature
        faint = self._faint(signature)
        return signature._replace(
            keys=np.concatenate([faint, signature.keys]),
            probes=signature.probes + len(faint),
            cut=float(cuts.cuts[at]),
        )

    def _without_cut(self, signature: Signature) -> Signature:
        assert isinstance(self.method, CalibratedMethod)
        faint = len(self._faint(signature))
        return signature._replace(
            keys=signature.keys[faint:], probes=signature.probes - faint, cut=NO_CUT
        )

    def _faint(self, signature: Signature) -> Array:
        assert isinstance(self.method, CalibratedMethod)
        one = Ragged(signature.evidence, np.array([0, len(signature.evidence)]))
        features = self.method.faint_entries(one, 1).entries.values >> np.uint64(32)
        return np.asarray((features * _SPREAD) ^ _FAINT)


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else item


def _is_utf8(text: str | None) -> bool:
    """A lone surrogate is no text that can be stored."""
    if text is None or text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
