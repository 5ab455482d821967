"""The state of a review: the source with the changes made so far, in memory, under one lock.

A change is checked first, then written, then shown; a reader sees the state from before or after.

:class:`Cuts` counts what the run would decide at higher thresholds, once, in a thread. The rule is
applied to the pairs from a threshold on, as ``Result.rethreshold`` does it; nothing is matched
again. Below the threshold of the run nothing is known. Changes made by hand are left out, because
a threshold is a setting of the whole run.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.decisions.clusters import average_clusters, components
from neardup.decisions.policy import ACTIONS
from neardup.decisions.rule import decide, rule_clusters
from neardup.errors import SettingsError, UsageError
from neardup.matching.evidence import Pairs
from neardup.report.run_view import REJECTED, decision_codes
from neardup.runs.changes import NO_CHANGES, Change, ChangeLog, Changes
from neardup.runs.result import Result
from neardup.runs.rethreshold import NO_GROUPS, by_rank, nothing_more
from neardup.schema import Array
from neardup.web.review.filters import Facts, Filter, Judged, Labelled
from neardup.web.review.pagination import Orders, Page, page_of
from neardup.web.review.review_source import Source
from neardup.web.review.review_tables import Tables
from neardup.web.review.review_texts import Texts
from neardup.wording import shortened

STEPS = 120  # cuts between the threshold and 1, both included
BINS = 40  # of the histogram, from 0 to 1


@dataclass(frozen=True)
class Counted:
    """``documents = kept + duplicates + rejected``."""

    threshold: float
    documents: int
    kept: int
    duplicates: int
    rejected: int
    clusters: int
    pairs: int


class Cuts:
    """The counts of one source at several thresholds; ``counted`` is filled in a thread, the lowest
    threshold first."""

    def __init__(self, source: Source) -> None:
        self._result = None if source.about.partial else source.result
        self.partial = source.about.partial
        self.counted: list[Counted] = []
        self.done = self._result is None
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()

    def begin(self) -> None:
        if self._result is not None and self._thread is None:
            self._thread = threading.Thread(target=self._count_all, daemon=True)
            self._thread.start()

    def wait(self) -> None:
        if self._thread:
            self._thread.join()

    def close(self) -> None:
        self._stop.set()
        self.wait()

    def at(self, threshold: float) -> Counted:
        """The counts at exactly this threshold."""
        return count(*self._pairs(threshold), threshold)

    def fallen(self, threshold: float) -> Array:
        """The pairs between the threshold of the run and this one, the nearest to it first."""
        result, _ = self._pairs(threshold)
        score = result.pairs["score"].to_numpy()
        below = np.flatnonzero(score < threshold)
        return np.asarray(below[np.argsort(-score[below], kind="stable")])

    def _pairs(self, threshold: float) -> tuple[Result, Pairs]:
        result = self._result
        if result is None:
            raise SettingsError(
                self.partial or "There is no run to ask.", hint="run again with that threshold."
            )
        if not result.threshold <= threshold <= 1:
            raise SettingsError(
                f"{threshold:g} cannot be answered: the run was made at {result.threshold:g}, and "
                "no score is above 1.",
                hint="run again with a lower threshold.",
            )
        return result, self._ranked

    @functools.cached_property
    def _ranked(self) -> Pairs:
        """All pairs, documents by their rank."""
        assert self._result
        return by_rank(self._result, self._result.pairs, self._result.rank)

    def _count_all(self) -> None:
        assert self._result
        pairs = self._ranked
        for cut in steps(self._result.threshold):
            if self._stop.is_set():
                return
            self.counted.append(count(self._result, pairs, cut))
        self.done = True

    def data(self) -> list[dict[str, Any]]:
        return [asdict(one) for one in self.counted]


def steps(lowest: float) -> list[float]:
    """The thresholds to count at, with at most four decimals, except the first, which is the run's
    own."""
    made = [round(float(cut), 4) for cut in np.linspace(lowest, 1, STEPS)]
    return list(dict.fromkeys([lowest, *(cut for cut in made if cut > lowest)]))


def count(result: Result, pairs: Pairs, threshold: float) -> Counted:
    total = len(result.decisions)
    rejected = int((decision_codes(result.decisions) == REJECTED).sum())
    left = pairs.where(pairs.score >= threshold)
    kept_of = decide(total, left, NO_GROUPS, nothing_more).kept_of
    aside = int((kept_of >= 0).sum())
    how = result.info["settings"]["clusters"]
    if how == "average":
        cluster = average_clusters(np.arange(total), left, threshold)
    else:
        chained = how == "components"
        cluster = components(total, left.a, left.b) if chained else rule_clusters(kept_of)
    return Counted(
        threshold=threshold,
        documents=total,
        kept=total - aside - rejected,
        duplicates=aside,
        rejected=rejected,
        clusters=int(cluster.max(initial=-1)) + 1,
        pairs=len(left),
    )


def histogram(scores: Array) -> list[int]:
    """Pairs by score, in ``BINS`` bins from 0 to 1; what is exactly 1 is in the last."""
    place = np.minimum((scores * BINS + 1e-9).astype(np.int64), BINS - 1)
    counts: list[int] = np.bincount(place, minlength=BINS).tolist()
    return counts


READ_AT_ONCE = 1 << 30  # bytes of inputs: beyond, texts are read when somebody searches
AT_ONCE = 0.5  # seconds that opening waits for them
PACKED = 4  # times as large, for what is compressed
MANY = 200_000  # documents, where nobody knows how large they are


class Changed(NamedTuple):
    """``skipped``: documents that are kept, whose action is not a matter of choice."""

    change: Change
    skipped: int


@dataclass(frozen=True)
class Now:
    """One moment. ``version`` is another one after every change."""

    version: int
    changes: Changes
    tables: Tables
    stamp: tuple[int, int]  # of the file of changes


@dataclass
class State:
    source: Source
    orders: Orders = field(default_factory=Orders)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._facts: tuple[Hashable, Facts] | None = None
        self.now = self._made(0)
        self.texts = Texts(self.source, len(self.now.tables.decisions))
        self.labelled = Labelled(self.source.judging)
        self.cuts = Cuts(self.source)

    def open(self) -> None:
        if self._small():
            self.texts.wait(AT_ONCE)  # the first page shows titles, where they are read by then
        self.cuts.begin()
        self._warm()

    def _small(self) -> bool:
        """Whether the documents are few enough to be read before anybody searches them."""
        result = self.source.result
        collection = result.collection_if_there if result else None
        if collection is None:
            return True  # of an index, or there is nothing to read
        size = collection.plain_size()
        if size is not None:
            return size <= READ_AT_ONCE
        files = [path for path in collection.paths if isinstance(path, Path) and path.is_file()]
        packed = sum(file.stat().st_size for file in files)
        local = all(isinstance(path, Path) for path in collection.paths)
        return local and PACKED * packed <= READ_AT_ONCE and len(self.tables.decisions) <= MANY

    def _warm(self) -> None:
        """What every list needs, before the first one is asked for."""
        _ = self.facts().document_label

    def close(self) -> None:
        self.cuts.close()
        self.texts.close()
        self.source.close()

    @property
    def tables(self) -> Tables:
        return self.now.tables

    def facts(self) -> Facts:
        """One object as long as nothing has changed: what it has counted stays counted."""
        return self._versioned()[1]

    def _versioned(self) -> tuple[Hashable, Facts]:
        with self._lock:
            version = self.current().version, self.texts.version, self.labelled.version
            if self._facts is None or self._facts[0] != version:
                self._facts = version, Facts(self._judged(), self.texts, self.now.changes.first)
            return self._facts

    def _judged(self) -> Judged:
        states, tables = self.labelled.states(), self.now.tables
        before = self._facts[1].judged if self._facts else None
        if before and before.states is states and before.tables is tables:
            return before
        return Judged(tables, states)

    def order(self, what: str, wanted: Filter, sort: str) -> Array:
        if wanted.q or wanted.since or wanted.until:
            self.texts.begin()
        version, facts = self._versioned()
        return self.orders.of(facts, version, what, wanted, sort)

    def page(self, what: str, wanted: Filter, sort: str, number: int) -> Page:
        return page_of(self.order(what, wanted, sort), number)

    # Changes.

    @property
    def log(self) -> ChangeLog:
        if self.source.log is None:
            raise UsageError(
                "An index decides in the order of arrival; here it is only shown.",
                hint="`neardup index remove` and `neardup index add` change it.",
            )
        return self.source.log

    @property
    def undoable(self) -> int | None:
        """The number of the last change that counts."""
        counting = self.now.changes.counting
        return counting[-1].number if counting else None

    def put_first(self, id: str) -> Change:
        """The document is kept, and the rule decides anew who is set aside for whom."""
        with self._lock:
            log = self.log
            if self.tables.row_of(id) < 0:
                raise UsageError(
                    f"No document of this run has the id {shortened(id)!r}.", hint="see the list."
                )
            self.source.decided((id, *self.now.changes.first))  # refused before it is written
            change = log.add([id], None)
            self._renew()
            return change

    def act(self, ids: Sequence[str], action: str) -> Changed:
        """Chooses an action for those of the documents that are duplicates; kept ones are left
        out."""
        with self._lock:
            log, tables = self.log, self.tables
            if action not in ACTIONS:
                raise UsageError(
                    f"There is no action {action!r}.", hint=f"actions are {', '.join(ACTIONS)}."
                )
            rows = tables.rows_of(pa.array(ids, pa.large_string()))
            aside = np.append(tables.aside, False)[rows]
            chosen = [id for id, one in zip(ids, aside.tolist(), strict=True) if one]
            if not chosen:
                raise UsageError(
                    "None of these documents is a duplicate, so there is nothing to do with them.",
                    hint="choose duplicates; what is kept stays.",
                )
            change = log.add(chosen, action)
            self._renew()
            return Changed(change, len(ids) - len(chosen))

    def undo(self, number: int | None) -> Change:
        with self._lock:
            change = self.log.undo(number)
            self._renew()
            return change

    def current(self) -> Now:
        """The state as it is now, with what another process changed meanwhile."""
        with self._lock:
            if self.source.log and self.source.log.stamp != self.now.stamp:
                self._renew()
            return self.now

    def _renew(self) -> None:
        self.now = self._made(self.now.version + 1)

    def _made(self, version: int) -> Now:
        log = self.source.log
        stamp = log.stamp if log else (0, 0)  # before it is read: what comes then is seen next time
        changes = log.read() if log else NO_CHANGES
        decisions, pairs, actions = self.source.decided(changes.first)
        tables = Tables(decisions, pairs, actions, self.source.policy, changes.actions)
        return Now(version, changes, tables.prepare(), stamp)
