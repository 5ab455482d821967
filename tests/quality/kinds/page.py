"""The tables of docs/kinds.md, from what was measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from neardup.schema import KINDS


def by_kind(made: dict[str, Any]) -> str:
    rows = [
        [f"`{name}`", f"{one['pairs']:,}", *(_short(one[f]) for f in ("precision", "recall", "f1"))]
        for name, one in made["kinds"].items()
    ]
    rows.append(["all", f"{made['pairs']:,}", "", "", f"**{_short(made['macro_f1'])}**"])
    return _table(["kind", "pairs", "precision", "recall", "F1"], rows)


def by_set(made: dict[str, Any]) -> str:
    return _table(["set", "macro F1"], [[name, _short(f1)] for name, f1 in made["sets"].items()])


def confusion(made: dict[str, Any]) -> str:
    counts = {(true, said): count for true, said, count in made["confusion"]}
    there = [kind for kind in KINDS if any(kind in pair for pair in counts)]
    rows = [[f"`{true}`", *(str(counts.get((true, said), "")) for said in there)] for true in there]
    return _table(["planted ↓ told →", *there], rows)


def confidence(made: dict[str, Any]) -> str:
    rows = [
        [f"from {one['from']:g}", f"{one['pairs']:,}", _short(one["mean"]), _short(one["right"])]
        for one in made["confidence"]
    ]
    return _table(["confidence", "pairs", "mean", "right"], rows)


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "by kind": by_kind,
    "confusion": confusion,
    "by set": by_set,
    "confidence": confidence,
}


def _short(value: float) -> str:
    return "1" if value == 1 else f"{value:.3f}".removeprefix("0")


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
