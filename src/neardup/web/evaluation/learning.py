"""The learning curve: what more labels would bring, on documents that were not trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neardup.web.judging.suggesting import KIND, material_of_run

if TYPE_CHECKING:
    from neardup.evaluation.training.labels import Labelled
    from neardup.outputs.result import Result


def learned(result: Result, labelled: Labelled) -> dict[str, Any]:
    """Of the kind of model that is quickly trained; ``neardup train`` tries the others too."""
    from neardup.evaluation.training.kinds import check_extra
    from neardup.evaluation.training.train import train

    check_extra()
    model = train(material_of_run(result, labelled), kind=KIND, choose=False)
    known = model.trained
    return {name: known[name] for name in ("curve", "validated", "one_measure", "pairs")}
