"""Applies a policy to a run: the documents after it, and tables that explain each action.

Documents that are kept, linked or for review stay; merged and dropped ones are written separately.
Together with the rejected ones, that is every document of the run exactly once, which is checked.

A merge fills empty metadata of a kept document from its merged copies. Copies are considered in the
order of the policy, and the first one with a value provides it; an existing value is never changed.
Only the metadata of the documents involved is held in memory.
"""

from __future__ import annotations

import functools
import itertools
import json
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import __version__
from neardup.decisions.policy import ACTIONS, DROP, KEEP, LINK, MERGE, REVIEW, Policy, read_policy
from neardup.documents.collection import Collection
from neardup.documents.columns import DEFAULT_ID, Mask
from neardup.documents.source import groups_of, names_of
from neardup.errors import ConservationError, SettingsError
from neardup.files import write_text
from neardup.runs.actions import Acted, act, actions_table, links_table, merging
from neardup.runs.changes import NO_CHANGES, Changes
from neardup.runs.checksums import CHECKSUMS, digests_of, file_digest, write_checksums
from neardup.runs.filled_sources import Fills, filled_source
from neardup.runs.filled_values import Fields, Inside, filled_object, is_empty
from neardup.runs.policy_order import in_order
from neardup.runs.result import Result
from neardup.runs.run_folder import ONE_FILE, write_table
from neardup.schema import Array

From = dict[int, dict[str, int]]


class FilledCollection(Collection):
    """The documents of a collection, some of them with filled values."""

    def __init__(self, collection: Collection, fills: Fills, files: pa.ChunkedArray) -> None:
        self._original = collection  # keeps its spooled standard input alive
        self.fills = fills
        twins = [filled_source(source, fills) for source in collection.sources]
        super().__init__(twins, collection.limit, collection.inputs)
        self._starts = _starts(files, self.files)

    def metadata(self, wanted: Mask) -> Iterator[tuple[int, dict[str, Any]]]:
        """Document numbers and their fields, a file at a time."""
        for source, begin, end in zip(self.sources, self._starts, self._starts[1:], strict=False):
            rows = np.flatnonzero(wanted[begin:end]) + begin
            if len(rows) and hasattr(source, "metadata"):
                mask = np.zeros(len(wanted) - begin, np.bool_)
                mask[rows - begin] = True
                yield from zip(rows.tolist(), source.metadata(mask), strict=True)

    def fit(self, row: int, name: str, value: Any) -> Any:
        """The value in a form that the file of the document can hold; None if it cannot."""
        source = self.sources[bisect_right(self._starts, row) - 1]
        return source.fit(name, value) if hasattr(source, "fit") else None


def _starts(files: pa.ChunkedArray, names: list[str]) -> list[int]:
    """The first document of each file: those of a file are contiguous, in file order."""
    counts = {row["values"]: row["counts"] for row in pc.value_counts(files).to_pylist()}
    return [0, *itertools.accumulate(counts.get(name, 0) for name in names)]


def fill(acted: Acted) -> tuple[FilledCollection, From]:
    """The collection with the values that merges fill in, and the origin of each value."""
    result = acted.ordered.result
    settings, total = result.info["settings"], len(result.decisions)
    fills = Fills(total, {}, (settings["text"], settings["id"] or DEFAULT_ID))
    collection = FilledCollection(acted.ordered.collection, fills, result.decisions["file"])
    copies, kept = merging(acted)
    if not len(copies):
        return collection, {}
    return collection, _filled(collection, copies, kept, acted.policy.fields)


def _filled(
    collection: FilledCollection, copies: Array, kept: Array, fields: tuple[str, ...] | None
) -> From:
    wanted = np.zeros(collection.fills.total, np.bool_)
    wanted[copies] = wanted[kept] = True
    metadata = dict(collection.metadata(wanted))
    origins: From = {}
    skip, values = collection.fills.skip, collection.fills.values
    for copy, into in zip(copies.tolist(), kept.tolist(), strict=True):
        own = metadata.get(into)
        if own is None:
            continue
        for place, value in _lacking(
            own, metadata.get(copy, {}), functools.partial(_allowed, skip, fields)
        ):
            fitting = collection.fit(into, place[0], _inside(place[1:], value))
            if fitting is not None:
                own = metadata[into] = filled_object(own, {place[0]: fitting})
                values[into] = filled_object(values.get(into), {place[0]: fitting})
                origins.setdefault(into, {})[".".join(place)] = copy
    return origins


Place = tuple[str, ...]  # names of members, each inside the one before


def _lacking(
    own: Fields, copy: Fields, allowed: Callable[[Place, Any], Any], above: Place = ()
) -> Iterator[tuple[Place, Any]]:
    """What the copy has and the document lacks, also inside objects that both have."""
    for name, value in copy.items():
        place, mine = (*above, name), own.get(name)
        if isinstance(mine, dict) and isinstance(value, dict) and mine:
            yield from _lacking(mine, value, allowed, place)
        elif is_empty(mine) and not is_empty(given := allowed(place, value)):
            yield place, given


def _allowed(
    skip: tuple[str, ...], fields: tuple[str, ...] | None, place: Place, value: Any
) -> Any:
    """The value, of an object only the members that a merge fills; None if that is nothing."""
    names = {".".join(place[:end]) for end in range(1, len(place) + 1)}
    if not names.isdisjoint(skip):
        return None
    below = ".".join(place) + "."
    if isinstance(value, dict) and any(name.startswith(below) for name in (*skip, *(fields or ()))):
        members = {name: _allowed(skip, fields, (*place, name), v) for name, v in value.items()}
        return {name: v for name, v in members.items() if v is not None}
    return value if fields is None or not names.isdisjoint(fields) else None


