"""What a method made of one document as bytes, for a search engine to store beside it.

    "nd" · format · length of the name · name of the method
    8 bytes each: digest of the parameters, of the artefacts     } the same for all of a Grouper
    8 bytes: digest of what follows
    flags (1) · probes (4) · keys (4) · characters (8) · digests of the text and its normal form
    the keys (8 each) · the evidence

All numbers are little-endian. Unlike signatures are refused with what differs; bytes that were cut
or changed are refused too.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup import _native
from neardup.errors import SignatureError
from neardup.methods.method import SIGNATURE_FORMAT, TOO_SHORT, Prepared, signed_parameters
from neardup.methods.preparing import evidence_digests
from neardup.plan import Plan
from neardup.schema import Array, Ragged, offsets_of

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
    """What a batch of signatures holds; ``lengths`` in characters."""

    prepared: Prepared
    lengths: npt.NDArray[np.int64]


def header_of(plan: Plan) -> bytes:
    """What signatures that may be compared begin with."""
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
    """Evidence is of that ``dtype``; ``rows`` are where they stand in the list, for messages."""
    _check_alike(signatures, header, rows)
    start = len(header) + CHECK.itemsize
    whole = np.array([len(one) >= start + FIXED.itemsize for one in signatures], np.bool_)
    _check_whole(whole, rows)
    bodies = Ragged.of_strings(pa.array([one[start:] for one in signatures], pa.large_binary()))
    said = np.frombuffer(b"".join(one[len(header) : start] for one in signatures), CHECK)
    _check_whole(_native.bytes_digests(bodies.values, bodies.offsets, 0) == said, rows)
    return _unpacked(bodies, dtype, rows)


def _unpacked(bodies: Ragged, dtype: np.dtype[np.generic], rows: Array) -> Signed:
    begins = bodies.offsets[:-1]
    fixed = _cut(bodies, begins, np.full(len(bodies), FIXED.itemsize), FIXED).values
    key_bytes = fixed["keys"].astype(np.int64) * 8
    after = begins + FIXED.itemsize + key_bytes
    rest = bodies.offsets[1:] - after
    _check_whole((rest >= 0) & (rest % dtype.itemsize == 0), rows)  # whoever wrote the digest
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
