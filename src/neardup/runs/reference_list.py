"""The kept documents of a run as a list of references: BibTeX or RIS, which Zotero imports.

An entry is that of the library beside the documents, if there is one, else it is made of the
columns title, author, date, url and doi. Its note names the documents that it stands for: the
preprint of a published version, or the published version of a preprint, and other copies.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup import schema
from neardup.documents.bibliography import Reference, bibtex, plain_doi, ris
from neardup.runs.export import stated
from neardup.wording import score_text

if TYPE_CHECKING:
    from neardup.runs.result import Result

_COLUMNS = ("author", "date", "url", "doi")
MOST_NAMED = 20  # documents in a note
_UNSAFE = re.compile(r"[^\w.:/-]+")


def write_references(result: Result, part: Path, form: str, title: str | None = None) -> None:
    write = bibtex if form == ".bib" else ris
    with part.open("w", encoding="utf-8", errors="replace", newline="\n") as out:
        for reference, more in _entries(result, title):
            out.write(write(reference, more))


def _entries(result: Result, title: str | None) -> Iterator[tuple[Reference, dict[str, str]]]:
    known = stated(result, title, _COLUMNS)
    rows = result.decisions.select(["id", "file", "row", "decision", "kept_id", "score", "kind"])
    documents = rows.to_pylist()
    references = _references(result, documents, {n: c.to_pylist() for n, c in known.items()})
    copies: dict[str, list[int]] = {}
    for i, row in enumerate(documents):
        if row["kept_id"] is not None:
            copies.setdefault(row["kept_id"], []).append(i)
    used: set[str] = set()
    for i, row in enumerate(documents):
        if row["decision"] != schema.KEPT:
            continue
        key = _free(references[i].key, used)
        named = copies.get(row["id"], [])
        own = references[i].fields.get("note")
        copied = _note(references[i], [(documents[n], references[n]) for n in named])
        note = "; ".join(filter(None, (own, copied)))
        yield replace(references[i], key=key), {"file": _file(result, row), "note": note}


def _references(
    result: Result, documents: list[dict[str, Any]], known: Mapping[str, list[str | None]]
) -> list[Reference]:
    """The reference of each document: that of the library, or one made of what the document
    states."""
    collection = result.collection_if_there
    sources: dict[str, Any] = {s.file: s for s in collection.sources} if collection else {}
    found = []
    for i, row in enumerate(documents):
        listing = getattr(sources.get(row["file"]), "reference_of", None)
        listed = listing(row["row"]) if listing else None
        found.append(listed or _made(row["id"], {n: column[i] for n, column in known.items()}))
    return found


def _made(id: str, known: Mapping[str, str | None]) -> Reference:
    fields = {name: value for name, value in known.items() if value}
    fields.setdefault("title", id)
    if re.match(r"\d{4}", fields.get("date", "")):
        fields["year"] = fields["date"][:4]
    if doi := plain_doi(fields.get("doi") or fields.get("url") or ""):
        fields["doi"] = doi
    if "author" in fields:
        fields["author"] = " and ".join(filter(None, map(str.strip, fields["author"].split(";"))))
    return Reference(id, "misc", fields)


def _free(key: str, used: set[str]) -> str:
    wanted = _UNSAFE.sub("_", key).strip("_") or "document"
    free = next(k for k in chain([wanted], (f"{wanted}-{n}" for n in count(2))) if k not in used)
    used.add(free)
    return free


def _note(kept: Reference, copies: list[tuple[dict[str, Any], Reference]]) -> str:
    named = [_copy(kept, row, reference) for row, reference in copies[:MOST_NAMED]]
    left = len(copies) - len(named)
    return "; ".join([*named, *([f"and {left:,} more"] if left else [])])


def _copy(kept: Reference, row: Mapping[str, Any], copy: Reference) -> str:
    """How a copy relates to the kept document, and how to find it."""
    relation = "Copy"
    if copy.is_preprint and not kept.is_preprint:
        relation = "Preprint"
    elif kept.is_preprint and copy.doi and not copy.is_preprint:
        relation = "Published version"
    about = [row["id"], f"doi:{copy.doi}" if copy.doi else None, row["kind"]]
    score = [] if row["score"] is None else [f"score {score_text(row['score'], row['kind'], 2)}"]
    return f"{relation}: {', '.join([*filter(None, about), *score])}"


def _file(result: Result, row: Mapping[str, Any]) -> str:
    path = result.path_of(dict(row))
    return os.path.abspath(path) if path and "://" not in path else ""
