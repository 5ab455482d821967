"""Files of which most documents were rejected for one reason: what that was, and what may help.

A run goes on where a document cannot be read. Where most of a file cannot, something is wrong with
the settings or the file rather than with documents, and a run must not look like a success.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.documents.csv import CsvSource
from neardup.documents.encodings import probable
from neardup.documents.jsonl import JsonlSource
from neardup.documents.streams import open_binary, packing_of
from neardup.runs.result import Result

SHARE = 0.5  # of a file's documents beyond which its rejections are reported
FEWEST = 10  # that were rejected, where others of the file were not
_LOOKED_AT = 1 << 20  # bytes of a file in which its encoding is looked for
_VARYING = r"'(?:[^'\\]|\\.)*'|\d+"  # what differs between documents rejected for one reason


@dataclass(frozen=True)
class Rejection:
    """``reason`` is that of the first of the documents that were rejected for it."""

    file: str
    documents: int
    rejected: int
    reason: str
    hint: str

    def sentence(self) -> str:
        share = f"{self.rejected:,} of {self.documents:,} documents"
        share = "the only document" if self.documents == 1 else share
        were = "was" if self.rejected == 1 else "were"
        return f"{self.file}: {share} {were} rejected for one reason: {self.reason}."


def rejections(result: Result) -> list[dict[str, Any]]:
    """As data, for ``run.json``; in the order of the files."""
    return [asdict(one) for one in _found(result)] if result.counts.rejected else []


def _found(result: Result) -> Iterator[Rejection]:
    table = result.decisions.select(["file", "reason", "decision"])
    files = table["file"].combine_chunks().cast(pa.large_string())
    lost = pc.equal(table["decision"].combine_chunks().cast(pa.string()), schema.REJECTED)
    sizes = {row["values"]: row["counts"] for row in pc.value_counts(files).to_pylist()}
    reasons = table["reason"].combine_chunks().filter(lost)
    kinds = pc.replace_substring_regex(reasons, _VARYING, "…")
    counts = pa.table({"file": files.filter(lost), "kind": kinds, "reason": reasons})
    grouped = counts.group_by(["file", "kind"], use_threads=False)
    for row in grouped.aggregate([("reason", "first"), ("reason", "count")]).to_pylist():
        rejected, documents = row["reason_count"], sizes[row["file"]]
        enough = rejected >= FEWEST or rejected == documents
        if enough and rejected > SHARE * documents:
            file, reason = row["file"], row["reason_first"]
            yield Rejection(file, documents, rejected, reason, _hint(result, file, reason))


def _hint(result: Result, file: str, reason: str) -> str:
    settings = result.info["settings"]
    text, id_ = settings["text"], settings["id"] or "id"
    if "is not valid" in reason and "JSON" not in reason:
        return _encoding_hint(result, file)
    if reason.startswith((f"{id_} ", "id ")):
        return "name a column of ids that differ with --id."
    if reason.startswith(f"{text} is"):
        return f"{text!r} may be the wrong column; name the one of the text with --text."
    if "fields; the header has" in reason or "field; the header has" in reason:
        return "check its delimiter and its quotes, and that its first line is a header."
    if "JSON" in reason or "is not closed" in reason:
        return "check that the file is what its name says: JSON Lines has one object a line."
    return "check the file; rejected.jsonl lists its documents with their reasons."


def _encoding_hint(result: Result, file: str) -> str:
    """By what the bytes seem to be."""
    source = next((one for one in _sources(result) if one.file == file), None)
    if not isinstance(source, CsvSource | JsonlSource):
        return "state the encoding with --encoding."
    found = _encoding(source)
    if found is None:
        return "state its encoding with --encoding, or convert the file to UTF-8."
    looks = f"the file looks like {found}"
    if isinstance(source, CsvSource):
        return f"{looks}; read it with --encoding {found}."
    convert = f"iconv -f {found} -t utf-8 {shlex.quote(file)} > documents.jsonl"
    return f"{looks}, and JSON Lines are read as UTF-8; convert it: {convert}"


def _sources(result: Result) -> list[Any]:
    collection = result.collection_if_there()
    return list(collection.sources) if collection else []


def _encoding(source: CsvSource | JsonlSource) -> str | None:
    try:
        with open_binary(source.path, packing_of(source.codec)) as stream:
            return probable(stream.read(_LOOKED_AT))
    except (OSError, EOFError, pa.ArrowException):
        return None
