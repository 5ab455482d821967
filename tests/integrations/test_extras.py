"""Without its framework, a module says what to install."""

from __future__ import annotations

import importlib
import sys

import pytest

from neardup.errors import MissingExtraError


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [
        ("langchain", "langchain_core.documents", "langchain"),
        ("llamaindex", "llama_index.core.schema", "llamaindex"),
        ("mcp", "mcp.server", "mcp"),
        ("scrapy", "itemadapter", "scrapy"),
    ],
)
def test_a_framework_that_is_not_installed(
    module: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"neardup.integrations.{module}"
    monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match="is not installed") as refused:
        importlib.import_module(name)
    assert refused.value.hint == f"pip install 'neardup[{extra}]'"
