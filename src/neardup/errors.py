"""The tree of errors that a user can meet.

    NeardupError
    ├── UsageError            the request cannot be fulfilled (exit code 2)
    │   ├── SettingsError     an option, recipe or parameter is wrong
    │   ├── ColumnError       a named column does not exist
    │   └── MissingExtraError a feature needs a package that is not installed
    └── DataError             the data are wrong (exit code 1)
        ├── InputError        a file has an unknown format or unexpected content
        │   ├── UnreadableError   a file, or a part of it, cannot be read at all
        │   ├── StoreError        an object store fails; the file is not the cause
        │   ├── ChangedError      a file has changed since the decisions were made
        │   └── KeptError         the run folder is complete except for the kept documents
        ├── RejectedError     the first rejected document under ``strict``
        ├── IndexStoreError   the store of an index is busy, damaged or not a store
        │   └── NoIndexError      there is no index
        ├── ServiceError      a service refuses a request
        │   ├── BusyError         it is busy; the request may succeed later
        │   └── UnreachableError  it does not respond
        ├── SignatureError    signatures made with different settings were mixed
        └── ConservationError documents in ≠ kept + duplicates + rejected: always our bug

A message states what was expected, what was found and where. ``hint`` states what to do next and
is printed last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# The name of a user stays; a password may hold any sign, so it ends at the last @ of a word.
_PASSWORD = re.compile(r"(?<=://)([^\s:@/?]*):[^\s'\"]*@|\bpassword=[^\s&'\"]+")


def without_password(text: str) -> str:
    """A message or an address without the passwords of addresses in it."""
    if "://" not in text and "password=" not in text:
        return text
    return _PASSWORD.sub(lambda found: f"{found[1]}@" if found[1] is not None else "", text)


class NeardupError(Exception):
    """The root of the tree. ``str(error)`` is the whole message, including the hint."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        self.message = without_password(message)
        self.hint = hint
        super().__init__(f"{self.message} Hint: {hint}" if hint else self.message)


class UsageError(NeardupError):
    exit_code = 2


class SettingsError(UsageError):
    """``problems`` holds the messages of all problems if there are several."""

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
    """``reason`` is the cause alone, for the rejected document that represents the file."""

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
    """``status`` is the HTTP status of the response; None without a response."""

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
    """One error that reports all problems."""
    if len(problems) == 1:
        return problems[0]
    sentences = tuple(sentence for problem in problems for sentence in _sentences(problem))
    text = "\n".join(f"  - {sentence}" for sentence in sentences)
    return SettingsError(f"{len(sentences)} settings are wrong:\n{text}", problems=sentences)


def _sentences(problem: NeardupError) -> tuple[str, ...]:
    several = isinstance(problem, SettingsError) and len(problem.problems) > 1
    return problem.problems if several else (str(problem),)  # type: ignore[attr-defined]
