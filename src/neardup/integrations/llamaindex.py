"""LlamaIndex: a transformation for ingestion pipelines that drops or marks near-duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from neardup.integrations import FIELD, check_action, missing, originals

try:
    from llama_index.core.bridge.pydantic import Field
    from llama_index.core.schema import BaseNode, MetadataMode, TransformComponent
except ImportError as error:
    raise missing("The transformation for LlamaIndex", error, "llamaindex") from error


class NeardupTransformation(TransformComponent):  # type: ignore[misc]  # it is not followed
    """``action``: "drop" returns the kept nodes; "mark" returns all, with ``near_dup_of`` in the
    metadata of duplicates. With an open ``index`` (``neardup.Index``), nodes are also compared with
    those of earlier calls, and stored. ``settings`` are those of ``neardup.dedup``."""

    action: str = "drop"
    index: Any = Field(default=None, exclude=True)
    settings: dict[str, Any] = Field(default_factory=dict)

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        check_action(self.action)

    def __call__(
        self,
        nodes: Sequence[BaseNode],
        **kwargs: Any,  # noqa: ARG002
    ) -> Sequence[BaseNode]:
        texts = [node.get_content(metadata_mode=MetadataMode.NONE) for node in nodes]
        found = originals(texts, [node.node_id for node in nodes], self.index, self.settings)
        pairs = list(zip(nodes, found, strict=True))
        if self.action == "drop":
            return [node for node, original in pairs if original is None]
        return [node if original is None else _marked(node, original) for node, original in pairs]


def _marked(node: BaseNode, original: str) -> BaseNode:
    return node.model_copy(update={"metadata": {**node.metadata, FIELD: original}})
