"""LangChain and LlamaIndex: documents through their own classes.

They are imported where they are used: they cost two seconds, and every process of the tests reads
this file.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import neardup as nd
from apart import apart

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from llama_index.core import Document as LlamaDocument

STORY = (
    "The harbour of the old town was closed on Monday after a crane fell into the water. "
    "Nobody was hurt, the police said, but ferries to the islands will not run before Friday. "
    "Divers are looking for the load, which contained machines for a factory in the north."
)
COPY = STORY.replace("Friday", "Saturday")
OTHER = (
    "Parliament voted for the new library law by a narrow majority late at night. Small villages "
    "get money for books, and large towns have to open their houses on Sundays, too."
)
TEXTS = [STORY, OTHER, COPY, ""]


def documents(*ids: str | None) -> list[Document]:
    from langchain_core.documents import Document

    given = ids or (None,) * len(TEXTS)
    pairs = zip(TEXTS, given, strict=True)
    return [Document(text, id=id, metadata={"page": 1}) for text, id in pairs]


def nodes() -> list[LlamaDocument]:
    from llama_index.core import Document as LlamaDocument

    return [LlamaDocument(text=text, id_=name) for text, name in zip(TEXTS, "abcd", strict=True)]


def test_langchain_drops_and_marks() -> None:
    from neardup.integrations.langchain import NeardupTransformer

    given = documents("a", "b", "c", None)
    assert NeardupTransformer().transform_documents(given) == [given[0], given[1], given[3]]
    marked = NeardupTransformer("mark").transform_documents(given)
    assert [one.metadata.get("near_dup_of") for one in marked] == [None, None, "a", None]
    assert marked[2].metadata["page"] == 1
    assert "near_dup_of" not in given[2].metadata  # what came in is not changed
    nameless = NeardupTransformer("mark").transform_documents(documents())
    assert nameless[2].metadata["near_dup_of"] == "0"


def test_langchain_takes_settings_chains_and_no_document() -> None:
    from langchain_core.runnables import RunnableLambda

    from neardup.integrations.langchain import NeardupTransformer

    strict = NeardupTransformer(method="exact")
    assert len(strict.transform_documents(documents())) == len(TEXTS)
    assert strict.transform_documents([]) == []
    chain = RunnableLambda(NeardupTransformer(keep="last").transform_documents)
    assert [one.page_content for one in chain.invoke(documents())] == [OTHER, COPY, ""]
    transformed = apart(asyncio.run, NeardupTransformer().atransform_documents(documents()))
    assert len(transformed) == 3


def test_langchain_remembers_with_an_index(tmp_path: Path) -> None:
    from langchain_core.documents import Document

    from neardup.integrations.langchain import NeardupTransformer

    with nd.Index.open(tmp_path / "seen.db") as index:
        transformer = NeardupTransformer(index=index)
        assert len(transformer.transform_documents(documents())) == 3
        assert transformer.transform_documents([Document(COPY)]) == []
        named = [Document(COPY, id="a")]
        assert NeardupTransformer(index=index).transform_documents(named) == []
    with nd.Index.open(tmp_path / "other.db") as index:
        transformer = NeardupTransformer(index=index)
        first = [Document(STORY, id="a")]
        assert transformer.transform_documents(first) == first
        assert transformer.transform_documents(first) == first  # the same document again


def test_llamaindex_in_a_pipeline() -> None:
    from llama_index.core.ingestion import IngestionPipeline
    from llama_index.core.node_parser import SentenceSplitter

    from neardup.integrations.llamaindex import NeardupTransformation

    steps: list[Any] = [NeardupTransformation(), SentenceSplitter(chunk_size=200, chunk_overlap=0)]
    found = IngestionPipeline(transformations=steps).run(documents=nodes())
    assert {node.ref_doc_id for node in found} >= {"a", "b"}
    assert "c" not in {node.ref_doc_id for node in found}
    marked = NeardupTransformation(action="mark")(nodes())
    assert [node.metadata.get("near_dup_of") for node in marked] == [None, None, "a", None]
    strict = NeardupTransformation(settings={"method": "exact"})
    assert len(strict(nodes())) == len(TEXTS)
    assert NeardupTransformation.from_dict(strict.to_dict()).settings == {"method": "exact"}


def test_llamaindex_remembers_with_an_index() -> None:
    from llama_index.core import Document as LlamaDocument

    from neardup.integrations.llamaindex import NeardupTransformation

    with nd.Index.open("memory:") as index:
        step = NeardupTransformation(index=index)
        assert [node.node_id for node in step(nodes())] == ["a", "b", "d"]
        assert list(step([LlamaDocument(text=COPY, id_="new")])) == []


@pytest.mark.parametrize(
    ("module", "name"),
    [("langchain", "NeardupTransformer"), ("llamaindex", "NeardupTransformation")],
)
def test_an_action_that_does_not_exist(module: str, name: str) -> None:
    make = getattr(import_module(f"neardup.integrations.{module}"), name)
    with pytest.raises(nd.NeardupError, match="'eat'"):
        make(action="eat")
