"""What a run of ``dedup`` or ``find`` has done so far (``runs/journal_folder.py``).

Beside the chunks that were taken in, the folder has the tables that were counted and the decisions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from neardup import files
from neardup.artefacts.artefact import Artefact, Need
from neardup.artefacts.calibration import Calibration, load_calibration
from neardup.decisions.rule import Decided
from neardup.documents.collection import Collection
from neardup.documents.columns import Chunk, DocumentBatch
from neardup.documents.source import chunk_results
from neardup.engines.batch.threshold_choice import with_calibration
from neardup.matching.evidence import Pairs
from neardup.methods.base import Prepared
from neardup.plan import Plan
from neardup.runs.journal_folder import (
    JournalFolder,
    arrays_in,
    as_array,
    data_of,
    ragged_arrays,
    stamp,
    state_of,
    write_arrays,
)
from neardup.runs.run_tables import Intake, Outcome
from neardup.schema import Array, Ragged

Taken = tuple[DocumentBatch, Prepared, Array]
_DECIDED = "decided.npz"
# These do not change an answer.
_FREE = ("workers", "memory")
_FOLLOWING = ("parameters", "resolved", "signature", "threshold", "every_pair")


class Journal(JournalFolder):
    def open(self, collection: Collection, plan: Plan) -> Journal:
        """Refuses a journal that was begun with other settings or inputs."""
        self.begin(collection, _state(collection, plan), _written)
        return self

    def artefacts(self, needs: Sequence[Need]) -> dict[str, Artefact] | None:
        """What was counted for these needs; None if the count did not come to its end."""
        paths = {need: self.folder / f"{need.name}.arrow" for need in needs}
        if not all(path.exists() for path in paths.values()):
            return None
        return {need.name: need.load(path) for need, path in paths.items()}

    def keep_artefacts(self, artefacts: Mapping[str, Artefact]) -> None:
        for name, artefact in artefacts.items():
            with files.whole_file(self.folder / f"{name}.arrow") as part:
                artefact.save(part)

    def results(
        self,
        collection: Collection,
        chunks: Iterator[Chunk],
        work: Callable[[Chunk], Taken],
        workers: int,
    ) -> Iterator[Taken]:
        """What was taken in before, and then what is taken in now, which is kept."""
        yield from self._taken(collection, chunks)
        for taken in chunk_results(chunks, work, workers):
            yield self.keep_taken(collection, taken)

    def _taken(self, collection: Collection, chunks: Iterator[Chunk]) -> Iterator[Taken]:
        """What was taken in before. The chunks that it was made of are passed over, unread."""
        for batch, found in self.chunks_before(collection, chunks):
            parts: dict[str, Any] = {name: found[name] for name in _FLAT}
            for name in _RAGGED:
                parts[name] = Ragged(found[f"{name}_values"], found[f"{name}_offsets"])
            yield batch, Prepared(**parts), found["lengths"]

    def keep_taken(self, collection: Collection, taken: Taken) -> Taken:
        batch, prepared, lengths = taken
        arrays = {"lengths": lengths}
        for name in _RAGGED:
            arrays |= ragged_arrays(name, getattr(prepared, name))
        arrays |= {name: getattr(prepared, name) for name in _FLAT}
        self.keep_chunk(collection, batch, arrays)
        return taken

    def decided(self, intake: Intake, plan: Plan) -> tuple[Outcome, Plan] | None:
        if not (self.folder / _DECIDED).exists():
            return None
        found = arrays_in(self.folder / _DECIDED)
        if len(found["rank"]) != len(intake):
            return None
        if (path := self.folder / f"{Calibration.kind}.arrow").exists():
            plan = with_calibration(plan, load_calibration(path))
        outcome = Outcome(
            intake=intake,
            rank=found["rank"],
            leader=found["leader"],
            decided=Decided(found["kept_of"], found["score"]),
            cluster=found["cluster"],
            pairs=Pairs(found["pair_a"], found["pair_b"], found["pair_score"]),
            **data_of(found["about"]),
        )
        return outcome, plan

    def keep_decided(self, outcome: Outcome, plan: Plan) -> None:
        if calibration := plan.artefacts.get(Calibration.kind):
            self.keep_artefacts({Calibration.kind: calibration})
        about = {name: getattr(outcome, name) for name in _ABOUT}
        pairs, decided = outcome.pairs, outcome.decided
        arrays = {"rank": outcome.rank, "leader": outcome.leader, "cluster": outcome.cluster}
        arrays |= {"kept_of": decided.kept_of, "score": decided.score, "about": as_array(about)}
        arrays |= {"pair_a": pairs.a, "pair_b": pairs.b, "pair_score": pairs.score}
        write_arrays(self.folder / _DECIDED, arrays)


_RAGGED = ("keys", "evidence")
_FLAT = ("probes", "digests", "text_digests", "normal_digests", "flags")
_ABOUT = ("pairs_complete", "candidates", "timings", "refs", "refused", "capped")


def _state(collection: Collection, plan: Plan) -> dict[str, Any]:
    settings = {name: value for name, value in plan.describe().items() if name not in _FREE}
    settings |= {"signatures": plan.signatures, "every_pair": plan.every_pair}
    against = [Path(path) if isinstance(path, str) else path for path in plan.against]
    stamps = {str(path): stamp(path / "run.json", path) for path in against}
    return state_of(collection, settings) | {"against": stamps}


def _written(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings as a user writes them: parameters by their names, nothing that follows from
    them."""
    plain = {name: value for name, value in settings.items() if name not in _FOLLOWING}
    parameters = dict(settings.get("parameters", {}))
    if parameters.pop("calibrate", False):
        parameters["threshold"] = "auto"
    command = "find" if settings.get("every_pair") else "dedup"
    return {**plain, **parameters, "the command": command}
