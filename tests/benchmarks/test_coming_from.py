"""Every tool of the page has a block that can be run, and a line that it prints."""

from __future__ import annotations

import re

from benchmarks import coming_from, peers


def test_every_tool_has_a_block():
    page = coming_from.PAGE.read_text("utf-8")
    found = coming_from.blocks(page)
    assert [block.tool for block in found] == re.findall(r"^## From (\S+)$", page, re.MULTILINE)
    assert {block.tool for block in found} == set(coming_from.SIDES)
    assert set(coming_from.SIDES.values()) <= set(peers.PEERS)
    for block in found:
        assert block.said.isdigit()
        if block.language == "py":
            compile(block.code, block.tool, "exec")


def test_the_table_says_what_the_blocks_print():
    page = coming_from.PAGE.read_text("utf-8")
    for block in coming_from.blocks(page):
        assert re.search(rf"^\| {block.tool} .*\| {block.said} \|$", page, re.MULTILINE)
