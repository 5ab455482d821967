"""The Result: which documents were kept or set aside and why, and methods for further questions.

Tables are Arrow. A Result comes from a run in memory or from the folder of an earlier run. Both
give the same answers, as long as the documents are still in their place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup import schema
from neardup.artefacts.artefact import NO_ARTEFACTS, Artefacts
from neardup.classes import dataclass
from neardup.documents.collection import Collection
from neardup.errors import DataError, NeardupError, SettingsError
from neardup.methods import registry
from neardup.runs.run_tables import clusters_table
from neardup.schema import Array
from neardup.wording import many, where

if TYPE_CHECKING:
    from neardup.decisions.policy import Policy
    from neardup.runs.application import Applied
    from neardup.runs.comparison import Comparison
    from neardup.runs.explanation import Explanation


@dataclass(frozen=True)
class Counts:
    """``documents = kept + duplicates + rejected``, which ``_account`` of ``engines/execution.py``
    checks for every run."""

    documents: int
    kept: int
    duplicates: int
    rejected: int
    too_short: int
    clusters: int
    pairs: int

    def sentence(self) -> str:
        return (
            f"{many(self.documents, 'document')} = {self.kept:,} kept + "
            f"{many(self.duplicates, 'duplicate')} + {self.rejected:,} rejected"
        )


class Result:
    """``info`` is the content of ``run.json``; ``rank`` orders all documents of ``decisions``."""

    def __init__(
        self,
        decisions: pa.Table,
        pairs: pa.Table,
        info: dict[str, Any],
        *,
        rank: Array | None = None,
        collection: Callable[[], Collection] | None = None,
        artefacts: Artefacts = NO_ARTEFACTS,
        text_digests: Array | None = None,
    ) -> None:
        self.decisions = decisions
        self.pairs = pairs
        self.info = info
        self.rank = np.arange(len(decisions)) if rank is None else rank
        self._collection = collection
        self.artefacts = artefacts
        # One for each text, 0 for rejected documents; they show whether the input has changed.
        self.text_digests = text_digests
        self.known_actions: Callable[[], pa.Table] | None = None  # reads stored actions
        # Writes the signatures of this run to a file; None if they are not wanted.
        self.signatures: Callable[[Path], None] | None = None
        self.folder: Path | None = None  # where this run was saved last, or loaded from

    @functools.cached_property
    def duplicates(self) -> pa.Table:
        aside = self.decisions.filter(pc.equal(self.decisions["decision"], schema.DUPLICATE))
        methods = [str(self.info["settings"]["method"])] * len(aside)
        return aside.append_column("method", pa.array(methods, pa.string()))

    @functools.cached_property
    def clusters(self) -> pa.Table:
        return clusters_table(self.decisions)

    @functools.cached_property
    def kept(self) -> Any:
        """The kept documents, complete, in the type of the input (for files an Arrow table)."""
        return self.collection().kept(self.keep_mask())

    @functools.cached_property
    def annotated(self) -> Any:
        """Every document with the columns cluster, kept_id, score, kind and decision, in the type
        of the input. A list of texts becomes a list of dicts. Rejected items stay as they are;
        rejected lines of JSON files are left out."""
        from neardup.runs.annotation import annotating

        return annotating(self).kept

    def keep_mask(self) -> Array:
        """Whether each input document is kept, in input order."""
        return np.asarray(pc.equal(self.decisions["decision"], schema.KEPT))

    @property
    def accepted_ids(self) -> pa.Array:
        """The id of each document, null if rejected: its id may be that of an accepted one."""
        ids = self.decisions["id"].combine_chunks()
        rejected = pc.equal(self.decisions["decision"], schema.REJECTED).combine_chunks()
        return pc.if_else(rejected, pa.scalar(None, ids.type), ids)

    def collection(self) -> Collection:
        if self._collection is None:
            raise DataError(
                "This result does not know its documents any more: they were in memory.",
                hint="decisions, pairs, duplicates and clusters are still here.",
            )
        return self._collection()

    @functools.cached_property
    def collection_if_there(self) -> Collection | None:
        """The documents, or None if they cannot be read any more."""
        try:
            return self.collection()
        except (NeardupError, OSError):
            return None

    def path_of(self, row: Mapping[str, Any]) -> str | None:
        """The file of a row of the decisions, if a file is a document. None if the document cannot
        be located, for example in a folder whose files have changed."""
        documents = self.collection_if_there
        try:
            path = documents.path_of(row["file"], row["row"]) if documents else None
            name = documents.name_of(row["file"], row["row"]) if documents and path else ""
        except (NeardupError, OSError, IndexError):
            return None
        own = self.info["settings"].get("id") is None and row["id"] is not None
        return path if path and (not own or _ends_alike(name, row["id"])) else None

    def where(self, row: Mapping[str, Any]) -> str:
        """The location of a document, for people."""
        return where(row["file"], row["row"], self.path_of(row))

    @functools.cached_property
    def counts(self) -> Counts:
        decision = self.decisions["decision"].cast(pa.string())
        counted = {row["values"]: row["counts"] for row in pc.value_counts(decision).to_pylist()}
        short = pc.sum(pc.equal(self.decisions["reason"], "too_short")).as_py() or 0
        return Counts(
            documents=len(decision),
            kept=counted.get(schema.KEPT, 0),
            duplicates=counted.get(schema.DUPLICATE, 0),
            rejected=counted.get(schema.REJECTED, 0),
            too_short=int(short),
            clusters=len(self.clusters),
            pairs=len(self.pairs),
        )

    @property
    def threshold(self) -> float:
        settings = self.info["settings"]
        if "threshold" in settings["parameters"]:
            return float(settings["parameters"]["threshold"])
        return registry.build(settings["method"], settings["parameters"]).threshold

    @property
    def pairs_complete(self) -> bool:
        return bool(self.info["pairs"] == "complete")

    def weakest(self, n: int = 10) -> pa.Table:
        """The set-aside documents with the lowest scores, where a threshold errs first."""
        table = self.duplicates.select(["id", "kept_id", "score", "kind", "cluster"])
        return table.take(pc.sort_indices(table, [("score", "ascending")])[:n])

    def explain(self, id: str) -> Explanation:
        """Why this document was kept, set aside or rejected."""
        from neardup.runs.explanation import explain

        return explain(self, id)

    def show(self, pair: str | Sequence[str] | Mapping[str, Any]) -> Comparison:
        """Two documents side by side, which a notebook draws and ``print`` writes. ``pair``: two
        ids, a row of ``pairs`` or of ``duplicates``, or the id of a duplicate, which is compared
        with its kept document."""
        from neardup.runs.explanation import compare_documents, pair_of

        return compare_documents(self, *pair_of(self, pair))

    def rethreshold(self, threshold: float) -> Result:
        """The decisions at a higher threshold, without matching again."""
        from neardup.runs.rethreshold import rethreshold

        if self.info.get("against"):
            raise SettingsError(
                "This run was made against references, whose documents it does not hold.",
                hint="run again with that threshold.",
            )
        if not self.pairs_complete:
            raise SettingsError(
                "This run did not keep all its pairs, so a new threshold needs a new run.",
                hint="run again with that threshold, or with a larger max_pairs.",
            )
        return rethreshold(self, threshold)

    @functools.cached_property
    def actions(self) -> pa.Table:
        """What the policy of the run would do with every document, and why; nothing is done yet."""
        return self.known_actions() if self.known_actions else self.apply().actions

    def apply(self, policy: str | Path | Mapping[str, Any] | Policy | None = None) -> Applied:
        """The documents after a policy, by default that of the run: decided again in its order
        without matching, with its actions. Nothing is written, and this result does not change."""
        from neardup.runs.application import apply

        return apply(self, policy)

    def save(
        self,
        folder: str | Path,
        *,
        annotate: bool = False,
        one_file: bool = False,
        overwrite: bool = False,
    ) -> Path:
        """Write the folder of a run: kept documents, tables and ``run.json``. With ``annotate``,
        all documents with the columns of ``annotated`` are written instead of the kept ones.
        Several input files are written apart, under their names, or with ``one_file`` together. A
        folder that holds something is refused, unless ``overwrite`` allows to replace it."""
        from neardup.runs.annotation import annotating
        from neardup.runs.run_folder import ONE_FILE, save

        self.info |= {ONE_FILE: True} if one_file else {}
        made = annotating(self) if annotate else self
        self.folder = save(made, Path(folder), overwrite=overwrite)
        return self.folder

    def report(self, path: str | Path, *, by: str | None = None) -> Path:
        """Write a report of the run as one HTML file that works offline. ``by`` names a column of
        the documents by which figures are split, instead of by input."""
        from neardup.files import write_text
        from neardup.report.run_report import REPORT, report_page
        from neardup.runs.checksums import replacing

        page = report_page(self, by)
        with replacing(Path(path), again=Path(path).name == REPORT):
            write_text(Path(path), page)
        return Path(path)

    def export(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write one row for each document as ``.csv``, ``.xlsx`` or ``.parquet``: its place, its
        title (the column ``title`` of the documents, or the one that is named), the decision, and
        for each kept document the number of copies that it stands for."""
        from neardup.runs.export import write_export

        return write_export(self, Path(path), title=title)

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        from neardup.runs.stored_run import load

        return load(Path(folder))

    def _repr_html_(self) -> str:
        from neardup.report.notebook import result_html

        return result_html(self)

    def __repr__(self) -> str:
        settings = self.info["settings"]
        return f"<Result of {settings['method']} ≥ {self.threshold:.4g}: {self.counts.sentence()}>"


def _ends_alike(path: str, id: str) -> bool:
    """Whether the id of a file in a folder belongs to this path: both have the same last part."""
    return path.rpartition("/")[2] == id.rpartition("/")[2]
