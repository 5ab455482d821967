"""Why one document was kept, set aside or rejected, explained from the tables of a run.

Where the documents can still be read, the two texts are compared again with the method and the
artefacts of the run; where not, the numbers of the run stand alone and a note reports it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.artefacts.calibration import Calibration
from neardup.decisions.kinds import kind_phrase
from neardup.errors import NeardupError, UsageError
from neardup.methods import registry
from neardup.methods.base import Method
from neardup.report.side_by_side import flowed
from neardup.runs.comparison import Comparison, compare
from neardup.runs.texts_again import columns_of, texts_of
from neardup.text.recognition import FLOOR
from neardup.wording import score_text, shortened

if TYPE_CHECKING:
    from neardup.runs.result import Result


def compare_documents(result: Result, first: str, second: str) -> Comparison:
    """Any two documents of the run; a note says why the method says nothing, where it does not."""
    found = texts_of(result, [first, second])
    if missing := [id for id in dict.fromkeys((first, second)) if id not in found]:
        listed = ", ".join(repr(shortened(one)) for one in missing)
        raise UsageError(
            f"No document of this run that could be compared has the id {listed}.",
            hint="see the column id of decisions; rejected documents have no text, and a text that "
            "has changed since the run is not shown.",
        )
    texts, names = (found[first], found[second]), (first, second)
    way = _method(result)
    more = way.method.columns if way.method else ()
    return _compared(texts, names, way, columns_of(result, names, more) if more else {})


def pair_of(result: Result, pair: str | Sequence[str] | Mapping[str, Any]) -> tuple[str, str]:
    """The ids of two documents, the kept one first."""
    if isinstance(pair, str):
        kept = decision_of(result, pair)["kept_id"]
        if kept is None:
            raise UsageError(
                f"{shortened(pair)!r} is no duplicate, so there is no document to show beside it.",
                hint="name two documents: result.show((a, b)).",
            )
        return kept, pair
    names = ("kept_id", "id") if isinstance(pair, Mapping) and "kept_id" in pair else ("a", "b")
    given = [pair.get(name) for name in names] if isinstance(pair, Mapping) else pair
    ids = [id for id in given if isinstance(id, str)] if isinstance(given, Sequence) else []
    if len(ids) != 2 or len(given) != 2:
        raise UsageError(
            f"The pair is {shortened(repr(pair))}; expected two ids, or a row of pairs or of "
            "duplicates.",
            hint="result.show(('a', 'b')), or result.show(result.weakest(1).to_pylist()[0]).",
        )
    return ids[0], ids[1]


def compare_texts(result: Result, texts: tuple[str, str], names: tuple[str, str]) -> Comparison:
    """What can be compared where the texts of two documents are at hand, and nothing else."""
    return _compared(texts, names, _method(result), {})


def _compared(
    texts: tuple[str, str], names: tuple[str, str], way: _Way, columns: dict[str, pa.Array]
) -> Comparison:
    """A method that reads more columns than there are would compare otherwise than the run did."""
    method, note = way.method, way.note
    if method and not set(method.columns) <= columns.keys():
        note = f"{method.name} reads more than the text: {', '.join(method.columns)}"
        method = None
    compared = compare(*texts, method, artefacts=way.artefacts, names=names, columns=columns)
    return replace(compared, note=note)


def compared_again(result: Result, row: dict[str, Any]) -> tuple[Comparison | None, str | None]:
    """A set-aside document beside the one it was set aside for."""
    if row["kept_id"] is None:
        return None, None
    try:
        compared = compare_documents(result, row["kept_id"], row["id"])
    except (NeardupError, OSError, LookupError) as error:
        reason = error.message if isinstance(error, NeardupError) else str(error)
        return None, f"the texts could not be read again: {reason}"
    if compared.verdict and not _same(compared.verdict.score, row["score"]):
        return compared, "the documents have changed since the run"
    return compared, None


def _same(score: float | None, told: float) -> bool:
    return score is not None and abs(score - told) <= 1e-5


class _Way(NamedTuple):
    """How a run compares; ``note`` says why there is no method, where there is none."""

    method: Method | None
    artefacts: Artefacts
    note: str | None


def _method(result: Result) -> _Way:
    """The run's own method; none where it cannot say again what it said."""
    settings = result.info["settings"]
    try:
        method = registry.build(settings["method"], settings["parameters"])
    except NeardupError as error:  # it is not registered here, or its model is gone
        return _Way(None, NO_ARTEFACTS, error.message)
    try:
        artefacts = dict(result.artefacts)
    except NeardupError as error:
        return _Way(None, NO_ARTEFACTS, error.message)
    missing = [need.name for need in method.needs if need.name not in artefacts]
    if missing:
        there = f"the run's {' and '.join(missing)} cannot be read"
        return _Way(None, NO_ARTEFACTS, f"{there}, so {method.name} says nothing")
    try:
        method.check_artefacts(artefacts)
    except NeardupError as error:
        return _Way(None, NO_ARTEFACTS, error.message)
    return _Way(method, artefacts, None)


