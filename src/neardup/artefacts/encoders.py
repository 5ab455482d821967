"""Encoders: models and functions that turn texts into vectors, as artefacts.

An encoder is identified by its vectors of fixed probe texts. The digest is of these vectors,
projected and rounded coarsely enough that differences between machines in the last bits do not
matter. A model is thus the same encoder wherever its files are, and a different model is refused.
The model itself is never stored; a run or an index records where it was found.

An encoder is found by name (``hashing``, ``unisim``), as an object passed in Python, as
``module:attribute``, or as the local folder of a model. Nothing is downloaded, and a model is
loaded once per process. An object passed in Python is registered under a name with its digest, so
that a plan can be printed and stored; a different process has to pass the object again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib
import importlib.metadata
import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
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
USUAL_LENGTH = 256  # words; most sentence models read 256 to 512 tokens
BATCH = 256  # texts that are encoded at once
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
_STEP = 2  # rounding step of projections, whose values are of the order of 4
_OFFSET = 0.3137  # integer vectors have projections at halves, where rounding would be unstable

Vectors = npt.NDArray[np.float64]
_EXTRA = "pip install 'neardup[semantic]'"


@runtime_checkable
class Encodes(Protocol):
    """An object that users may pass: a ``SentenceTransformer``, a ``StaticModel``, or any object
    with this method. Two attributes are optional: ``length`` is the number of words that it reads
    (0: any number), and ``threads = True`` permits concurrent calls."""

    def encode(self, texts: list[str]) -> Any:
        """One vector per text, all of the same length; zeros for a text that it cannot encode."""
        ...


@dataclass(frozen=True, eq=False)
class Encoder:
    """``name`` records where the ``model`` was found."""

    name: str
    model: Encodes | Callable[[list[str]], Any] = field(repr=False)
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    kind: ClassVar[str] = "encoder"

    @property
    def length(self) -> int:
        """The number of words of a text that it reads; 0 for any number."""
        length = getattr(self.model, "length", USUAL_LENGTH)
        return length if isinstance(length, int) and length >= 0 else USUAL_LENGTH

    @functools.cached_property
    def _probe_vectors(self) -> Vectors:
        return _unit(self._vectors(list(PROBES)))

    @functools.cached_property
    def _probes(self) -> npt.NDArray[np.int16]:
        vectors = self._probe_vectors
        if not vectors.any():
            raise SettingsError(
                f"The encoder {self.name} returns only zeros for the probe texts, so it cannot be "
                "identified.",
                hint="it should know some words of one of the larger languages.",
            )
        projected = vectors @ planes(_PROJECTIONS, vectors.shape[1]).T.astype(np.float64)
        return np.floor(projected / _STEP + _OFFSET).astype(np.int16)

    @property
    def dimensions(self) -> int:
        return int(self._probe_vectors.shape[1])

    @functools.cached_property
    def digest(self) -> str:
        head = json.dumps([FORMAT, self.dimensions, self.length]).encode()
        return hashlib.sha256(head + self._probes.astype("<i2").tobytes()).hexdigest()[:32]

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
        """Stores the name, and the probes by which the encoder is identified."""
        described = json.dumps({**self._options(), "digest": self.digest}).encode()
        schema = pa.schema([("probe", pa.int16())], metadata={DESCRIPTION: described})
        with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            writer.write_table(pa.table([pa.array(self._probes.reshape(-1))], schema=schema))

    def unit_vectors(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, except zeros, which stay zeros."""
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
        encode = self.model.encode if isinstance(self.model, Encodes) else self.model
        concurrent = getattr(self.model, "threads", False) is True
        try:
            with contextlib.nullcontext() if concurrent else self._lock:
                vectors = np.asarray(encode(texts), np.float64)
        except Exception as error:
            raise DataError(
                f"The encoder {self.name} failed: {type(error).__name__}: {error}.",
                hint="it is given a list of texts and must return one vector of numbers for each.",
            ) from error
        self._check(vectors, len(texts))
        return vectors

    def _check(self, vectors: Vectors, count: int) -> None:
        shape = vectors.shape
        if len(shape) != 2 or shape[0] != count or not 1 <= shape[1] <= MOST_DIMENSIONS:
            raise DataError(
                f"The encoder {self.name} gave an array of shape {shape} for {count} texts; "
                f"expected one vector of 1 to {MOST_DIMENSIONS:,} numbers for each.",
                hint="it is given a list of texts, not a single one.",
            )
        if not np.isfinite(vectors).all():
            raise DataError(
                f"The encoder {self.name} gave vectors with entries that are no finite numbers.",
                hint="it may return zeros for a text that it cannot encode.",
            )


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))


