"""Settings as a user wrote them: keyword arguments, options of a command, a recipe.

Names, defaults and meanings of all settings stand here once. Whatever can be checked without the
documents and without a method is checked here: this module loads neither numpy nor pyarrow, so
that a command refuses a wrong value at once.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.classes import dataclass
from neardup.errors import NeardupError, SettingsError, all_problems
from neardup.methods import registry

if TYPE_CHECKING:
    from neardup.methods.base import Method

CLUSTERS = ("rule", "components", "average")
PAIR_KINDS = ("decided", "all", "none")
ENGINES = ("local", "spark")
_CHOICES = {"clusters": CLUSTERS, "kinds": PAIR_KINDS, "engine": ENGINES}
MAX_PAIRS = 10_000_000


@dataclass(frozen=True)
class Settings:
    """The settings of a run.

    ``method``: the comparison method: its name, or an object such as ``nd.Shingles(words=3)``.
    ``threshold``: the score from which two documents are duplicates; "auto" lets the collection
    decide; None takes the default of the method.
    ``set``: parameters of the method by name, such as ``{"words": 3}``.
    ``text``: the column that holds the text.
    ``id``: the column that holds the id; None takes ``id`` where it exists, else file and row.
    ``date``: the column that holds the date, for ``keep="newest"`` and methods that compare dates.
    ``encoding``: the encoding of text files and CSV; None detects it in text files;
    CSV is then UTF-8, or UTF-16 or UTF-32 where its first bytes show that.
    ``extract``: how HTML becomes text: "trafilatura", "resiliparse", "all-text" or "none".
    ``max_document``: lines, records and files of one document above this size are rejected.
    ``max_file``: a compressed file is read up to this unpacked size.
    ``max_ratio``: a compressed file above 200 MB is read up to so many times its packed size.
    ``within``: only documents with the same value in this column are compared.
    ``keep``: which of several copies is kept: "first", "last", "longest", "shortest", "newest",
    "oldest", "COLUMN:asc" …; "newest; longest" resolves ties.
    ``policy``: the order and the actions for duplicates, as a TOML file or a mapping.
    ``clusters``: "rule" groups duplicates by the document that is kept, "components" by chains,
    "average" by average link, without chains.
    ``kinds``: which pairs are classified: "decided" (each duplicate), "all" or "none".
    ``workers``: the number of threads; None uses all cores.
    ``memory``: the most memory a run may use, such as "4GB"; what is beyond goes to disk. Without
    it, 1 GB, or what the columns of the documents take if that is more.
    ``limit``: read only this many documents.
    ``max_pairs``: above this number, only pairs with a kept document are listed.
    ``strict``: stop at the first document that cannot be used.
    ``against``: files or run folders whose documents come first and are never removed.
    ``signatures``: store what a later run needs to build on this one.
    ``engine``: "local" runs on this machine, "spark" on Spark.
    ``master``: the address of the Spark master.
    """

    method: str | Method = registry.DEFAULT
    threshold: float | str | None = None
    set: dict[str, Any] = field(default_factory=dict)
    text: str = "text"
    id: str | None = None
    date: str | None = None
    encoding: str | None = None
    extract: str | None = None
    max_document: str | int = "100MB"
    max_file: str | int = "1TB"
    max_ratio: int = 2000
    within: str | None = None
    keep: str = "first"
    policy: str | Path | Mapping[str, Any] | None = None
    clusters: str = "rule"
    kinds: str = "decided"
    workers: int | None = None
    memory: str | int | None = None
    limit: int | None = None
    max_pairs: int = MAX_PAIRS
    strict: bool = False
    against: Sequence[str | Path] = ()
    signatures: bool = False
    engine: str = "local"
    master: str | None = None


def settings_of(keywords: Mapping[str, Any]) -> Settings:
    """Keyword arguments: settings by name; all others are parameters of the method."""
    known = {f.name for f in dataclasses.fields(Settings)}
    settings = {name: value for name, value in keywords.items() if name in known}
    others = {name: value for name, value in keywords.items() if name not in known}
    if not others:
        return Settings(**settings)
    method = settings.get("method", registry.DEFAULT)
    cls = registry.method_class(method) if isinstance(method, str) else type(method)
    names = registry.parameter_names(cls)
    parameters = registry.canonical(cls, others)
    for name in parameters:
        if name not in names:
            raise _unknown_setting(name, [*sorted(known), *names], cls.name)
    in_set = registry.canonical(cls, settings.get("set", {}))
    if twice := sorted(in_set.keys() & parameters.keys()):
        raise SettingsError(f"{twice[0]} is given twice, also in set.", hint="give it once.")
    return Settings(**{**settings, "set": {**in_set, **parameters}})


def _unknown_setting(name: str, known: list[str], method: str) -> SettingsError:
    near = difflib.get_close_matches(name, known, 1)
    listed = ", ".join(dict.fromkeys(known))
    return SettingsError(
        f"{name!r} is neither a setting nor a parameter of {method}.",
        hint=registry.elsewhere(name)
        or (f"did you mean {near[0]!r}?" if near else f"there are {listed}."),
    )


def plain_problems(settings: Settings, *first: Callable[[], object]) -> list[NeardupError]:
    """Everything wrong with the settings that are plain numbers, sizes and choices."""
    checks: tuple[Callable[[], object], ...] = (
        *first,
        lambda: parse_size(USUAL_MEMORY if settings.memory is None else settings.memory),
        lambda: check_positive("workers", settings.workers),
        lambda: check_positive("limit", settings.limit),
        lambda: check_positive("max_pairs", settings.max_pairs),
    )
    problems: list[NeardupError] = []
    for check in checks:
        try:
            check()
        except NeardupError as error:
            problems.append(error)
    for name, choices in _CHOICES.items():
        if (value := getattr(settings, name)) not in choices:
            hint = f"expected {' or '.join(choices)}."
            problems.append(SettingsError(f"{name} is {value!r}.", hint=hint))
    return problems


# What only ``plan.resolve`` can check, because it loads the method or reads files.
_RESOLVED = ("threshold", "set", "encoding", "extract", "keep", "policy")


def refuse_early(settings: Settings) -> None:
    """Raises what is wrong before anything heavy is loaded, unless ``resolve`` may find more:
    one error has to report all problems."""
    usual = Settings()
    if any(getattr(settings, name) != getattr(usual, name) for name in _RESOLVED):
        return
    name = settings.method
    known = [lambda: registry.check_name(name)] if isinstance(name, str) else []
    if problems := plain_problems(settings, *known):
        raise all_problems(problems)


def worker_count(workers: int | None) -> int:
    if workers is None:
        usable = getattr(os, "sched_getaffinity", None)  # Linux: what taskset and cgroups leave
        return len(usable(0)) if usable else os.cpu_count() or 1
    check_positive("workers", workers)
    return workers


def check_positive(name: str, value: int | None) -> None:
    if value is not None and (not isinstance(value, int) or value < 1):
        raise SettingsError(f"{name} is {value!r}; expected a whole number of 1 or more.")


LEAST_MEMORY, USUAL_MEMORY = 250_000_000, 1_000_000_000


def check_least_memory(size: str | int | None) -> None:
    """Refuses a limit that no process can keep, before work starts. What is no size is refused
    with all other problems."""
    try:
        given = parse_size(USUAL_MEMORY if size is None else size)
    except SettingsError:
        return
    if given < LEAST_MEMORY:
        raise SettingsError(
            f"memory is {given // 10**6:,} MB; a run needs at least {LEAST_MEMORY // 10**6} MB.",
            hint=f"give --memory {LEAST_MEMORY // 10**6}MB or more.",
        )


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)B?\s*", re.IGNORECASE)


def parse_size(size: str | int, name: str = "memory") -> int:
    """``512MB``, ``2G``, ``1.5 GB`` or a number of bytes."""
    match = _SIZE.fullmatch(written := str(size))
    if not match:
        raise SettingsError(f"{name} is {written!r}.", hint="expected a size such as 512MB or 4GB.")
    whole, _, decimals = match[1].partition(".")
    count: int = int(whole + decimals) * _UNITS[match[2].upper()] // 10 ** len(decimals)
    if count < 1_000_000:
        raise SettingsError(f"{name} is {written!r}: {count} bytes.", hint="give at least 1MB.")
    return count