MOST_LISTED = 20
OF_THE_DECISION = (
    *("id", "file", "row", "decision", "reason", "kept_id", "score"),
    *("kind", "direction", "confidence", "cluster"),
)


class Neighbour(NamedTuple):
    """Another document of a pair, and what became of it (None for a reference)."""

    id: str
    score: float
    kind: str | None
    decision: str | None


@dataclass(frozen=True)
class Explanation:
    """``members`` and ``pairs`` are the first of ``cluster_size`` and ``pair_count``, pairs with
    the strongest first. In ``direction`` this document is ``a``, as in the decisions; in
    ``comparison``, the kept one stands first; it is None unless the document is a duplicate whose
    text can still be read."""

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
    direction: str | None
    confidence: float | None
    cluster: int | None
    members: tuple[str, ...]
    cluster_size: int
    pairs: tuple[Neighbour, ...]
    pair_count: int
    comparison: Comparison | None
    note: str | None = None
    where: str = ""  # the file, or the file and the row

    def head(self, *, pairs: bool = True) -> list[str]:
        """Lines for people: all but the comparison, on demand without the pairs."""
        told = [f"{shortened(self.id)} ({self.where}): {self.sentence()}"]
        if self.cluster_size > 1:
            members = [shortened(one) for one in self.members]
            told.append(f"cluster of {self.cluster_size:,}: {_listed(members, self.cluster_size)}")
        if self.pairs and pairs:
            others = [_neighbour(pair) for pair in self.pairs]
            told.append(f"{_count(self.pair_count)}: {_listed(others, self.pair_count)}")
        if self.note:
            told.append(f"note: {self.note}")
        return [flowed(line) for line in told]

    def sentence(self) -> str:
        if self.decision == schema.DUPLICATE:
            kind = f", kind {kind_phrase(self.kind, self.direction)}" if self.kind else ""
            of = shortened(self.kept_id or "")
            score = score_text(self.score or 0, self.kind)
            return f"duplicate of {of}{kind}, score {score} ({self.reason})."
        return f"{self.decision} ({self.reason}){self._why()}."

    def _why(self) -> str:
        reason = self.reason.partition(" (")[0]
        if reason == "representative":
            return "; others are its duplicates"
        if reason == "unique" and self.pairs:
            return "; what it matches are duplicates of other documents"
        if reason == "unique":
            return "; it matches no other"
        return "; it has too few different words, so only an equal one could be its duplicate" * (
            reason == "too_short"
        )

    def to_dict(self) -> dict[str, Any]:
        """Only data, for JSON."""
        said = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return said | {
            "members": list(self.members),
            "pairs": [pair._asdict() for pair in self.pairs],
            "comparison": self.comparison.to_dict() if self.comparison else None,
        }

    def to_html(self) -> str:
        """One page that needs nothing else, no script either."""
        from neardup.report.side_by_side import explanation_page

        return explanation_page(self)

    def _repr_html_(self) -> str:
        from neardup.report.notebook import explanation_html

        return explanation_html(self)

    def __str__(self) -> str:
        told = self.head()
        if self.comparison:
            told += ["", self.between(), str(self.comparison)]
        return "\n".join(told)

    def between(self) -> str:
        return flowed(f"{shortened(self.kept_id or '')} (first) and {shortened(self.id)} (second):")