def model_in(folder: Path) -> Any:
    """A model of model2vec or of sentence-transformers, which both write modules.json."""
    if not any((folder / name).is_file() for name in ("modules.json", "config.json")):
        raise SettingsError(
            f"{folder} is not the folder of a model: it has neither modules.json nor config.json.",
            hint="save_pretrained(FOLDER) of model2vec, or save(FOLDER) of sentence-transformers, "
            "writes one.",
        )
    package = "model2vec" if _is_static(folder) else "sentence-transformers"
    try:
        if package == "model2vec":
            from model2vec import StaticModel

            return StaticModel.from_pretrained(folder)
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(folder), local_files_only=True)
    except ImportError as error:
        raise MissingExtraError(
            f"The model in {folder} needs {package}, which is not installed.",
            hint=_EXTRA if package == "model2vec" else f"pip install {package}",
        ) from error
    except Exception as error:
        raise InputError(
            f"The model in {folder} cannot be read: {type(error).__name__}: {error}.",
            hint="save it again.",
        ) from error


def _is_static(folder: Path) -> bool:
    """Whether the model only looks up a vector per token, which model2vec does without torch."""
    try:
        modules = json.loads((folder / "modules.json").read_text("utf-8"))
    except (OSError, ValueError):  # older models of model2vec have no such file
        return not (folder / "config_sentence_transformers.json").exists()
    return any("StaticEmbedding" in str(module.get("type")) for module in modules)


class RetSim:
    """RETSim, a model of characters that is robust to typing errors (Zhang et al., 2023), from the
    wheel ``unisim``, which contains the file of the model.

    The vectors are those of ``unisim.TextSim().embed``, whose package is not imported: it loads
    pandas and an index of its own. A chunk is encoded alone, because the last bits of a vector
    would otherwise depend on which texts share its batch; larger batches are not faster.
    """

    length: ClassVar[int] = 0  # it divides texts itself
    threads: ClassVar[bool] = True
    _FILE = "unisim/embedder/models/text/retsim/v1.onnx"
    _CHARACTERS, _LEAST = 512, 256  # of a chunk, and of the last chunk of several
    _BITS = np.arange(23, -1, -1, dtype=np.uint32)  # of a code point, the highest first
    _DIMENSIONS = 256

    def __init__(self) -> None:
        try:
            import onnxruntime

            file = importlib.metadata.distribution("unisim").locate_file(self._FILE)
        except ImportError as error:
            raise MissingExtraError(
                "The encoder unisim needs unisim and onnxruntime, which are not installed.",
                hint=_EXTRA,
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # neardup calls it from as many threads as it has workers
        self._session = onnxruntime.InferenceSession(
            str(file), options, providers=["CPUExecutionProvider"]
        )
        self._input = self._session.get_inputs()[0].name

    def encode(self, texts: list[str]) -> Vectors:
        """The mean of the vectors of all chunks; zeros for an empty text."""
        return np.array([self._vector(text) for text in texts]).reshape(-1, self._DIMENSIONS)

    def _vector(self, text: str) -> Vectors:
        if not text:
            return np.zeros(self._DIMENSIONS)
        return np.asarray(np.mean([self._chunk(chunk) for chunk in self._chunks(text)], axis=0))

    def _chunks(self, text: str) -> Iterator[npt.NDArray[np.uint32]]:
        """Code points, filled up with zeros. The end of a text is left out if it is short."""
        points = np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.uint32)
        for begin in range(0, len(points), self._CHARACTERS):
            chunk = points[begin : begin + self._CHARACTERS]
            if begin == 0 or len(chunk) > self._LEAST:
                yield np.pad(chunk, (0, self._CHARACTERS - len(chunk)))

    def _chunk(self, points: npt.NDArray[np.uint32]) -> Vectors:
        bits = (points[None, :, None] >> self._BITS & 1).astype(np.float32)
        return np.asarray(self._session.run(None, {self._input: bits})[0][0], np.float64)


USUAL = "hashing"
_NAMED: dict[str, Callable[[], Any]] = {USUAL: Hashing, "unisim": RetSim}
_LOADED: dict[str, Encoder] = {}
_LOCK = threading.RLock()


