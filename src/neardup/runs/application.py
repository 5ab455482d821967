"""A policy applied to a run: the documents as they are then, and everything that says why.

Documents are kept, linked, for review (these stay), merged or dropped (these are written apart);
with the rejected ones that is every document of the run exactly once, which is checked.

Merging: empty metadata of a kept document is filled from the copies that are merged into it.

Copies are asked in the order of the policy, and the first that has a value gives it; a value that
is there is never changed. Only the metadata of documents that take part is held in memory.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.decisions.policy import ACTIONS, DROP, KEEP, LINK, MERGE, REVIEW, Policy, read_policy
from neardup.documents import Collection
from neardup.documents.columns import DEFAULT_ID, Mask
from neardup.documents.kept import groups_of, names_of
from neardup.documents.streams import whole_file
from neardup.errors import ConservationError, SettingsError
from neardup.runs.actions import Acted, act, actions_table, links_table, merging
from neardup.runs.changes import NO_CHANGES, Changes
from neardup.runs.filled_sources import Fills, filled_source, is_empty
from neardup.runs.policy_order import in_order
from neardup.runs.result import Result
from neardup.runs.run_folder import write_table
from neardup.schema import Array

From = dict[int, dict[str, int]]


class FilledCollection(Collection):
    """The documents of a collection, some of them with values filled in."""

    def __init__(self, collection: Collection, fills: Fills, files: pa.ChunkedArray) -> None:
        self._original = collection  # its spooled standard input lives as long as it does
        self.fills = fills
        twins = [filled_source(source, fills) for source in collection.sources]
        super().__init__(twins, collection.limit, collection.inputs)
        self._starts = _starts(files, self.files)

    def metadata(self, wanted: Mask) -> Iterator[tuple[int, dict[str, Any]]]:
        """Document and its fields, a file at a time."""
        for source, begin, end in zip(self.sources, self._starts, self._starts[1:], strict=False):
            rows = np.flatnonzero(wanted[begin:end]) + begin
            if len(rows) and hasattr(source, "metadata"):
                mask = np.zeros(len(wanted) - begin, np.bool_)
                mask[rows - begin] = True
                yield from zip(rows.tolist(), source.metadata(mask), strict=True)

    def fit(self, row: int, name: str, value: Any) -> Any:
        """The value as the file of a document can hold it; None if it cannot."""
        source = self.sources[bisect_right(self._starts, row) - 1]
        return source.fit(name, value) if hasattr(source, "fit") else None


def _starts(files: pa.ChunkedArray, names: list[str]) -> list[int]:
    """Where the documents of each file begin: they are together, in the order of the files."""
    counts = {one["values"]: one["counts"] for one in pc.value_counts(files).to_pylist()}
    return [0, *itertools.accumulate(counts.get(name, 0) for name in names)]


def fill(acted: Acted) -> tuple[FilledCollection, From]:
    """The collection with what merges fill, and where each value comes from."""
    result = acted.ordered.result
    settings, total = result.info["settings"], len(result.decisions)
    fills = Fills(total, {}, (settings["text"], settings["id"] or DEFAULT_ID))
    made = FilledCollection(acted.ordered.collection, fills, result.decisions["file"])
    copies, kept = merging(acted)
    if not len(copies):
        return made, {}
    return made, _filled(made, copies, kept, acted.policy.fields)


def _filled(
    made: FilledCollection, copies: Array, kept: Array, fields: tuple[str, ...] | None
) -> From:
    wanted = np.zeros(made.fills.total, np.bool_)
    wanted[copies] = wanted[kept] = True
    metadata = dict(made.metadata(wanted))
    given_by: From = {}
    for copy, into in zip(copies.tolist(), kept.tolist(), strict=True):
        own = metadata.get(into)
        if own is None:
            continue
        for name, value in metadata.get(copy, {}).items():
            asked = fields is None or name in fields
            if not asked or is_empty(value) or not is_empty(own.get(name)):
                continue
            fitting = made.fit(into, name, value)
            if fitting is not None:
                own[name] = fitting
                made.fills.values.setdefault(into, {})[name] = fitting
                given_by.setdefault(into, {})[name] = copy
    return given_by


FORMAT = 1
STAY = (KEEP, LINK, REVIEW)
APPLIED = "applied.json"


class Applied:
    """``documents`` are those that stay, with merged metadata; ``dropped`` and ``merged`` those
    that do not. Tables are Arrow; documents come in the type that came in."""

    def __init__(self, result: Result, policy: Policy, changes: Changes = NO_CHANGES) -> None:
        self.policy = policy
        self.changes = changes
        self._acted = act(in_order(result, policy, changes.first), policy, changes.actions)
        self._collection, fills = fill(self._acted)
        self.result = self._acted.ordered.result
        self.actions = actions_table(self._acted, fills)
        self.counts = self._acted.counts()
        self.filled = len(fills)
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
        """What ``write`` writes."""
        stems = ["documents", *(name for name, _ in self._apart())]
        sources = self._collection.sources
        files = [file for stem in stems for file in names_of(groups_of(sources, stem))]
        return [*files, *TABLES, APPLIED]

    def write(self, folder: Path, run: Path | None = None) -> None:
        """Into a new folder; ``applied.json`` comes last. ``run`` is the folder of the run."""
        folder.mkdir(parents=True)
        self._collection.write_kept(self.mask(*STAY), folder, "documents")
        for name, mask in self._apart():
            self._collection.write_kept(mask, folder, name)
        write_table(self.actions, folder / "actions.parquet")
        write_table(self.links, folder / "links.parquet")
        _write_text(folder / "review.jsonl", self._review())
        info = {
            "format": FORMAT,
            "neardup": version("neardup"),
            "run": _digest(run / "run.json") if run else None,
            "policy": self.policy.describe(),
            **({"changes": [one.row() for one in self.changes.counting]} if self.changes else {}),
            "counts": self.counts,
            "files": digests_of(folder),
        }
        _write_text(folder / APPLIED, json.dumps(info, indent=2, ensure_ascii=False) + "\n")

    def _apart(self) -> list[tuple[str, Array]]:
        masks = [("dropped", self.mask(DROP)), ("merged", self.mask(MERGE))]
        return [(name, mask) for name, mask in masks if mask.any()]

    def _review(self) -> str:
        names = ["id", "kept_id", "kind", "score", "reason", "file", "row"]
        rows = self.actions.filter(pc.equal(self.actions["action"], REVIEW)).select(names)
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.to_pylist())


def action_counts(actions: pa.Table) -> dict[str, int]:
    """Of a table of actions, as ``Applied.counts``."""
    column = actions["action"].combine_chunks().cast(pa.string())
    made = {name: pc.sum(pc.equal(column, name)).as_py() or 0 for name in ACTIONS}
    return {"documents": len(actions), **made, "rejected": column.null_count}


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
    """``policy`` None: the one that the run was made with."""
    return Applied(result, policy_for(result, policy), changes)


def policy_for(result: Result, given: str | Path | Mapping[str, Any] | Policy | None) -> Policy:
    """Where a policy has no order or date of its own, those of the run count."""
    if isinstance(given, Policy):
        return given
    settings = result.info["settings"]
    own = settings.get("policy") or {}
    if given is None and not own:
        raise SettingsError(
            "The run was made without a policy, and none is given.",
            hint="name one with --policy FILE (in Python: policy=…).",
        )
    if given is None:
        return read_policy(own)
    usual = own.get("order") or settings["keep"] or "first"
    return read_policy(given, usual=usual, date=own.get("date") or settings["date"])


def digests_of(folder: Path) -> dict[str, str]:
    """Of every file below a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): _digest(path) for path in files}


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_text(path: Path, text: str) -> None:
    with whole_file(path) as part:
        part.write_text(text, "utf-8")
