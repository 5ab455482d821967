"""The experiments of the papers, each by name, with tables, figures and data as its result.

An experiment runs on any collection; ``docs/papers.md`` shows its results beside the figures that
the paper printed. The experiment ``conrad-sets`` is the module ``conrad_sets``, and the recipes of
a paper are the TOML files that begin with its name. A new experiment is a module and an entry in
``PAPERS``.
"""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.errors import SettingsError

if TYPE_CHECKING:
    from neardup.papers.experiment import Experiment, Options
    from neardup.progress import Progress


class Paper(NamedTuple):
    home: str  # module:function
    says: str


# The order is that of `neardup evaluate --papers`.
PAPERS = {
    "broder": Paper(
        "broder:clusters",
        "Broder et al. 1997: clusters, the documents in them, identical ones, sizes",
    ),
    "conrad-sets": Paper(
        "conrad_sets:sets",
        "Conrad et al. 2003, Tables 2, 6, 7, 8: kinds and sizes of sets, agreement with gold sets",
    ),
    "williams-giles": Paper(
        "williams_giles:study",
        "Williams & Giles 2013, Figures 1–2, Tables 1–2: SimHash over k, shingles over w and R",
    ),
    "montanari-puglisi": Paper(
        "montanari_puglisi:quality",
        "Montanari & Puglisi 2012, Figures 5–6: q-grams, SpotSigs, LSH, I-Match over thresholds",
    ),
    "montanari-puglisi-time": Paper(
        "montanari_puglisi_time:costs",
        "Montanari & Puglisi 2012, Figures 7–9: time a document (measured, so it varies)",
    ),
    "conrad-growth": Paper(
        "conrad_growth:growth",
        "Conrad et al. 2003, Tables 3, 4, Figures 1–4: idf tables and signatures over growth",
    ),
    "henzinger": Paper(
        "henzinger:sources", "Henzinger 2006: correct and incorrect pairs within and across sources"
    ),
}


def run(
    name: str, inputs: Any, options: Options | None = None, progress: Progress | None = None
) -> Experiment:
    """Run one experiment; ``inputs`` is whatever :func:`neardup.find` accepts as documents."""
    from neardup.papers.experiment import Options as Defaults
    from neardup.progress import Silent

    module, _, function = check_name(name).home.partition(":")
    experiment = getattr(importlib.import_module(f"{__name__}.{module}"), function)
    outcome: Experiment = experiment(inputs, options or Defaults(), progress or Silent())
    return outcome


def check_name(name: str) -> Paper:
    if name not in PAPERS:
        near = difflib.get_close_matches(name, PAPERS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(PAPERS)}."
        raise SettingsError(f"There is no experiment {name!r}.", hint=hint)
    return PAPERS[name]