def _inside(place: Place, value: Any) -> Any:
    for name in reversed(place):
        value = Inside({name: value})
    return value


FORMAT = 1
STAY = (KEEP, LINK, REVIEW)
APPLIED = "applied.json"


class Applied:
    """``documents`` are those that stay, with merged metadata; ``dropped`` and ``merged`` are the
    others. Tables are Arrow; documents have the type of the input."""

    def __init__(self, result: Result, policy: Policy, changes: Changes = NO_CHANGES) -> None:
        self.policy = policy
        self.changes = changes
        self._acted = act(in_order(result, policy, changes.first), policy, changes.actions)
        self._collection, fills = fill(self._acted)
        self.result = self._acted.ordered.result
        self.actions = actions_table(self._acted, fills)
        self.counts = self._acted.counts()
        self.filled = len(fills)
        self._one_file = bool(result.info.get(ONE_FILE))
        parts = sum(self.counts[name] for name in (*ACTIONS, "rejected"))
        if parts != self.counts["documents"]:
            raise ConservationError(f"{self.sentence()} does not add up: this is a bug in neardup.")

    @functools.cached_property
    def documents(self) -> Any:
        return self._collection.kept(self.mask(*STAY))

    @functools.cached_property
    def dropped(self) -> Any:
        return self._collection.kept(self.mask(DROP))

    @functools.cached_property
    def merged(self) -> Any:
        return self._collection.kept(self.mask(MERGE))

    @property
    def links(self) -> pa.Table:
        return links_table(self.actions)

    def mask(self, *actions: str) -> Array:
        return self._acted.mask(*actions)

    def sentence(self) -> str:
        return counted(self.counts)

    def names(self) -> list[str]:
        """Names of the files that ``write`` writes."""
        stems = ["documents", *(name for name, _ in self._apart())]
        sources = self._collection.sources
        groups = [groups_of(sources, stem, one_file=self._one_file) for stem in stems]
        files = [file for group in groups for file in names_of(group)]
        return [*files, *TABLES, CHECKSUMS, APPLIED]

    def write(self, folder: Path, run: Path | None = None) -> None:
        """Write a new folder, ``applied.json`` last. ``run`` is the folder of the run."""
        folder.mkdir(parents=True)
        for name, mask in [("documents", self.mask(*STAY)), *self._apart()]:
            self._collection.write_kept(mask, folder, name, one_file=self._one_file)
        write_table(self.actions, folder / "actions.parquet")
        write_table(self.links, folder / "links.parquet")
        write_text(folder / "review.jsonl", self._review())
        files = digests_of(folder)
        info = {
            "format": FORMAT,
            "neardup": __version__,
            "run": file_digest(run / "run.json") if run else None,
            "policy": self.policy.describe(),
            **({"changes": [each.row() for each in self.changes.counting]} if self.changes else {}),
            "counts": self.counts,
            "files": files,
        }
        described = json.dumps(info, indent=2, ensure_ascii=False) + "\n"
        write_checksums(folder, files, {APPLIED: described.encode()})
        write_text(folder / APPLIED, described)

    def _apart(self) -> list[tuple[str, Array]]:
        masks = [("dropped", self.mask(DROP)), ("merged", self.mask(MERGE))]
        return [(name, mask) for name, mask in masks if mask.any()]

    def _review(self) -> str:
        names = ["id", "kept_id", "kind", "score", "reason", "file", "row"]
        rows = self.actions.filter(pc.equal(self.actions["action"], REVIEW)).select(names)
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.to_pylist())


def action_counts(actions: pa.Table) -> dict[str, int]:
    """Counts of a table of actions, as in ``Applied.counts``."""
    column = actions["action"].combine_chunks().cast(pa.string())
    counts = {name: pc.sum(pc.equal(column, name)).as_py() or 0 for name in ACTIONS}
    return {"documents": len(actions), **counts, "rejected": column.null_count}


def counted(counts: Mapping[str, int]) -> str:
    named = {name: f"{counts[name]:,} {_PAST[name]}" for name in (*ACTIONS, "rejected")}
    return f"{counts['documents']:,} documents = {' + '.join(named.values())}"


_PAST = {
    KEEP: "kept",
    LINK: "linked",
    MERGE: "merged",
    DROP: "dropped",
    REVIEW: "for review",
    "rejected": "rejected",
}
TABLES = ("actions.parquet", "links.parquet", "review.jsonl")


def apply(
    result: Result,
    policy: str | Path | Mapping[str, Any] | Policy | None,
    changes: Changes = NO_CHANGES,
) -> Applied:
    """Apply a policy to a result; None means the policy that the run was made with."""
    return Applied(result, policy_for(result, policy), changes)


def policy_for(result: Result, policy: str | Path | Mapping[str, Any] | Policy | None) -> Policy:
    """The policy to apply. If it has no order or date of its own, those of the run count."""
    if isinstance(policy, Policy):
        return policy
    settings = result.info["settings"]
    own = settings.get("policy") or {}
    if policy is None and not own:
        raise SettingsError(
            "The run was made without a policy, and none is given.",
            hint="name one with --policy FILE (in Python: policy=…).",
        )
    if policy is None:
        return read_policy(own)
    usual = own.get("order") or settings["keep"] or "first"
    return read_policy(policy, usual=usual, date=own.get("date") or settings["date"])