def explain(result: Result, id: str) -> Explanation:
    id = str(id)  # numbers in the input are ids by their text
    row = decision_of(result, id)
    members = _members(result, row["cluster"])
    pairs = _pairs(result, id)
    comparison, note = compared_again(result, row)
    if _is_faint(result, row):
        note = "; ".join(filter(None, [_faint_note(result), note]))
    return Explanation(
        **{name: row[name] for name in OF_THE_DECISION},
        threshold=result.threshold,
        method=str(result.info["settings"]["method"]),
        members=tuple(members.slice(0, MOST_LISTED).to_pylist()),
        cluster_size=len(members),
        pairs=_strongest(result, pairs, id),
        pair_count=len(pairs),
        comparison=comparison,
        note=note,
        where=result.where(row),
    )


def decision_of(result: Result, id: str) -> dict[str, Any]:
    """A repeated id stands also at a rejected document; the one that was decided on is meant."""
    rows: list[dict[str, Any]] = result.decisions.filter(
        pc.equal(result.decisions["id"], id)
    ).to_pylist()
    if not rows:
        raise UsageError(
            f"No document of this run has the id {shortened(id)!r}.", hint=_near(result, id)
        )
    return min(rows, key=lambda row: row["decision"] == schema.REJECTED)


def _near(result: Result, id: str) -> str:
    from rapidfuzz import process

    ids = pc.drop_null(result.decisions["id"]).to_pylist()
    near = [found[0] for found in process.extract(str(id), ids, limit=3, score_cutoff=60)]
    return (
        f"did you mean {' or '.join(repr(shortened(one)) for one in near)}?"
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


def _strongest(result: Result, pairs: pa.Table, id: str) -> tuple[Neighbour, ...]:
    order = np.argsort(-pairs["score"].to_numpy(), kind="stable")[:MOST_LISTED]
    rows = pairs.take(pa.array(order)).to_pylist()
    others = [row["b"] if row["a"] == id else row["a"] for row in rows]
    became = _decisions(result, others)
    return tuple(
        Neighbour(other, row["score"], row["kind"], became.get(other))
        for other, row in zip(others, rows, strict=True)
    )


def _decisions(result: Result, ids: Sequence[str]) -> dict[str, str]:
    table = result.decisions
    wanted = pc.and_(
        pc.is_in(table["id"], pa.array(ids, pa.large_string())),
        pc.not_equal(table["decision"], schema.REJECTED),
    )
    rows = table.filter(wanted).select(["id", "decision"]).to_pylist()
    return {row["id"]: row["decision"] for row in rows}


def _is_faint(result: Result, row: dict[str, Any]) -> bool:
    calibrated = Calibration.kind in result.info["artefacts"]
    return calibrated and row["score"] is not None and row["score"] < result.threshold


def _faint_note(result: Result) -> str:
    if "curve" in result.info["artefacts"][Calibration.kind]:
        return (
            f"the score is below the threshold for all pairs, {result.threshold:.4g}; both texts "
            "were read, and enough of the smaller one was recognised in the other"
        )
    return (
        f"the score is below the threshold, {result.threshold:.4g}, and far above that of all "
        "other pairs of these documents, and at least "
        f"{FLOOR} % of the smaller text is found in the other"
    )


def _neighbour(pair: Neighbour) -> str:
    more = ", ".join(filter(None, [pair.kind, pair.decision]))
    return f"{shortened(pair.id)} {score_text(pair.score, pair.kind)}{f' ({more})' if more else ''}"


def _count(pairs: int) -> str:
    return "1 pair" if pairs == 1 else f"{pairs:,} pairs"


def _listed(items: Sequence[str], count: int) -> str:
    more = count - len(items)
    return ", ".join(items) + (f", … {more:,} more" if more > 0 else "")
