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
    def reason(self) -> str:
        """Why a pair that passes is one, for the decisions: ``resemblance >= 0.8``."""
        ...

    @property
    def confirms_copies(self) -> bool:
        """Whether documents with equal digests are compared on their evidence all the same."""
        ...

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


@runtime_checkable
class OverlapMethod(Method, Protocol):
    """A method whose evidence is a set of 32-bit features and whose threshold is on their overlap:
    prefix filters serve it, rarest features first (``matching/rare.py``)."""

    @property
    def keys_from_evidence(self) -> bool:
        """Its keys are features anyway, so an engine that has seen all may choose rarer ones."""
        ...

    @property
    def found_by_all(self) -> bool:
        """A partner may be any size (containment), so it must be found by all its features."""
        ...

    def prefix_sizes(self, sizes: Array) -> Array:
        """Of so many features, in any fixed order, a partner has at least one."""
        ...
