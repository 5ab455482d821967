"""Why one document was kept, set aside or rejected, told from the tables of a run.

Where the documents can still be read, the two texts are compared again; where not, the numbers of
the run stand alone and a note says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.artefacts.artefact import ReadyNeed
from neardup.artefacts.calibration import Calibration
from neardup.comparison import Comparison, compare
from neardup.documents import Columns
from neardup.errors import NeardupError, SettingsError, UsageError
from neardup.methods import registry
from neardup.methods.method import Method

if TYPE_CHECKING:
    from neardup.outputs.result import Result

MOST_LISTED = 20


@dataclass(frozen=True)
class Explanation:
    """``members`` and ``pairs`` are the first of ``cluster_size`` and ``pair_count``.

    A pair is (the other id, score, kind), strongest first.
    """

    id: str
    file: str
    row: int
    decision: str
    reason: str
    threshold: float
    method: str
    kept_id: str | None
    score: float | None
    kind: str | None
    cluster: int | None
    members: tuple[str, ...]
    cluster_size: int
    pairs: tuple[tuple[str, float, str | None], ...]
    pair_count: int
    comparison: Comparison | None
    note: str | None = None

    def __str__(self) -> str:
        told = [f"{self.id} ({self.file}, row {self.row}): {self._sentence()}"]
        if self.cluster_size > 1:
            told.append(
                f"cluster of {self.cluster_size:,}: {_listed(self.members, self.cluster_size)}"
            )
        if self.pairs:
            pairs = [
                f"{other} {score:.4f}{f' {kind}' if kind else ''}"
                for other, score, kind in self.pairs
            ]
            told.append(f"{self.pair_count:,} pairs: {_listed(pairs, self.pair_count)}")
        if self.comparison:
            told += ["", f"{self.kept_id} (first) and {self.id} (second):", str(self.comparison)]
        if self.note:
            told.append(f"note: {self.note}")
        return "\n".join(told)

    def _sentence(self) -> str:
        if self.decision == schema.DUPLICATE:
            kind = f"{self.kind} copy" if self.kind else "duplicate"
            return f"{kind} of {self.kept_id}, score {self.score:.4f} ({self.reason})."
        return f"{self.decision} ({self.reason})."


def explain(result: Result, id: str) -> Explanation:
    id = str(id)  # numbers in the input are ids by their text
    row = _decision(result, id)
    members = _members(result, row["cluster"])
    pairs = _pairs(result, id)
    comparison, note = _comparison(result, row)
    if _is_faint(result, row):
        note = "; ".join(filter(None, [_faint_note(result), note]))
    return Explanation(
        **{name: row[name] for name in ("file", "row", "decision", "reason", "kept_id", "score")},
        id=id,
        kind=row["kind"],
        cluster=row["cluster"],
        threshold=result.threshold,
        method=str(result.info["settings"]["method"]),
        members=tuple(members.slice(0, MOST_LISTED).to_pylist()),
        cluster_size=len(members),
        pairs=_strongest(pairs, id),
        pair_count=len(pairs),
        comparison=comparison,
        note=note,
    )


def _decision(result: Result, id: str) -> dict[str, Any]:
    """A repeated id stands also at a rejected document; the one that was decided on is meant."""
    rows: list[dict[str, Any]] = result.decisions.filter(
        pc.equal(result.decisions["id"], id)
    ).to_pylist()
    if not rows:
        raise UsageError(f"No document of this run has the id {id!r}.", hint=_near(result, id))
    return min(rows, key=lambda row: row["decision"] == schema.REJECTED)


def _near(result: Result, id: str) -> str:
    from rapidfuzz import process

    ids = pc.drop_null(result.decisions["id"]).to_pylist()
    near = [found[0] for found in process.extract(str(id), ids, limit=3, score_cutoff=60)]
    return (
        f"did you mean {' or '.join(map(repr, near))}?"
        if near
        else "see the column id of decisions."
    )


def _members(result: Result, cluster: int | None) -> pa.ChunkedArray:
    if cluster is None:
        return pa.chunked_array([[]], pa.large_string())
    decisions = result.decisions
    return decisions.filter(pc.equal(decisions["cluster"], cluster))["id"]


def _pairs(result: Result, id: str) -> pa.Table:
    pairs = result.pairs
    return pairs.filter(pc.or_(pc.equal(pairs["a"], id), pc.equal(pairs["b"], id)))


def _strongest(pairs: pa.Table, id: str) -> tuple[tuple[str, float, str | None], ...]:
    order = np.argsort(-pairs["score"].to_numpy(), kind="stable")[:MOST_LISTED]
    rows = pairs.take(pa.array(order)).to_pylist()
    return tuple((r["b"] if r["a"] == id else r["a"], r["score"], r["kind"]) for r in rows)


def _comparison(result: Result, row: dict[str, Any]) -> tuple[Comparison | None, str | None]:
    if row["kept_id"] is None:
        return None, None
    try:
        texts = [_text(result, one) for one in (_decision(result, row["kept_id"]), row)]
    except (NeardupError, OSError, LookupError) as error:
        reason = error.message if isinstance(error, NeardupError) else str(error)
        return None, f"the texts could not be read again: {reason}"
    compared = compare(texts[0], texts[1], _method(result), artefacts=result.artefacts)
    if compared.verdict and abs(compared.verdict.score - row["score"]) > 1e-5:
        return compared, "the documents have changed since the run"
    if compared.verdict and _is_faint(result, row):
        told = replace(compared.verdict, duplicate=True, note="it stands out")
        compared = replace(compared, verdict=told)
    return compared, None


def _is_faint(result: Result, row: dict[str, Any]) -> bool:
    calibrated = Calibration.kind in result.info["artefacts"]
    return calibrated and row["score"] is not None and row["score"] < result.threshold


def _faint_note(result: Result) -> str:
    return (
        f"the score is below the cut for all, {result.threshold:.4g}, and far above that of all "
        "others near these documents: in this collection the pair stands out"
    )


def _text(result: Result, row: dict[str, Any]) -> str:
    columns = Columns(text=result.info["settings"]["text"])
    return result.collection().texts(row["file"], [row["row"]], columns)[0]


def _method(result: Result) -> Method | None:
    """The run's own method; None where it cannot say again what it said: a reloaded run used one
    that is not registered here, it reads more than the text, or its tables are not at hand."""
    settings = result.info["settings"]
    try:
        method = registry.build(settings["method"], settings["parameters"])
    except SettingsError:
        return None
    at_hand = result.artefacts or all(
        need.file is not None or isinstance(need, ReadyNeed) for need in method.needs
    )
    return method if at_hand and not method.columns else None


def _listed(items: Sequence[str], count: int) -> str:
    more = count - len(items)
    return ", ".join(items) + (f", … {more:,} more" if more > 0 else "")
