"""A method with its defaults on a labelled set, through the product: in this process, or in
another one that is ended when it takes too long."""

from __future__ import annotations

import multiprocessing
import tempfile
from pathlib import Path

import numpy as np

from neardup.methods import registry
from quality.sets import Figures, Found, judge, rounded

USUAL = registry.DEFAULT
# Beside the defaults, what the literature takes for versions of a text, and what docs/methods
# recommends for texts that were copied in part and reworded.
REWORDED = "shingles words=3 measure=containment clip=20 threshold=0.3"
BESIDE = ("shingles threshold=0.5", REWORDED)
# Systems that are settings of a method, as their recipes have them (docs/papers.md).
SYSTEMS = {
    "sif (manber1994)": "join features=windows every=256 measure=containment threshold=0.25",
    "Heintze (heintze1996)": "join features=qgrams size=30 most=100 measure=max threshold=0.05",
    "COPS (brin1995)": "join features=sentences measure=containment threshold=0.5",
    "runs within sentences (wang2009)": "join features=sentence_shingles threshold=0.5",
    "skips (wang2009)": "join features=skips threshold=0.5",
    "pauses (wang2009)": "join features=pauses threshold=0.5",
    "Park (park2002)": "keywords order=3tf-idf+2df tf=count threshold=0.6",
    "probing (sood2011)": "simhash weak_bits=12",
}
METHODS = (USUAL, *sorted({*registry.METHODS} - {USUAL}), *BESIDE)


def find(method: str, folder: Path) -> Found:
    from neardup import api as nd
    from neardup.evaluation.scored_pairs import of_result
    from neardup.methods.registry import read_method

    result = nd.find(folder / "docs.jsonl.zst", method=read_method(method))
    assert result.pairs_complete, "pairs are partial; a floor needs all of them"
    pairs = of_result(result)
    return Found(result.decisions["id"].to_pylist(), pairs.a, pairs.b)


def measured(method: str, folder: Path) -> Figures:
    return rounded(judge(folder).figures(find(method, folder)))


def measured_within(seconds: float, method: str, folder: Path) -> Figures | None:
    """None if the method takes longer."""
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "found.npz"
        started = multiprocessing.get_context("spawn")
        process = started.Process(target=_find_into, args=(file, method, folder))
        process.start()
        process.join(seconds)
        if process.is_alive():
            process.kill()
            process.join()
            return None
        if process.exitcode:
            raise RuntimeError(f"{method} failed on {folder.name}; its error is above.")
        with np.load(file) as saved:
            found = Found(saved["ids"].tolist(), saved["a"], saved["b"])
    return rounded(judge(folder).figures(found))


def _find_into(file: Path, method: str, folder: Path) -> None:
    found = find(method, folder)
    np.savez(file, ids=np.array(found.ids), a=found.a, b=found.b)
