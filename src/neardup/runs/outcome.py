"""What a driver hands over when it is done: documents as taken in, and what was decided.

Every driver makes these, and tables are made of them, so they belong to the outputs.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from neardup.decisions.rule import Decided
from neardup.documents import Rejected
from neardup.documents.clashes import Shared
from neardup.matching.evidence import EvidenceStore
from neardup.matching.verify import Pairs
from neardup.methods.base import Prepared
from neardup.schema import Array


@dataclass
class Intake:
    """What pass 1 leaves behind. Arrays have one entry an accepted document, in input order."""

    files: list[str]
    sources: list[str]  # the name of the input that each file belongs to
    file: Array
    row: Array
    position: Array  # among all input documents, rejected ones included
    ids: pa.LargeStringArray
    prepared: Prepared  # its evidence is in the store
    lengths: Array  # characters; zeros when the policy does not ask
    extra: dict[str, pa.ChunkedArray]
    store: EvidenceStore
    rejected: list[Rejected]
    rejected_position: Array
    total: int
    shared: Shared | None = None  # ids that several files have

    def __len__(self) -> int:
        return len(self.position)


@dataclass(frozen=True)
class Outcome:
    """Everything a Result is made of; arrays by document. The first ``refs`` documents of the
    intake are references: kept, and not part of the input."""

    intake: Intake
    rank: Array
    leader: Array
    decided: Decided
    cluster: Array
    pairs: Pairs  # verified pairs of leaders
    pairs_complete: bool
    candidates: int
    timings: dict[str, float]
    refs: int = 0
    refused: int = 0  # candidates that share only a template
