"""What an index is made with: resolved once, stored in it, and compared when it is opened again.

Artefacts are frozen: they come from files that the method names, from ``artefacts`` (a Result, the
folder of a run, or artefacts by name) or from the folder of a ``run``, whose kept documents are
then taken in too. A calibrated method without a calibration cuts where its threshold is.
"""

from __future__ import annotations

import dataclasses
import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from neardup.artefacts.artefact import Artefact, Artefacts, Need, ReadyNeed
from neardup.artefacts.calibration import Calibration, load_calibration
from neardup.documents.columns import Columns
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.methods import registry
from neardup.methods.method import (
    CalibratedMethod,
    ChecksArtefacts,
    Method,
    signature_of,
    signed_parameters,
)
from neardup.online.arrivals import KEPT, SEEN, Rule
from neardup.online.signing import Signer
from neardup.online.windows import Window
from neardup.outputs.folder import ARTEFACTS, RUN
from neardup.outputs.result import Result
from neardup.plan import Settings, parse_size, resolve

DEFAULT_METHOD = registry.DEFAULT


@dataclass(frozen=True)
class IndexSettings:
    """As written; None: as stored, or the usual. ``set`` are parameters of the method by name."""

    method: str | Method | None = None
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
    memory: str | int | None = None

    @classmethod
    def of(cls, given: dict[str, Any]) -> IndexSettings:
        """Keyword arguments; those that are no settings are parameters of the method."""
        names = {one.name for one in dataclasses.fields(cls)}
        ours = {name: value for name, value in given.items() if name in names}
        others = {name: value for name, value in given.items() if name not in names}
        return cls(**{**ours, "set": {**ours.get("set", {}), **others}})


def described(settings: IndexSettings) -> tuple[dict[str, Any], Artefacts]:
    """What a new index is made with: all of it, as it is stored."""
    taken = _of_run(Path(settings.run)) if settings.run is not None else {}
    asked = _asked(settings, taken.get("method"))
    frozen = _frozen(asked, settings)
    method = _as_calibrated(asked, frozen)
    if isinstance(method, ChecksArtefacts):
        method.check_artefacts(frozen)
    digests = {name: artefact.digest for name, artefact in frozen.items()}
    columns = taken.get("columns", {})
    description = {
        "method": method.name,
        "parameters": signed_parameters(method),
        "asked": signed_parameters(asked),
        "signature": signature_of(method, digests),
        "window": Window.parse(settings.window).written if settings.window else None,
        "against": _against(settings.against or KEPT),
        "text": settings.text or columns.get("text") or "text",
        "id": settings.id or columns.get("id"),
        "date": settings.date or columns.get("date"),
        "texts": bool(settings.texts),
    }
    return json.loads(json.dumps(description)), frozen


def rule_of(
    description: dict[str, Any], artefacts: Artefacts, memory: str | int | None = None
) -> Rule:
    method = registry.build(description["method"], description["parameters"])
    counted = (column for need in method.needs for column in need.columns)
    date = description["date"]
    extra = tuple(dict.fromkeys((*method.columns, *counted)))
    columns = Columns(text=description["text"], id=description["id"], extra=extra)
    signer = Signer(method, artefacts, columns, date, description["texts"])
    window = Window.parse(description["window"]) if description["window"] else None
    if memory is not None and window is None:
        raise SettingsError(
            f"memory is {memory!r}, but the index has no window that could be shortened.",
            hint="make it with a window, or leave memory out.",
        )
    limit = None if memory is None else parse_size(memory)
    return Rule(signer, window, description["against"], date is not None, limit)


def check_same(settings: IndexSettings, description: dict[str, Any], url: str) -> None:
    """Refuses to open an index with other settings than it was made with."""
    differ = [
        f"{name} ({description[name]!r}, not {given!r})"
        for name in ("window", "against", "text", "id", "date", "texts")
        if (given := _given(settings, name)) is not None and given != description[name]
    ]
    if settings.method is not None or settings.threshold is not None or settings.set:
        differ += _other_method(settings, description)
    source = settings.artefacts if settings.artefacts is not None else settings.run
    if source is not None:
        digests = description["signature"]["artefacts"]
        given = _given_artefacts(source, _method_of(description))
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
    asked = _asked(named, base)
    if asked.name != description["method"]:
        return [f"method ({description['method']!r}, not {asked.name!r})"]
    ours = json.loads(json.dumps(signed_parameters(asked)))
    if ours in (description["asked"], description["parameters"]):
        return []
    theirs = description["asked"]
    return [f"{n} ({theirs.get(n)!r}, not {v!r})" for n, v in ours.items() if theirs.get(n) != v]


def _asked_method(description: dict[str, Any]) -> Method:
    return registry.build(description["method"], description["asked"])


