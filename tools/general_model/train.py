"""Train the general model.

    python -m tools.general_model.train MATERIAL -o src/neardup/models/general.arrow

``MATERIAL`` is what ``tools.general_model.collect`` built. The same material gives the same bytes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.artefacts import outline
from neardup.artefacts.discriminants import Linear
from neardup.artefacts.model import Model, Platt
from neardup.artefacts.outline import Outline, OutlineNeed
from neardup.evaluation.training.machines import one_thread
from neardup.text.text_options import Text
from tools.general_model.about import about
from tools.general_model.collect import read
from tools.general_model.document import Document
from tools.general_model.fit import L2, Fit, fit
from tools.general_model.pairs import MEASURES, Array, Pairs, pairs_of

# The g from which a pair is a duplicate. In the material half of the weight is of duplicates; in a
# collection few of the pairs that meet are.
CUT = 3.0


def train(folder: Path, seed: int = 0) -> Model:
    files = sorted(folder.glob("*.jsonl"))
    everything = [pairs_of(path.stem, list(read(path)), seed) for path in files]
    with one_thread():
        found = fitted(everything)
        passed = dict(left_out(everything))
    used = np.flatnonzero(found.weights)
    told = {
        **about(everything, passed),
        "parameters": {"l2": L2, "cut": CUT},
        outline.NAME: outline.ranges([outlined(one.documents) for one in everything]),
        "digests": {path.stem: sha256(path.read_bytes()).hexdigest()[:16] for path in files},
    }
    return Model(
        measures=tuple(MEASURES[column] for column in used),
        discriminant=Linear(found.weights[used], found.b),
        center=np.zeros(len(used)),
        scale=np.ones(len(used)),
        platt=Platt(1.0, -CUT),
        threshold=0.5,
        trained=told,
    )


def outlined(documents: Sequence[Document]) -> Outline:
    batch = pa.record_batch({"text": pa.array([one.text for one in documents], pa.large_string())})
    counter = OutlineNeed(Text()).counter()
    counter.add(counter.count(batch))
    return counter.finish()


def fitted(some: Sequence[Pairs]) -> Fit:
    parts = zip(*((one.x, one.y, one.weight) for one in some), strict=True)
    return fit(*(np.concatenate(part) for part in parts))


def left_out(everything: Sequence[Pairs]) -> Iterator[tuple[str, Array]]:
    """Which pairs of each collection pass by what was trained without its family."""
    for family in dict.fromkeys(one.family for one in everything):
        made = fitted([one for one in everything if one.family != family])
        for one in everything:
            if one.family == family:
                yield one.collection, made.g(one.x) >= CUT


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("material", type=Path, metavar="MATERIAL")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="MODEL")
    asked = parser.parse_args()
    made = train(asked.material)
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    made.save(asked.output)
    told = made.trained
    print(dict(zip(made.measures, made.discriminant.arrays()["weights"].tolist(), strict=True)))
    print(made.discriminant.constants(), told["left_out_family"], made.digest)


if __name__ == "__main__":
    main()
