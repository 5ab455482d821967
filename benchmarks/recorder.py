"""Writes what `python -m benchmarks --record MACHINE` measured into `recorded.toml`.

MACHINE is an entry of `[machines]` there. Each measurement takes the place of the one of its name,
whose comment stays; the others are left as they are.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import corpus
from benchmarks.table import Line, Results, together

Sides = dict[str, dict[str, Any]]
CALLED = {
    "daft": "daft {version}",
    "gaoya": "gaoya {version}",
    "rensa": "rensa {version}",
    "fastsketchlsh": "FastSketchLSH {version}",
    "neardup": "neardup {version}",
}
MORE = {
    ("signatures", "daft"): ", normalise + minhash",
    ("signatures", "gaoya"): ", insert (it has no signature alone)",
    ("simhash", "gaoya"): ", insert",
    ("dedup", "daft"): " + banding",
    ("default", "gaoya"): ", insert and query, unverified, nothing written",
    ("default", "neardup"): ", default",
}
LEVELS = {"avx512": "AVX-512", "sse4": "SSE4", "portable": "portable (SSE2)"}
CASES = {"known": "known", "changed": "one word changed", "shuffled": "new"}


def record(file: Path, results: Results, machine: str, *, command: str, beside: str) -> None:
    text = file.read_text("utf-8")
    known = tomllib.loads(text)["machines"]
    if machine not in known:
        raise SystemExit(f"{file.name} has the machines {', '.join(known)}; got {machine!r}.")
    about = {"machine": machine, "date": datetime.date.today(), "beside": beside}
    for name, measured in sections(results).items():
        text = replaced(text, name, {"command": command, **about}, measured)
    file.write_text(text, "utf-8")


def sections(results: Results) -> dict[str, Sides]:
    """What was measured, by the names that `recorded.py` makes tables of."""
    if results["docs"] != corpus.FULL:
        return _smaller(results)
    made: dict[str, Sides] = {}
    if "signatures" in results:
        made["signatures"] = _sides("signatures", results["signatures"], _speed)
    if "simhash" in results:
        made["simhash"] = _sides("simhash", results["simhash"], _speed)
    if "dedup" in results:
        made["dedup"] = _sides("dedup", results["dedup"], _speed_and_peak)
    if "workers" in results:
        (both,) = _sides("dedup", _usual(results["workers"]), _speed_and_peak).values()
        made["dedup"]["two_cores"] = {**both, "called": f"{both['called']}, two cores"}
    if "default" in results:
        rivals = [line for line in results.get("dedup", []) if line["side"] == "gaoya"]
        made["default"] = _sides("default", [*results["default"], *rivals], _cost)
    if "lookup" in results:
        made["lookup"] = _sides("lookup", results["lookup"], _times)
    return made


def _smaller(results: Results) -> dict[str, Sides]:
    """20,000 documents are for the peers that need long: what they took, and what they found."""
    made = _sides("dedup", _usual_side(results["dedup"]), _speed_and_peak)
    for name, figures in made.items():
        ran = [line for line in results["dedup"] if line["side"] == name]
        found = results["quality"][name]
        figures |= {"runs": len(_usual(ran)), "recall": round(found["recall"], 4)}
        figures["below"] = found["below"]
    return {"dedup_20k": made}


def _usual_side(runs: list[Line]) -> list[Line]:
    ours = [line for line in runs if line["side"] == "neardup"]
    return [line for line in runs if line["side"] != "neardup"] + _usual(ours)


def _usual(runs: list[Line]) -> list[Line]:
    """Those at the first level."""
    return [line for line in runs if line.get("level") == runs[0].get("level")]


def _sides(row: str, runs: list[Line], figures: Callable[[list[Line]], dict[str, Any]]) -> Sides:
    good = [line for line in runs if "error" not in line]
    usual = next((line["level"] for line in good if line["side"] == "neardup"), "")
    made: Sides = {}
    for name, lines in together(good, lambda line: _name(line, usual)).items():
        first = lines[0]
        called = CALLED[first["side"]].format(**first) + MORE.get((row, first["side"]), "")
        if first.get("method"):
            called = f"{CALLED['neardup'].format(**first)}, `--method {first['method']}`"
        if first["side"] == "neardup" and first["level"] != usual:
            called += f", {LEVELS.get(first['level'], first['level'])}"
        if first.get("cores", 1) > 1 and row == "default":
            called += ", two cores"
        made[name] = {"called": called, **figures(lines)}
    return made


def _name(line: Line, usual: str) -> str:
    """The name of a side in the file: neardup, neardup_sse4, shingles, two_cores, gaoya …"""
    if line["side"] != "neardup":
        return str(line["side"])
    if line.get("method"):
        return str(line["method"])
    if line.get("cores", 1) > 1:
        return "two_cores"
    return "neardup" if line["level"] == usual else f"neardup_{line['level']}"


def _speed(lines: list[Line]) -> dict[str, Any]:
    best = min(lines, key=lambda line: line["wall"])
    return {
        "best": round(best["wall"], 2),
        "median": round(median(line["wall"] for line in lines), 2),
        "mb_s": round(best["mb_s"], 1),
        "docs_s": round(best["docs_s"]),
    }


def _speed_and_peak(lines: list[Line]) -> dict[str, Any]:
    return {**_speed(lines), "peak_mb": round(min(line["peak_mb"] for line in lines))}


def _cost(lines: list[Line]) -> dict[str, Any]:
    best = min(lines, key=lambda line: line["processor"])
    cost = {"processor": round(best["processor"], 1)}
    if "system" in best:  # peers do not tell
        cost["system"] = round(best["system"], 1)
    wall = round(min(line["wall"] for line in lines), 1)
    return {**cost, "wall": wall, "peak_mb": round(best["peak_mb"])}


def _times(lines: list[Line]) -> dict[str, Any]:
    cases = lines[0]["cases"]
    return {name: _case(cases[asked]) for name, asked in CASES.items()}


def _case(of: dict[str, float]) -> dict[str, float]:
    return {
        "median": round(of["p50_us"]),
        "p99": round(of["p99_us"]),
        "hits": round(of["hits"], 2),
    }


def replaced(text: str, name: str, about: dict[str, Any], sides: Sides) -> str:
    """The text with another measurement in the place of the one of this name."""
    block = re.compile(rf"^\[{name}\]\n.*?(?=^#|^\[(?!{name}\.)|\Z)", re.DOTALL | re.MULTILINE)
    tables = [f"[{name}]\n" + _lines(about.items())]
    tables += [f"[{name}.{side}]\n" + _lines(figures.items()) for side, figures in sides.items()]
    made = "\n".join(tables) + "\n"
    return block.sub(lambda _: made, text, count=1)


def _lines(pairs: Iterable[tuple[str, Any]]) -> str:
    return "".join(f"{key} = {_written(value)}\n" for key, value in pairs)


def _written(value: Any) -> str:
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, dict):
        inside = ", ".join(f"{key} = {_written(one)}" for key, one in value.items())
        return f"{{ {inside} }}"
    return f"{value:_}" if isinstance(value, int) else str(value)
