"""The size of the house, the way of one run through it, and its import graph as a picture.

``python tools/house.py`` prints the table of ARCHITECTURE.md: files, lines, names, and how many
functions of how many files a ``neardup dedup`` of the example calls. ``--write`` puts the table and
the picture where ARCHITECTURE.md shows them; ``tests/test_house.py`` checks that both are current.
"""

from __future__ import annotations

import ast
import inspect
import re
import statistics
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "neardup"
EXAMPLE = ROOT / "examples" / "news.jsonl"
PAGE = ROOT / "ARCHITECTURE.md"
PICTURE = ROOT / "docs" / "images" / "rooms.svg"
TABLE = re.compile(r"(?<=<!-- house -->\n).*?(?=<!-- end -->)", re.DOTALL)
# Names that say what is done instead of which thing is defined.
PARTICIPLE = re.compile(r"(^|_)(parts|asked|told|found|given|made|taken|\w+ing)(_|$)")
# Nouns of the glossary that end like participles.
NOUNS = {"judging", "matching", "meeting", "planting", "sampling"}
NOUNS |= {"signing", "testing", "training", "wording"}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


class Walk(NamedTuple):
    functions: int
    files: int
    opened: int  # how often the input was opened


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text("utf-8"))
    return (node for node in ast.walk(tree) if isinstance(node, FUNCTIONS))


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (function.end_lineno or function.lineno) - function.lineno + 1


def participles() -> list[str]:
    """Modules whose names are no nouns of the glossary."""
    return [
        path.relative_to(SOURCE).as_posix()
        for path in modules()
        if any(word not in NOUNS for word in _participle_words(path.stem))
    ]


def _participle_words(stem: str) -> list[str]:
    return [word for word in stem.split("_") if PARTICIPLE.search(word)]


def repeated_names() -> dict[str, int]:
    """Names that several modules bear; a package may have its own module of the same name."""
    names = Counter(path.stem for path in modules() if path.stem not in ("__init__", "__main__"))
    return {name: count for name, count in names.items() if count > 1}


