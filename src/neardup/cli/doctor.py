"""``neardup doctor``: what is installed, and whether it works.

Nothing is installed, written or sent. A missing extra is no fault: its line shows how to get it.

``neardup verify``: whether run folders and indexes are what was written.

``neardup demo``: a run on ten small documents that shows the output.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from typing import NamedTuple

import click

from neardup.cli.command import echo, show_json
from neardup.cli.options import debug_option, json_option
from neardup.errors import NeardupError
from neardup.wording import score_text

EXIT_FAULT = 1


@click.command(short_help="Check the installation.")
@json_option
@debug_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> None:
    """Check this installation: versions, the native module, a small run, a store, the extras.

    Nothing is changed. The exit code is 1 if something that is installed does not work; a missing
    extra is not a fault.
    """
    from neardup.cli.terminal import show_table

    found = list(findings())
    if as_json:
        show_json([one._asdict() for one in found])
    else:
        show_table(("what", "state", "found"), found)
    if any(one.state == FAULT for one in found):
        ctx.exit(EXIT_FAULT)


OK, MISSING, FAULT = "ok", "missing", "fault"
# What is no extra of users, or holds others.
_INNER = ("dev", "all")
_NEED = re.compile(r"([\w.-]+)")
_EXTRA = re.compile(r'extra == "([\w-]+)"')
LEAST_ROOM = 1 << 30


class Finding(NamedTuple):
    """``state``: ok, missing (an extra that is not installed) or fault."""

    name: str
    state: str
    said: str


def findings() -> Iterator[Finding]:
    yield Finding("neardup", OK, f"{version('neardup')}, Python {platform.python_version()}")
    yield Finding("system", OK, f"{platform.system()} {platform.machine()}, {_cores()} cores")
    yield _guarded("native module", _native)
    yield _guarded("temporary files", _room)
    yield _guarded("a run", _run)
    yield _guarded("a store", _store)
    for extra, packages in extras().items():
        yield _extra(extra, packages)


def _guarded(name: str, look: Callable[[], str]) -> Finding:
    """A fault does not keep the other findings from being shown."""
    try:
        return Finding(name, OK, look())
    except Exception as error:
        return Finding(name, FAULT, f"{type(error).__name__}: {error}")


def _cores() -> int:
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _native() -> str:
    from neardup import _native

    return f"{_native.instructions()} instructions, Unicode {_native.UNICODE_VERSION}"


def _room() -> str:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    if free < LEAST_ROOM:
        raise OSError(f"{folder} has only {free >> 20:,} MB free; TMPDIR names another folder")
    return f"{free >> 30:,} GB free in {folder}"


def _run() -> str:
    """A small run through all stages: reading, matching, kinds, the rule."""
    from neardup.api import dedup

    text = "the council met on tuesday to discuss the harbour and the price of fish in the old town"
    result = dedup([text, text.upper(), "a wholly different sentence about trains and rain"])
    counts = result.counts
    if (counts.kept, counts.duplicates) != (2, 1):
        raise AssertionError(f"expected 2 kept and 1 duplicate, got {counts.sentence()}")
    return f"{counts.sentence()}, as it should be"


def _store() -> str:
    import sqlite3

    from neardup.engines.index.index import Index

    with tempfile.TemporaryDirectory() as folder:
        with Index.open(f"{folder}/index.db", method="exact") as index:
            index.add({"id": "a", "text": "fish"})
        with Index.open(f"{folder}/index.db") as again:
            found = again.check("fish")
    if found is None or found.of != "a":
        raise AssertionError("a document that was stored is not found again")
    return f"SQLite {sqlite3.sqlite_version}"


def extras() -> dict[str, list[str]]:
    """The packages of each extra that is for users, as the package itself says."""
    found: dict[str, list[str]] = {}
    for line in requires("neardup") or ():
        extra, package = _EXTRA.search(line), _NEED.match(line)
        if extra and package and extra[1] not in _INNER:
            found.setdefault(extra[1], []).append(package[1])
    return found


def _extra(extra: str, packages: list[str]) -> Finding:
    there, missing = [], []
    for package in packages:
        try:
            there.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            missing.append(package)
    name = f"extra {extra}"
    if missing:
        said = f"{', '.join(missing)} not installed; pip install 'neardup[{extra}]'"
        return Finding(name, MISSING, said)
    said = ", ".join(there)
    if extra == "spark" and not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        return Finding(name, FAULT, f"{said}, but java is missing: Spark needs Java 17")
    return Finding(name, OK, said)


EXIT_DAMAGED = 1
UNKNOWN = "unknown"  # the kind of a place that could not be opened


@click.command(short_help="Check runs and indexes for damage.")
@click.argument("places", metavar="RUN|STORE…", nargs=-1, required=True)
@json_option
@debug_option
@click.pass_context
def verify(ctx: click.Context, places: tuple[str, ...], as_json: bool) -> None:
    """Check every file of a run folder, or every document of an index, against its checksum.

    Nothing is changed. Each damaged or missing part is listed, and the exit code is then 1. The
    other commands also check each file before they use it.
    """
    from neardup.engines.integrity import Verification
    from neardup.engines.integrity import verify as verified

    results = []
    for place in places:
        try:
            results.append(verified(place))
        except NeardupError as error:
            if len(places) == 1:
                raise
            results.append(Verification(place, UNKNOWN, 0, [str(error)], False))
    if as_json:
        show_json({"verified": [result._asdict() for result in results]})
    else:
        for result in results:
            _show(*result)
    if any(result.faults for result in results):
        ctx.exit(EXIT_DAMAGED)


def _show(place: str, kind: str, checked: int, faults: list[str], checksums: bool) -> None:
    from neardup.wording import many, sayable

    for fault in faults:
        echo(sayable(fault))
    unit = "file" if kind == "run" else "document"
    if faults and kind != UNKNOWN:
        echo(sayable(f"{place} is damaged: {many(len(faults), 'fault')}."))
    elif not faults and checksums:
        echo(sayable(f"{place}: {many(checked, unit)} checked, no damage found."))
    elif not faults:
        echo(
            sayable(
                f"{place} has no checksums, because an earlier version wrote it. "
                "Its tables can be read."
            )
        )


FLOOD = (
    "The river rose by two metres overnight and flooded the old town, where firefighters carried "
    "forty residents out of their houses in boats while the mayor asked everyone to stay away "
    "from the bridges until the water goes down."
)
STRIKE = (
    "Train drivers will walk out on Friday for twenty four hours after talks about pay broke down "
    "late last night; the railway expects that only one train in three will run and offers "
    "travellers their money back."
)
LIBRARY = (
    "The city library has put ten thousand photographs of the harbour from the years between the "
    "wars online, most of them taken by an unknown sailor whose albums were found in an attic."
)
DOCUMENTS = [
    {"id": "flood", "text": FLOOD},
    {"id": "flood-copy", "text": FLOOD},
    {"id": "flood-shouted", "text": FLOOD.upper().replace(",", " –")},
    {"id": "flood-edited", "text": FLOOD.replace("goes down", "has gone")},
    {"id": "flood-revised", "text": FLOOD.replace("forty", "thirty").replace("two", "three")},
    {"id": "strike", "text": STRIKE},
    {"id": "strike-agency", "text": f"(agency) {STRIKE} More follows."},
    {"id": "library", "text": LIBRARY},
    {"id": "weather", "text": "Sun in the south, rain in the north, wind from the west at first."},
    {"id": "short", "text": "Correction follows."},
]

EXPLAINED = "flood-edited"


@click.command(short_help="Show a run on a few built-in documents.")
@debug_option
def demo() -> None:
    """Find near-duplicates in a few built-in documents, and explain one of them."""
    from neardup.api import dedup
    from neardup.cli.terminal import show_table

    result = dedup(DOCUMENTS)
    rows = [
        (row["id"], row["decision"], row["reason"], row["kept_id"] or "", _score(row["score"]))
        for row in result.decisions.to_pylist()
    ]
    echo(f"{result.counts.sentence()}.\n")
    show_table(("document", "decision", "reason", "kept instead", "score"), rows)
    echo(f"\nIn Python, result.explain({EXPLAINED!r}) explains a decision:\n")
    echo(str(result.explain(EXPLAINED)))
    echo("\nTry your own documents: neardup dedup documents.jsonl -o out")


def _score(score: float | None) -> str:
    return "" if score is None else score_text(score)