def _asked(settings: IndexSettings, base: Method | None) -> Method:
    """Checked by the same rules as those of a run; its window and columns are ours."""
    method = settings.method if settings.method is not None else base or DEFAULT_METHOD
    if base is not None and (settings.method is None or settings.method == base.name):
        method = base
    plan = resolve(
        Settings(method=method, threshold=settings.threshold, set=settings.set, date=settings.date)
    )
    if plan.planted_cut and settings.artefacts is None and settings.run is None:
        raise SettingsError(
            "threshold is 'auto', but an index has no collection that could say where to cut.",
            hint="build it from documents with `neardup index build`, or give the folder of a run.",
        )
    return plan.method


def _against(written: str) -> str:
    if written not in (KEPT, SEEN):
        raise SettingsError(f"against is {written!r}.", hint=f"expected {KEPT} or {SEEN}.")
    return written


def _as_calibrated(method: Method, artefacts: Artefacts) -> Method:
    """Its threshold where the calibration puts it; without one it is as written."""
    if not isinstance(method, CalibratedMethod) or not method.calibrate:
        return method
    found = artefacts.get(Calibration.kind)
    if isinstance(found, Calibration):
        return replace(method, threshold=found.threshold)  # type: ignore[type-var]  # by contract
    return replace(method, calibrate=False)  # type: ignore[type-var]


def _frozen(method: Method, settings: IndexSettings) -> dict[str, Artefact]:
    given = settings.artefacts if settings.artefacts is not None else settings.run
    there = _given_artefacts(given, method) if given is not None else {}
    for need in method.needs:
        if need.file is not None:
            there[need.name] = need.load(Path(need.file))
        elif need.name not in there and isinstance(need, ReadyNeed) and _is_kept(need, method):
            there[need.name] = need.ready()
    missing = [need.name for need in method.needs if need.name not in there]
    if missing:
        raise SettingsError(
            f"{method.name} needs {' and '.join(missing)} of a collection, which an index "
            "cannot count while documents come.",
            hint="build it from documents with `neardup index build`, give artefacts=RESULT or "
            "run=FOLDER of a run, or take a method without such needs (shingles, qgrams).",
        )
    calibrated = isinstance(method, CalibratedMethod) and method.calibrate
    names = [*(need.name for need in method.needs), *([Calibration.kind] if calibrated else [])]
    return {name: there[name] for name in names if name in there}


def _is_kept(need: Need, method: Method) -> bool:
    """Whether the method still asks for it as an index stores it: without the parameters that say
    where artefacts are."""
    stored = registry.build(method.name, signed_parameters(method))
    return need.name in {one.name for one in stored.needs}


def _given_artefacts(given: Any, method: Method) -> dict[str, Artefact]:
    if isinstance(given, Result):
        return dict(given.artefacts)
    if isinstance(given, Mapping):
        return dict(given)
    return _loaded(Path(given) / ARTEFACTS, method.needs)


def _loaded(folder: Path, needs: tuple[Need, ...]) -> dict[str, Artefact]:
    found: dict[str, Artefact] = {
        need.name: need.load(folder / f"{need.name}.arrow")
        for need in needs
        if (folder / f"{need.name}.arrow").exists()
    }
    calibration = folder / f"{Calibration.kind}.arrow"
    if calibration.exists():
        found[Calibration.kind] = load_calibration(calibration)
    return found


def _of_run(folder: Path) -> dict[str, Any]:
    try:
        settings = json.loads((folder / RUN).read_text("utf-8"))["settings"]
        method = registry.build(settings["method"], _unfiled(settings))
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"{folder} is not the folder of a finished run: it has no readable {RUN}.",
            hint="give the folder that `neardup dedup … -o FOLDER` wrote.",
        ) from error
    return {"method": method, "columns": settings}


def _unfiled(settings: dict[str, Any]) -> dict[str, Any]:
    """The artefacts of a run are in its folder, wherever they came from."""
    made = registry.build(settings["method"], settings["parameters"])
    files = {need.name for need in made.needs}
    return {n: None if n in files else v for n, v in settings["parameters"].items()}


def packed(artefacts: Artefacts) -> dict[str, bytes]:
    """As files, which is what artefacts know how to write."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        made = {}
        for name, artefact in artefacts.items():
            path = Path(folder) / f"{name}.arrow"
            artefact.save(path)
            made[name] = path.read_bytes()
        return made


def unpacked(files: Mapping[str, bytes], description: dict[str, Any]) -> dict[str, Artefact]:
    """Refuses artefacts that are not those the index was made with."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        for name, data in files.items():
            (Path(folder) / f"{name}.arrow").write_bytes(data)
        found = _loaded(Path(folder), _method_of(description).needs)
    digests = {name: artefact.digest for name, artefact in found.items()}
    if digests != description["signature"]["artefacts"]:
        raise SignatureError(
            "The artefacts of the index are not those it was made with.",
            hint="restore its store from a copy, or build it again.",
        )
    return found
