"""An encoder, frozen: what turns texts into vectors, known by its vectors of fixed probe texts.

The digest is of these vectors, projected and rounded so coarsely that the last bits of another
machine do not change it; so one model is the same encoder wherever its files are, and another is
refused. The model itself is never stored: a run or an index says where it was found.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import DataError, SettingsError
from neardup.features.hyperplanes import MOST_DIMENSIONS, planes

FORMAT = 1
DESCRIPTION = b"neardup encoder"
USUAL_LENGTH = 256  # words; most models of sentences read 256 to 512 tokens
BATCH = 256  # texts an encoder is given at once
PROBES = (
    "The ferry was late again, and nobody on the pier knew why.",
    "Interest rates rose by a quarter of a point on Thursday.",
    "def area(radius): return 3.14159 * radius ** 2",
    "Der Rat hat den Haushalt für das nächste Jahr beschlossen.",
    "El tren salió de la estación antes de la medianoche.",
    "東京都は日本の首都である。",
    "Российские учёные открыли новый вид рыб.",
    "القاهرة هي عاصمة مصر",
)
_PROJECTIONS = 16
_STEP = 2  # of a projection, whose values are of the order of 4
_OFFSET = 0.3137  # vectors of whole numbers have projections at halves, where rounding would waver

Vectors = npt.NDArray[np.float64]


@runtime_checkable
class Encodes(Protocol):
    """What users may bring: a ``SentenceTransformer``, a ``StaticModel``, or anything with this.
    ``length``, if it has one, is how many words it reads (0: any number); ``threads``, that several
    may use it at once."""

    def encode(self, texts: list[str]) -> Any:
        """One vector a text, all of the same length; a text it can say nothing of has zeros."""
        ...


@dataclass(frozen=True, eq=False)
class Encoder:
    """``name`` says where it was found."""

    name: str
    given: Encodes | Callable[[list[str]], Any] = field(repr=False)
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    kind: ClassVar[str] = "encoder"

    @property
    def length(self) -> int:
        """Words of a text that it reads; 0 for any number."""
        found = getattr(self.given, "length", USUAL_LENGTH)
        return found if isinstance(found, int) and found >= 0 else USUAL_LENGTH

    @functools.cached_property
    def _probe_vectors(self) -> Vectors:
        return _unit(self._vectors(list(PROBES)))

    @functools.cached_property
    def _probed(self) -> npt.NDArray[np.int16]:
        made = self._probe_vectors
        if not made.any():
            raise SettingsError(
                f"The encoder {self.name} gives only zeros for the probe texts, so it could not be "
                "told from others.",
                hint="it should know some words of one of the larger languages.",
            )
        projected = made @ planes(_PROJECTIONS, made.shape[1]).T.astype(np.float64)
        return np.floor(projected / _STEP + _OFFSET).astype(np.int16)

    @property
    def dimensions(self) -> int:
        return int(self._probe_vectors.shape[1])

    @functools.cached_property
    def digest(self) -> str:
        head = json.dumps([FORMAT, self.dimensions, self.length]).encode()
        return hashlib.sha256(head + self._probed.astype("<i2").tobytes()).hexdigest()[:32]

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, **self._options(), "digest": self.digest}

    def _options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "name": self.name,
            "dimensions": self.dimensions,
            "length": self.length,
        }

    def save(self, path: Any) -> None:
        """Its name, and the probes by which it is known again."""
        described = json.dumps({**self._options(), "digest": self.digest}).encode()
        schema = pa.schema([("probe", pa.int16())], metadata={DESCRIPTION: described})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            writer.write_table(pa.table([pa.array(self._probed.reshape(-1))], schema=schema))

    def unit_vectors(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1; zeros where the encoder gives zeros."""
        parts = [
            self._vectors(list(texts[begin : begin + BATCH]))
            for begin in range(0, len(texts), BATCH)
        ]
        if any(part.shape[1] != self.dimensions for part in parts):
            raise DataError(
                f"The encoder {self.name} gave vectors of {self.dimensions} numbers before, and "
                "of another length now.",
                hint="all texts need vectors of one length.",
            )
        return _unit(np.concatenate([np.empty((0, self.dimensions)), *parts]))

    def _vectors(self, texts: list[str]) -> Vectors:
        encode = self.given.encode if isinstance(self.given, Encodes) else self.given
        free = getattr(self.given, "threads", False) is True
        try:
            with contextlib.nullcontext() if free else self._lock:
                found = np.asarray(encode(texts), np.float64)
        except Exception as error:
            raise DataError(
                f"The encoder {self.name} failed: {type(error).__name__}: {error}.",
                hint="it is given a list of texts and must return one vector of numbers for each.",
            ) from error
        self._check(found, len(texts))
        return found

    def _check(self, found: Vectors, count: int) -> None:
        if found.ndim != 2 or len(found) != count or not 1 <= found.shape[1] <= MOST_DIMENSIONS:
            raise DataError(
                f"The encoder {self.name} gave an array of shape {found.shape} for {count} texts; "
                f"expected one vector of 1 to {MOST_DIMENSIONS:,} numbers for each.",
                hint="it is given a list of texts, not a single one.",
            )
        if not np.isfinite(found).all():
            raise DataError(
                f"The encoder {self.name} gave vectors with entries that are no finite numbers.",
                hint="for a text that it can say nothing of it may give zeros.",
            )


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))
