"""The results as Markdown, ready for docs/performance.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

Line = dict[str, Any]
Results = dict[str, Any]  # rows of the benchmark → their runs


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """The first column to the left, the others to the right."""
    rule = ["---"] + ["--:"] * (len(head) - 1)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, rule, *rows])


def called(line: Line) -> str:
    """The side and, of neardup, the level of instructions that it was given."""
    return f"{line['side']} {line.get('version', '')} {line.get('level', '')}".strip()


def speed(title: str, runs: list[Line]) -> str:
    """One line a side and level; `ratio` is its processor time over that of neardup at the first
    level, because other work on the machine changes that less than the clock."""
    sides = together(runs, called)
    ours = next((lines for lines in sides.values() if lines[0]["side"] == "neardup"), [])
    best = min(map(_processor, ours), default=math.inf)
    head = ["side", "best s", "median s", "processor s"]
    head += ["MB/s", "docs/s", "peak MB", "duplicates", "ratio"]
    rows = [_speed_row(name, lines, best) for name, lines in sides.items()]
    return f"### {title}\n\n{markdown(head, rows)}\n"


def commands(title: str, runs: list[Line], beside: list[Line]) -> str:
    """One line a command, level and number of cores; `ratio` is its processor time over that of the
    first line. ``beside`` are runs of peers, which write nothing; gaoya is the one to compare."""
    rivals = [line for line in beside if line["side"] == "gaoya"]
    lines = together([*runs, *rivals], _command)
    best = [min(ran, key=_processor) for ran in lines.values()]
    head = ["command", "cores", "wall s", "processor s", "of it system s", "peak MB", "ratio"]
    rows = [_command_row(name, line, best[0]) for name, line in zip(lines, best, strict=True)]
    return f"### {title}\n\n{markdown(head, rows)}\n"


def together(runs: list[Line], name: Callable[[Line], str]) -> dict[str, list[Line]]:
    return {name(line): [run for run in runs if name(run) == name(line)] for line in runs}


def _command(line: Line) -> str:
    method = f"--method {line['method']}" if line.get("method") else ""
    cores = f"({line['cores']} cores)" if line.get("cores", 1) > 1 else ""
    return " ".join(part for part in (called(line), method, cores) if part)


def _processor(line: Line) -> float:
    return float(line.get("processor", math.inf))


def _command_row(name: str, line: Line, first: Line) -> list[str]:
    if "error" in line:
        return [name, line["error"], *["–"] * 5]
    system = f"{line['system']:.2f}" if "system" in line else "–"
    return [
        name,
        str(line.get("cores", 1)),
        f"{line['wall']:.2f}",
        f"{line['processor']:.2f}",
        system,
        f"{line['peak_mb']:,.0f}",
        f"{_processor(line) / _processor(first):.2f}",
    ]


def quality(found: dict[str, Line]) -> str:
    head = ["side", "true pairs", "reported", "recall", "below the threshold", "precision"]
    rows = [[side, *_quality_cells(line)] for side, line in found.items()]
    return f"### pairs against the exact Jaccard\n\n{markdown(head, rows)}\n"


def methods(title: str, found: dict[str, Line]) -> str:
    head = ["method", "s", "docs/s", "MB/s", "peak MB", "pairs", "recall at J ≥ 0.8"]
    rows = [[name, *_method_cells(line)] for name, line in found.items()]
    return f"### {title}\n\n{markdown(head, rows)}\n"


def lookup(title: str, runs: list[Line]) -> str:
    head = ["side", "a text that is", "median µs", "99th percentile µs", "found a look-up"]
    rows = [row for line in runs for row in _lookup_rows(line)]
    return f"### {title}\n\n{markdown(head, rows)}\n"


def levels(title: str, line: Line) -> str:
    """One line a kind of work, one column a level of instructions that the machine has."""
    if "error" in line:
        return f"### {title}\n\n{markdown(['work', 'MB/s'], [['neardup', line['error']]])}\n"
    names = list(next(iter(line["levels"].values())))
    rows = [
        [work, *(f"{speeds[name]:,.0f}" for name in names)]
        for work, speeds in line["levels"].items()
    ]
    return f"### {title}\n\n{markdown(['text → …, MB/s', *names], rows)}\n"


def group(title: str, line: Line) -> str:
    head = ["from", "median ms", "99th percentile ms", "median CPU ms", "bytes a document"]
    if "error" in line:
        rows = [["neardup", line["error"], *["–"] * 3]]
    else:
        sizes = {"text": line["mb"] * 1e6 / line["docs"], "signatures": line["signature_bytes"]}
        rows = [
            [name, *(f"{ms:.1f}" for ms in line[f"{name}_ms"]), f"{size:,.0f}"]
            for name, size in sizes.items()
        ]
    return f"### {title}\n\n{markdown(head, rows)}\n"


def coming_from(title: str, runs: list[Line]) -> str:
    rows = [[line["tool"], line["written"], line["said"]] for line in runs]
    return f"### {title}\n\n{markdown(['tool', 'the page says', 'it says'], rows)}\n"


def help_time(runs: list[Line]) -> str:
    errors = [r["error"] for r in runs if "error" in r]
    said = errors[0] if errors else f"{min(r['wall'] for r in runs) * 1000:.0f} ms"
    return f"### `neardup --help`, best of {len(runs)}: {said}\n"


def _speed_row(side: str, lines: list[Line], ours: float) -> list[str]:
    good = [line for line in lines if "wall" in line]
    if not good:
        return [side, lines[0]["error"], *["–"] * 7]
    best = min(good, key=lambda line: line["wall"])
    duplicates, busy = best.get("duplicates"), min(map(_processor, good))
    return [
        side,
        f"{best['wall']:.2f}",
        f"{median(line['wall'] for line in good):.2f}",
        f"{busy:.2f}",
        f"{best['mb_s']:.1f}",
        f"{best['docs_s']:,.0f}",
        f"{best['peak_mb']:,.0f}",
        "–" if duplicates is None else f"{duplicates:,}",
        f"{busy / ours:.1f}" if math.isfinite(ours) else "–",
    ]


def _lookup_rows(line: Line) -> list[list[str]]:
    if "error" in line:
        return [[line["side"], line["error"], *["–"] * 3]]
    return [
        [called(line), case, f"{of['p50_us']:,.0f}", f"{of['p99_us']:,.0f}", f"{of['hits']:.2f}"]
        for case, of in line["cases"].items()
    ]


def _method_cells(line: Line) -> list[str]:
    if "error" in line:
        return [line["error"], *["–"] * 5]
    return [
        f"{line['wall']:.1f}",
        f"{line['docs_s']:,.0f}",
        f"{line['mb_s']:.0f}",
        f"{line['peak_mb']:,.0f}",
        f"{line['reported']:,}",
        f"{line['recall']:.4f}",
    ]


def _quality_cells(line: Line) -> list[str]:
    if "error" in line:
        return [line["error"], *["–"] * 4]
    return [
        f"{line['true_pairs']:,}",
        f"{line['reported']:,}",
        f"{line['recall']:.4f}",
        f"{line['below']:,}",
        f"{line['precision']:.4f}",
    ]
