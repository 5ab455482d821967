"""Every error a user can meet, as one tree.

    NeardupError
    ├── UsageError            what was asked for cannot be done (exit code 2)
    │   ├── SettingsError     an option, recipe or parameter is wrong
    │   ├── ColumnError       a column that was named is not there
    │   └── MissingExtraError a feature needs a package that is not installed
    └── DataError             what was read is wrong (exit code 1)
        ├── InputError        a file has an unknown format or contents
        │   ├── UnreadableError   it, or a part of it, cannot be read at all
        │   ├── StoreError        an object store fails, which is no fault of a file
        │   ├── ChangedError      it is not what it was when the decisions were made
        │   └── KeptError         so the run folder is finished but has no kept documents
        ├── RejectedError     the first rejected document under ``strict``
        ├── IndexStoreError   the store of an index is busy, damaged or none
        │   └── NoIndexError      there is no index
        ├── ServiceError      a service refuses what it was asked
        │   ├── BusyError         for now; later it may not
        │   └── UnreachableError  it does not answer
        ├── SignatureError    signatures of unlike settings were mixed
        └── ConservationError documents in ≠ kept + duplicates + rejected: our bug, never ignored

A message says what was expected, what was got and where; ``hint`` says what to do next and is
printed last.
"""

from __future__ import annotations

from collections.abc import Sequence


class NeardupError(Exception):
    """Root of the tree. ``str(error)`` is the whole sentence, hint included."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(f"{message} Hint: {hint}" if hint else message)


class UsageError(NeardupError):
    exit_code = 2


class SettingsError(UsageError):
    """``problems`` holds all sentences when several things are wrong at once."""

    def __init__(
        self, message: str, *, hint: str | None = None, problems: tuple[str, ...] = ()
    ) -> None:
        super().__init__(message, hint=hint)
        self.problems = problems or (message,)


class ColumnError(UsageError):
    pass


class MissingExtraError(UsageError):
    pass


class DataError(NeardupError):
    pass


class InputError(DataError):
    pass


class UnreadableError(InputError):
    """``reason`` is the cause alone, for the rejected document that stands for the file."""

    def __init__(self, message: str, *, hint: str | None = None, reason: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason or message


class StoreError(InputError):
    pass


class ChangedError(InputError):
    pass


class KeptError(InputError):
    pass


class RejectedError(DataError):
    pass


class IndexStoreError(DataError):
    pass


class NoIndexError(IndexStoreError):
    pass


class ServiceError(DataError):
    """``status`` is that of the answer; None without one."""

    def __init__(self, message: str, *, hint: str | None = None, status: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class BusyError(ServiceError):
    pass


class UnreachableError(ServiceError):
    pass


class SignatureError(DataError):
    pass


class ConservationError(DataError):
    pass


def all_problems(problems: Sequence[NeardupError]) -> NeardupError:
    """Several problems as one error that says them all."""
    if len(problems) == 1:
        return problems[0]
    sentences = tuple(sentence for problem in problems for sentence in _sentences(problem))
    text = "\n".join(f"  - {sentence}" for sentence in sentences)
    return SettingsError(f"{len(sentences)} settings are wrong:\n{text}", problems=sentences)


def _sentences(problem: NeardupError) -> tuple[str, ...]:
    several = isinstance(problem, SettingsError) and len(problem.problems) > 1
    return problem.problems if several else (str(problem),)  # type: ignore[attr-defined]
