"""What an engine hands over when it is done: the documents as read, and the decisions.

All engines produce these, and the tables of a run are made from them.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from neardup.classes import dataclass
from neardup.decisions.order import Undated
from neardup.decisions.rule import Decided
from neardup.documents.clashes import Shared
from neardup.documents.columns import Rejected
from neardup.matching.evidence import EvidenceStore, Pairs
from neardup.matching.key_store import KeyStore
from neardup.methods.base import Prepared
from neardup.schema import Array, Ragged


@dataclass
class Intake:
    """The result of pass 1. Arrays have one entry per accepted document, in input order."""

    files: list[str]
    sources: list[str]  # the name of the input that each file belongs to
    file: Array
    row: Array
    position: Array  # among all input documents, rejected ones included
    ids: pa.LargeStringArray
    prepared: Prepared  # its evidence is in the store
    lengths: Array  # in characters; zeros if the policy does not need them
    extra: dict[str, pa.ChunkedArray]
    store: EvidenceStore
    rejected: list[Rejected]
    rejected_position: Array
    total: int
    shared: Shared | None = None  # ids that several files have
    undated: Undated | None = None  # dates that the order could not read
    keys: KeyStore | None = None  # in a file; then ``prepared`` has none

    def __len__(self) -> int:
        return len(self.position)

    def hand_over(self) -> Array:
        """Ends what only matching needs, and gives the memory of the evidence to another store."""
        if self.keys is not None:
            self.keys.close()
            self.keys = None
        self.prepared = self.prepared.matched()
        return self.store.hand_over()

    def rows(self, documents: Array, evidence: Ragged) -> Prepared:
        """Some documents, in ascending order, with their keys and the given evidence."""
        rows = self.prepared.rows(documents, evidence)
        return rows if self.keys is None else replace(rows, keys=self.keys.take(documents)[0])


@dataclass(frozen=True)
class Outcome:
    """Everything that a Result is made from; arrays by document. The first ``refs`` documents of
    the intake are references: they are kept, and not part of the input."""

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
    capped: int = 0  # documents that were not compared with all that they met
