"""Measures many settings and thresholds with one matching pass per setting.

Scored pairs are kept in a folder. An interrupted sweep continues from there: pairs of the same
method on the same documents are not computed again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from neardup.artefacts.artefact import ReadyNeed
from neardup.documents.collection import Collection
from neardup.evaluation import scored_pairs
from neardup.evaluation.measurement import Measured, Truth, measure
from neardup.evaluation.scored_pairs import ScoredPairs
from neardup.evaluation.swept_settings import Setting
from neardup.methods.base import SIGNATURE_FORMAT, signed_parameters
from neardup.methods.thresholds import AUTO
from neardup.plan import Plan, resolve
from neardup.progress import LOG, Progress, Stage, Staged
from neardup.settings import Settings


@dataclass(frozen=True)
class Sweep:
    """``base`` has all settings except method and threshold; ``digest`` is that of the documents;
    scored pairs are kept in ``folder``, or nowhere if it is None."""

    collection: Collection
    base: Settings
    settings: Sequence[Setting]
    digest: str
    folder: Path | None = None
    clusters: str = "rule"

    def plans(self) -> list[Plan]:
        """The resolved plans; all errors in the settings are raised here."""
        return [
            resolve(
                replace(
                    self.base,
                    method=setting.wide,
                    set={},
                    threshold=AUTO if setting.auto else None,
                    kinds="none",
                ),
                every_pair=True,
            )
            for setting in self.settings
        ]

    def measured(self, truth: Truth, progress: Progress) -> Iterator[Measured]:
        plans = self.plans()
        for number, (setting, plan) in enumerate(zip(self.settings, plans, strict=True), 1):
            reporter = _Numbered(progress, number, len(plans))
            pairs = self.pairs(plan, reporter)
            setting = setting.chosen(pairs.lowest) if setting.auto else setting
            reporter.stage("measuring", len(setting.cuts), unit="thresholds")
            yield measure(
                setting,
                pairs,
                truth,
                clusters=self.clusters,
                advance=lambda n: reporter.advance(n),  # noqa: B023
            )

    def pairs(self, plan: Plan, progress: Progress) -> ScoredPairs:
        key = self._key(plan)
        path = self.folder and self.folder / f"{plan.method.name}-{key[:12]}.parquet"
        if path and (stored := scored_pairs.load(path, key)):
            LOG.info("%s: using the scored pairs in %s", plan.method.name, path)
            return stored
        pairs = scored_pairs.match(self.collection, plan, progress)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            scored_pairs.save(pairs, path, key)
        return pairs

    def _key(self, plan: Plan) -> str:
        """A digest of everything that the scores depend on. Artefacts counted from the input follow
        from its digest; artefacts from a file or from parameters enter with their own."""
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
            *([AUTO] if plan.planted_cut else []),
        ]
        return hashlib.sha256(json.dumps(written, sort_keys=True).encode()).hexdigest()


class _Numbered(Staged):
    """Progress that prefixes each stage with the number of the setting, if there are several."""

    def __init__(self, progress: Progress, number: int, of: int) -> None:
        self._progress = progress
        self._prefix = f"{number}/{of} " if of > 1 else ""

    def begin(self, stage: Stage) -> None:
        named = self._prefix + stage.name
        self._progress.stage(named, stage.total, stage.unit, stage.total_bytes)

    def advance(self, amount: int, done_bytes: int = 0) -> None:
        self._progress.advance(amount, done_bytes)

    def finish(self) -> None:
        """Do nothing: the end of one run is not the end of the sweep."""
