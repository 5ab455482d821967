"""What a method is: the base class of all methods, and what methods and engines exchange.

A method turns documents into keys and evidence (``prepare``), declares how its documents meet
(``meeting``), scores pairs on their evidence (``score``), and states what it may miss
(``miss_rate``). It is a frozen dataclass that holds only parameters. What is learned from a
collection is an artefact: the method names it in ``needs`` and receives it when it prepares
documents. Everything else has a default here that serves most methods, so an engine simply asks.

Keys and evidence that ``prepare`` makes depend on the document and the artefacts alone, so they
serve every engine.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.artefacts.artefact import Artefacts, Need
from neardup.classes import dataclass
from neardup.methods.meeting import Meeting
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

    def matched(self) -> Prepared:
        """What is needed of documents that were matched: no keys, evidence or digests of it."""
        none = Ragged(np.empty(0, np.uint64), np.zeros(1, np.int64))
        return replace(
            self, keys=none, probes=np.empty(0, np.int32), evidence=none, digests=self.digests[:0]
        )

    def rows(self, chosen: Array, evidence: Ragged) -> Prepared:
        """Some of the documents, with their evidence, which may be stored elsewhere."""
        return Prepared(
            keys=self.keys.take(chosen),
            probes=self.probes[chosen],
            evidence=evidence,
            digests=self.digests[chosen],
            text_digests=self.text_digests[chosen],
            normal_digests=self.normal_digests[chosen],
            flags=self.flags[chosen],
        )


class Scores(NamedTuple):
    """``passed`` was decided in integers; ``score`` is for choosing and showing. ``refused``: how
    many pairs reach the threshold and do not pass, because they share only a template."""

    passed: npt.NDArray[np.bool_]
    score: npt.NDArray[np.float64]
    refused: int = 0


def agreeing(score: Array, passed: Array, threshold: float) -> Array:
    """Scores corrected so that rounding never contradicts the decision at the threshold."""
    below = np.minimum(score, np.nextafter(threshold, 0))
    return np.where(passed, np.maximum(score, threshold), below)


class Comparisons(NamedTuple):
    """Pairs that were compared to their end, as a calibration reads them. ``refused``: no threshold
    lets the pair pass. ``thin``: the two share so little text that the pair passes only if a
    calibration lists it."""

    score: npt.NDArray[np.float64]
    refused: npt.NDArray[np.bool_]
    thin: npt.NDArray[np.bool_]


class Unweighed(NamedTuple):
    """A batch before its tables are known. ``prepared`` lacks the weights of the evidence, the
    digests and the keys that follow from them; ``counted`` has for each table what it adds."""

    prepared: Prepared
    counted: Mapping[str, Any]


class PreparedText(NamedTuple):
    """An entry of :class:`Prepared`: ``keys``, ``evidence`` and ``digest`` as bytes."""

    keys: bytes
    probes: int
    evidence: bytes
    digest: bytes
    text_digest: int
    normal_digest: int
    flags: int


class RareEntries(NamedTuple):
    """Rare features with their weights, of which a low-scoring pair must share some to pass as an
    exception; ``weights`` of whole documents; ``may``: which documents can be in such a pair."""

    entries: Ragged
    weights: npt.NDArray[np.int64]
    may: npt.NDArray[np.bool_]


class StoreForm(NamedTuple):
    """How an index stores the evidence of one document, in place of keys and evidence: ``unpack``
    gives both back. All keys search."""

    pack: Callable[[Array], bytes]
    unpack: Callable[[bytes], tuple[Array, Array]]


TextReader = Callable[[bytes], PreparedText]
PairScorer = Callable[[Array, Array], float | None]


@dataclass(frozen=True)
class Method(ABC):
    """The base class of all methods. A method gives ``name``, ``threshold``, ``reason``,
    ``evidence_dtype``, ``prepare`` and ``score``; it overrides what else differs."""

    name: ClassVar[str]
    # The parameter that a sweep changes: the threshold, or a count such as a distance in bits.
    swept_parameter: ClassVar[str] = "threshold"
    # Parameters from which the defaults of others follow, by name.
    follows: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    # Whether ``--threshold auto`` matches at the lowest threshold and asks the groups first: that
    # is better where unrelated documents score low (decision 0027).
    groups_choose: ClassVar[bool] = False
    # Parameters that came after signatures were stored: their defaults leave these comparable.
    added: ClassVar[tuple[str, ...]] = ()
    # The threshold where the tables are general ones, which do not know what is common here.
    general_threshold: ClassVar[float | None] = None

    # What it reads and makes.

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns it reads beside the text."""
        return ()

    @property
    def asks_boilerplate(self) -> bool:
        """Whether the engine is to find the texts of the parameter ``boilerplate`` first."""
        return False

    def remarks(self, too_short: int) -> list[str]:
        """What a user should know of the settings, in sentences: a test that is not applied, or why
        so many documents (of a run) are too short."""
        return []

    @property
    def needs(self) -> tuple[Need, ...]:
        """Artefacts it prepares documents with, such as an idf table; a parameter of the same name
        is the file of one."""
        return ()

    @property
    @abstractmethod
    def evidence_dtype(self) -> np.dtype[Any]: ...

    @abstractmethod
    def prepare(self, batch: pa.RecordBatch, artefacts: Artefacts) -> Prepared: ...

    def prepare_evidence(self, batch: pa.RecordBatch, artefacts: Artefacts) -> Prepared:
        """``prepare`` for an engine that uses no keys; a method whose keys are expensive makes
        none."""
        return self.prepare(batch, artefacts)

    # Whether scores read nothing but the evidence of their pairs, however much there is.
    scores_in_place: ClassVar[bool] = False
    # Whether ``score`` itself lets no thin pair pass (``comparisons``).
    refuses_thin: ClassVar[bool] = False

    @property
    def weighs_last(self) -> bool:
        """Whether an engine may read the text once: ``read_unweighed``, and ``weigh`` after all of
        it."""
        return False

    # Whether evidence that is not weighed yet has 32 bits a value, of features alone.
    reads_features: ClassVar[bool] = False

    def read_unweighed(self, batch: pa.RecordBatch) -> Unweighed:
        """What is known of documents before all are counted."""
        raise NotImplementedError(f"{self.name} needs its tables to read a document.")

    def weigh(self, prepared: Prepared, artefacts: Artefacts, *, closed: bool = False) -> Prepared:
        """What ``prepare`` gives, from what ``read_unweighed`` gave. Sizes of evidence stay; its
        values may be changed in place, unless they are features alone. ``closed``: the tables have
        counted every document that may ever meet these, so keys of features that one document alone
        has can be left out."""
        raise NotImplementedError(f"{self.name} needs its tables to read a document.")

    def reader(self, artefacts: Artefacts) -> TextReader | None:
        """A function that gives ``prepare`` of one text in UTF-8, bit by bit, without a table
        around it. None where there is none."""
        return None

    @property
    def store_form(self) -> StoreForm | None:
        """A smaller form for stores. None: keys and evidence are stored as they are."""
        return None

    def check_columns(self, first: pa.RecordBatch) -> None:  # noqa: B027  # most check nothing
        """Refuses, with a sentence, a column of no use, as the first documents show it."""

    def check_artefacts(self, artefacts: Artefacts) -> None:  # noqa: B027
        """Refuses, with a sentence, artefacts of no use, before any document is prepared."""

    # How documents meet, and what a pair of them is.

    @property
    def meeting(self) -> Meeting:
        """How documents meet: by default those that share a key."""
        return Meeting()

    @property
    def miss_rate(self) -> float:
        """Probability to miss a pair that is exactly at the threshold; 0 when complete."""
        return 0.0

    @property
    def confirms_copies(self) -> bool:
        """Whether documents with equal digests are compared on their evidence all the same."""
        return False

    @property
    @abstractmethod
    def threshold(self) -> float: ...

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why a pair that passes is a duplicate, for the decisions: ``resemblance >= 0.8``."""

    @abstractmethod
    def score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """The score of each pair of rows of the evidence, and whether it passes."""

    def pair_scorer(self) -> PairScorer | None:
        """A function that gives ``score`` of the evidence of two documents, None where they do not
        pass, for an engine that has few pairs. A method that overrides ``score`` overrides this
        too."""
        return None

    # What people see.

    def resolved(self) -> dict[str, object]:
        """What the parameters came to (bands, values …), for ``run.json``."""
        return {"miss_rate": self.miss_rate}

    @property
    def score_meaning(self) -> str | None:
        """What the score is, in plain words: ``resemblance of 5-word shingles``."""
        return None

    def whole_score(self, evidence: Ragged, a: Array, b: Array) -> Array:
        """The score of each pair compared to its end, whatever the threshold and other tests say.
        ``score`` may give up a pair that can no longer pass; people are shown this one. For pairs
        that pass the two are equal."""
        return self.score(evidence, a, b).score

    def refusals(
        self,
        evidence: Ragged,
        a: Array,
        b: Array,
    ) -> list[str | None]:
        """For each pair why it is refused whatever it scores, for people; None where the score
        alone decides."""
        return [None] * len(a)

    @property
    def parts(self) -> tuple[Method, ...]:
        """The methods that it is made of, where it is made of several."""
        return ()

    def passed_by(self, evidence: Ragged, a: Array, b: Array) -> list[tuple[str, ...]]:
        """For each pair which of its ``parts`` pass it, as they are written."""
        return [()] * len(a)

    # Calibration: the collection itself shows where duplicates begin (decision 0014). Pairs below
    # the threshold pass as exceptions where they are far more alike than all others of their
    # documents.

    # The rule that chooses the threshold: "gap" (decision 0014) or "consistency" of groups.
    calibration: ClassVar[str] = "gap"

    @property
    def calibrate(self) -> bool:
        """Whether the collection moves the threshold and lists exceptions."""
        return False

    @property
    def reach(self) -> float:
        """The lowest threshold that a collection may ask for."""
        return self.threshold

    def comparisons(self, evidence: Ragged, a: Array, b: Array) -> Comparisons:
        """What a calibration by consistency is made from."""
        refused = np.array([why is not None for why in self.refusals(evidence, a, b)], np.bool_)
        return Comparisons(self.whole_score(evidence, a, b), refused, np.zeros_like(refused))

    def unlike(self, artefacts: Artefacts) -> tuple[str, ...] | None:
        """The ways in which the collection differs from those the method was made for, as phrases
        for people. If there are any, no exception passes and nothing moves the threshold. None if
        the method cannot tell."""
        return None

    @property
    def exception_reason(self) -> str:
        """Why a pair that passes below the threshold is a duplicate, for the decisions."""
        return self.reason

    def exception_limit(self, threshold: float) -> float:
        """The low score from which a pair needs no exception at this threshold."""
        return threshold

    def may_be_exceptions(self, evidence: Ragged) -> npt.NDArray[np.bool_]:
        """Which documents may be in a pair that passes as an exception: one of the two must."""
        return np.zeros(len(evidence), np.bool_)

    def rare_entries(self, evidence: Ragged, every: int) -> RareEntries:
        """What low-scoring pairs are found by; one in ``every`` features stands for all."""
        nothing = Ragged(np.empty(0, np.uint64), np.zeros(len(evidence) + 1, np.int64))
        nobody = self.may_be_exceptions(evidence)
        return RareEntries(nothing, np.zeros(len(evidence), np.int64), nobody)

    def low_score(self, evidence: Ragged, a: Array, b: Array) -> Scores:
        """The score on rare features alone, where unlike documents differ most; ``passed``: the
        pair may be an exception."""
        return Scores(np.zeros(len(a), np.bool_), np.zeros(len(a)))

    # The same method otherwise.

    def with_boilerplate(self, texts: Sequence[str]) -> Self:
        return replace(self, boilerplate=tuple(texts))  # type: ignore[call-arg]

    def at_threshold(self, threshold: float) -> Self:
        return replace(self, threshold=threshold)  # type: ignore[call-arg]  # where it has one

    def uncalibrated(self) -> Self:
        return replace(self, calibrate=False) if self.calibrate else self  # type: ignore[call-arg]


def whole_scores(method: Method, evidence: Ragged, a: Array, b: Array) -> Scores:
    """``score`` as people are shown it: whole also for pairs that do not pass. A pair may then
    score more than the threshold without passing; ``refusals`` says why."""
    scores = method.score(evidence, a, b)
    if scores.passed.all():
        return scores
    whole = method.whole_score(evidence, a, b)
    return scores._replace(score=np.where(scores.passed, scores.score, whole))


def signed_parameters(method: Method) -> dict[str, Any]:
    """The parameters without the files of artefacts, which their digests stand for, and without
    those that older signatures do not have, at their defaults."""
    files = {need.name for need in method.needs}
    usual = {one.name: one.default for one in fields(method) if one.name in method.added}
    return {
        name: value
        for name, value in asdict(method).items()
        if name not in files and not (name in usual and getattr(method, name) == usual[name])
    }


def signature_of(method: Method, digests: Mapping[str, str]) -> dict[str, Any]:
    """What must be equal for keys and evidence of two runs to be compared. ``digests`` are those of
    the artefacts."""
    written = json.dumps([method.name, signed_parameters(method), dict(digests)], sort_keys=True)
    digest = hashlib.sha256(written.encode()).hexdigest()
    return {"format": SIGNATURE_FORMAT, "digest": digest[:32], "artefacts": dict(digests)}
