"""The folder of a passage run, written completely or not at all, and its report.

It has ``passages.parquet``, ``occurrences.parquet``, ``rejected.jsonl``, ``report.html``,
``run.json`` and ``checksums.sha256``, and appears as a whole (``draft.py``).
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup.draft import Draft
from neardup.files import write_text
from neardup.passages.passage_settings import CLASSES
from neardup.passages.passage_tables import Passages
from neardup.report.html_page import (
    Html,
    Share,
    Table,
    card,
    html,
    name,
    page,
    prose,
    table_html,
)
from neardup.report.run_report import REPORT
from neardup.runs.checksums import digests_of, write_checksums
from neardup.runs.history import Application
from neardup.runs.run_folder import APPLIED, spare_applied, spare_inputs, write_table
from neardup.runs.run_info import PASSAGES, RUN

FILES = ("passages.parquet", "occurrences.parquet", "rejected.jsonl", REPORT, RUN)
_SHOWN, _PLACES = 30, 3
MEANINGS = {
    "repetition": "repeated inside one document",
    "quotation": "marked as quoted where it is copied",
    "notice": "legal notice, licence or consent text",
    "boilerplate": "what one source, or the edges of documents, repeat",
    "template": "the same text filled differently",
    "copied": "copied section",
}


def save(found: Passages, folder: Path, application: Application | None = None) -> Path:
    """Writes the folder, with the application in it if there is one: both appear at once."""
    spare_inputs(folder, found.documents.collection.paths)
    spare_applied(folder)
    with Draft(folder, RUN) as draft:
        write_tables(found, draft.path)
        if application:
            application.write(draft.path / APPLIED / "1", draft.path)
        draft.publish([*FILES, "checksums.sha256"])
    return folder


def write_tables(found: Passages, folder: Path) -> None:
    write_table(found.passages, folder / "passages.parquet")
    write_table(found.occurrences, folder / "occurrences.parquet")
    write_text(folder / "rejected.jsonl", _rejected(found))
    write_text(folder / REPORT, report(found))
    described = json.dumps(info_of(found), indent=2, ensure_ascii=False) + "\n"
    names = [file for file in FILES if file != RUN]
    write_checksums(folder, digests_of(folder, names), {RUN: described.encode()})
    write_text(folder / RUN, described)


def info_of(found: Passages) -> dict[str, Any]:
    return {
        "format": PASSAGES,
        "neardup": version("neardup"),
        "settings": {**found.documents.settings.describe(), "unit": found.unit},
        "counts": found.counts,
        "inputs": [str(path) if path else None for path in found.documents.collection.paths],
    }


def _rejected(found: Passages) -> str:
    rows = [
        {"id": lost.id, "file": lost.file, "row": lost.row, "reason": lost.reason}
        for lost in found.documents.rejected
    ]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def report(found: Passages) -> str:
    """The page: what was found, by class, and the largest passages in their context."""
    parts = [
        Html("<h1>Passages</h1>"),
        prose(f"{found.sentence()}.", "lead"),
        card("By class", table_html(_by_class(found))),
        *_largest(found),
    ]
    return page("Passages", parts, "passages")


def _by_class(found: Passages) -> Table:
    rows: list[list[Any]] = []
    classes = pa.array(found.classes[0], pa.string()).to_numpy(zero_copy_only=False)
    total = found.counts["characters"]
    for kind in CLASSES:
        chosen = (classes == kind)[found.number] if len(classes) else found.original
        if chosen.any():
            copies = found.repeated(chosen)
            count = int((classes == kind).sum())
            share = Share(copies, total)
            rows.append([kind, MEANINGS[kind], count, int(chosen.sum()), copies, share])
    return Table(("class", "meaning", "passages", "places", "copied characters", "share"), rows)


def _largest(found: Passages) -> list[Html]:
    places = found.occurrences.filter(pc.less(found.occurrences["passage"], _SHOWN))
    by_passage: dict[int, list[dict[str, Any]]] = {}
    for place in places.to_pylist():
        some = by_passage.setdefault(place["passage"], [])
        if len(some) < _PLACES:
            some.append(place)
    texts = _texts(found, [place for some in by_passage.values() for place in some])
    return [
        _passage(row, by_passage.get(row["passage"], []), texts)
        for row in found.passages.slice(0, _SHOWN).to_pylist()
    ]


Texts = dict[tuple[str, int], str]


def _texts(found: Passages, places: list[dict[str, Any]]) -> Texts:
    """The texts of some places, each file read once."""
    rows: dict[str, dict[int, None]] = {}
    for place in places:
        rows.setdefault(place["file"], {})[place["row"]] = None
    documents = found.documents
    return {
        (file, row): text
        for file, some in rows.items()
        for row, text in zip(
            sorted(some),
            documents.collection.texts(file, sorted(some), documents.settings.columns),
            strict=True,
        )
    }


def _passage(row: dict[str, Any], places: list[dict[str, Any]], texts: Texts) -> Html:
    words, times = f"{row['words']:,} words", f"{row['occurrences']:,} times"
    spread = f"{row['evidence']}." + (
        f" From {row['first_date']} to {row['last_date']}." if row["first_date"] else ""
    )
    contexts = [_in_context(place, texts[place["file"], place["row"]]) for place in places]
    title = f"{row['passage']} · {row['class']} · {words}, {times}"
    return card(title, prose(spread), *contexts)


def _context(text: str, begin: int, end: int, around: int = 80) -> tuple[str, str, str]:
    """The text before the passage, the passage, and the text after it; what is left out is
    marked."""
    before = ("…" if begin > around else "") + text[max(0, begin - around) : begin]
    after = text[end : end + around] + ("…" if len(text) > end + around else "")
    return before, text[begin:end], after


def _in_context(place: dict[str, Any], text: str) -> Html:
    before, inside, after = _context(text, place["begin"], place["end"])
    if len(inside) > 1200:
        inside = f"{inside[:800]} … {inside[-300:]}"
    how = "original" if place["original"] else f"{place['similarity']:.0%} of the words"
    return Html(
        f"<div class=place><small>{name(place['id'])} · characters {place['begin']:,} to "
        f"{place['end']:,} · {html(how)}</small>{html(before)}<mark>{html(inside)}</mark>"
        f"{html(after)}</div>"
    )
