"""What the classifier of kinds is worth on planted pairs, in numbers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from neardup.decisions.kinds import by_rules, measured
from neardup.schema import KINDS, Ragged
from quality.kinds.planted import Pair, Told

FILE = Path(__file__).with_name("measured.json")
BINS = (0.0, 0.7, 0.8, 0.9, 0.95, 1.01)  # of confidence
STEPS, FEWEST = 8, 40  # points of a calibration, and pairs of each


def figures(found: Sequence[Told]) -> dict[str, Any]:
    """Shares, by kind and of all; macro F1 is the mean over kinds."""
    confusion = Counter((one.pair.kind, one.told.kind) for one in found)
    kinds = {kind: _of_kind(kind, confusion) for kind in KINDS if _is_there(kind, confusion)}
    return {
        "pairs": len(found),
        "macro_f1": round(float(np.mean([one["f1"] for one in kinds.values()])), 4),
        "right": round(_share(one.pair.kind == one.told.kind for one in found), 4),
        "direction": round(_share(_directed(found)), 4),
        "kinds": kinds,
        "confusion": [[true, said, count] for (true, said), count in sorted(confusion.items())],
        "sets": {name: _macro(found, name) for name in dict.fromkeys(o.pair.name for o in found)},
        "confidence": _calibrated(found),
    }


def _is_there(kind: str, confusion: Counter[tuple[str, str]]) -> bool:
    return any(kind in pair for pair in confusion)


def _of_kind(kind: str, confusion: Counter[tuple[str, str]]) -> dict[str, float]:
    right = confusion[kind, kind]
    there = sum(count for (true, _), count in confusion.items() if true == kind)
    said = sum(count for (_, one), count in confusion.items() if one == kind)
    return {
        "pairs": there,
        "precision": round(right / max(said, 1), 4),
        "recall": round(right / max(there, 1), 4),
        "f1": round(2 * right / max(there + said, 1), 4),
    }


def _macro(found: Sequence[Told], name: str) -> float:
    confusion = Counter((o.pair.kind, o.told.kind) for o in found if o.pair.name == name)
    kinds = [kind for kind in KINDS if any(kind == true for true, _ in confusion)]
    return round(float(np.mean([_of_kind(kind, confusion)["f1"] for kind in kinds])), 4)


def _directed(found: Sequence[Told]) -> Iterable[bool]:
    """Where one text contains the other and the kind was told."""
    known = (o for o in found if o.pair.direction and o.pair.kind == o.told.kind)
    return (one.pair.direction == one.told.direction for one in known)


def _share(right: Iterable[bool]) -> float:
    values = list(right)
    return sum(values) / max(len(values), 1)


def _calibrated(found: Sequence[Told]) -> list[dict[str, float]]:
    """By confidence: how many pairs, the mean confidence, and the share that was right."""
    told = [(one.told.confidence, one.pair.kind == one.told.kind) for one in found]
    rows = []
    for low, high in pairwise(BINS):
        some = [(c, right) for c, right in told if low <= c < high]
        if some:
            mean = float(np.mean([c for c, _ in some]))
            share = _share(right for _, right in some)
            rows.append(
                {"from": low, "pairs": len(some), "mean": round(mean, 3), "right": round(share, 3)}
            )
    return rows


def calibration(pairs: Sequence[Pair]) -> dict[str, list[tuple[float, float]]]:
    """What belongs into ``kind_rules.CONFIDENCE``: of each kind, (clearness, share that was right),
    rising."""
    texts = Ragged.of_texts([text for pair in pairs for text in _in_order(pair)])
    first = np.arange(0, 2 * len(pairs), 2)
    kind, clear = by_rules(measured(texts, first, first + 1))
    right = np.array([KINDS.index(pair.kind) for pair in pairs]) == kind
    found = {}
    for number, name in enumerate(KINDS):
        rows = np.flatnonzero(kind == number)
        if len(rows):
            rows = rows[np.argsort(clear[rows], kind="stable")]
            parts = np.array_split(rows, min(STEPS, max(1, len(rows) // FEWEST)))
            shares = np.maximum.accumulate([(right[p].sum() + 1) / (len(p) + 2) for p in parts])
            means = [float(clear[part].mean()) for part in parts]
            found[name] = [
                (round(m, 3), round(float(s), 3)) for m, s in zip(means, shares, strict=True)
            ]
    return found


def _in_order(pair: Pair) -> tuple[str, str]:
    """The shorter one first, as the classifier takes them."""
    a, b = sorted((pair.a, pair.b), key=lambda text: len(text.encode()))
    return a, b


def read() -> dict[str, Any]:
    stored: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return stored


def write(made: dict[str, Any]) -> None:
    FILE.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
