"""What a method is: parameters, and four answers.

A method turns documents into keys and evidence (``prepare``), scores pairs on their evidence
(``score``), says what passes (``threshold``) and what it may miss (``miss_rate``, 0 when it is
complete). It is a frozen dataclass that only holds parameters; what is learned from a collection
is an artefact, and is given to it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.schema import Array, Ragged

SIGNATURE_FORMAT = 1  # steps with any change of features, keys or digests; see CHANGELOG.md


def signature_of(method: Method) -> dict[str, Any]:
    """What must be equal for keys and evidence of two runs to be compared."""
    written = json.dumps([method.name, asdict(method)], sort_keys=True)  # type: ignore[call-overload]
    digest = hashlib.sha256(written.encode()).hexdigest()
    return {"format": SIGNATURE_FORMAT, "digest": digest[:32]}


@dataclass(frozen=True)
class Prepared:
    """Keys and evidence of a batch, one entry a document.

    A document is found by all its ``keys`` and looks with the first ``probes`` of them: all, where
    the relation is symmetric. Documents with equal ``digests`` (128 bits) have equal evidence.
    ``text_digests`` and ``normal_digests`` tell identical and normalised copies apart.
    """

    keys: Ragged
    probes: npt.NDArray[np.int32]
    evidence: Ragged
    digests: npt.NDArray[np.uint64]
    text_digests: npt.NDArray[np.uint64]
    normal_digests: npt.NDArray[np.uint64]
    words: npt.NDArray[np.int32]
    too_short: npt.NDArray[np.bool_]


class Scores(NamedTuple):
    """``passed`` was decided in integers; ``score`` is for choosing and showing."""

    passed: npt.NDArray[np.bool_]
    score: npt.NDArray[np.float64]


@runtime_checkable
class Method(Protocol):
    name: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]

    @property
    def threshold(self) -> float: ...

    @property
    def miss_rate(self) -> float:
        """Probability to miss a pair that is exactly at the threshold; 0 when complete."""
        ...

    @property
    def evidence_dtype(self) -> np.dtype[np.generic]: ...

    def prepare(self, batch: pa.RecordBatch) -> Prepared: ...

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores: ...

    def resolved(self) -> dict[str, object]:
        """What the parameters came to (bands, values …), for ``run.json``."""
        ...
