"""The experiments of the papers, each by name, with tables, figures and data as its result.

An experiment runs on any collection; ``docs/papers.md`` shows its results beside the figures that
the paper printed. The experiment ``conrad2003-sets`` is the module ``conrad2003_sets``. A new
experiment is a module and an entry in the file of its paper (``papers/paper.py``).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from neardup.papers import paper
from neardup.papers.paper import Study

if TYPE_CHECKING:
    from neardup.papers.experiment import Experiment, Options
    from neardup.progress import Progress


def experiments() -> dict[str, Study]:
    """All experiments by name, in the order of the papers."""
    return {
        name: study._replace(shows=f"{source.cited_as}, {study.shows}")
        for source in paper.papers().values()
        for name, study in source.experiments.items()
    }


def run(
    name: str, inputs: Any, options: Options | None = None, progress: Progress | None = None
) -> Experiment:
    """Run one experiment; ``inputs`` is whatever :func:`neardup.find` accepts as documents."""
    from neardup.papers.experiment import Options as Defaults
    from neardup.progress import Silent

    module, _, function = check_name(name).run.partition(":")
    experiment = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    outcome: Experiment = experiment(inputs, options or Defaults(), progress or Silent())
    return outcome


def check_name(name: str) -> Study:
    known = experiments()
    return known[paper.named(name, known, "experiment", f"there are {', '.join(known)}.")]
