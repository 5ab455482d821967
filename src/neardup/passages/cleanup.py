"""Removes copies of passages from documents, in the format of the input, and keeps one of each.

Which copy stays is the order of ``keep``, as in ``dedup``: documents are compared in that order, so
the place that comes first is the original, and originals are never removed. Only whole units are
removed. An edited copy of text that is itself removed stays, because nothing like it would be left.
Every document is written, also one of which nothing remains; characters are counted before and
after, and must add up. The input is not changed: the cleaned documents are an application
(``runs/history.py``) to the passage run, and ``neardup undo`` takes it back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Collection as Container
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.arguments import PassageArguments
from neardup.documents import Collection, collect
from neardup.documents.columns import Mask
from neardup.documents.folder import FolderSource
from neardup.documents.jsonl import JsonlSource
from neardup.documents.lists import ListSource
from neardup.documents.lost import LostSource
from neardup.documents.source import chunk_results
from neardup.errors import ChangedError, ConservationError, SettingsError, UsageError
from neardup.files import write_text
from neardup.passages.excerpts import Changed, Cuts, Cutting, Spans
from neardup.passages.passage_settings import CLASSES, PassageSettings, settings_of
from neardup.passages.passage_tables import Engine, Passages, merged, passages_of
from neardup.passages.search import Place, Workspace, search
from neardup.progress import Progress
from neardup.runs.application import APPLIED
from neardup.runs.checksums import digests_of, file_digest, write_checksums
from neardup.runs.filled_sources import Fills, filled_source
from neardup.runs.filled_values import DottedName
from neardup.runs.result import Result
from neardup.runs.run_folder import APPLIED as FOLDER
from neardup.runs.run_folder import write_table
from neardup.settings import worker_count
from neardup.wording import many

USUAL = tuple(name for name in CLASSES if name != "quotation")
CLEANED, REMOVED = "documents", "removed.parquet"
FIRST = f"{FOLDER}/1"
FLOOR = 5
_AT_ONCE = 1000  # documents
REMOVALS = pa.schema(
    [
        pa.field("id", pa.large_string()),
        pa.field("file", pa.large_string()),
        pa.field("row", pa.int64()),
        pa.field("characters", pa.int64()),
        pa.field("removed", pa.int64()),
        pa.field("words_left", pa.int64()),
        pa.field("below_floor", pa.bool_()),
        pa.field("spans", pa.list_(pa.struct([("begin", pa.int64()), ("end", pa.int64())]))),
    ]
)


@dataclass(frozen=True)
class Cleaning:
    """What ``clean`` removes: ``remove`` are classes, ``floor`` is the number of words below which
    a cleaned document is reported; ``annotate`` marks spans instead of removing them; ``spare``
    are passages that stay, by their number in ``passages.parquet``."""

    remove: Sequence[str] = USUAL
    floor: int = FLOOR
    annotate: bool = False
    spare: Sequence[int] = ()

    def __post_init__(self) -> None:
        for name in self.remove:
            if name not in CLASSES:
                raise SettingsError(
                    f"There is no class of passages {name!r}.",
                    hint=f"classes are {', '.join(CLASSES)}.",
                )


class _TextsAgain:
    """The new fields of documents, by position: their source is read again while it is written,
    so no text need be held."""

    def __init__(
        self, read: Callable[[], Iterator[tuple[int, dict[str, Any]]]], positions: Container[int]
    ) -> None:
        self._read, self._positions = read, positions
        self._coming: Iterator[tuple[int, dict[str, Any]]] = iter(())
        self._next = -1  # the position that was read last

    def __len__(self) -> int:
        return len(self._positions)

    def get(self, position: int) -> dict[str, Any] | None:
        """Positions are asked for in their order; if not, the source is read from its begin."""
        if position not in self._positions:
            return None
        if position <= self._next or self._next < 0:
            self._coming = self._read()
        for at, fields in self._coming:
            self._next = at
            if at == position:
                return fields
        raise ChangedError("The input has changed while it was read.", hint="run again.")


class Cleaned:
    """The cleaned documents of a passage run. ``documents`` has the type of the input."""

    def __init__(self, found: Passages, cleaning: Cleaning) -> None:
        self.found, self.cleaning = found, cleaning
        documents = found.documents
        check_formats(documents.collection, annotate=cleaning.annotate)
        self._fills = Fills(documents.total)
        self.then: Callable[[list[Path]], Result] | None = None  # a run over what is written
        self.result: Result | None = None
        self.changed: list[Changed] = []
        self.untouched: list[str] = []  # pages, whose text has no place to be written to
        sources = documents.collection.sources
        folders = {s.file: s for s in sources if isinstance(s, FolderSource)}
        # A folder is asked for all its texts at once; other sources are read again.
        with_texts = bool(found.held or folders)
        self._cutting = Cutting(self._spans(), cleaning.annotate, folders, with_texts)
        self._collect()
        self._check()

    def _spans(self) -> Spans:
        found = self.found
        chosen = np.isin(found.classes[0], list(self.cleaning.remove))
        chosen[self._spared()] = False
        removed = (chosen[found.number] if len(chosen) else found.original) & ~found.original
        removed &= ~found.edited_of(removed)
        document = found.found.places[found.places, Place.DOCUMENT]
        spans: Spans = {}
        for number, begin, end in merged(document[removed], found.spans[removed]):
            spans.setdefault(number, []).append((begin, end))
        return spans

    def _spared(self) -> list[int]:
        count = len(self.found.kernel_ids)
        for number in self.cleaning.spare:
            if not 0 <= number < count:
                raise SettingsError(
                    f"There is no passage {number}; there are {count:,}, numbered from 0.",
                    hint="numbers are those of passages.parquet of a run with the same settings.",
                )
        return list(self.cleaning.spare)

    def _collect(self) -> None:
        documents, held, cutting = self.found.documents, self.found.held, self._cutting
        numbers = list(cutting.spans)
        parts: Iterable[Cuts] = (
            cutting.cuts((n, held.pop(n)) for n in numbers[at : at + _AT_ONCE])
            for at in range(0, len(numbers), _AT_ONCE)
        )
        positions = documents.numbers("positions")
        for some in parts if held else self.found.found.again(cutting) if numbers else ():
            self.untouched += some.untouched
            self.changed += some.changed
            for changed, text in zip(some.changed, some.texts, strict=False):
                fields = self._fields(changed.number, text)
                self._fills.values[int(positions[changed.number])] = fields

    def _fields(self, number: int, text: str) -> dict[str, Any]:
        if self.cleaning.annotate:
            spans = self._cutting.spans[number]
            return {"passages": [{"begin": begin, "end": end} for begin, end in spans]}
        return {DottedName(self.found.documents.settings.text): text}

    def _fills_of(self, i: int) -> Fills:
        """The new fields of a source."""
        if self._cutting.with_texts:
            return self._fills
        documents = self.found.documents
        numbers = list(self._cutting.spans)
        positions = documents.numbers("positions")[numbers].tolist()
        wanted = dict(zip(positions, numbers, strict=True))
        values: Any = _TextsAgain(partial(self._read_again, i, wanted), wanted)
        return Fills(documents.total, values)

    def _read_again(self, i: int, wanted: dict[int, int]) -> Iterator[tuple[int, dict[str, Any]]]:
        documents = self.found.documents
        position = documents.source_starts[i]
        chunks = documents.collection.alone(i).chunks(documents.settings.columns)
        workers = worker_count(documents.settings.workers)
        for batch in chunk_results(chunks, lambda chunk: chunk.read(), workers):
            texts = batch.records.column("text")
            for row, at in enumerate((position + batch.positions()).tolist()):
                if (number := wanted.get(at)) is not None:
                    text = self._cutting.rest(number, texts[row].as_py())
                    yield at, self._fields(number, text)
            position += len(batch)

    def _check(self) -> None:
        counts = self.counts
        if counts["characters"] != counts["kept_characters"] + counts["removed_characters"]:
            raise ConservationError(f"{self.sentence()} does not add up: this is a bug in neardup.")

    @cached_property
    def counts(self) -> dict[str, int]:
        lengths = self.found.documents.numbers("lengths").copy()
        removed = 0
        for changed in self.changed:
            lengths[changed.number] = changed.after
            if not self.cleaning.annotate:
                removed += sum(end - begin for begin, end in changed.spans)
        return {
            "documents": self.found.documents.total,
            "changed": len(self.changed),
            "below_floor": sum(each.words < self.cleaning.floor for each in self.changed)
            if not self.cleaning.annotate
            else 0,
            "untouched": len(self.untouched),
            "characters": self.found.counts["characters"],
            "kept_characters": int(lengths.sum()),
            "removed_characters": removed,
        }

    def sentence(self) -> str:
        counts = self.counts
        return (
            f"{counts['characters']:,} characters = {counts['kept_characters']:,} kept + "
            f"{counts['removed_characters']:,} removed, in {many(counts['documents'], 'document')}"
        )

    @cached_property
    def removals(self) -> pa.Table:
        """Every document that was changed, with what was removed from it."""
        documents = self.found.documents
        numbers = [each.number for each in self.changed]
        columns = {
            "id": documents.id_column().take(pa.array(numbers, pa.int64())),
            "file": documents.file_column().take(pa.array(numbers, pa.int64())),
            "row": documents.numbers("rows")[numbers] if numbers else [],
            "characters": [each.before for each in self.changed],
            "removed": [each.before - each.after for each in self.changed],
            "words_left": [each.words for each in self.changed],
            "below_floor": [
                not self.cleaning.annotate and each.words < self.cleaning.floor
                for each in self.changed
            ],
            "spans": [[{"begin": b, "end": e} for b, e in each.spans] for each in self.changed],
        }
        return pa.table(columns, schema=REMOVALS)

    @property
    def collection(self) -> Collection:
        original = self.found.documents.collection
        sources = enumerate(original.sources)
        twins = [filled_source(source, self._fills_of(i)) for i, source in sources]
        return Collection(twins, self.found.documents.settings.limit, original.inputs)

    @property
    def _everything(self) -> Mask:
        keep: npt.NDArray[np.bool_] = np.ones(self.found.documents.total, np.bool_)
        return keep

    @cached_property
    def documents(self) -> Any:
        return self.collection.kept(self._everything)

    def write(self, folder: Path, run: Path | None = None) -> None:
        """Write a new folder, ``applied.json`` last. ``run`` is the folder of the passage run."""
        folder.mkdir(parents=True)
        written = self.collection.write_kept(self._everything, folder, CLEANED)
        write_table(self.removals, folder / REMOVED)
        if self.then:
            self._write_kept(self.then(written), folder)
        files = digests_of(folder)
        info = {
            "format": 1,
            "neardup": version("neardup"),
            "run": file_digest(run / "run.json") if run else None,
            "policy": {
                "order": self.found.documents.settings.keep,
                "remove": [*self.cleaning.remove],
                **({"except": [*self.cleaning.spare]} if self.cleaning.spare else {}),
            },
            "counts": self.counts | ({"then": vars(self.result.counts)} if self.result else {}),
            "sentence": self.sentence(),
            "files": files,
        }
        described = json.dumps(info, indent=2, ensure_ascii=False) + "\n"
        write_checksums(folder, files, {APPLIED: described.encode()})
        write_text(folder / APPLIED, described)

    def _write_kept(self, result: Result, folder: Path) -> None:
        """Writes which of the cleaned documents are kept, and why the others are not."""
        self.result = result
        result.collection().write_kept(result.keep_mask(), folder)
        write_table(result.decisions, folder / "decisions.parquet")
        write_table(result.duplicates, folder / "duplicates.parquet")

    def save(self, folder: str | Path) -> Path:
        """Write the passage run to ``folder`` and the cleaned documents to ``applied/1`` in it."""
        from neardup.passages.passage_folder import save

        return save(self.found, Path(folder), self) / FIRST


def check_formats(collection: Collection, *, annotate: bool) -> None:
    """Refuses formats whose texts cannot be written back."""
    for source in collection.sources:
        if isinstance(source, LostSource):
            continue
        if annotate and not isinstance(source, JsonlSource | ListSource):
            raise UsageError(
                f"{source.file} has no room for marks; only JSON Lines have.",
                hint="leave --annotate out, or run `neardup passages`: occurrences.parquet has "
                "the places.",
            )
        if filled_source(source, Fills(0)) is source:
            raise UsageError(
                f"{source.file} has a format that clean cannot write.",
                hint="it writes JSON Lines, CSV, Parquet, Arrow and text files; "
                "`neardup passages` reads all formats.",
            )


def clean(
    documents: Any,
    *,
    remove: Sequence[str] = USUAL,
    floor: int = FLOOR,
    annotate: bool = False,
    spare: Sequence[int] = (),
    **settings: Unpack[PassageArguments],
) -> Cleaned:
    """Remove repeated passages from the documents, keeping one copy of each.

    ``documents``: those of ``neardup.dedup``. ``remove``: classes of passages. ``spare``: numbers
    of passages that stay. ``settings`` are those of ``neardup.passages``; the unit is the sentence
    unless another one is named.
    """
    wanted = settings_of({"unit": "sentence", **settings})
    return cleaned(collect(documents), wanted, Cleaning(tuple(remove), floor, annotate, spare))


def cleaned(
    collection: Collection,
    settings: PassageSettings,
    cleaning: Cleaning,
    progress: Progress | None = None,
    workspace: Workspace | None = None,
    *,
    engine: Engine = search,
) -> Cleaned:
    check_formats(collection, annotate=cleaning.annotate)
    # Of a folder each file has to be asked whether it is a text, so it is read again.
    folders = any(isinstance(source, FolderSource) for source in collection.sources)
    hold = 0 if folders or engine is not search else settings.memory_bytes // 4
    found = passages_of(collection, settings, progress, workspace, hold=hold, engine=engine)
    return Cleaned(found, cleaning)
