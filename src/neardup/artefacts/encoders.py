"""An encoder, frozen: what turns texts into vectors, known by its vectors of fixed probe texts.

The digest is of these vectors, projected and rounded so coarsely that the last bits of another
machine do not change it; so one model is the same encoder wherever its files are, and another is
refused. The model itself is never stored: a run or an index says where it was found.

Where encoders are found: by name, in Python, in a module, in the folder of a model.

Nothing is ever downloaded. An object that was given in Python is kept under a name with its digest,
so that a plan can be printed and stored; whoever reads it in another process gives the object
again. A model is loaded once in a process.

Models of sentences in local folders; whoever saved one has said what reads it.

Nothing is ever downloaded: what is no folder does not come here.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.artefacts.artefact import NothingToCount, why_unreadable
from neardup.errors import DataError, InputError, MissingExtraError, SettingsError, SignatureError
from neardup.features.vectors import MOST_DIMENSIONS, Hashing, planes

FORMAT = 1
DESCRIPTION = b"neardup encoder"
USUAL_LENGTH = 256  # words; most models of sentences read 256 to 512 tokens
BATCH = 256  # texts an encoder is given at once
PROBES = (
    "The ferry was late again, and nobody on the pier knew why.",
    "Interest rates rose by a quarter of a point on Thursday.",
    "def area(radius): return 3.14159 * radius ** 2",
    "Der Rat hat den Haushalt für das nächste Jahr beschlossen.",
    "El tren salió de la estación antes de la medianoche.",
    "東京都は日本の首都である。",
    "Российские учёные открыли новый вид рыб.",
    "القاهرة هي عاصمة مصر",
)
_PROJECTIONS = 16
_STEP = 2  # of a projection, whose values are of the order of 4
_OFFSET = 0.3137  # vectors of whole numbers have projections at halves, where rounding would waver

Vectors = npt.NDArray[np.float64]


@runtime_checkable
class Encodes(Protocol):
    """What users may bring: a ``SentenceTransformer``, a ``StaticModel``, or anything with this.
    ``length``, if it has one, is how many words it reads (0: any number); ``threads``, that several
    may use it at once."""

    def encode(self, texts: list[str]) -> Any:
        """One vector a text, all of the same length; a text it can say nothing of has zeros."""
        ...


@dataclass(frozen=True, eq=False)
class Encoder:
    """``name`` says where it was found."""

    name: str
    given: Encodes | Callable[[list[str]], Any] = field(repr=False)
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    kind: ClassVar[str] = "encoder"

    @property
    def length(self) -> int:
        """Words of a text that it reads; 0 for any number."""
        found = getattr(self.given, "length", USUAL_LENGTH)
        return found if isinstance(found, int) and found >= 0 else USUAL_LENGTH

    @functools.cached_property
    def _probe_vectors(self) -> Vectors:
        return _unit(self._vectors(list(PROBES)))

    @functools.cached_property
    def _probed(self) -> npt.NDArray[np.int16]:
        made = self._probe_vectors
        if not made.any():
            raise SettingsError(
                f"The encoder {self.name} gives only zeros for the probe texts, so it could not be "
                "told from others.",
                hint="it should know some words of one of the larger languages.",
            )
        projected = made @ planes(_PROJECTIONS, made.shape[1]).T.astype(np.float64)
        return np.floor(projected / _STEP + _OFFSET).astype(np.int16)

    @property
    def dimensions(self) -> int:
        return int(self._probe_vectors.shape[1])

    @functools.cached_property
    def digest(self) -> str:
        head = json.dumps([FORMAT, self.dimensions, self.length]).encode()
        return hashlib.sha256(head + self._probed.astype("<i2").tobytes()).hexdigest()[:32]

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, **self._options(), "digest": self.digest}

    def _options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "name": self.name,
            "dimensions": self.dimensions,
            "length": self.length,
        }

    def save(self, path: Any) -> None:
        """Its name, and the probes by which it is known again."""
        described = json.dumps({**self._options(), "digest": self.digest}).encode()
        schema = pa.schema([("probe", pa.int16())], metadata={DESCRIPTION: described})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            writer.write_table(pa.table([pa.array(self._probed.reshape(-1))], schema=schema))

    def unit_vectors(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1; zeros where the encoder gives zeros."""
        parts = [
            self._vectors(list(texts[begin : begin + BATCH]))
            for begin in range(0, len(texts), BATCH)
        ]
        if any(part.shape[1] != self.dimensions for part in parts):
            raise DataError(
                f"The encoder {self.name} gave vectors of {self.dimensions} numbers before, and "
                "of another length now.",
                hint="all texts need vectors of one length.",
            )
        return _unit(np.concatenate([np.empty((0, self.dimensions)), *parts]))

    def _vectors(self, texts: list[str]) -> Vectors:
        encode = self.given.encode if isinstance(self.given, Encodes) else self.given
        free = getattr(self.given, "threads", False) is True
        try:
            with contextlib.nullcontext() if free else self._lock:
                found = np.asarray(encode(texts), np.float64)
        except Exception as error:
            raise DataError(
                f"The encoder {self.name} failed: {type(error).__name__}: {error}.",
                hint="it is given a list of texts and must return one vector of numbers for each.",
            ) from error
        self._check(found, len(texts))
        return found

    def _check(self, found: Vectors, count: int) -> None:
        if found.ndim != 2 or len(found) != count or not 1 <= found.shape[1] <= MOST_DIMENSIONS:
            raise DataError(
                f"The encoder {self.name} gave an array of shape {found.shape} for {count} texts; "
                f"expected one vector of 1 to {MOST_DIMENSIONS:,} numbers for each.",
                hint="it is given a list of texts, not a single one.",
            )
        if not np.isfinite(found).all():
            raise DataError(
                f"The encoder {self.name} gave vectors with entries that are no finite numbers.",
                hint="for a text that it can say nothing of it may give zeros.",
            )


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))


def model_in(folder: Path) -> Any:
    """Of model2vec, else of sentence-transformers; both write modules.json."""
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        raise SettingsError(
            f"{folder} is not the folder of a model: it has neither modules.json nor config.json.",
            hint="save_pretrained(FOLDER) of model2vec, or save(FOLDER) of sentence-transformers, "
            "writes one.",
        )
    load = _static_model if _is_static(folder) else _sentence_transformer
    try:
        return load(folder)
    except ImportError as error:
        package = "model2vec" if load is _static_model else "sentence-transformers"
        extra = "pip install 'neardup[semantic]'"
        raise MissingExtraError(
            f"The model in {folder} needs {package}, which is not installed.",
            hint=extra if package == "model2vec" else f"pip install {package}",
        ) from error
    except Exception as error:
        raise InputError(
            f"The model in {folder} cannot be read: {type(error).__name__}: {error}.",
            hint="save it again.",
        ) from error


def _is_static(folder: Path) -> bool:
    """Whether it looks up a vector for each token, which model2vec does without torch."""
    try:
        modules = json.loads((folder / "modules.json").read_text("utf-8"))
    except (OSError, ValueError):  # older models of model2vec have none
        return not (folder / "config_sentence_transformers.json").exists()
    return any("StaticEmbedding" in str(module.get("type")) for module in modules)


def _static_model(folder: Path) -> Any:
    from model2vec import StaticModel

    return StaticModel.from_pretrained(folder)


def _sentence_transformer(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), local_files_only=True)


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
