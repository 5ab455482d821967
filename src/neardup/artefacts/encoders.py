"""Where encoders are found: by name, in Python, in a module, in the folder of a model.

Nothing is ever downloaded. An object that was given in Python is kept under a name with its digest,
so that a plan can be printed and stored; whoever reads it in another process gives the object
again. A model is loaded once in a process.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from neardup.artefacts.artefact import NothingToCount, why_unreadable
from neardup.artefacts.encoder import DESCRIPTION, Encoder, Encodes
from neardup.artefacts.models import model_in
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.features.hashing import Hashing

USUAL = "hashing"
_NAMED: dict[str, Callable[[], Any]] = {USUAL: Hashing}
_LOADED: dict[str, Encoder] = {}
_LOCK = threading.RLock()


def named(given: Any) -> str | None:
    """The name of what a user wrote or brought; an object is kept for the time of the process."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, Path):
        return str(given)
    if isinstance(given, Encoder):
        return _kept(given)
    if not _encodes(given):
        raise SettingsError(
            f"semantic: encoder is {given!r}; expected a name, a folder, or what encodes texts.",
            hint="give an object with encode(texts), such as a StaticModel, or a function.",
        )
    if place := _importable(given):
        return place
    called = getattr(given, "__qualname__", type(given).__qualname__)
    short = called.rpartition(".")[2].strip("<>")
    found = Encoder(short, given)
    return _kept(Encoder(f"{short}@{found.digest[:12]}", given))


def _encodes(given: object) -> bool:
    """A string has a method encode too, and a class has one that needs an object."""
    able = isinstance(given, Encodes) or callable(given)
    return able and not isinstance(given, str | type)


def _kept(encoder: Encoder) -> str:
    with _LOCK:
        _LOADED[encoder.name] = encoder
    return encoder.name


def _importable(given: object) -> str | None:
    """Where another process finds the same function."""
    module, name = getattr(given, "__module__", None), getattr(given, "__qualname__", "")
    there = getattr(sys.modules.get(module or ""), name, None)
    return f"{module}:{name}" if there is given and module != "__main__" else None


def encoder_of(name: str) -> Encoder:
    """Loaded once; refuses with a sentence what is nowhere."""
    if name not in _NAMED and Path(name).is_dir():
        name = str(Path(name).resolve())  # an index may be opened from another folder
    with _LOCK:
        if name not in _LOADED:
            _LOADED[name] = Encoder(name, _found(name))
        return _LOADED[name]


def _found(name: str) -> Any:
    if name in _NAMED:
        return _NAMED[name]()
    if Path(name).is_dir():
        return model_in(Path(name))
    module, colon, attribute = name.partition(":")
    if colon and all(part.isidentifier() for part in [*module.split("."), attribute]):
        return _attribute(name, module, attribute)
    raise SettingsError(f"There is no encoder {name!r}.", hint=_hint(name))


def _hint(name: str) -> str:
    if "@" in name:
        return "it was given in Python by another process: make Semantic(encoder=…) with it first."
    return (
        f"it is {USUAL!r}, 'module:attribute' or the folder of a model. Nothing is "
        "downloaded: where there is a network, save a model with "
        "model2vec.StaticModel.from_pretrained(NAME).save_pretrained(FOLDER)."
    )


def _attribute(name: str, module: str, attribute: str) -> Any:
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingsError(
            f"The encoder {name} cannot be imported: {error}.",
            hint="it is written as module:attribute, and Python must find the package.",
        ) from error
    made = found() if isinstance(found, type) else found
    if _encodes(made):
        return made
    raise SettingsError(
        f"The encoder {name} is a {type(made).__name__}, which encodes nothing.",
        hint="it needs a method encode(texts), or to be a function of a list of texts.",
    )


def load_encoder(path: Path) -> Encoder:
    """The encoder that a run or an index was made with, if it is still what it was."""
    try:
        with pa.OSFile(str(path), "rb") as source:
            schema = pa.ipc.open_file(source).schema
        said = json.loads((schema.metadata or {})[DESCRIPTION])
        name, digest = str(said["name"]), said["digest"]
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        reason = why_unreadable(error, "it is none that a run has stored")
        raise InputError(
            f"The description of an encoder {path} cannot be read: {reason}.",
            hint="an encoder is given by --set encoder=NAME; see docs/methods/semantic.md.",
        ) from error
    found = encoder_of(name)
    if found.digest != digest:
        raise SignatureError(
            f"The encoder {name} is not what it was: its digest is {found.digest}, stored is "
            f"{digest}.",
            hint="put the old model back, or make the run or the index again.",
        )
    return found


@dataclass(frozen=True)
class EncoderNeed:
    """Known from the parameters alone; without a name it is the usual one, or what is stored."""

    given: str | None
    name: str = Encoder.kind
    columns: tuple[str, ...] = ()
    file: str | None = None

    def ready(self) -> Encoder:
        return encoder_of(USUAL if self.given is None else self.given)

    def load(self, path: Path) -> Encoder:
        return load_encoder(path)

    def counter(self) -> NothingToCount:
        return NothingToCount(self)
