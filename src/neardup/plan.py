"""Settings as written → what will run: validated, printable, stored with the output.

``Settings`` holds what a user wrote (options, keyword arguments, a recipe). ``resolve`` turns it
into a ``Plan`` once, and reports everything that is wrong at once.
"""

from __future__ import annotations

import dataclasses
import difflib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.artefacts.calibration import Calibration
from neardup.decisions.order import Order
from neardup.decisions.policy import Policy, check_names, read_policy
from neardup.documents.columns import DEFAULT_ID, Columns
from neardup.documents.encodings import canonical
from neardup.documents.extraction.extractor import Extraction
from neardup.documents.remote import address_of, local_path
from neardup.errors import NeardupError, SettingsError, all_problems
from neardup.methods import registry
from neardup.methods.base import Method, signature_of
from neardup.methods.thresholds import asks_known_answers, check_cuts, with_threshold

CLUSTERS = ("rule", "components")
PAIR_KINDS = ("decided", "all", "none")
ENGINES = ("local", "spark")
MAX_PAIRS = 10_000_000
# Pairs a document that are worth making when only decisions are asked for.
USUAL_PAIRS, FEWEST_PAIRS = 16, 100_000


@dataclass(frozen=True)
class Settings:
    """As written. ``method`` may be a name or a method; ``set`` are its parameters by name.
    ``threshold`` is a number, or "auto": the collection says."""

    method: str | Method = registry.DEFAULT
    threshold: float | str | None = None
    set: dict[str, Any] = field(default_factory=dict)
    text: str = "text"
    id: str | None = None
    date: str | None = None
    encoding: str | None = None
    extract: str | None = None
    within: str | None = None
    keep: str = "first"
    policy: str | Path | Mapping[str, Any] | None = None
    clusters: str = "rule"
    kinds: str = "decided"
    workers: int | None = None
    memory: str | int = "1GB"
    limit: int | None = None
    max_pairs: int = MAX_PAIRS
    strict: bool = False
    against: Sequence[str | Path] = ()
    signatures: bool = False
    engine: str = "local"
    master: str | None = None


def settings_of(given: dict[str, Any]) -> Settings:
    """Keyword arguments: settings by name; all others are parameters of the method."""
    known = {f.name for f in dataclasses.fields(Settings)}
    settings = {name: value for name, value in given.items() if name in known}
    others = {name: value for name, value in given.items() if name not in known}
    if not others:
        return Settings(**settings)
    method = settings.get("method", registry.DEFAULT)
    cls = registry.method_class(method) if isinstance(method, str) else type(method)
    there = registry.parameter_names(cls)
    parameters = registry.canonical(cls, others)
    for name in parameters:
        if name not in there:
            raise _unknown_setting(name, [*sorted(known), *there], cls.name)
    before = registry.canonical(cls, settings.get("set", {}))
    if twice := sorted(before.keys() & parameters.keys()):
        raise SettingsError(f"{twice[0]} is given twice, also in set.", hint="give it once.")
    return Settings(**{**settings, "set": {**before, **parameters}})


def _unknown_setting(name: str, there: list[str], method: str) -> SettingsError:
    near = difflib.get_close_matches(name, there, 1)
    listed = ", ".join(dict.fromkeys(there))
    return SettingsError(
        f"{name!r} is neither a setting nor a parameter of {method}.",
        hint=registry.elsewhere(name)
        or (f"did you mean {near[0]!r}?" if near else f"there are {listed}."),
    )


@dataclass(frozen=True)
class Plan:
    """What will run."""

    method: Method
    columns: Columns
    encoding: str | None  # of text files and CSV; None: detected, and UTF-8
    keep: Order
    policy: Policy | None  # what to do with the duplicates; its order is ``keep``
    extraction: Extraction  # of the text from pages
    within: str | None
    clusters: str
    kinds: str  # of the pairs with what was kept, of all listed ones, or only what digests tell
    workers: int
    memory: int
    limit: int | None
    max_pairs: int
    strict: bool
    against: tuple[Path | str, ...]  # files, run folders, addresses (str) that come before all
    signatures: bool  # keep what a next run needs to build on this one
    every_pair: bool  # find lists all pairs; dedup needs only what decides
    planted_cut: bool  # planted copies and traps say where to cut
    engine: str  # where it runs; the answer is the same
    master: str | None  # of Spark; None: the session that is active, or what its settings say
    written: Settings
    artefacts: Artefacts = field(default_factory=lambda: NO_ARTEFACTS)  # there when work begins

    @property
    def evidence_limit(self) -> int:
        """Evidence takes half of the memory before it goes to disk; batches and blocks the rest."""
        return self.memory // 2

    @property
    def texts_limit(self) -> int:
        """Texts that are read again, for kinds, take a quarter beside it."""
        return self.memory // 4

    @property
    def digests(self) -> dict[str, str]:
        return {name: artefact.digest for name, artefact in self.artefacts.items()}

    def usual_pairs(self, documents: int) -> int:
        return min(max(USUAL_PAIRS * documents, FEWEST_PAIRS), self.max_pairs)

    def pair_budget(self, documents: int) -> int:
        """How many pairs may be made and listed."""
        return self.max_pairs if self.every_pair else self.usual_pairs(documents)

    def _cut(self) -> dict[str, object]:
        found = self.artefacts.get(Calibration.kind)
        if not isinstance(found, Calibration):
            return {}
        return {"threshold": found.threshold, "clear": found.clear}

    def describe(self) -> dict[str, Any]:
        """For ``run.json``: only data."""
        return {
            "method": self.method.name,
            "parameters": dataclasses.asdict(self.method),
            "threshold": self.written.threshold,
            "resolved": {**self.method.resolved(), **self._cut()},
            "signature": signature_of(self.method, self.digests),
            "text": self.columns.text,
            "id": self.columns.id,
            "date": self.written.date,
            "encoding": self.encoding,
            "extract": self.extraction.how,
            "within": self.within,
            "keep": self.written.keep if self.policy is None else None,
            "policy": None if self.policy is None else self.policy.describe(),
            "clusters": self.clusters,
            "kinds": self.kinds,
            "workers": self.workers,
            "memory": self.memory,
            "limit": self.limit,
            "max_pairs": self.max_pairs,
            "strict": self.strict,
        }


