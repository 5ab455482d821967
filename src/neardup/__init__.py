"""Find near-duplicate documents, explain each decision, and never lose a document.

    import neardup as nd
    result = nd.dedup(documents, threshold=0.8, keep="longest")
    result.kept, result.duplicates, result.explain("doc-17")

Names are imported on first use: ``import neardup`` loads neither numpy nor pyarrow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neardup import spark as spark
    from neardup.api import dedup, find
    from neardup.engines.index.index import Index
    from neardup.engines.prose import check as check  # beside the dozen, as the next ones
    from neardup.engines.ranked import group
    from neardup.errors import NeardupError
    from neardup.evaluation.evaluation import evaluate
    from neardup.methods.exact import Exact
    from neardup.methods.semantic import Semantic as Semantic  # beside the dozen of __all__
    from neardup.methods.shingles import Shingles
    from neardup.methods.simhash import SimHash
    from neardup.passages.cleanup import clean as clean  # beside the dozen, too
    from neardup.passages.passage_tables import passages as passages
    from neardup.passages.provenance import trace as trace
    from neardup.runs.comparison import compare
    from neardup.runs.result import Result
    from neardup.text.text_options import Text

__version__ = "0.1.0"  # as in pyproject.toml; metadata takes longer to read than a small input

_HOMES = {
    "Exact": "methods.exact",
    "Index": "engines.index.index",
    "NeardupError": "errors",
    "Result": "runs.result",
    "Semantic": "methods.semantic",
    "Shingles": "methods.shingles",
    "SimHash": "methods.simhash",
    "Text": "text.text_options",
    "check": "engines.prose",
    "clean": "passages.cleanup",
    "compare": "runs.comparison",
    "dedup": "api",
    "evaluate": "evaluation.evaluation",
    "find": "api",
    "group": "engines.ranked",
    "passages": "passages.passage_tables",
    "trace": "passages.provenance",
}

__all__ = [
    "Exact",
    "Index",
    "NeardupError",
    "Result",
    "Shingles",
    "SimHash",
    "Text",
    "__version__",
    "compare",
    "dedup",
    "evaluate",
    "find",
    "group",
]


if not TYPE_CHECKING:  # a type checker would conclude that any name exists

    def __getattr__(name: str) -> Any:
        import importlib

        if name == "spark":  # a module of its own, which needs pyspark
            return importlib.import_module(f"{__name__}.spark")
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
