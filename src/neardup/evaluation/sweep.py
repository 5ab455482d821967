"""Settings × thresholds with one matching pass a setting; scored pairs are kept and found again.

A sweep that is stopped goes on where it was: pairs in the folder that were made with the same
method, from the same documents, are not made again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neardup.artefacts.artefact import ReadyNeed
from neardup.documents import Collection
from neardup.evaluation import scored_pairs
from neardup.evaluation.measurement import Measured, Truth, measure
from neardup.evaluation.scored_pairs import ScoredPairs
from neardup.evaluation.swept_settings import Setting
from neardup.methods.base import SIGNATURE_FORMAT, signed_parameters
from neardup.plan import Plan, resolve
from neardup.progress import LOG, Progress
from neardup.settings import Settings


@dataclass(frozen=True)
class Sweep:
    """``base`` are the settings of all runs but method and threshold; ``digest`` is that of the
    documents; ``folder`` is where scored pairs are kept, None for nowhere."""

    collection: Collection
    base: Settings
    settings: Sequence[Setting]
    digest: str
    folder: Path | None = None
    clusters: str = "rule"

    def plans(self) -> list[Plan]:
        """What will run; whatever is wrong with it is raised now."""
        return [
            resolve(
                replace(self.base, method=one.wide, set={}, threshold=None, kinds="none"),
                every_pair=True,
            )
            for one in self.settings
        ]

    def measured(self, truth: Truth, progress: Progress) -> Iterator[Measured]:
        plans = self.plans()
        for number, (setting, plan) in enumerate(zip(self.settings, plans, strict=True), 1):
            told = _Numbered(progress, number, len(plans))
            pairs = self.pairs(plan, told)
            told.stage("measuring", len(setting.cuts), unit="thresholds")
            yield measure(
                setting,
                pairs,
                truth,
                clusters=self.clusters,
                advance=lambda n: told.advance(n),  # noqa: B023
            )

    def pairs(self, plan: Plan, progress: Progress) -> ScoredPairs:
        key = self._key(plan)
        path = self.folder and self.folder / f"{plan.method.name}-{key[:12]}.parquet"
        if path and (found := scored_pairs.load(path, key)):
            LOG.info("%s: scored pairs are at hand in %s", plan.method.name, path)
            return found
        made = scored_pairs.match(self.collection, plan, progress)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            scored_pairs.save(made, path, key)
        return made

    def _key(self, plan: Plan) -> str:
        """All that the scores depend on. What is counted from the input follows from it; what comes
        from a file or from the parameters alone is known by its digest."""
        needs = plan.method.needs
        files = {n.name: n.load(Path(n.file)).digest for n in needs if n.file}
        files |= {n.name: n.ready().digest for n in needs if isinstance(n, ReadyNeed)}
        written = [
            SIGNATURE_FORMAT,
            plan.method.name,
            signed_parameters(plan.method),
            files,
            self.digest,
            dataclasses.astuple(plan.columns),
            plan.within,
            plan.limit,
            plan.max_pairs,
        ]
        return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()


class _Numbered:
    """Stages with the number of the setting, where there are several."""

    def __init__(self, progress: Progress, number: int, of: int) -> None:
        self._progress = progress
        self._prefix = f"{number}/{of} " if of > 1 else ""

    def stage(
        self,
        name: str,
        total: int | None = None,
        unit: str = "documents",
        total_bytes: int | None = None,
    ) -> None:
        self._progress.stage(self._prefix + name, total, unit, total_bytes)

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        self._progress.advance(amount, done_bytes)

    def finish(self) -> None:
        """A run is done, the sweep is not."""