def resolve(settings: Settings, *, every_pair: bool = False) -> Plan:
    """All problems are reported in one error."""
    problems: list[NeardupError] = []

    def attempt(make: Callable[[], Any]) -> Any:
        try:
            return make()
        except NeardupError as error:
            problems.append(error)
            return None

    method = attempt(lambda: _method(settings))
    policy = attempt(lambda: _policy(settings))
    keep = policy.order if policy else attempt(lambda: _keep(settings))
    memory = attempt(lambda: parse_size(settings.memory))
    encoding = attempt(lambda: _encoding(settings.encoding))
    workers = attempt(lambda: worker_count(settings.workers))
    extraction = attempt(lambda: Extraction(settings.extract, workers or 1))
    attempt(lambda: _one_of("clusters", settings.clusters, CLUSTERS))
    attempt(lambda: _one_of("kinds", settings.kinds, PAIR_KINDS))
    attempt(lambda: _one_of("engine", settings.engine, ENGINES))
    attempt(lambda: check_positive("limit", settings.limit))
    attempt(lambda: check_positive("max_pairs", settings.max_pairs))
    attempt(lambda: _not_the_text(settings, None if policy else keep))
    if policy:
        attempt(lambda: check_names(policy, settings.text, settings.id or DEFAULT_ID))
    if problems:
        raise all_problems(problems)
    counted = (column for need in method.needs for column in need.columns)
    needed = (*keep.columns, settings.within, *method.columns, *counted)
    extra = tuple(dict.fromkeys(name for name in needed if name))
    return Plan(
        method=method,
        columns=Columns(text=settings.text, id=settings.id, extra=extra),
        encoding=encoding,
        extraction=extraction,
        keep=keep,
        policy=policy,
        within=settings.within,
        clusters=settings.clusters,
        kinds=settings.kinds,
        workers=workers,
        memory=memory,
        limit=settings.limit,
        max_pairs=settings.max_pairs,
        strict=settings.strict,
        against=as_paths(settings.against),
        signatures=settings.signatures,
        # Components of some of the pairs would be neither these nor those clusters.
        every_pair=every_pair or settings.clusters == "components",
        engine=settings.engine,
        master=settings.master,
        planted_cut=asks_known_answers(type(method), settings.set, settings.threshold),
        written=settings,
    )


def _method(settings: Settings) -> Method:
    cls = (
        registry.method_class(settings.method)
        if isinstance(settings.method, str)
        else type(settings.method)
    )
    parameters = with_threshold(cls, dict(settings.set), settings.threshold)
    if settings.date is not None and "date" in registry.parameter_names(cls):
        parameters.setdefault("date", settings.date)
    if isinstance(settings.method, str):
        made = registry.build(settings.method, parameters)
    else:
        made = registry.changed(settings.method, parameters)
    if asks_known_answers(cls, settings.set, settings.threshold):
        check_cuts(made)
    return made


def worker_count(workers: int | None) -> int:
    if workers is None:
        usable = getattr(os, "sched_getaffinity", None)  # Linux: what taskset and cgroups leave
        return len(usable(0)) if usable else os.cpu_count() or 1
    check_positive("workers", workers)
    return workers


def _encoding(name: str | None) -> str | None:
    return None if name is None else canonical(name)


def check_positive(name: str, value: int | None) -> None:
    if value is not None and (not isinstance(value, int) or value < 1):
        raise SettingsError(f"{name} is {value!r}; expected a whole number of 1 or more.")


def _policy(settings: Settings) -> Policy | None:
    if settings.policy is None:
        return None
    return read_policy(settings.policy, keep=settings.keep, date=settings.date)


def _keep(settings: Settings) -> Order | None:
    """None where the policy says it, or failed to."""
    return None if settings.policy is not None else Order.parse(settings.keep, settings.date)


def _not_the_text(settings: Settings, keep: Order | None) -> None:
    columns = [("keep", name) for name in keep.columns] if keep else []
    for option, column in (*columns, ("within", settings.within)):
        if column == settings.text:
            raise SettingsError(
                f"{option} names the text column {column!r}, which is let go once it is compared.",
                hint="keep the longest with --keep longest; equal texts are found by every method.",
            )


def as_paths(given: str | Path | Sequence[str | Path]) -> tuple[Path | str, ...]:
    several = [given] if isinstance(given, str | Path) else given
    return tuple(_path(one) for one in several)


def _path(given: str | Path) -> Path | str:
    address = address_of(given)
    if address is None:
        return Path(given)
    local = local_path(address)
    return Path(local) if local is not None else str(given)


def _one_of(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise SettingsError(f"{name} is {value!r}.", hint=f"expected {' or '.join(choices)}.")


_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)B?\s*", re.IGNORECASE)


def parse_size(size: str | int) -> int:
    """``512MB``, ``2G``, ``1.5 GB`` or a number of bytes."""
    match = _SIZE.fullmatch(str(size))
    if not match:
        raise SettingsError(f"memory is {size!r}.", hint="expected a size such as 512MB or 4GB.")
    count = int(Fraction(match[1]) * _UNITS[match[2].upper()])
    if count < 1_000_000:
        raise SettingsError(f"memory is {size!r}: {count} bytes.", hint="give at least 1MB.")
    return count
