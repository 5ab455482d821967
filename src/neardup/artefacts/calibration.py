"""What a collection itself says about where duplicates begin: one cut for all, and own cuts.

Documents with an own cut are known by the digest of their normal form. One that is not listed has
the cut of all, so that every engine, and a document that comes later, decides alike.
"""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.artefacts.artefact import why_unreadable
from neardup.errors import InputError, SignatureError

FORMAT = 2
# What says where the cut is.
VALLEY, USUAL, PLANTED, UNLIKE = "valley", "usual", "planted", "unlike"
LEAST_DOUBT = "least doubt"
_DESCRIPTION = b"neardup calibration"


@dataclass(frozen=True, eq=False)
class Calibration:
    """``threshold`` holds for pairs of which one document has no own cut; ``by`` says what put it
    there: a valley of the scores, planted copies and traps, the least doubt around the cut of a
    model, or nothing, so that it is the method's usual one; "unlike" where the collection was not
    asked, because the method was made for others. ``digests`` are sorted. How sure: ``stability``
    is the share of the duplicates that a cut 0.05 up or down leaves, ``found`` that of the planted
    copies that are found, ``trapped`` of the traps that pass; None where it was not asked.
    ``refused`` is a valley that was not taken."""

    threshold: float
    by: str
    digests: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    cuts: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    stability: float | None = None
    found: float | None = None
    trapped: float | None = None
    refused: float | None = None

    kind: ClassVar[str] = "calibration"

    @property
    def clear(self) -> bool:
        """Whether the collection showed it."""
        return self.by in (VALLEY, PLANTED, LEAST_DOUBT)

    @functools.cached_property
    def digest(self) -> str:
        digest = hashlib.sha256(json.dumps(self._options(), sort_keys=True).encode())
        digest.update(np.ascontiguousarray(self.digests).data)
        digest.update(np.ascontiguousarray(self.cuts).data)
        return digest.hexdigest()[:32]

    def _options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "threshold": self.threshold,
            "by": self.by,
            "stability": self.stability,
            "found": self.found,
            "trapped": self.trapped,
            "refused": self.refused,
            "own_cuts": len(self.digests),
        }

    def describe(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            **self._options(),
            "clear": self.clear,
            "digest": self.digest,
        }

    def cuts_of(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
        """The cut of each document, by the digest of its normal form."""
        cuts = np.full(len(digests), self.threshold)
        if not len(self.digests):
            return cuts
        at = np.minimum(np.searchsorted(self.digests, digests), len(self.digests) - 1)
        listed = self.digests[at] == digests
        cuts[listed] = self.cuts[at[listed]]
        return cuts

    def save(self, path: Path) -> None:
        described = json.dumps({**self._options(), "digest": self.digest}).encode()
        schema = pa.schema(
            [("digest", pa.uint64()), ("cut", pa.float32())], metadata={_DESCRIPTION: described}
        )
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with (
            pa.OSFile(str(path), "wb") as sink,
            pa.ipc.new_file(sink, schema, options=options) as writer,
        ):
            writer.write_table(
                pa.table([pa.array(self.digests), pa.array(self.cuts)], schema=schema)
            )


def load_calibration(path: Path) -> Calibration:
    try:
        with pa.OSFile(str(path), "rb") as source:
            table = pa.ipc.open_file(source).read_all()
        said = json.loads((table.schema.metadata or {})[_DESCRIPTION])
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        raise InputError(
            f"The calibration {path} cannot be read: {why_unreadable(error, 'it is none')}.",
            hint="a run with --threshold auto writes one into its folder artefacts.",
        ) from error
    if (there := said.get("format")) != FORMAT:
        raise InputError(
            f"The calibration {path} has format {there}; this version reads {FORMAT}.",
            hint="make the run again with this version.",
        )
    made = Calibration(
        said["threshold"],
        said["by"],
        table["digest"].to_numpy().astype(np.uint64),
        table["cut"].to_numpy().astype(np.float32),
        *(said[name] for name in ("stability", "found", "trapped", "refused")),
    )
    if made.digest != said["digest"]:
        raise SignatureError(
            f"The calibration {path} is not what it was when it was saved.",
            hint="restore the file, or let the run calibrate itself.",
        )
    return made
