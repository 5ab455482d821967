"""The artefacts of an index: with which it begins, their bytes in its store, and their origin.

They are frozen when the index is created, and stored in it as files. They come from files that the
method names, from a Result, the folder of a run, or artefacts by name; else from the general tables
that come with the package (:class:`Tables` says which an index has).
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from neardup.artefacts.artefact import Artefact, Artefacts, GeneralNeed, Need, ReadyNeed
from neardup.artefacts.calibration import GENERAL, Calibration, load_calibration
from neardup.errors import SettingsError, SignatureError
from neardup.methods import registry
from neardup.methods.base import Method, signed_parameters
from neardup.runs.checksums import Checksums
from neardup.runs.result import Result
from neardup.runs.run_folder import ARTEFACTS
from neardup.runs.run_info import read_info
from neardup.wording import many


def frozen(method: Method, given: Any) -> dict[str, Artefact]:
    """All artefacts of the method; ``given`` is as in ``given_artefacts``, or None."""
    artefacts = given_artefacts(given, method) if given is not None else {}
    for need in method.needs:
        if need.file is not None:
            artefacts[need.name] = need.load(Path(need.file))
        elif need.name not in artefacts and isinstance(need, ReadyNeed) and _is_kept(need, method):
            artefacts[need.name] = need.ready()
        elif given is None and isinstance(need, GeneralNeed):
            artefacts[need.name] = need.general()
    missing = [need.name for need in method.needs if need.name not in artefacts]
    if missing:
        raise SettingsError(
            f"{method.name} needs {' and '.join(missing)} of a collection, which what was given "
            "for it does not have.",
            hint="give artefacts=RESULT or run=FOLDER of a run with this method, build the index "
            "from documents with `neardup index build`, or give nothing and begin with general "
            "tables.",
        )
    if method.calibrate and Calibration.kind not in artefacts and is_general(method, artefacts):
        artefacts |= _general_cut(method)
    names = [
        *(need.name for need in method.needs),
        *([Calibration.kind] if method.calibrate else []),
    ]
    return {name: artefacts[name] for name in names if name in artefacts}


def is_general(method: Method, artefacts: Artefacts) -> bool:
    """Whether all tables are those that come with the package, wherever they were read."""
    general = {n.name: n.general() for n in method.needs if isinstance(n, GeneralNeed)}
    same = [
        name in artefacts and artefacts[name].digest == general[name].digest for name in general
    ]
    return bool(same) and all(same)


def _general_cut(method: Method) -> dict[str, Artefact]:
    if method.general_threshold is None:
        return {}
    return {Calibration.kind: Calibration(method.general_threshold, GENERAL)}


def _is_kept(need: Need, method: Method) -> bool:
    """Whether the method still needs the artefact in its stored form, without the parameters that
    name files."""
    stored = registry.build(method.name, signed_parameters(method))
    return need.name in {one.name for one in stored.needs}


def given_artefacts(given: Any, method: Method) -> dict[str, Artefact]:
    """The artefacts of a Result, by name, or in the folder of a run."""
    if isinstance(given, Result):
        return dict(given.artefacts)
    if isinstance(given, Mapping):
        return dict(given)
    Checksums(Path(given)).check_below(ARTEFACTS)
    return _loaded(Path(given) / ARTEFACTS, method.needs)


def _loaded(folder: Path, needs: tuple[Need, ...]) -> dict[str, Artefact]:
    artefacts: dict[str, Artefact] = {
        need.name: need.load(folder / f"{need.name}.arrow")
        for need in needs
        if (folder / f"{need.name}.arrow").exists()
    }
    calibration = folder / f"{Calibration.kind}.arrow"
    if calibration.exists():
        artefacts[Calibration.kind] = load_calibration(calibration)
    return artefacts


def of_run(folder: Path) -> tuple[Method, dict[str, Any]]:
    """The method of a run, and its settings."""
    settings = run_info(folder)["settings"]
    return registry.build(settings["method"], _unfiled(settings)), settings


def run_info(folder: Path) -> dict[str, Any]:
    """The description of a run in its folder, whose artefacts are undamaged."""
    info, checksums = read_info(folder)
    checksums.check_below(ARTEFACTS)
    return info


def _unfiled(settings: dict[str, Any]) -> dict[str, Any]:
    """The method without file names: the artefacts of a run are in its folder."""
    method = registry.build(settings["method"], settings["parameters"])
    files = {need.name for need in method.needs}
    return {n: None if n in files else v for n, v in settings["parameters"].items()}


def packed(artefacts: Artefacts) -> dict[str, bytes]:
    """The bytes of each artefact, in the form of its file."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        files = {}
        for name, artefact in artefacts.items():
            path = Path(folder) / f"{name}.arrow"
            artefact.save(path)
            files[name] = path.read_bytes()
        return files


def unpacked(
    files: Mapping[str, bytes], method: Method, digests: Mapping[str, str]
) -> dict[str, Artefact]:
    """The artefacts from their bytes; refuses those with which the index was not made."""
    with tempfile.TemporaryDirectory(prefix="neardup-") as folder:
        for name, data in files.items():
            (Path(folder) / f"{name}.arrow").write_bytes(data)
        loaded = _loaded(Path(folder), method.needs)
    if {name: artefact.digest for name, artefact in loaded.items()} != digests:
        raise SignatureError(
            "The artefacts of the index are not those it was made with.",
            hint="restore its store from a copy, or build it again.",
        )
    return loaded


ENOUGH = 1000  # with so many documents, own tables are better than general ones


@dataclass(frozen=True)
class Tables:
    """The day on which tables were frozen and the number of documents they were counted from; if
    ``general``, these are documents of other collections."""

    general: bool
    documents: int
    frozen: str

    @classmethod
    def of(cls, artefacts: Artefacts, *, general: bool) -> Tables | None:
        """The origin of these tables; None if nothing was counted."""
        counted = [getattr(artefact, "documents", None) for artefact in artefacts.values()]
        known = [count for count in counted if count is not None]
        today = datetime.now(UTC).date().isoformat()
        return cls(general, max(known), today) if known else None

    @classmethod
    def in_use(cls, description: dict[str, Any]) -> Tables | None:
        """The tables of an index; None also if an earlier version did not record them."""
        stored = description.get("tables")
        return cls(**stored) if stored else None

    def data(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        if self.general:
            return f"general tables shipped with neardup, since {self.frozen}"
        return f"counted from {many(self.documents, 'document')}, frozen on {self.frozen}"


def hint(description: dict[str, Any], documents: int) -> str | None:
    """Advice to replace general tables, if the index has enough documents to count its own."""
    tables = Tables.in_use(description)
    if tables is None or not tables.general or documents < ENOUGH:
        return None
    if not description["texts"]:
        return (
            "Hint: this index runs on general tables and has no texts to count. `neardup index "
            "build` makes one from documents, with tables of its own."
        )
    return (
        "Hint: this index runs on general tables. `neardup index refresh STORE NEW` makes one with "
        f"tables counted from its own {documents:,} documents, which finds duplicates more surely."
    )
