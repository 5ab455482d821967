"""What will run: settings as written, checked and resolved once, and stored with the output.

``resolve`` turns the ``Settings`` that a user wrote (``settings.py``) into a ``Plan``. One error
reports everything that is wrong with them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.artefacts.calibration import Calibration
from neardup.classes import dataclass
from neardup.decisions.order import Order
from neardup.decisions.policy import Policy, check_names, read_policy
from neardup.documents.columns import DEFAULT_ID, Columns
from neardup.documents.encodings import canonical
from neardup.documents.extraction.extractor import Extraction
from neardup.documents.file_formats import address_of, local_path
from neardup.documents.open_files import Limits
from neardup.errors import NeardupError, SettingsError, UsageError, all_problems
from neardup.methods import registry
from neardup.methods.base import Method, signature_of
from neardup.methods.thresholds import AUTO, calibrates_itself, check_cuts
from neardup.settings import (
    LEAST_MEMORY,
    USUAL_MEMORY,
    Settings,
    check_positive,
    parse_size,
    plain_problems,
    worker_count,
)

# The interpreter with its libraries, and what each document takes: id, row, digests, decision and
# its rows in the tables, with room to sort some of that (docs/performance.md, "Memory").
OWN_BYTES, DOCUMENT_BYTES = 175_000_000, 165
CALIBRATED_BYTES = 240  # of these with the pairs that a calibration looks at
READ_BYTES = 120  # of these while it is read
TABLE_BYTES, TABLE_DOCUMENT = 134_217_728, 16_384  # of frequencies, at most and while they are few
FREQUENCIES = "frequencies"  # the name of tables that count grams
ESTIMATED = 1.15  # times the limit: from there on an estimate of the documents refuses a run
# Pairs a document that are worth making when only decisions are asked for.
USUAL_PAIRS, FEWEST_PAIRS = 16, 100_000


@dataclass(frozen=True)
class Plan:
    """What will run."""

    method: Method
    columns: Columns
    encoding: str | None  # of text files and CSV; None: detected, and UTF-8
    keep: Order
    policy: Policy | None  # what to do with the duplicates; its order is ``keep``
    extraction: Extraction  # of the text from pages
    limits: Limits  # of what is read
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
    planted_cut: bool  # planted copies and decoys choose the threshold
    engine: str  # where it runs; the answer is the same
    master: str | None  # of Spark; None: the session that is active, or what its settings say
    written: Settings
    artefacts: Artefacts = field(default_factory=lambda: NO_ARTEFACTS)  # there when work begins

    @property
    def room(self) -> int:
        """Bytes for what depends on the documents."""
        return max(self.memory - OWN_BYTES, self.memory // 8)

    def spare(self, documents: int) -> int:
        """Bytes that columns and tables of so many documents leave."""
        return self.room - self._fixed(documents)

    def _fixed(self, documents: int) -> int:
        counted = any(need.name == FREQUENCIES for need in self.method.needs)
        table = min(TABLE_BYTES, TABLE_DOCUMENT * documents) if counted else 0
        # Tables leave memory before documents are matched.
        each = CALIBRATED_BYTES if self.method.calibrate else DOCUMENT_BYTES
        return max(table + READ_BYTES * documents, each * documents)

    def check_memory(self, documents: int, *, about: bool = False) -> None:
        """Refuses documents that cannot be held; ``about`` so many are expected. The usual limit
        refuses nothing, nor does one that the process itself does not keep, such as that of a
        caller in Python."""
        needed = OWN_BYTES + self._fixed(documents)
        if self.written.memory is None or self.memory < LEAST_MEMORY:
            return
        if needed <= self.memory * (ESTIMATED if about else 1):
            return
        some = f"About {documents:,}" if about else f"{documents:,} or more"
        size = f"{-(-needed // 10**6):,} MB"
        raise UsageError(
            f"{some} documents need {size} of memory with {self.method.name}, and --memory is "
            f"{self.memory // 10**6:,} MB.",
            hint=f"give --memory {-(-needed // 10**8) / 10:g}GB, or a part of the input.",
        )

    @property
    def evidence_limit(self) -> int:
        """What evidence may take while there are few documents (``engines/batch/intake.py``)."""
        return self.room

    def texts_limit(self, documents: int) -> int:
        """Texts that are read again, for kinds, take a quarter, if the columns leave it."""
        return max(min(self.memory // 4, self.spare(documents) // 2), self.memory // 64)

    @property
    def digests(self) -> dict[str, str]:
        return {name: artefact.digest for name, artefact in self.artefacts.items()}

    def usual_pairs(self, documents: int) -> int:
        return min(max(USUAL_PAIRS * documents, FEWEST_PAIRS), self.max_pairs)

    def pair_budget(self, documents: int) -> int:
        """How many pairs may be made and listed."""
        return self.max_pairs if self.every_pair else self.usual_pairs(documents)

    def describe(self) -> dict[str, Any]:
        """The plan as it is written to ``run.json``: only data."""
        resolved = self.method.resolved()
        if isinstance(calibration := self.artefacts.get(Calibration.kind), Calibration):
            resolved |= {"threshold": calibration.threshold, "clear": calibration.clear}
        return {
            "method": self.method.name,
            "parameters": dataclasses.asdict(self.method),
            "threshold": self.written.threshold,
            "resolved": resolved,
            "signature": signature_of(self.method, self.digests),
            "text": self.columns.text,
            "id": self.columns.id,
            "date": self.written.date,
            "encoding": self.encoding,
            "extract": self.extraction.how,
            "limits": dataclasses.asdict(self.limits),
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
    problems = plain_problems(settings)

    def attempt(make: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        try:
            return make(*arguments, **options)
        except NeardupError as error:
            problems.append(error)
            return None

    chosen = attempt(_method, settings)
    policy: Any = None
    if settings.policy is None:
        own = keep = attempt(Order.parse, settings.keep, settings.date)
    else:
        policy = attempt(read_policy, settings.policy, keep=settings.keep, date=settings.date)
        own, keep = None, policy.order if policy else None
    encoding = None if settings.encoding is None else attempt(canonical, settings.encoding)
    attempt(Extraction, settings.extract, 1)
    limits = attempt(limits_of, settings)
    attempt(_not_the_text, settings, own)
    if policy:
        attempt(check_names, policy, settings.text, settings.id or DEFAULT_ID)
    if problems:
        raise all_problems(problems)
    method, planted_cut = chosen
    workers = worker_count(settings.workers)
    counted = (column for need in method.needs for column in need.columns)
    needed = (*keep.columns, settings.within, *method.columns, *counted)
    extra = tuple(dict.fromkeys(name for name in needed if name))
    return Plan(
        method=method,
        columns=Columns(text=settings.text, id=settings.id, extra=extra),
        encoding=encoding,
        extraction=Extraction(settings.extract, workers),
        limits=limits,
        keep=keep,
        policy=policy,
        within=settings.within,
        clusters=settings.clusters,
        kinds=settings.kinds,
        workers=workers,
        memory=parse_size(USUAL_MEMORY if settings.memory is None else settings.memory),
        limit=settings.limit,
        max_pairs=settings.max_pairs,
        strict=settings.strict,
        against=as_paths(settings.against) if settings.against else (),
        signatures=settings.signatures,
        # Components of some of the pairs would be neither these nor those clusters.
        every_pair=every_pair or settings.clusters != "rule",
        engine=settings.engine,
        master=settings.master,
        planted_cut=planted_cut,
        written=settings,
    )


def _method(settings: Settings) -> tuple[Method, bool]:
    """The method at its threshold, and whether groups, or planted copies and decoys, are to choose
    the threshold. A number is used as it is: the registry then turns calibration off, unless
    ``calibrate`` is set too; in that case calibration starts from the number."""
    named, parameters = settings.method, dict(settings.set)
    cls = registry.method_class(named) if isinstance(named, str) else type(named)
    written = parameters.get("threshold") if settings.threshold is None else settings.threshold
    automatic = written == AUTO
    if automatic:
        if parameters.get("calibrate") is False:
            raise SettingsError(
                "threshold is 'auto', and calibrate is false.", hint="leave one of them out."
            )
        parameters.pop("threshold", None)
        if calibrates_itself(cls):
            parameters["calibrate"], automatic = True, False
    elif written is not None:
        parameters["threshold"] = written
    if settings.date is not None and "date" in registry.parameter_names(cls):
        parameters.setdefault("date", settings.date)
    if isinstance(named, str):
        method = registry.construct(cls, parameters, named)
    else:
        method = registry.changed(named, parameters)
    if automatic:
        check_cuts(method)
    return method, automatic


def limits_of(settings: Settings) -> Limits:
    document = parse_size(settings.max_document, "max_document")
    check_positive("max_ratio", settings.max_ratio)
    return Limits(document, parse_size(settings.max_file, "max_file"), settings.max_ratio)


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
