"""Pairs that would teach most: by a model of the labels so far, where there are enough of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from neardup.errors import InputError, MissingExtraError
from neardup.evaluation.agreement import verdicts
from neardup.evaluation.judged_folder import JudgedFolder
from neardup.evaluation.labels import DUPLICATE, UNDECIDED
from neardup.evaluation.sampling import Sample

if TYPE_CHECKING:
    from neardup.artefacts.model import Model
    from neardup.evaluation.training.labels import Labelled
    from neardup.evaluation.training.material import Material
    from neardup.outputs.result import Result

KIND = "linear"  # quick enough to wait for


def suggested(results: Mapping[str, Result], folder: JudgedFolder, wanted: int) -> Sample:
    from neardup.evaluation.training.suggest import pool_of_run, suggest

    known = {label.pair for label in folder.labels()}
    model = quick_model(next(iter(results.values())), folder)
    seed = len(known)
    pools = {name: pool_of_run(name, one, model, seed) for name, one in results.items()}
    return suggest(pools, wanted, model=model, labelled=known, seed=seed)


def labelled_of(folder: JudgedFolder) -> Labelled:
    """The labels that count, as training takes them."""
    from neardup.evaluation.training.labels import Labelled

    found = Labelled(source="judged pairs")
    for pair, label in verdicts(folder.labels()).settled.items():
        if label.label != UNDECIDED:
            found.add(*pair, int(label.label == DUPLICATE))
    return found


def missing_labels(labelled: Labelled) -> str | None:
    """What is missing for training, in words; None where there is enough."""
    from neardup.evaluation.training.train import FEWEST

    yes = sum(labelled.labels.values())
    no = len(labelled.labels) - yes
    if min(yes, no) >= FEWEST:
        return None
    return (
        f"Training needs {FEWEST} duplicates and {FEWEST} pairs that are none; "
        f"so far there are {yes:,} and {no:,}."
    )


def material_of_run(result: Result, labelled: Labelled) -> Material:
    from neardup.documents import Columns
    from neardup.evaluation.training.material import Source, material_of
    from neardup.progress import Silent

    settings = result.info["settings"]
    columns = Columns(settings["text"], settings["id"])
    source = Source(result.collection(), columns, limit=settings.get("limit"))
    return material_of(source, labelled, Silent())


def quick_model(result: Result, folder: JudgedFolder) -> Model | None:
    from neardup.evaluation.training.train import train

    labelled = labelled_of(folder)
    if missing_labels(labelled):
        return None
    try:
        return train(material_of_run(result, labelled), kind=KIND, choose=False)
    except (MissingExtraError, InputError):  # then pairs are spread instead
        return None
