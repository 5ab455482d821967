"""The artefacts of a run folder, read when they are asked for and checked against ``run.json``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from neardup.artefacts.artefact import Artefact
from neardup.artefacts.calibration import Calibration, load_calibration
from neardup.errors import SettingsError, SignatureError
from neardup.methods import registry


class StoredArtefacts(Mapping[str, Artefact]):
    """By name. Only those are in it whose file is there and that can be read: the table of a method
    that is not registered here is known to nobody."""

    def __init__(self, folder: Path, info: dict[str, Any]) -> None:
        self._digests = {name: said["digest"] for name, said in info["artefacts"].items()}
        self._loaders = _loaders(info["settings"])
        self._files = {
            name: folder / f"{name}.arrow"
            for name in self._digests
            if name in self._loaders and (folder / f"{name}.arrow").exists()
        }
        self._read: dict[str, Artefact] = {}

    def __getitem__(self, name: str) -> Artefact:
        if name not in self._read:
            self._read[name] = self._load(name, self._files[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, name: object) -> bool:
        return name in self._files  # without reading it

    def _load(self, name: str, path: Path) -> Artefact:
        found: Artefact = self._loaders[name](path)
        if found.digest != self._digests[name]:
            raise SignatureError(
                f"{path} is not the one that the run was made with: its digest is "
                f"{found.digest}, run.json says {self._digests[name]}.",
                hint="restore the folder of the run, or make the run again.",
            )
        return found


def _loaders(settings: dict[str, Any]) -> dict[str, Any]:
    loaders: dict[str, Any] = {Calibration.kind: load_calibration}
    try:
        method = registry.build(settings["method"], settings["parameters"])
    except SettingsError:
        return loaders
    return loaders | {need.name: need.load for need in method.needs}
