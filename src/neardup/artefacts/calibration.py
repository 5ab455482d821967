"""What a collection itself shows about where duplicates begin.

A calibration has one threshold for all pairs and may list exceptions below it. Documents of listed
pairs are known by the digests of their normal forms, and each has a threshold of its own. Every
engine, and an index for a document that comes later, decides alike by it (``matching/scorer.py``).
Listed are pairs whose texts were compared and found to be the same to a reader
(``text/recognition.py``). A calibration by consistency (``matching/consistency.py``) also has
documents that are in no listed pair: their own thresholds are above that for all pairs. It has the
format 4, every other calibration the format 3. The names in a file are those of its format: "cut"
is an own threshold, "trapped" the share of decoys that pass, "valley" a gap in the scores.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.artefacts.artefact import DAMAGE, StoredTable, stored_table, why_unreadable
from neardup.classes import dataclass
from neardup.errors import InputError, SignatureError
from neardup.wording import many

FORMAT, CURVE_FORMAT = 3, 4
# What put the threshold where it is.
VALLEY, USUAL, PLANTED, UNLIKE = "valley", "usual", "planted", "unlike"
LEAST_DOUBT, GENERAL = "least doubt", "general"
CONSISTENCY, FEW_NEIGHBOURS, INCONSISTENT = "consistency", "few neighbours", "inconsistent"
EVERY_PAIR = "every pair"  # none yet: pairs are matched for a calibration
_NO_PAIRS = np.empty((0, 2), np.int32)


@dataclass(frozen=True, eq=False)
class Curve:
    """How consistent the groups of a collection are at each of some thresholds, and how many
    documents are in groups there (``matching/consistency.py``)."""

    thresholds: npt.NDArray[np.float64]
    consistency: npt.NDArray[np.float64]
    linked: npt.NDArray[np.int64]

    def columns(self) -> dict[str, list[float]]:
        return {
            "thresholds": self.thresholds.tolist(),
            "consistency": self.consistency.round(4).tolist(),
            "linked": self.linked.tolist(),
        }

    @classmethod
    def of_columns(cls, columns: dict[str, list[float]]) -> Curve:
        thresholds, consistency = (np.array(columns[n]) for n in ("thresholds", "consistency"))
        return cls(thresholds, consistency, np.array(columns["linked"], np.int64))


class Expected(NamedTuple):
    """The precision and the recall to expect of pairs whose texts differ, each with the lower end
    of its interval; the upper end is 1 (``matching/consistency.py``)."""

    precision: float
    least_precision: float
    recall: float
    least_recall: float


def expected_of(info: Mapping[str, Any]) -> str:
    """What the run with this ``run.json`` expects, or "". A run that is built on another one takes
    its calibration, but not what that one expected of its own documents."""
    shown = info.get("artefacts", {}).get("calibration", {}).get("expected")
    if not shown or info.get("against"):
        return ""
    expected = Expected(**shown)
    return (
        f"Estimate without labels: {expected.precision:.0%} of the pairs whose texts differ are "
        f"duplicates (likely {expected.least_precision:.0%} to 100%), and {expected.recall:.0%} of "
        f"such duplicates were found (likely {expected.least_recall:.0%} to 100%)."
    )


ORIGINS = {
    VALLEY: "at a gap in the scores",
    LEAST_DOUBT: "that of the model, moved to where the fewest duplicates are in doubt",
    PLANTED: "chosen by synthetic copies and decoys",
    USUAL: "default; the scores show no natural gap",
    UNLIKE: "that of the model; the collection is unlike what it was trained on",
    GENERAL: "general; no collection was counted",
    CONSISTENCY: "chosen because groups are most consistent there: nearly all documents of a "
    "group resemble each other, and hardly any outside it",
    FEW_NEIGHBOURS: "general; fewer than 100 documents have duplicates that differ, too few to "
    "choose",
    INCONSISTENT: "general; the groups of this collection are not consistent at any threshold",
}


def origin_of(artefacts: Mapping[str, Any]) -> str:
    """What set the threshold of a run with these ``artefacts`` in its ``run.json``, and how
    reliable that is."""
    calibration, model = artefacts["calibration"], artefacts.get("discriminant")
    by, refused = calibration["by"], calibration["refused"]
    if by == USUAL and refused is not None:
        return f"default; the gap in the scores at {refused:.4g} is not stable, or it loses copies"
    if by == USUAL and model:
        return "that of the model"
    if by == LEAST_DOUBT and model:
        own = f"that of the model, {model['threshold']:.4g}, moved"
        return ORIGINS[by].replace("that of the model, moved", own)
    if calibration["found"] is None:
        return ORIGINS[by]
    return (
        f"{ORIGINS[by]}; in a self-test it found {calibration['found']:.0%} of synthetic copies "
        f"and wrongly accepted {calibration['trapped']:.0%} of decoys"
    )


def below_threshold(pairs: int, calibration: Mapping[str, Any]) -> str:
    """How many pairs were accepted below the threshold, and why; "" for none."""
    if not pairs:
        return ""
    why = "after reading both texts" if "curve" in calibration else "as unusually similar"
    were = "was" if pairs == 1 else "were"
    return f"{many(pairs, 'lower-scoring pair')} {were} accepted {why}."


@dataclass(frozen=True, eq=False)
class Calibration(StoredTable):
    """``threshold`` holds for all pairs that are not listed. ``by`` names what put it there: a gap
    in the scores, planted copies and decoys, or the least doubt around the threshold of a model;
    "usual" is that of the method; "unlike" is that, where the collection was not asked because the
    method was made for different ones; "general" where there was no collection to ask. By
    consistency it is where groups are most consistent, or a general one, because few documents have
    neighbours ("few neighbours") or no groups are consistent ("inconsistent"). ``digests``
    are sorted, with the ``own_thresholds`` of their documents; ``pairs`` are rows of them, the
    smaller first, sorted: only these may pass below the threshold. How sure it is: ``stability`` is
    the share of the duplicates that a threshold 0.05 higher or lower leaves, ``found`` that of the
    planted copies that are found, ``decoys`` that of the decoys that pass; None where it was not
    measured. ``refused`` is a gap that was not taken. By consistency, ``curve`` shows why, and
    ``unread`` is how many pairs that share little text were refused because too many would have had
    to be read, and ``expected`` how good the answer is likely to be; None where no pair passes."""

    threshold: float
    by: str
    digests: npt.NDArray[np.uint64] = field(default_factory=lambda: np.empty(0, np.uint64))
    own_thresholds: npt.NDArray[np.float32] = field(default_factory=lambda: np.empty(0, np.float32))
    stability: float | None = None
    found: float | None = None
    decoys: float | None = None
    refused: float | None = None
    pairs: npt.NDArray[np.int32] = field(default_factory=lambda: _NO_PAIRS)
    curve: Curve | None = None
    unread: int = 0
    expected: Expected | None = None

    kind: ClassVar[str] = "calibration"

    @property
    def clear(self) -> bool:
        """Whether the collection showed it."""
        return self.by in (VALLEY, PLANTED, LEAST_DOUBT, CONSISTENCY)

    def options(self) -> dict[str, Any]:
        curve: dict[str, Any] = {}
        if self.curve is not None:
            curve = {"curve": self.curve.columns(), "unread": self.unread}
            if self.expected:
                curve["expected"] = self.expected._asdict()
        return {
            "format": FORMAT if self.curve is None else CURVE_FORMAT,
            "threshold": self.threshold,
            "by": self.by,
            "stability": self.stability,
            "found": self.found,
            "trapped": self.decoys,
            "refused": self.refused,
            "own_cuts": len(self.digests),
            **curve,
        }

    def describe(self) -> dict[str, Any]:
        options = {**self.options(), "clear": self.clear}
        return {"kind": self.kind, **options, "digest": self.digest}

    def tables(self) -> Iterable[pa.Table]:
        """``with``: the later rows that each one makes a pair with."""
        first, second = self.pairs.T
        ends = np.searchsorted(first, np.arange(len(self.digests) + 1)).astype(np.int32)
        partners = pa.ListArray.from_arrays(pa.array(ends), pa.array(second, pa.int32()))
        columns = {
            "digest": pa.array(self.digests),
            "cut": pa.array(self.own_thresholds),
            "with": partners,
        }
        return [pa.table(columns)]

    def content(self) -> Iterable[npt.NDArray[Any]]:
        return self.digests, self.own_thresholds, self.pairs

    def thresholds_of(
        self, digests: npt.NDArray[np.uint64], otherwise: float | None = None
    ) -> npt.NDArray[np.float64]:
        """The threshold of each document, by the digest of its normal form; ``otherwise``, or that
        for all pairs, where it has none of its own."""
        rows = self._rows(digests)
        thresholds = np.full(len(digests), self.threshold if otherwise is None else otherwise)
        thresholds[rows >= 0] = self.own_thresholds[rows[rows >= 0]]
        return thresholds

    def has(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Which documents have a threshold of their own."""
        return self._rows(digests) >= 0

    def lists(self, a: npt.NDArray[np.uint64], b: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Which pairs of documents may pass below the threshold, by the same digests."""
        one, other = self._rows(a), self._rows(b)
        low, high = self.pairs.T.astype(np.int64)
        key = np.minimum(one, other) << np.int64(32) | np.maximum(one, other)
        listed = np.isin(key, low << np.int64(32) | high)
        return np.asarray(listed & (one >= 0) & (other >= 0))

    def _rows(self, digests: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """Where each digest is listed, or −1."""
        if not len(self.digests):
            return np.full(len(digests), -1)
        at = np.minimum(np.searchsorted(self.digests, digests), len(self.digests) - 1)
        return np.where(self.digests[at] == digests, at, -1)


def sorted_pairs(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
    """Rows that make pairs, as a calibration lists them."""
    both = np.stack([np.minimum(one, other), np.maximum(one, other)], axis=1)
    return np.unique(both.astype(np.int32), axis=0)


def load_calibration(path: Path) -> Calibration:
    try:
        table, described = stored_table(path, Calibration.kind)
    except (OSError, *DAMAGE) as error:
        raise InputError(
            f"The calibration {path} cannot be read: {why_unreadable(error, 'it is none')}.",
            hint="a run with --threshold auto writes one into its folder artefacts.",
        ) from error
    if (stored := described.get("format")) not in (FORMAT, CURVE_FORMAT):
        raise InputError(
            f"The calibration {path} has format {stored}; this version reads {FORMAT} and "
            f"{CURVE_FORMAT}.",
            hint="make the run again with this version.",
        )
    try:
        calibration = _calibration(table, described)
    except DAMAGE as error:
        raise InputError(
            f"The calibration {path} is not laid out as one: {error}.",
            hint="restore the file, or let the run calibrate itself.",
        ) from error
    if calibration.digest != described.get("digest"):
        raise SignatureError(
            f"The calibration {path} is not what it was when it was saved.",
            hint="restore the file, or let the run calibrate itself.",
        )
    return calibration


def _calibration(table: pa.Table, described: dict[str, Any]) -> Calibration:
    return Calibration(
        described["threshold"],
        described["by"],
        table["digest"].to_numpy().astype(np.uint64),
        table["cut"].to_numpy().astype(np.float32),
        stability=described["stability"],
        found=described["found"],
        decoys=described["trapped"],
        refused=described["refused"],
        pairs=_pairs(table["with"].combine_chunks()),
        curve=Curve.of_columns(described["curve"]) if "curve" in described else None,
        unread=described.get("unread", 0),
        expected=Expected(**described["expected"]) if "expected" in described else None,
    )


def _pairs(partners: pa.ListArray | pa.ChunkedArray) -> npt.NDArray[np.int32]:
    first = np.repeat(np.arange(len(partners)), pa.compute.list_value_length(partners).to_numpy())
    second = pa.compute.list_flatten(partners).to_numpy()
    if len(second) and not 0 <= second.min() <= second.max() < len(partners):
        raise ValueError("a pair has a row that is not there")
    return np.stack([first, second], axis=1).astype(np.int32)
