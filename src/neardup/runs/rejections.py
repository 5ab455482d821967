"""Reports files of which most documents were rejected for one reason, with a hint.

A run continues if a document cannot be read. If most of a file cannot, the settings or the file are
wrong rather than the documents, and the run must not look like a success.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.classes import dataclass
from neardup.documents.encodings import probable
from neardup.documents.streams import open_binary, packing_of
from neardup.runs.result import Result

SHARE = 0.5  # report a file if more than this share of its documents was rejected
FEWEST = 10  # rejected documents, unless all documents of the file were rejected
_EXAMINED = 1 << 20  # bytes of a file from which its encoding is guessed
_VARYING = r"'(?:[^'\\]|\\.)*'|\d+"  # the parts of a reason that differ between documents


@dataclass(frozen=True)
class Rejection:
    """``reason`` is that of the first document that was rejected for this reason."""

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


def is_most(rejected: int, documents: int) -> bool:
    """Whether so many rejected documents are most of a file."""
    return rejected > SHARE * documents and (rejected >= FEWEST or rejected == documents)


def rejections(result: Result) -> list[dict[str, Any]]:
    """The reported files in their order, as data for ``run.json``."""
    if not result.counts.rejected:
        return []
    table = result.decisions.select(["file", "reason", "decision"])
    files = table["file"].combine_chunks().cast(pa.large_string())
    rejected = pc.equal(table["decision"].combine_chunks().cast(pa.string()), schema.REJECTED)
    sizes = {row["values"]: row["counts"] for row in pc.value_counts(files).to_pylist()}
    reasons = table["reason"].combine_chunks().filter(rejected)
    settings, collection = result.info["settings"], result.collection_if_there
    reading = Reading(settings["text"], settings["id"], collection.sources if collection else ())
    return [asdict(each) for each in mostly(files.filter(rejected), reasons, sizes, reading)]


class Reading(NamedTuple):
    """The columns and the sources of documents, for hints."""

    text: str
    id: str | None
    sources: Sequence[Any]


def mostly(
    files: pa.Array, reasons: pa.Array, sizes: Mapping[str, int], reading: Reading
) -> Iterator[Rejection]:
    """The files of which most was rejected for one reason. ``files`` and ``reasons`` are those of
    rejected documents, ``sizes`` the number of all documents of each file."""
    kinds = pc.replace_substring_regex(reasons, _VARYING, "…")
    counts = pa.table({"file": files, "kind": kinds, "reason": reasons})
    grouped = counts.group_by(["file", "kind"], use_threads=False)
    for row in grouped.aggregate([("reason", "first"), ("reason", "count")]).to_pylist():
        rejected, documents = row["reason_count"], sizes[row["file"]]
        if is_most(rejected, documents):
            file, reason = row["file"], row["reason_first"]
            yield Rejection(file, documents, rejected, reason, _hint(reading, file, reason))


def _hint(reading: Reading, file: str, reason: str) -> str:
    text, id_ = reading.text, reading.id or "id"
    if "is not valid" in reason and "JSON" not in reason:
        return _encoding_hint(reading, file)
    if reason.startswith((f"{id_} ", "id ")):
        return "name a column of ids that differ with --id."
    if reason.startswith(f"{text} is"):
        return f"{text!r} may be the wrong column; name the one of the text with --text."
    if "fields; the header has" in reason or "field; the header has" in reason:
        return "check its delimiter and its quotes, and that its first line is a header."
    if "is not closed" in reason:
        return "look for a quote that begins a field and is not closed, or not doubled inside one."
    if "JSON" in reason:
        return "check that the file is what its name says: JSON Lines has one object a line."
    return "check the file; rejected.jsonl lists its documents with their reasons."


def _encoding_hint(reading: Reading, file: str) -> str:
    """A hint from the probable encoding of the bytes."""
    source = next((each for each in reading.sources if each.file == file), None)
    if source is None or source.what != "lines" or not source.is_file:
        return "state the encoding with --encoding."
    encoding = _encoding(source)
    if encoding is None:
        return "state its encoding with --encoding, or convert the file to UTF-8."
    looks = f"the file looks like {encoding}"
    if source.form != "jsonl":
        return f"{looks}; read it with --encoding {encoding}."
    convert = f"iconv -f {encoding} -t utf-8 {shlex.quote(file)} > documents.jsonl"
    return f"{looks}, and JSON Lines are read as UTF-8; convert it: {convert}"


def _encoding(source: Any) -> str | None:
    try:
        with open_binary(source.path, packing_of(source.codec)) as stream:
            return probable(stream.read(_EXAMINED))
    except (OSError, EOFError, pa.ArrowException):
        return None