def method_checks() -> list[str]:
    """Places in engines that ask what kind of method they have."""
    pattern = re.compile(r"isinstance\((?:\w+\.)*method\b")
    return [
        f"{path.relative_to(SOURCE).as_posix()}:{number}"
        for path in sorted((SOURCE / "engines").rglob("*.py"))
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def walk() -> Walk:
    """The functions that one default run of the example calls, what imports run left out."""
    called: set[tuple[str, str]] = set()
    opened: Counter[str] = Counter()
    importing: Counter[int] = Counter()  # bodies of modules that a thread is running

    def note(frame: FrameType, event: str, _: Any) -> None:
        code, thread = frame.f_code, threading.get_ident()
        if code.co_name == "<module>":
            importing[thread] += {"call": 1, "return": -1}.get(event, 0)
        # Bodies of classes are not optimised.
        elif event == "call" and code.co_flags & inspect.CO_OPTIMIZED and not importing[thread]:
            called.add((code.co_filename, code.co_qualname))

    def note_open(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and str(arguments[0]) == str(EXAMPLE):
            opened["input"] += 1

    from neardup.cli import main

    sys.addaudithook(note_open)
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["dedup", str(EXAMPLE), "-o", f"{folder}/out", "--workers", "1", "--quiet"]
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            main(arguments)
        except SystemExit:
            pass
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]  # None ends it
    ours = {
        (file, name)
        for file, name in called
        if file.startswith(str(SOURCE)) and not name.endswith(">")  # no lambda, no comprehension
    }
    return Walk(len(ours), len({file for file, _ in ours}), opened["input"])


def table() -> str:
    sizes = [len(path.read_text("utf-8").splitlines()) for path in modules()]
    lengths = sorted(length(one) for path in modules() for one in functions(path))
    way = walk()
    rows = {
        "Python files": f"{len(sizes)}",
        "lines of Python": f"{sum(sizes):,}",
        "median lines of a file": f"{statistics.median(sizes):.0f}",
        "files above 400 lines": f"{sum(size > 400 for size in sizes)}",
        "median lines of a function": f"{statistics.median(lengths):.0f}",
        "longest function": f"{lengths[-1]}",
        "functions that `neardup dedup` of the example calls": f"{way.functions}",
        "files that these are in": f"{way.files}",
        "times that it opens its input": f"{way.opened}",
        "engines that ask what kind of method they have": f"{len(method_checks())}",
    }
    lines = ["| what | how many |", "|---|--:|"]
    lines += [f"| {name} | {value} |" for name, value in rows.items()]
    return "\n".join(["", *lines, "", ""])


def room_of(module: str) -> str:
    return module.partition(".")[0]


def imports() -> Counter[tuple[str, str]]:
    """(room that imports, room that is imported) → how many import statements."""
    rooms = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    counted: Counter[tuple[str, str]] = Counter()
    for path in modules():
        own = path.relative_to(SOURCE).parts[0]
        for target in _targets(path):
            room = room_of(target)
            if own in rooms and room in rooms and room != own:
                counted[own, room] += 1
    return counted


def _targets(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("neardup."):
            yield str(node.module).removeprefix("neardup.")


ROW, LEFT, WIDTH = 34, 210, 640
ROOMS = (
    ("documents", "files and tables, in and out"),
    ("text", "normal form, words, alignment"),
    ("features", "shingles, q-grams, terms; measures"),
    ("planting", "copies with known edits, decoys"),
    ("artefacts", "frozen tables, models, calibrations"),
    ("methods", "one file a method: keys, evidence, score"),
    ("matching", "ways to meet; verified pairs"),
    ("decisions", "order, rule, policy, clusters, kinds"),
    ("runs", "Result, run folder, explain, apply"),
    ("report", "pages and figures"),
    ("passages", "parts of texts: found, removed, traced"),
    ("engines", "batch, index, ranked lists, Spark"),
    ("labels", "pairs that people judged"),
    ("evaluation", "measures, sweeps, training"),
    ("papers", "the systems of the papers"),
    ("web", "service and review pages"),
    ("cli", "one file a command"),
)


def picture() -> str:
    """An arc for each room that imports another one, wider where more files do."""
    places = {name: 30 + ROW * number for number, (name, _) in enumerate(ROOMS)}
    arcs = [
        _arc(places[importer], places[imported], count)
        for (importer, imported), count in sorted(imports().items())
        if importer in places and imported in places
    ]
    boxes = [_box(name, note, places[name]) for name, note in ROOMS]
    height = 30 + ROW * len(ROOMS)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="system-ui, sans-serif" role="img" aria-label="Which room imports which">'
    )
    back = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, back, *arcs, *boxes, "</svg>", ""])


def _box(name: str, note: str, y: int) -> str:
    return (
        f'<circle cx="{LEFT + 190}" cy="{y}" r="4" fill="#1f4e79"/>'
        f'<text x="16" y="{y + 5}" font-size="15" font-weight="600" fill="#1b1b1b">{name}</text>'
        f'<text x="124" y="{y + 5}" font-size="13" fill="#555555">{note}</text>'
    )


def _arc(low: int, high: int, count: int) -> str:
    """From the importer, bulging to the right, to the imported room."""
    x, reach = LEFT + 190, 24 + abs(high - low) * 0.42
    width = min(0.8 + count / 14, 5)
    colour = "#1f4e79" if high < low else "#b3402a"
    return (
        f'<path d="M{x} {low} C{x + reach:.0f} {low} {x + reach:.0f} {high} {x} {high}" '
        f'fill="none" stroke="{colour}" stroke-opacity="0.35" stroke-width="{width:.1f}"/>'
    )


def write() -> None:
    PICTURE.write_text(picture(), "utf-8")
    text = table()
    PAGE.write_text(TABLE.sub(lambda _: text, PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    if "--write" in sys.argv:
        write()
    else:
        print(table())
