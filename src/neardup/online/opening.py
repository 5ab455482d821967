"""What an index is made with: resolved once, stored in it, and compared when it is opened again.

A calibrated method without a calibration cuts where its threshold is.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from neardup.artefacts.artefact import Artefacts
from neardup.artefacts.calibration import Calibration
from neardup.documents.columns import Columns
from neardup.documents.inputs import SOURCE
from neardup.errors import SettingsError, SignatureError
from neardup.methods import registry
from neardup.methods.method import (
    CalibratedMethod,
    ChecksArtefacts,
    Method,
    signature_of,
    signed_parameters,
)
from neardup.online.frozen import frozen, given_artefacts, is_general, of_run, packed, unpacked
from neardup.online.rule import Rule, no_texts
from neardup.online.settings import IndexSettings
from neardup.online.signing import Signer
from neardup.online.store import Store
from neardup.online.tables import Tables
from neardup.online.windows import Window
from neardup.plan import parse_size


def opened(store: Store, settings: IndexSettings) -> tuple[dict[str, Any], Rule]:
    """What the index in the store was made with, and its rule; a new one is made."""
    description = store.description()
    if description is None:
        made, artefacts = described(settings)
        files = packed(artefacts)
        _unpacked(files, made)  # what cannot be read again is refused now
        store.create(made, files)
        description = store.description()
        assert description is not None
    check_same(settings, description, store.url)
    return description, rule_of(description, _unpacked(store.artefacts(), description), settings)


def described(settings: IndexSettings) -> tuple[dict[str, Any], Artefacts]:
    """What a new index is made with: all of it, as it is stored."""
    base, columns = of_run(Path(settings.run)) if settings.run is not None else (None, {})
    asked = settings.asked(base)
    artefacts = frozen(asked, _source(settings))
    method = _as_calibrated(asked, artefacts)
    if isinstance(method, ChecksArtefacts):
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
        "texts": _texts(settings.texts, tables),
        "within": settings.within or columns.get("within"),
        "source": settings.source or SOURCE,
        "run": None if settings.run is None else str(Path(settings.run).absolute()),
        "tables": tables.data() if tables else None,
    }
    return json.loads(json.dumps(description)), artefacts


def rule_of(description: dict[str, Any], artefacts: Artefacts, settings: IndexSettings) -> Rule:
    """``kinds`` and ``memory`` are of those who open it; all else is of the index."""
    method = _method_of(description)
    if isinstance(method, ChecksArtefacts):
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
    )


def _texts(asked: bool | None, tables: Tables | None) -> bool:
    """General tables are to be replaced, for which the texts are counted (``refresh``)."""
    return bool(tables and tables.general) if asked is None else asked


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


def _unpacked(files: dict[str, bytes], description: dict[str, Any]) -> Artefacts:
    return unpacked(files, _method_of(description), description["signature"]["artefacts"])


def _source(settings: IndexSettings) -> Any:
    return settings.artefacts if settings.artefacts is not None else settings.run


def check_same(settings: IndexSettings, description: dict[str, Any], url: str) -> None:
    """Refuses to open an index with other settings than it was made with."""
    differ = [
        f"{name} ({description[name]!r}, not {given!r})"
        for name in ("window", "against", "text", "id", "date", "texts", "within", "source")
        if (given := _given(settings, name)) is not None and given != description[name]
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
            hint="open it without settings, or make a new one in another place.",
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
    """Its threshold where the calibration puts it; without one it is as written."""
    if not isinstance(method, CalibratedMethod) or not method.calibrate:
        return method
    found = artefacts.get(Calibration.kind)
    if isinstance(found, Calibration):
        return replace(method, threshold=found.threshold)  # type: ignore[type-var]  # by contract
    return replace(method, calibrate=False)  # type: ignore[type-var]