def named(encoder: Any) -> str | None:
    """The name of an encoder that a user wrote or passed; a passed object is registered for the
    lifetime of the process."""
    if encoder is None or isinstance(encoder, str):
        return encoder
    if isinstance(encoder, Path):
        return str(encoder)
    if isinstance(encoder, Encoder):
        return _registered(encoder)
    if not _encodes(encoder):
        raise SettingsError(
            f"semantic: encoder is {encoder!r}; expected a name, a folder, or what encodes texts.",
            hint="give an object with encode(texts), such as a StaticModel, or a function.",
        )
    if place := _importable(encoder):
        return place
    qualified = getattr(encoder, "__qualname__", type(encoder).__qualname__)
    short = qualified.rpartition(".")[2].strip("<>")
    return _registered(Encoder(f"{short}@{Encoder(short, encoder).digest[:12]}", encoder))


def _encodes(value: object) -> bool:
    """Strings also have a method ``encode``, and the method of a class needs an instance."""
    able = isinstance(value, Encodes) or callable(value)
    return able and not isinstance(value, str | type)


def _registered(encoder: Encoder) -> str:
    with _LOCK:
        _LOADED[encoder.name] = encoder
    return encoder.name


def _importable(encoder: object) -> str | None:
    """The place from which a different process can import the same function."""
    module, name = getattr(encoder, "__module__", None), getattr(encoder, "__qualname__", "")
    imported = getattr(sys.modules.get(module or ""), name, None)
    return f"{module}:{name}" if imported is encoder and module != "__main__" else None


def encoder_of(name: str) -> Encoder:
    """The encoder with this name, loaded once; raises an error if there is none."""
    if name not in _NAMED and Path(name).is_dir():
        name = str(Path(name).resolve())  # an index may be opened from another folder
    with _LOCK:
        if name not in _LOADED:
            _LOADED[name] = Encoder(name, _loaded(name))
        return _LOADED[name]


def _loaded(name: str) -> Any:
    if name in _NAMED:
        return _NAMED[name]()
    if Path(name).is_dir():
        return model_in(Path(name))
    module, colon, attribute = name.partition(":")
    if colon and all(part.isidentifier() for part in [*module.split("."), attribute]):
        return _attribute(name, module, attribute)
    hint = (
        f"it is {', '.join(map(repr, _NAMED))}, 'module:attribute' or the folder of a model. "
        "Nothing is downloaded: where there is a network, save a model with "
        "model2vec.StaticModel.from_pretrained(NAME).save_pretrained(FOLDER)."
    )
    if "@" in name:
        hint = "it was given in Python by another process: make Semantic(encoder=…) with it first."
    raise SettingsError(f"There is no encoder {name!r}.", hint=hint)


def _attribute(name: str, module: str, attribute: str) -> Any:
    try:
        value = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingsError(
            f"The encoder {name} cannot be imported: {error}.",
            hint="it is written as module:attribute, and Python must find the package.",
        ) from error
    encoder = value() if isinstance(value, type) else value
    if _encodes(encoder):
        return encoder
    raise SettingsError(
        f"The encoder {name} is a {type(encoder).__name__}, which encodes nothing.",
        hint="it needs a method encode(texts), or to be a function of a list of texts.",
    )


def load_encoder(path: Path) -> Encoder:
    """The encoder that a run or an index was made with; raises an error if it has changed."""
    try:
        with pa.OSFile(str(path), "rb") as source:
            schema = pa.ipc.open_file(source).schema
        described = json.loads((schema.metadata or {})[DESCRIPTION])
        name, digest = str(described["name"]), described["digest"]
    except (OSError, pa.ArrowException, KeyError, ValueError) as error:
        reason = why_unreadable(error, "no run has written it")
        raise InputError(
            f"The description of an encoder {path} cannot be read: {reason}.",
            hint="an encoder is given by --set encoder=NAME; see docs/methods/semantic.md.",
        ) from error
    encoder = encoder_of(name)
    if encoder.digest != digest:
        raise SignatureError(
            f"The encoder {name} has changed: its digest is {encoder.digest}, expected {digest}.",
            hint="put the old model back, or make the run or the index again.",
        )
    return encoder


@dataclass(frozen=True)
class EncoderNeed:
    """``encoder`` is the name of an encoder; None for the default or, in an index, the stored
    one."""

    encoder: str | None
    name: str = Encoder.kind
    columns: tuple[str, ...] = ()
    file: str | None = None

    def ready(self) -> Encoder:
        return encoder_of(USUAL if self.encoder is None else self.encoder)

    def load(self, path: Path) -> Encoder:
        return load_encoder(path)

    def counter(self) -> NothingToCount:
        return NothingToCount(self)
