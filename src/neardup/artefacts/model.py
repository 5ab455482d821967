"""Models, trained on labelled pairs, that decide instead of a threshold set by hand.

A model scales the measures of a pair's similarity vector and computes the discriminant g(x) and a
probability that never decreases in g (Platt 1999). A pair whose probability reaches ``threshold``
is a duplicate. A model is stored as arrays with a description, never as code. A file from an
untrusted source can therefore be loaded; it is checked, and refused with a reason if it is invalid.
"""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from neardup.artefacts.arrays import Floats, LayoutError, arrays_digest, load_arrays, save_arrays
from neardup.artefacts.artefact import GENERAL, NothingToCount, shipped, why_unreadable
from neardup.artefacts.discriminants import Discriminant, discriminant_of, sigmoid
from neardup.errors import InputError, SettingsError, SignatureError
from neardup.features import similarity
from neardup.schema import Array
from neardup.text.text_options import Text

FORMAT = 1
_DESCRIPTION = b"neardup model"
MOST_NUMBER = 1e12  # the product of two or three such numbers is finite
_BLOCK = 4096  # pairs that are scored together
_HINT = "train one with `neardup train LABELS --documents INPUT -o MODEL`."


class Platt(NamedTuple):
    """The probability is 1 / (1 + exp(−(slope · g + offset))); ``slope`` is above 0."""

    slope: float
    offset: float

    def probability(self, g: Floats) -> Floats:
        return sigmoid(self.slope * g + self.offset)


@dataclass(frozen=True, eq=False)
class Model:
    """``measures`` are the names of the measures in x; ``center`` and ``scale`` give z = (x −
    center) / scale. ``trained`` describes the training data and the quality reached there."""

    measures: tuple[str, ...]
    discriminant: Discriminant
    center: Floats
    scale: Floats
    platt: Platt
    threshold: float
    text: Text = field(default_factory=Text)
    trained: dict[str, Any] = field(default_factory=dict)

    kind: ClassVar[str] = "model"

    def g(self, vectors: Array) -> Floats:
        """The discriminant of each pair; a row holds the measures of this model in their order, as
        ``similarity.vectors(…, model.measures)`` returns them."""
        g = np.empty(len(vectors), np.float64)
        for begin in range(0, len(vectors), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            g[block] = self.discriminant.g(self.scaled(vectors[block]))
        return g

    def probability(self, vectors: Array) -> Floats:
        return self.platt.probability(self.g(vectors))

    def scaled(self, vectors: Array) -> Floats:
        """The vectors z, to which the discriminant is applied."""
        return np.asarray((vectors.astype(np.float64) - self.center) / self.scale)

    @functools.cached_property
    def digest(self) -> str:
        return arrays_digest(self._options(), self._arrays())

    def _arrays(self) -> dict[str, Floats]:
        return {"center": self.center, "scale": self.scale, **self.discriminant.arrays()}

    def _options(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "similarity": similarity.VERSION,
            "measures": list(self.measures),
            "text": _written(self.text),
            "discriminant": self.discriminant.kind,
            "constants": self.discriminant.constants(),
            "calibration": self.platt._asdict(),
            "threshold": self.threshold,
            "trained": self.trained,
        }

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, **self._options(), "digest": self.digest}

    def save(self, path: Path) -> None:
        """The file appears under its name only when it is complete."""
        save_arrays(path, _DESCRIPTION, {**self._options(), "digest": self.digest}, self._arrays())


