"""Models of sentences in local folders; whoever saved one has said what reads it.

Nothing is ever downloaded: what is no folder does not come here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from neardup.errors import InputError, MissingExtraError, SettingsError


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
