"""Pass 0 on one machine: what the method needs of the collection, before any document is prepared.

An artefact comes from the file the user named, else from a run that this one is built on (evidence
made with another table cannot be compared), else it is counted from references and input.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from neardup.artefacts.artefact import Artefact, Counter, Need
from neardup.documents import Chunk, Collection, collect
from neardup.methods.method import ChecksArtefacts, ChecksColumns
from neardup.outputs.folder import ARTEFACTS
from neardup.plan import Plan
from neardup.progress import Progress


def with_artefacts(collection: Collection, plan: Plan, progress: Progress) -> Plan:
    """The plan with everything its method needs, and nothing it could not work with."""
    _check_columns(collection, plan)
    needs = plan.method.needs
    there = {need.name: found for need in needs if (found := _at_hand(need, plan.against))}
    missing = [need for need in needs if need.name not in there]
    if missing:
        there |= _counted(missing, collection, plan, progress)
    if isinstance(plan.method, ChecksArtefacts):
        plan.method.check_artefacts(there)
    return replace(plan, artefacts=there)


def _check_columns(collection: Collection, plan: Plan) -> None:
    if not plan.method.columns or not isinstance(plan.method, ChecksColumns):
        return
    for chunk in collection.chunks(plan.columns):
        records = chunk.read().records
        if records.num_rows:
            plan.method.check_columns(records)
            break


def _at_hand(need: Need, against: Sequence[Path]) -> Artefact | None:
    if need.file is not None:
        return need.load(Path(need.file))
    for run in against:
        stored = run / ARTEFACTS / f"{need.name}.arrow"
        if stored.exists():
            return need.load(stored)
    return None


def _counted(
    needs: Sequence[Need], collection: Collection, plan: Plan, progress: Progress
) -> dict[str, Artefact]:
    counters = {need.name: need.counter() for need in needs}
    progress.stage("counting", plan.limit, unit="documents", total_bytes=collection.plain_size())
    # A run that is built on and has no such artefact was made with another method: it is refused
    # when its signatures are read.
    references = [collect([path]) for path in plan.against if not path.is_dir()]
    for sources in (*references, collection):
        limit = plan.limit if sources is collection else None
        for rows, size, parts in _parts(sources, list(counters.values()), limit, plan):
            for counter, part in zip(counters.values(), parts, strict=True):
                counter.add(part)
            progress.advance(rows, size)
    return {name: counter.finish() for name, counter in counters.items()}


Counted = tuple[int, int, list[Any]]


def _parts(
    collection: Collection, counters: Sequence[Counter], limit: int | None, plan: Plan
) -> Iterator[Counted]:
    """What each batch counts, in order, with one chunk more in flight than there are workers."""
    waiting: deque[Future[Counted]] = deque()
    seen = 0
    with ThreadPoolExecutor(plan.workers) as pool:
        for chunk in collection.chunks(plan.columns):
            if limit is None:
                waiting.append(pool.submit(_count, chunk, counters, None))
            else:  # what is beyond the limit depends on what came before
                counted = _count(chunk, counters, limit - seen)
                seen += counted[0]
                yield counted
                if seen >= limit:
                    return
            if len(waiting) > plan.workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _count(chunk: Chunk, counters: Sequence[Counter], most: int | None) -> Counted:
    batch = chunk.read()
    records, rows = batch.records, len(batch)
    if most is not None and rows > most:
        rows = most
        records = records.slice(0, int((batch.positions() < most).sum()))
    return rows, batch.size, [counter.count(records) for counter in counters]
