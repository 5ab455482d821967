"""The artefacts of an index: frozen when it is made, and kept in its store as files.

They come from files that the method names, from ``artefacts`` (a Result, the folder of a run, or
artefacts by name) or from the folder of a ``run``. Where none of these is given, an index begins
with the general tables that come with the package.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neardup.artefacts.artefact import Artefact, Artefacts, GeneralNeed, Need, ReadyNeed
from neardup.artefacts.calibration import GENERAL, Calibration, load_calibration
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.methods import registry
from neardup.methods.method import (
    CalibratedMethod,
    KnowsGeneralThreshold,
    Method,
    signed_parameters,
)
from neardup.outputs.folder import ARTEFACTS, RUN
from neardup.outputs.result import Result


def frozen(method: Method, given: Any) -> dict[str, Artefact]:
    """All that the method needs; ``given`` is as in ``given_artefacts``, or None."""
    there = given_artefacts(given, method) if given is not None else {}
    for need in method.needs:
        if need.file is not None:
            there[need.name] = need.load(Path(need.file))
        elif need.name not in there and isinstance(need, ReadyNeed) and _is_kept(need, method):
            there[need.name] = need.ready()
        elif given is None and isinstance(need, GeneralNeed):
            there[need.name] = need.general()
    missing = [need.name for need in method.needs if need.name not in there]
    if missing:
        raise SettingsError(
            f"{method.name} needs {' and '.join(missing)} of a collection, which what was given "
            "for it does not have.",
            hint="give artefacts=RESULT or run=FOLDER of a run with this method, build the index "
            "from documents with `neardup index build`, or give nothing and begin with general "
            "tables.",
        )
    calibrated = isinstance(method, CalibratedMethod) and method.calibrate
    if calibrated and Calibration.kind not in there and is_general(method, there):
        there |= _general_cut(method)
    names = [*(need.name for need in method.needs), *([Calibration.kind] if calibrated else [])]
    return {name: there[name] for name in names if name in there}


def is_general(method: Method, artefacts: Artefacts) -> bool:
    """Whether all tables are those that come with the package, wherever they were taken from."""
    general = {n.name: n.general() for n in method.needs if isinstance(n, GeneralNeed)}
    same = [
        name in artefacts and artefacts[name].digest == general[name].digest for name in general
    ]
    return bool(same) and all(same)


def _general_cut(method: Method) -> dict[str, Artefact]:
    if not isinstance(method, KnowsGeneralThreshold):
        return {}
    return {Calibration.kind: Calibration(method.general_threshold, GENERAL)}


def _is_kept(need: Need, method: Method) -> bool:
    """Whether the method still asks for it as an index stores it: without the parameters that say
    where artefacts are."""
    stored = registry.build(method.name, signed_parameters(method))
    return need.name in {one.name for one in stored.needs}


def given_artefacts(given: Any, method: Method) -> dict[str, Artefact]:
    """Of a Result, by name, or in the folder of a run."""
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


def of_run(folder: Path) -> tuple[Method, dict[str, Any]]:
    """The method of a run, and its settings."""
    settings = run_info(folder)["settings"]
    return registry.build(settings["method"], _unfiled(settings)), settings


def run_info(folder: Path) -> dict[str, Any]:
    """What a run says of itself."""
    try:
        found: dict[str, Any] = json.loads((folder / RUN).read_text("utf-8"))
        _ = found["settings"]["method"], found["settings"]["parameters"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{folder} is not the folder of a finished run: it has no readable {RUN}.",
            hint="give the folder that `neardup dedup … -o FOLDER` wrote.",
        ) from error
    return found


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


def unpacked(
    files: Mapping[str, bytes], method: Method, digests: Mapping[str, str]
) -> dict[str, Artefact]:
    """Refuses artefacts that are not those the index was made with."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        for name, data in files.items():
            (Path(folder) / f"{name}.arrow").write_bytes(data)
        found = _loaded(Path(folder), method.needs)
    if {name: artefact.digest for name, artefact in found.items()} != digests:
        raise SignatureError(
            "The artefacts of the index are not those it was made with.",
            hint="restore its store from a copy, or build it again.",
        )
    return found
