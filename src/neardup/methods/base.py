"""What a method is: parameters, and four answers.

A method turns documents into keys and evidence (``prepare``), scores pairs on their evidence
(``score``), says what passes (``threshold``) and what it may miss (``miss_rate``, 0 when it is
complete). It is a frozen dataclass that only holds parameters; what is learned from a collection
is an artefact: a method says what it ``needs`` and is given it when it prepares documents.

Keys that ``prepare`` makes depend on the document alone, so they serve every engine. An engine that
has all evidence at hand may ask for better ones: :class:`OverlapMethod`, :class:`BitsMethod`,
:class:`PathMethod`, :class:`WindowMethod`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.artefacts.artefact import Artefacts, Need
from neardup.schema import Array, Ragged

SIGNATURE_FORMAT = 3  # steps with any change of features, keys or digests; see CHANGELOG.md

# What is said of a document beside its decision; bits of ``Prepared.flags``.
TOO_SHORT, UNRELIABLE, UNDATED, MOSTLY_NUMBERS = 1, 2, 4, 8
FLAGS = {
    TOO_SHORT: "too_short",  # compared by its normal form only
    UNRELIABLE: "unreliable",  # compared, but on little evidence
    UNDATED: "undated",  # its date is missing, so the date test was skipped
    MOSTLY_NUMBERS: "mostly_numbers",  # tables and lists resemble each other by accident
}


def signed_parameters(method: Method) -> dict[str, Any]:
    """The parameters but those that say where an artefact is: what it is, its digest says."""
    files = {need.name for need in method.needs}
    values: dict[str, Any] = asdict(method)  # type: ignore[call-overload]  # by contract
    return {name: value for name, value in values.items() if name not in files}


def signature_of(method: Method, digests: Mapping[str, str]) -> dict[str, Any]:
    """What must be equal for keys and evidence of two runs to be compared. ``digests`` are those of
    the artefacts."""
    written = json.dumps([method.name, signed_parameters(method), dict(digests)], sort_keys=True)
    digest = hashlib.sha256(written.encode()).hexdigest()
    return {"format": SIGNATURE_FORMAT, "digest": digest[:32], "artefacts": dict(digests)}


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
    flags: npt.NDArray[np.uint8]

    @property
    def too_short(self) -> npt.NDArray[np.bool_]:
        return (self.flags & TOO_SHORT).astype(np.bool_)


class Scores(NamedTuple):
    """``passed`` was decided in integers; ``score`` is for choosing and showing. ``refused``: how
    many pairs reach the threshold and do not pass, because they share only a template."""

    passed: npt.NDArray[np.bool_]
    score: npt.NDArray[np.float64]
    refused: int = 0


@runtime_checkable
class Method(Protocol):
    name: ClassVar[str]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns it reads beside the text."""
        ...

    @property
    def needs(self) -> tuple[Need, ...]:
        """Artefacts it prepares documents with, such as an idf table; a parameter of the same name
        is the file of one."""
        ...

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

    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts) -> Prepared: ...

    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores: ...

    def resolved(self) -> dict[str, object]:
        """What the parameters came to (bands, values …), for ``run.json``."""
        ...


@runtime_checkable
class SaysWhich(Method, Protocol):
    """A method made of several, which can say by which of them a pair passes."""

    def passed_by(self, evidence: Ragged, a: Array, b: Array) -> list[tuple[str, ...]]:
        """Of each pair, the methods as they are written."""
        ...


@runtime_checkable
class ScoresWhole(Method, Protocol):
    """A method whose ``score`` may give up a pair early: what is left out can no longer make it a
    duplicate, but people who read the score would be told too little."""

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        """The score of each pair compared to its end, whatever the threshold and other tests say.
        For pairs that pass it is the same as that of ``score``."""
        ...


def whole_scores(method: Method, evidence: Ragged, a: Array, b: Array) -> Scores:
    """``score`` as it may be shown: whole also for pairs that do not pass. A pair may then score
    more than the threshold without passing; :class:`Refuses` says why."""
    scores = method.score(evidence, a, b)
    if not isinstance(method, ScoresWhole) or scores.passed.all():
        return scores
    whole = method.whole_score(evidence, a, b)
    return scores._replace(score=np.where(scores.passed, scores.score, whole))


@runtime_checkable
class Refuses(Method, Protocol):
    """A method that may refuse a pair for another reason than its score."""

    def refusals(self, evidence: Ragged, a: Array, b: Array) -> list[str | None]:
        """Of each pair the reason, for people; None where the score alone decides."""
        ...


@runtime_checkable
class NamesItsScore(Method, Protocol):
    """A method that says in plain words what its score is, for people who see other measures of the
    same two texts beside it."""

    @property
    def score_meaning(self) -> str:
        """Such as ``resemblance of 5-word shingles``."""
        ...


class Rarity(NamedTuple):
    """How often features occur in the documents at hand, by the low bits of the feature (what a
    byte says is in ``native/matching/rare.hpp``); and which share of the key space is wanted."""

    counts: npt.NDArray[np.uint8]
    part: int = 0
    parts: int = 1


@runtime_checkable
class OverlapMethod(Method, Protocol):
    """A method whose evidence is a set of 32-bit features and whose threshold is on their overlap:
    prefix filters serve it, rarest features first (``matching/rare.py``). Evidence of 64 bits is a
    feature in the upper half and its weight in the lower."""

    @property
    def keys_from_evidence(self) -> bool:
        """Its keys are features anyway, so an engine that has seen all may choose rarer ones."""
        ...

    def rare_keys(self, evidence: Ragged, rarity: Rarity) -> tuple[Ragged, Array]:
        """Of each document so many of the rarest features that a partner has at least one; and how
        many of these it looks with."""
        ...


