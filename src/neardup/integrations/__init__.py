"""Doors to frameworks: documents in, decisions out, no algorithm.

One file for one framework. Each imports its framework, and only ``cli`` imports one of them, so
that nobody loads a framework that they do not use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from neardup.errors import MissingExtraError, SettingsError

if TYPE_CHECKING:
    from neardup.engines.index.index import Index

FIELD = "near_dup_of"  # what a marked document carries: the id of the one it is a duplicate of
ACTIONS = ("drop", "mark")


def missing(feature: str, error: ImportError, extra: str) -> MissingExtraError:
    """The error where a framework is not installed."""
    return MissingExtraError(
        f"{feature} needs {error.name}, which is not installed.",
        hint=f"pip install 'neardup[{extra}]'",
    )


def check_action(action: str, name: str = "action") -> str:
    if action not in ACTIONS:
        raise SettingsError(f"{name} is {action!r}.", hint=f"expected one of {', '.join(ACTIONS)}.")
    return action


def originals(
    texts: Sequence[str],
    ids: Sequence[str | None],
    index: Index | None,
    settings: Mapping[str, Any],
) -> list[str | None]:
    """For each text, the id of the document that it is a duplicate of, or None.

    Without an index the texts are compared with each other. An index also remembers earlier ones,
    and stores these all or none; a text whose id it has replaces the older version. A text without
    an id is named by its place."""
    if index is None:
        return _among(texts, ids, settings)
    columns = index.columns
    documents = [
        {columns.text: text} | ({} if id is None else {columns.id_name: id})
        for text, id in zip(texts, ids, strict=True)
    ]
    with index.events() as events:
        matches = [
            events.add([arrival])[0] if arrival.id is None else events.update(arrival)
            for arrival in index.sign(documents)
        ]
    return [match.of if match else None for match in matches]


def _among(
    texts: Sequence[str], ids: Sequence[str | None], settings: Mapping[str, Any]
) -> list[str | None]:
    from neardup.api import dedup

    # Frameworks let ids be missing and repeat, so the places are the ids of the run.
    rows = [{"id": str(place), "text": text} for place, text in enumerate(texts)]
    kept = dedup(rows, **settings).decisions["kept_id"].to_pylist() if rows else []
    return [None if place is None else ids[int(place)] or place for place in kept]
