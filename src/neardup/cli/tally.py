"""What commands on an index print of each document, and what they count."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup.cli.command import Failure, echo, echo_json, show_json
from neardup.errors import DataError
from neardup.wording import many, shortened

if TYPE_CHECKING:
    from neardup.documents.clashes import Shared
    from neardup.documents.collection import Collection
    from neardup.documents.columns import Columns, Rejected
    from neardup.engines.index.arrival_rule import Match
    from neardup.engines.index.refresh import Taken
    from neardup.integrations.bulk import Bulk
    from neardup.progress import Progress
SHOWN_REJECTED = 3


def echo_bulk(lines: Iterable[str]) -> None:
    for bulk_line in lines:
        echo_json(bulk_line)


@dataclass
class Tally:
    """Counts the decisions on documents, and reports them."""

    lines: bool
    bulk: Bulk | None = None
    kept: int = 0
    duplicates: int = 0
    rejected: int = 0
    shown: list[Rejected] = field(default_factory=list)
    shared: Shared | None = None
    unreadable: Counter[str] = field(default_factory=Counter)

    def told_apart(self, collection: Collection, columns: Columns) -> Collection:
        """The documents under the names they are stored with: an id that several files have gets
        the file in front. Remembers what was renamed."""
        collection, self.shared = collection.told_apart(columns)
        return collection

    def follow(self, parts: Iterable[Taken], progress: Progress) -> None:
        from neardup.engines.index.arrivals import Known

        echo_bulk(self.bulk.begin() if self.bulk else ())
        for part in parts:
            self.unreadable.update(r.file for r in part.rejected if r.reason != Known.ID.value)
            aside = sum(match is not None for match in part.matches)
            self.kept += len(part.ids) - aside
            self.duplicates += aside
            self.rejected += len(part.rejected)
            self.shown += part.rejected[: SHOWN_REJECTED - len(self.shown)]
            if self.lines:
                self._print(part)
            if self.bulk:
                self._print_bulk(self.bulk, part)
            progress.advance(len(part.ids) + len(part.rejected), part.size)
        echo_bulk(self.bulk.end() if self.bulk else ())
        progress.finish()

    def _print_bulk(self, bulk: Bulk, part: Taken) -> None:
        from neardup.integrations.bulk import updates

        kept_ids = [match.of if match else None for match in part.matches]
        echo_bulk(updates(bulk, part.ids, kept_ids))

    def _print(self, part: Taken) -> None:
        for id_, match in zip(part.ids, part.matches, strict=True):
            echo_json(line(id_, match))
        for lost in part.rejected:
            row = {"id": lost.id, "decision": "rejected", "reason": lost.reason}
            echo_json(json.dumps({**row, "file": lost.file, "row": lost.row}, ensure_ascii=False))

    def check_rejected(self, *, accepted: bool, others: str = "stored") -> None:
        """Fails if most documents were unreadable, although the others were stored or checked. An
        id that is in the index already is no failure: an interrupted command is repeated."""
        from neardup.runs.rejections import is_most

        unreadable, total = self.unreadable.total(), self.counts["documents"]
        if accepted or not is_most(unreadable, total):
            return
        names = ", ".join(list(self.unreadable)[:SHOWN_REJECTED])
        raise Failure(
            f"{unreadable:,} of {many(total, 'document')} could not be read, in {names}; the "
            f"others were {others}.\nHint: check --text, --id and --encoding. With "
            "--accept-rejected the exit code is 0.",
            DataError.exit_code,
        )

    @property
    def counts(self) -> dict[str, int]:
        total = self.kept + self.duplicates + self.rejected
        counted = {"kept": self.kept, "duplicates": self.duplicates, "rejected": self.rejected}
        return {"documents": total, **counted}

    @property
    def data(self) -> dict[str, Any]:
        renamed = {} if self.shared is None else {"shared_ids": self.shared._asdict()}
        return {**self.counts, **renamed}

    def summary(self) -> list[str]:
        lost = [f"  rejected: {r.where}: {shortened(r.reason, 300)}" for r in self.shown]
        more = self.rejected - len(self.shown)
        renamed = [self.shared.sentence()] if self.shared else []
        lost += [f"  … and {more:,} more rejected"] if more else []
        return [*renamed, *lost, self._sentence()]

    def _sentence(self) -> str:
        total = self.kept + self.duplicates + self.rejected
        return (
            f"{many(total, 'document')} = {self.kept:,} kept + "
            f"{many(self.duplicates, 'duplicate')} + {self.rejected:,} rejected"
        )


def line(id_: str, match: Match | None) -> str:
    row: dict[str, Any] = {"id": id_, "decision": "kept" if match is None else "duplicate"}
    if match is not None:
        row |= {"kept_id": match.of, "score": match.score, "reason": match.reason}
        row |= {"kind": match.kind}
        row |= {"direction": match.direction} if match.direction else {}
        row |= {"by": match.by} if match.by else {}
    return json.dumps(row, ensure_ascii=False)


def show(data: dict[str, Any], lines: list[str], *, as_json: bool, quiet: bool) -> None:
    if as_json:
        show_json(data, default=str)
    elif not quiet:
        echo("\n".join(lines), err=True)
