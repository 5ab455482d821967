"""Parts of texts instead of texts: passages that are repeated, copied or quoted.

``search`` finds them in a collection, ``passage_tables`` describes and classifies them,
``passage_folder`` writes them, ``cleanup`` removes them, and ``provenance`` traces a document
against a collection.

The function ``neardup.passages`` has the name of this package, so the package can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Package(ModuleType):
    def __call__(self, documents: Any, **settings: Any) -> Any:
        from neardup.passages.passage_tables import passages

        return passages(documents, **settings)


sys.modules[__name__].__class__ = _Package
