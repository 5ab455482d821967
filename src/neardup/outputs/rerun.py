"""Two documents of a run compared again, as the run compared them: its method, its artefacts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa

from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.errors import NeardupError, UsageError
from neardup.methods import registry
from neardup.methods.method import ChecksArtefacts, Method
from neardup.names import shortened
from neardup.outputs.comparison import Comparison, compare
from neardup.outputs.texts import columns_of, texts_of

if TYPE_CHECKING:
    from neardup.outputs.result import Result


def compare_documents(result: Result, first: str, second: str) -> Comparison:
    """Any two documents of the run; a note says why the method says nothing, where it does not."""
    found = texts_of(result, [first, second])
    if missing := [id for id in dict.fromkeys((first, second)) if id not in found]:
        listed = ", ".join(repr(shortened(one)) for one in missing)
        raise UsageError(
            f"No document of this run that could be compared has the id {listed}.",
            hint="see the column id of decisions; rejected documents have no text.",
        )
    texts, names = (found[first], found[second]), (first, second)
    way = _method(result)
    more = way.method.columns if way.method else ()
    return _compared(texts, names, way, columns_of(result, names, more) if more else {})


def compare_texts(result: Result, texts: tuple[str, str], names: tuple[str, str]) -> Comparison:
    """Where the texts of two documents are at hand, and nothing else of them."""
    return _compared(texts, names, _method(result), {})


def _compared(
    texts: tuple[str, str], names: tuple[str, str], way: _Way, columns: dict[str, pa.Array]
) -> Comparison:
    """A method that reads more columns than there are would compare otherwise than the run did."""
    method, note = way.method, way.note
    if method and not set(method.columns) <= columns.keys():
        note = f"{method.name} reads more than the text: {', '.join(method.columns)}"
        method = None
    compared = compare(*texts, method, artefacts=way.artefacts, names=names, columns=columns)
    return replace(compared, note=note)


def compared_again(result: Result, row: dict[str, Any]) -> tuple[Comparison | None, str | None]:
    """A set-aside document beside the one it was set aside for."""
    if row["kept_id"] is None:
        return None, None
    try:
        compared = compare_documents(result, row["kept_id"], row["id"])
    except (NeardupError, OSError, LookupError) as error:
        reason = error.message if isinstance(error, NeardupError) else str(error)
        return None, f"the texts could not be read again: {reason}"
    if compared.verdict and not _same(compared.verdict.score, row["score"]):
        return compared, "the documents have changed since the run"
    return compared, None


def _same(score: float | None, told: float) -> bool:
    return score is not None and abs(score - told) <= 1e-5


class _Way(NamedTuple):
    """How a run compares; ``note`` says why there is no method, where there is none."""

    method: Method | None
    artefacts: Artefacts
    note: str | None


def _method(result: Result) -> _Way:
    """The run's own method; none where it cannot say again what it said."""
    settings = result.info["settings"]
    try:
        method = registry.build(settings["method"], settings["parameters"])
    except NeardupError as error:  # it is not registered here, or its model is gone
        return _Way(None, NO_ARTEFACTS, error.message)
    try:
        artefacts = dict(result.artefacts)
    except NeardupError as error:
        return _Way(None, NO_ARTEFACTS, error.message)
    missing = [need.name for need in method.needs if need.name not in artefacts]
    if missing:
        there = f"the run's {' and '.join(missing)} cannot be read"
        return _Way(None, NO_ARTEFACTS, f"{there}, so {method.name} says nothing")
    try:
        if isinstance(method, ChecksArtefacts):
            method.check_artefacts(artefacts)
    except NeardupError as error:
        return _Way(None, NO_ARTEFACTS, error.message)
    return _Way(method, artefacts, None)