def _written(text: Text) -> dict[str, Any]:
    """The options as JSON returns them, with lists instead of tuples."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(text).items()}


def load_model(path: Path) -> Model:
    """Loads a model that :meth:`Model.save` wrote, and checks its digest and all its parts."""
    try:
        described, arrays = load_arrays(path, _DESCRIPTION)
    except FileNotFoundError as error:
        raise SettingsError(f"There is no model {path}.", hint=_HINT) from error
    except OSError as error:
        reason = why_unreadable(error, str(error))
        raise InputError(f"The model {path} cannot be read: {reason}.", hint=_HINT) from error
    except LayoutError as error:
        raise InputError(f"{path} is not a model: {error}.", hint=_HINT) from error
    _check_versions(path, described)
    _check_measures(path, described.get("measures"))
    try:
        model = _as_saved(described, arrays)
    except (KeyError, TypeError, ValueError, AttributeError, SettingsError) as error:
        raise InputError(f"{path} is not laid out as a model.", hint=_HINT) from error
    if model.digest != described.get("digest"):
        raise SignatureError(
            f"The model {path} has changed since it was saved.",
            hint="restore the file, or train again.",
        )
    if fault := _wrong(model):
        raise InputError(f"The model {path} cannot be used: {fault}.", hint=_HINT)
    return model


def place_of(model: str | None) -> str | None:
    """The absolute path of the file of a model; None for the general model."""
    return None if model in (None, GENERAL) else str(Path(str(model)).absolute())


def model_at(path: str | None) -> Model:
    """The general model, or a model from a file. A file is read again only if it has changed."""
    if path is None:
        return _general()
    try:
        status = Path(path).stat()
    except OSError:
        return load_model(Path(path))  # raises an error that explains the problem
    return _read(path, status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)


@functools.cache
def _general() -> Model:
    with shipped("general.arrow") as file:
        return load_model(file)


@functools.lru_cache(maxsize=8)
def _read(path: str, *_: int) -> Model:
    return load_model(Path(path))


def _check_versions(path: Path, described: dict[str, Any]) -> None:
    if (version := described.get("format")) != FORMAT:
        raise InputError(
            f"The model {path} has format {version!r}; this version reads {FORMAT}.", hint=_HINT
        )
    if (version := described.get("similarity")) != similarity.VERSION:
        raise SignatureError(
            f"The model {path} was trained on version {version!r} of the measures; this is version "
            f"{similarity.VERSION}, in which some are defined differently.",
            hint="train it again from the same labels.",
        )


def _check_measures(path: Path, names: Any) -> None:
    listed = names if isinstance(names, list) else []
    unknown = [name for name in listed if name not in similarity.KNOWN]
    if unknown or not listed or len(listed) > len({*map(str, listed)}):
        which = f"{str(unknown[0])[:40]!r}, which is unknown" if unknown else "none, or one twice"
        raise InputError(
            f"The model {path} takes the measure {which}.",
            hint="a version of neardup that knows it trained the model; train it again.",
        )


def _as_saved(described: dict[str, Any], arrays: dict[str, Floats]) -> Model:
    constants = {name: float(value) for name, value in described["constants"].items()}
    return Model(
        measures=tuple(described["measures"]),
        center=arrays.pop("center"),
        scale=arrays.pop("scale"),
        discriminant=discriminant_of(described["discriminant"], arrays, constants),
        platt=Platt(*(float(described["calibration"][name]) for name in Platt._fields)),
        threshold=float(described["threshold"]),
        text=Text(**described["text"]),
        trained=dict(described["trained"]),
    )


def _wrong(model: Model) -> str | None:
    """Why a complete model is useless or unsafe, as the end of a sentence; None if it is valid."""
    arrays = model._arrays().values()
    numbers = (*model.discriminant.constants().values(), *model.platt, model.threshold)
    if any(not abs(n) <= MOST_NUMBER for n in numbers) or any(
        not (np.abs(a) <= MOST_NUMBER).all() for a in arrays
    ):
        return "some of its numbers are not finite, or beyond any measure"
    width = (len(model.measures),)
    if (
        model.center.shape != width
        or model.scale.shape != width
        or (model.scale < 1 / MOST_NUMBER).any()
    ):
        return "its scaling does not fit its measures"
    if model.platt.slope <= 0:
        return "its probabilities decrease as its scores increase"
    if not 0 <= model.threshold <= 1:
        return "its threshold is not a probability"
    return model.discriminant.wrong(len(model.measures))


@dataclass(frozen=True, eq=False)
class ModelNeed:
    """The need of a method that already has its model. The need is not named after a parameter: an
    index does not store parameters with the name of a need, but it must store where the model
    is."""

    model: Model
    name: str = "discriminant"
    columns: tuple[str, ...] = ()
    file: str | None = None

    def ready(self) -> Model:
        return self.model

    def load(self, path: Path) -> Model:
        return load_model(path)

    def counter(self) -> NothingToCount:
        return NothingToCount(self)
