"""LangChain: a document transformer that drops or marks near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neardup.engines.index.index import Index
from neardup.integrations import FIELD, check_action, missing, originals

try:
    from langchain_core.documents import BaseDocumentTransformer, Document
except ImportError as error:
    raise missing("The document transformer for LangChain", error, "langchain") from error


class NeardupTransformer(BaseDocumentTransformer):  # type: ignore[misc]  # it is not followed
    """``action``: "drop" returns the kept documents; "mark" returns all, with ``near_dup_of`` in
    the metadata of duplicates. With an open ``index``, documents are also compared with those of
    earlier calls, and stored. ``settings`` are those of ``neardup.dedup``."""

    def __init__(
        self, action: str = "drop", *, index: Index | None = None, **settings: Any
    ) -> None:
        self.action = check_action(action)
        self.index, self.settings = index, settings

    def transform_documents(
        self,
        documents: Sequence[Document],
        **kwargs: Any,  # noqa: ARG002
    ) -> Sequence[Document]:
        texts = [document.page_content for document in documents]
        ids = [document.id for document in documents]
        found = originals(texts, ids, self.index, self.settings)
        pairs = list(zip(documents, found, strict=True))
        if self.action == "drop":
            return [document for document, original in pairs if original is None]
        return [document if o is None else _marked(document, o) for document, o in pairs]


def _marked(document: Document, original: str) -> Document:
    return document.model_copy(update={"metadata": {**document.metadata, FIELD: original}})