@runtime_checkable
class PathMethod(Method, Protocol):
    """A method whose evidence is a set of 32-bit features, of which two documents that pass have at
    least ``share`` of the larger set in common. Where features are too common to be keys, an
    engine that has all evidence at hand finds such pairs by paths (``matching/paths.py``)."""

    @property
    def by_paths(self) -> bool:
        """Whether its parameters ask for that."""
        ...

    @property
    def share(self) -> Fraction: ...

    @property
    def miss_rate_limit(self) -> float:
        """What paths may miss at the threshold."""
        ...


@runtime_checkable
class SharesKeys(Method, Protocol):
    """A method of many weak keys: one alone says little, so documents meet that share several."""

    least_shared: ClassVar[int]


def least_shared(method: Method) -> int:
    """How many keys two documents must share to be compared."""
    return method.least_shared if isinstance(method, SharesKeys) else 1


@runtime_checkable
class PreparesEvidence(Method, Protocol):
    """A method whose own keys cost much; an engine that makes better ones asks for none."""

    def prepare_evidence(self, batch: pa.RecordBatch, artefacts: Artefacts) -> Prepared:
        """``prepare`` without keys."""
        ...


@runtime_checkable
class WindowMethod(PreparesEvidence, Protocol):
    """A method whose pairs are those with at least ``share`` of the larger set of 32-bit features
    in common, and no others, with that share as the score: an index finds them exactly in a bitmap
    window (``matching/window.py``)."""

    @property
    def by_window(self) -> bool:
        """Whether its parameters ask for that."""
        ...

    @property
    def share(self) -> Fraction: ...


class PreparedText(NamedTuple):
    """An entry of :class:`Prepared`: ``keys``, ``evidence`` and ``digest`` as bytes."""

    keys: bytes
    probes: int
    evidence: bytes
    digest: bytes
    text_digest: int
    normal_digest: int
    flags: int


@runtime_checkable
class ReadsTexts(Method, Protocol):
    """A method that can be asked for one text at a time without a table around it, for an engine
    that meets documents one by one."""

    def reader(self, artefacts: Artefacts) -> Callable[[bytes], PreparedText] | None:
        """What gives ``prepare`` of one text in UTF-8, bit by bit. None where its parameters ask
        for more than the text alone."""
        ...


PairScorer = Callable[[Array, Array], float | None]


@runtime_checkable
class ScoresPairs(Method, Protocol):
    """A method that can be asked for one pair at a time, for an engine that has few. Who overrides
    ``score`` overrides this too."""

    def pair_scorer(self) -> PairScorer | None:
        """What gives ``score`` of the evidence of two documents, None where they do not pass. None
        where its parameters ask for more."""
        ...


@runtime_checkable
class BitsMethod(Method, Protocol):
    """A method whose evidence is a fingerprint and whose threshold is a Hamming distance. Its
    tables depend on how many documents there are (``matching/near_bits.py``)."""

    @property
    def distance(self) -> int: ...

    def masks(self, documents: int, cores: int = 1) -> npt.NDArray[np.uint64]:
        """One row a table: who is within the distance agrees under at least one of them. Refuses,
        with a sentence, what so many cores would not do in reasonable time."""
        ...


class FaintEntries(NamedTuple):
    """``entries``: features, with their weights, whose sharing makes a faint pair, one of so many.
    ``weights`` of whole documents. One of a faint pair ``may`` be found so."""

    entries: Ragged
    weights: npt.NDArray[np.int64]
    may: npt.NDArray[np.bool_]


@runtime_checkable
class CalibratedMethod(ScoresWhole, Protocol):
    """A method that lets the collection say where duplicates begin
    (``engines/batch/threshold_choice.py``). Faint pairs are below its threshold; some stand out
    from all others of their documents."""

    @property
    def calibrate(self) -> bool: ...

    @property
    def reach(self) -> float:
        """The lowest threshold that a collection may ask for; its own, where that begins there."""
        ...

    @property
    def faint_reason(self) -> str:
        """Why a faint pair is one, for the decisions."""
        ...

    def faint_limit(self, threshold: float) -> float:
        """The faint score from which a pair needs no contrast, where ``threshold`` cuts."""
        ...

    def may_be_faint(self, evidence: Ragged) -> npt.NDArray[np.bool_]:
        """Which documents may be found by contrast: one of a faint pair has to."""
        ...

    def faint_entries(self, evidence: Ragged, every: int) -> FaintEntries: ...

    def faint_score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """On what is rare alone, where unlike documents differ most; ``passed``: may be a pair."""
        ...


@runtime_checkable
class KnowsGeneralThreshold(CalibratedMethod, Protocol):
    """A method whose threshold is another one where its tables are general, so that they do not
    know what many documents of the collection have."""

    general_threshold: ClassVar[float]


@runtime_checkable
class KnowsItsLike(Method, Protocol):
    """A method that was made for collections of some sort, and can tell others."""

    def unlike(self, artefacts: Artefacts) -> tuple[str, ...]:
        """In which ways a collection is another, for people. Where it is, nothing passes by
        standing out and no valley moves the cut."""
        ...


@runtime_checkable
class ChecksArtefacts(Protocol):
    """A method that may find an artefact of no use to it."""

    def check_artefacts(self, artefacts: Artefacts) -> None:
        """Refuses them with a sentence, before any document is prepared."""
        ...


@runtime_checkable
class ChecksColumns(Protocol):
    """A method that may find a column it reads of no use to it."""

    def check_columns(self, first: pa.RecordBatch) -> None:
        """Refuses, with a sentence, what the first documents show, before any work begins."""
        ...
