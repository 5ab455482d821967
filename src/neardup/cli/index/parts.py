"""What the commands of ``neardup index`` share: opening a store, and telling what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from neardup.counted import many
from neardup.names import shortened

if TYPE_CHECKING:
    from neardup.documents import Collection, Columns, Rejected
    from neardup.documents.clashes import Shared
    from neardup.online.index import Index
    from neardup.online.rule import Match
    from neardup.online.taking import Taken
    from neardup.progress import Progress

SHOWN_REJECTED = 3

store_argument = click.argument("store", metavar="STORE")
inputs_argument = click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
lines_option = click.option(
    "--lines",
    is_flag=True,
    help="Print one JSON line a document: id, decision, and of a duplicate what it is of and why.",
)
quiet_option = click.option(
    "--quiet", is_flag=True, help="No progress and no summary; errors are shown."
)


@contextmanager
def opened(store: str, **settings: Any) -> Iterator[Index]:
    """An index that is there: a wrong name must not make a new one."""
    from neardup.online.index import Index

    with Index.open(store, create=False, **settings) as index:
        yield index


@dataclass
class Told:
    """Counts what came of documents, and says it."""

    lines: bool
    kept: int = 0
    duplicates: int = 0
    rejected: int = 0
    shown: list[Rejected] = field(default_factory=list)
    shared: Shared | None = None

    def told_apart(self, collection: Collection, columns: Columns) -> Collection:
        """The documents with the names under which they are stored: an id that several of the files
        have is told apart by the file. Remembers what was renamed."""
        collection, self.shared = collection.told_apart(columns)
        return collection

    def follow(self, parts: Iterable[Taken], progress: Progress) -> None:
        for part in parts:
            aside = sum(match is not None for match in part.matches)
            self.kept += len(part.ids) - aside
            self.duplicates += aside
            self.rejected += len(part.rejected)
            self.shown += part.rejected[: SHOWN_REJECTED - len(self.shown)]
            if self.lines:
                self._print(part)
            progress.advance(len(part.ids) + len(part.rejected), part.size)
        progress.finish()

    def _print(self, part: Taken) -> None:
        for id_, match in zip(part.ids, part.matches, strict=True):
            click.echo(line(id_, match))
        for lost in part.rejected:
            said = {"id": lost.id, "decision": "rejected", "reason": lost.reason}
            click.echo(json.dumps({**said, "file": lost.file, "row": lost.row}, ensure_ascii=False))

    @property
    def counts(self) -> dict[str, int]:
        total = self.kept + self.duplicates + self.rejected
        counted = {"kept": self.kept, "duplicates": self.duplicates, "rejected": self.rejected}
        return {"documents": total, **counted}

    @property
    def data(self) -> dict[str, Any]:
        shared = {} if self.shared is None else {"shared_ids": self.shared._asdict()}
        return {**self.counts, **shared}

    def summary(self) -> list[str]:
        lost = [f"  rejected: {r.where}: {shortened(r.reason, 300)}" for r in self.shown]
        more = self.rejected - len(self.shown)
        shared = [self.shared.sentence()] if self.shared else []
        lost += [f"  … and {more:,} more rejected"] if more else []
        return [*shared, *lost, self._sentence()]

    def _sentence(self) -> str:
        total = self.kept + self.duplicates + self.rejected
        return (
            f"{many(total, 'document')} = {self.kept:,} kept + "
            f"{many(self.duplicates, 'duplicate')} + {self.rejected:,} rejected"
        )


def line(id_: str, match: Match | None) -> str:
    said: dict[str, Any] = {"id": id_, "decision": "kept" if match is None else "duplicate"}
    if match is not None:
        said |= {"kept_id": match.of, "score": match.score, "reason": match.reason}
        said |= {"kind": match.kind}
        said |= {"by": match.by} if match.by else {}
    return json.dumps(said, ensure_ascii=False)


def show(data: dict[str, Any], lines: list[str], *, as_json: bool, quiet: bool) -> None:
    if as_json:
        click.echo(json.dumps(data, indent=2, ensure_ascii=False, default=str))
    elif not quiet:
        click.echo("\n".join(lines), err=True)
