"""A peer that fails keeps its line, with the reason; nobody's figures are dropped."""

from __future__ import annotations

import pytest

from benchmarks import peers, table

GOOD = {"wall": 2.0, "processor": 2.0, "mb_s": 5.0, "docs_s": 10.0, "peak_mb": 7.0, "version": "1"}
WHY = "does not install: ERROR: No matching distribution"


def test_a_failed_side_keeps_its_line():
    runs = [{"side": "gone", "error": WHY}, {"side": "peer", **GOOD}, {"side": "neardup", **GOOD}]
    lines = table.speed("title", runs).splitlines()
    assert f"| gone | {WHY} |" in lines[4]
    assert lines[5].startswith("| peer 1 | 2.00 |")
    assert len({line.count("|") for line in lines[2:]}) == 1


def test_each_level_of_instructions_has_a_line_and_the_first_is_the_measure():
    usual = {"side": "neardup", "level": "avx2", **GOOD}
    runs = [{"side": "peer", **GOOD, "processor": 10.0}, usual]
    runs.append({**usual, "level": "sse4", "processor": 4.0})
    rows = [line.split(" | ") for line in table.speed("title", runs).splitlines()[4:7]]
    assert [(row[0], row[-1]) for row in rows] == [
        ("| peer 1", "5.0 |"),
        ("| neardup 1 avx2", "1.0 |"),
        ("| neardup 1 sse4", "2.0 |"),
    ]


def test_commands_are_compared_by_processor_time():
    one = {"side": "neardup", "level": "avx2", **GOOD, "processor": 2.0, "system": 0.5}
    slow = {**one, "processor": 3.0}
    both = {**one, "cores": 2, "processor": 2.2}
    learned = {**one, "method": "learned", "processor": 5.0}
    rival = {"side": "gaoya", **GOOD, "processor": 8.0}
    lines = table.commands("title", [slow, one, both, learned], [rival]).splitlines()[4:]
    assert [(line.split(" | ")[0], line.split(" | ")[-1]) for line in lines] == [
        ("| neardup 1 avx2", "1.00 |"),
        ("| neardup 1 avx2 (2 cores)", "1.10 |"),
        ("| neardup 1 avx2 --method learned", "2.50 |"),
        ("| gaoya 1", "4.00 |"),
    ]


def test_look_ups_and_their_failures():
    of = {"p50_us": 100.4, "p99_us": 1234.5, "hits": 1.25}
    good = {"side": "peer", "version": "1", "cases": {"known": of, "new": of}}
    lines = table.lookup("title", [good, {"side": "gone", "error": WHY}]).splitlines()
    assert lines[4] == "| peer 1 | known | 100 | 1,234 | 1.25 |"
    assert lines[5] == "| peer 1 | new | 100 | 1,234 | 1.25 |"
    assert lines[6] == f"| gone | {WHY} | – | – | – |"


def test_lists_and_their_failure():
    good = {"docs": 10, "mb": 0.03, "signature_bytes": 2336.7}
    good |= {"text_ms": [12.62, 19.8, 12.5], "signatures_ms": [5.21, 10.8, 5.2]}
    lines = table.group("title", good).splitlines()
    assert lines[4] == "| text | 12.6 | 19.8 | 12.5 | 3,000 |"
    assert lines[5] == "| signatures | 5.2 | 10.8 | 5.2 | 2,337 |"
    assert f"| neardup | {WHY} |" in table.group("title", {"error": WHY})


def test_an_install_that_fails_says_why(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho 'ERROR: No matching distribution' >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(peers.InstallError, match=WHY):
        peers._install(python, ["absent"])
