"""The settings of an index: resolved once, stored in it, and compared when it is opened again.

Settings name a method; without a calibration, a calibrated method keeps its threshold as written.
The artefacts of the index come from files that the method names, from ``artefacts`` (a Result, the
folder of a run, or artefacts by name) or from the folder of a ``run``. If none of these is set, the
index begins with the general tables that come with the package (``index_artefacts.py``).
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.calibration import Calibration
from neardup.documents.columns import Columns
from neardup.documents.inputs import SOURCE
from neardup.engines.index.arrival_rule import KEPT, SEEN, Rule, no_texts
from neardup.engines.index.index_artefacts import (
    Tables,
    frozen,
    given_artefacts,
    is_general,
    of_run,
    packed,
    unpacked,
)
from neardup.engines.index.signing import Signer
from neardup.engines.index.store import Store
from neardup.engines.index.time_window import Window
from neardup.errors import SettingsError, SignatureError
from neardup.matching.window import UNCLIPPED
from neardup.methods import registry
from neardup.methods.base import Method, signature_of, signed_parameters
from neardup.methods.combined import one_or_any
from neardup.papers.recipe import index_arguments
from neardup.plan import resolve
from neardup.settings import Settings, parse_size

DEFAULT_METHOD = registry.DEFAULT
_STORED = ("window", "against", "text", "id", "date", "texts", "passages", "within", "source")


@dataclass(frozen=True)
class IndexSettings:
    """The settings of an index as written; None stands for what is stored, or the default.

    ``method``: the comparison method; of a list of methods, a match by any of them counts.
    ``threshold``: the score from which two documents are duplicates.
    ``set``: parameters of the method by name.
    ``text``: the column that holds the text.
    ``id``: the column that holds the id.
    ``date``: the column that holds the time of a document; None takes its arrival.
    ``window``: how long documents are remembered, such as "24h"; None remembers all.
    ``against``: compare with "kept" documents only, or with all that were "seen".
    ``artefacts``: tables of a collection: a Result, the folder of a run, or artefacts by name.
    ``run``: the folder of a run whose method, artefacts and kept documents the index starts with.
    ``texts``: store the texts too.
    ``passages``: store the texts and a passage index, for :func:`neardup.trace`.
    ``within``: only documents with the same value in this column are compared.
    ``source``: the column that names the source of a document.
    ``kinds``: False never classifies duplicates; True does so in ``check`` too.
    ``memory``: the memory an open index may use, such as "500MB"; above it the window is shortened.
    ``clipping``: "COMMON" or "COMMON,RARE": q-grams of a larger or smaller share of the documents
    are not looked up; faster, and no longer exact.
    ``recipe``: a file of settings, or the recipe of a paper; other settings win over it.
    """

    method: str | Method | Sequence[str | Method] | None = None
    threshold: float | str | None = None
    set: dict[str, Any] = field(default_factory=dict)
    text: str | None = None
    id: str | None = None
    date: str | None = None
    window: str | None = None
    against: str | None = None
    artefacts: Any = None
    run: str | Path | None = None
    texts: bool | None = None
    passages: bool | None = None
    within: str | None = None
    source: str | None = None
    kinds: bool | None = None
    memory: str | int | None = None
    clipping: str | None = None
    recipe: str | Path | None = None

    @classmethod
    def of(cls, given: dict[str, Any]) -> IndexSettings:
        """Settings from keyword arguments; those that are no settings are parameters of the
        method."""
        given = index_arguments(given)
        names = {one.name for one in dataclasses.fields(cls)}
        ours = {name: value for name, value in given.items() if name in names}
        others = {name: value for name, value in given.items() if name not in names}
        return cls(**{**ours, "set": {**ours.get("set", {}), **others}})

    def against_what(self) -> str:
        written = self.against or KEPT
        if written not in (KEPT, SEEN):
            raise SettingsError(f"against is {written!r}.", hint=f"expected {KEPT} or {SEEN}.")
        return written

    def asked(self, base: Method | None) -> Method:
        """The method, checked by the same rules as that of a run; without one, ``base``."""
        method = one_or_any(self.method) if self.method is not None else base or DEFAULT_METHOD
        if base is not None and method == base.name:
            method = base
        plan = resolve(
            Settings(
                method=method,
                threshold=self.threshold,
                set=self.set,
                date=self.date,
                text=self.text or "text",
                within=self.within,
            )
        )
        if plan.planted_cut and self.artefacts is None and self.run is None:
            raise SettingsError(
                "threshold is 'auto', but an index has no collection that could choose it.",
                hint="build it from documents with `neardup index build`, or give a run's folder.",
            )
        return plan.method


def opened(store: Store, settings: IndexSettings) -> tuple[dict[str, Any], Rule]:
    """The description of the index in the store, and its rule; creates a new index if there is
    none."""
    description = store.description()
    if description is None:
        fresh, artefacts = described(settings)
        files = packed(artefacts)
        _unpacked(files, fresh)  # refuses artefacts that could not be read again
        store.create(fresh, files)
        description = store.description()
        assert description is not None
    check_same(settings, description, store.url)
    return description, rule_of(description, _unpacked(store.artefacts(), description), settings)


def described(settings: IndexSettings) -> tuple[dict[str, Any], Artefacts]:
    """The complete description of a new index, as it is stored."""
    base, columns = of_run(Path(settings.run)) if settings.run is not None else (None, {})
    asked = settings.asked(base)
    artefacts = frozen(asked, _source(settings))
    method = _as_calibrated(asked, artefacts)
    method.check_artefacts(artefacts)
    digests = {name: artefact.digest for name, artefact in artefacts.items()}
    tables = Tables.of(artefacts, general=is_general(method, artefacts))
    description = {
        "method": method.name,
        "parameters": signed_parameters(method),
        "asked": signed_parameters(asked),
        "signature": signature_of(method, digests),
        "window": Window.parse(settings.window).written if settings.window else None,
        "against": settings.against_what(),
        "text": settings.text or columns.get("text") or "text",
        "id": settings.id or columns.get("id"),
        "date": settings.date or columns.get("date"),
        "texts": _texts(settings, tables),
        "passages": bool(settings.passages),
        "within": settings.within or columns.get("within"),
        "source": settings.source or SOURCE,
        "run": None if settings.run is None else str(Path(settings.run).absolute()),
        "tables": tables.data() if tables else None,
    }
    return json.loads(json.dumps(description)), artefacts


def rule_of(description: dict[str, Any], artefacts: Artefacts, settings: IndexSettings) -> Rule:
    """``kinds``, ``memory`` and ``clipping`` are settings of whoever opens the index; the rest is
    stored in it."""
    method = _method_of(description)
    method.check_artefacts(artefacts)
    counted = (column for need in method.needs for column in need.columns)
    date, within = description["date"], description["within"]
    extra = dict.fromkeys(name for name in (*method.columns, *counted, within) if name)
    columns = Columns(text=description["text"], id=description["id"], extra=tuple(extra))
    signer = Signer(
        method, artefacts, columns, date, description["texts"], within, description["source"]
    )
    window = Window.parse(description["window"]) if description["window"] else None
    return Rule(
        signer,
        window,
        description["against"],
        date is not None,
        kinds=_kinds(settings.kinds, description["texts"]),
        check_kinds=bool(settings.kinds),
        memory=_memory(settings.memory, window),
        clip=_clip(settings.clipping, method),
    )


def _texts(settings: IndexSettings, tables: Tables | None) -> bool:
    """Whether texts are stored: by default, if general tables are to be replaced (``refresh``), or
    if passages are to be found in them."""
    if settings.texts is None:
        return bool(settings.passages or (tables and tables.general))
    if settings.passages and not settings.texts:
        raise SettingsError(
            "passages is set, but texts is False, and passages are found in the texts.",
            hint="leave texts out, or passages.",
        )
    return settings.texts


def _kinds(asked: bool | None, texts: bool) -> bool:
    if asked and not texts:
        raise no_texts()
    return texts and asked is not False


def _memory(asked: str | int | None, window: Window | None) -> int | None:
    if asked is not None and window is None:
        raise SettingsError(
            f"memory is {asked!r}, but the index has no window that could be shortened.",
            hint="make it with a window, or leave memory out.",
        )
    return None if asked is None else parse_size(asked)


def _clip(asked: str | None, method: Method) -> tuple[float, float]:
    if asked is None:
        return UNCLIPPED
    if method.meeting.arrival_needs_keys:
        raise SettingsError(
            f"clipping is {asked!r}, but an index of {method.name} looks no q-grams up.",
            hint="it is for the method qgrams; leave it out.",
        )
    try:
        common, rare = (float(part) for part in (*asked.split(","), "0")[:2])
    except ValueError:
        raise SettingsError(
            f"clipping is {asked!r}; expected one or two shares.", hint='for example "0.5,0.001".'
        ) from None
    return common, rare


def _unpacked(files: dict[str, bytes], description: dict[str, Any]) -> Artefacts:
    return unpacked(files, _method_of(description), description["signature"]["artefacts"])


def _source(settings: IndexSettings) -> Any:
    return settings.artefacts if settings.artefacts is not None else settings.run


def check_same(settings: IndexSettings, description: dict[str, Any], url: str) -> None:
    """Refuses to open an index with settings that differ from the stored ones."""
    differ = [
        f"{name} ({stored!r}, not {given!r})"
        for name in _STORED
        if (given := _given(settings, name)) is not None
        and given != (stored := description.get(name, False))  # older ones have no passages
    ]
    if settings.method is not None or settings.threshold is not None or settings.set:
        differ += _other_method(settings, description)
    if (source := _source(settings)) is not None:
        digests = description["signature"]["artefacts"]
        given = given_artefacts(source, _method_of(description))
        differ += [n for n, a in given.items() if n in digests and digests[n] != a.digest]
    if differ:
        raise SignatureError(
            f"The index {url} was made with other settings; they differ in {', '.join(differ)}.",
            hint="open it without settings, or make a new one in another place; an index without "
            "documents can be removed.",
        )


def _given(settings: IndexSettings, name: str) -> Any:
    value = getattr(settings, name)
    return Window.parse(value).written if name == "window" and value is not None else value


def _method_of(description: dict[str, Any]) -> Method:
    return registry.build(description["method"], description["parameters"])


def _other_method(settings: IndexSettings, description: dict[str, Any]) -> list[str]:
    named = (
        settings if settings.method is not None else replace(settings, method=description["method"])
    )
    base = None if settings.method is not None else _asked_method(description)
    asked = named.asked(base)
    if asked.name != description["method"]:
        return [f"method ({description['method']!r}, not {asked.name!r})"]
    ours = json.loads(json.dumps(signed_parameters(asked)))
    if ours in (description["asked"], description["parameters"]):
        return []
    theirs = description["asked"]
    return [f"{n} ({theirs.get(n)!r}, not {v!r})" for n, v in ours.items() if theirs.get(n) != v]


def _asked_method(description: dict[str, Any]) -> Method:
    return registry.build(description["method"], description["asked"])


def _as_calibrated(method: Method, artefacts: Artefacts) -> Method:
    """The method with the threshold of its calibration; without one, as written."""
    if not method.calibrate:
        return method
    calibration = artefacts.get(Calibration.kind)
    if isinstance(calibration, Calibration):
        return method.at_threshold(calibration.threshold)
    return method.uncalibrated()
