"""Documents with copies that were edited a little, and others that share half; all labelled."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from neardup.evaluation.training.training_data import Data
from planting.test_plant import documents


def collection(count: int = 24) -> list[dict[str, str]]:
    """Of each text a copy in its group, and a text of another group with its first half."""
    made = []
    for i, doc in enumerate(documents(count, seed=3)):
        words = doc["text"].split()
        copy = [w if k % (9 + i % 5) else f"c{i}" for k, w in enumerate(words)]
        half = [w if 2 * k < len(words) else f"h{i}x{k}" for k, w in enumerate(words)]
        for name, some, group in (("a", words, "copy"), ("b", copy, "copy"), ("c", half, "other")):
            made.append({"id": f"d{i}{name}", "text": " ".join(some), "set": f"{group}{i}"})
    return made


def labels(count: int = 24) -> list[tuple[str, str, bool]]:
    return [(f"d{i}a", f"d{i}{other}", other == "b") for i in range(count) for other in ("b", "c")]


def written(folder: Path, count: int = 24) -> tuple[Path, Path]:
    """The files of documents and of labelled pairs."""
    docs, pairs = folder / "docs.jsonl", folder / "pairs.jsonl"
    docs.write_text("".join(json.dumps(doc) + "\n" for doc in collection(count)))
    rows = ({"a": a, "b": b, "label": same} for a, b, same in labels(count))
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return docs, pairs


def random_data(seed: int = 0, count: int = 120, documents_: int = 2000, width: int = 8) -> Data:
    """Pairs that are duplicates the more probably, the more alike they are."""
    draw = np.random.default_rng(seed)
    a = draw.integers(0, documents_, count)
    b = (a + draw.integers(1, documents_, count)) % documents_
    x = draw.random((count, width)).astype(np.float32).astype(np.float64)
    y = (x[:, :3].mean(axis=1) + draw.normal(0, 0.05, count) > 0.5).astype(np.int64)
    return Data(np.minimum(a, b), np.maximum(a, b), y, x)
