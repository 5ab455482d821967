"""``frame.neardup.dedup("text")`` for pandas and polars.

Importing this module registers the accessor ``neardup`` on frames and series of those of the two
libraries that are installed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Unpack

from neardup.api import dedup, find
from neardup.arguments import RunArguments
from neardup.errors import MissingExtraError
from neardup.runs.result import Result

NAME = "neardup"


class Frame:
    """What ``frame.neardup`` offers. ``settings`` are those of ``neardup.dedup``."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def dedup(self, text: str = "text", /, **settings: Unpack[RunArguments]) -> Any:
        """The kept rows, as they were; ``text`` names the column that is compared."""
        return self.result(text, **settings).kept

    def annotate(self, text: str = "text", /, **settings: Unpack[RunArguments]) -> Any:
        """All rows, with the columns cluster, kept_id, score, kind and decision."""
        return self.result(text, **settings).annotated

    def result(self, text: str = "text", /, **settings: Unpack[RunArguments]) -> Result:
        """The whole result: decisions, reasons, explanations."""
        settings.setdefault("text", text)
        return dedup(self._frame, **settings)

    def find(self, text: str = "text", /, **settings: Unpack[RunArguments]) -> Result:
        """All pairs of near-duplicates, and their clusters."""
        settings.setdefault("text", text)
        return find(self._frame, **settings)


def _register_pandas() -> None:
    from pandas.api import extensions

    extensions.register_dataframe_accessor(NAME)(Frame)
    extensions.register_series_accessor(NAME)(Frame)


def _register_polars() -> None:
    from polars import api

    api.register_dataframe_namespace(NAME)(Frame)
    api.register_series_namespace(NAME)(Frame)


def _register() -> list[str]:
    """Returns what is not installed."""
    absent = []
    ways: dict[str, Callable[[], None]] = {"pandas": _register_pandas, "polars": _register_polars}
    for library, register in ways.items():
        try:
            register()
        except ModuleNotFoundError as error:
            if error.name != library:
                raise
            absent.append(library)
    return absent


if len(_register()) == 2:
    raise MissingExtraError(
        "The accessor of frames needs pandas or polars; neither is installed.",
        hint="pip install pandas, or polars.",
    )
