"""The default method where a user meets it first: few documents, and input that comes only once."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import neardup as nd
from cli.sample import Run, jsonl, run
from neardup.cli.doctor import FLOOD, LIBRARY, STRIKE

EDITED = FLOOD.replace("forty", "thirty")
__all__ = ["run"]  # a fixture of the commands
SHORT = ["yes", "no", "perhaps", "yes!"]


def decisions(documents: Any, **settings: Any) -> list[str]:
    found: list[str] = nd.dedup(documents, **settings).decisions["decision"].to_pylist()
    return found


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ([], []),
        ([FLOOD], ["kept"]),
        ([""], ["kept"]),
        (["", "", " "], ["kept", "duplicate", "duplicate"]),
        ([FLOOD, STRIKE], ["kept", "kept"]),
        ([FLOOD, FLOOD], ["kept", "duplicate"]),
        ([FLOOD, FLOOD.upper()], ["kept", "duplicate"]),
        ([FLOOD, EDITED], ["kept", "duplicate"]),
        ([FLOOD, f"{FLOOD} More rain is expected."], ["kept", "duplicate"]),
        ([FLOOD, STRIKE, LIBRARY, EDITED], ["kept", "kept", "kept", "duplicate"]),
        ([FLOOD] * 20, ["kept"] + ["duplicate"] * 19),
        (SHORT, ["kept", "kept", "kept", "duplicate"]),
    ],
)
def test_few_documents(documents: list[str], expected: list[str]) -> None:
    assert decisions(documents) == expected
    assert nd.find(documents).counts.kept == expected.count("kept")


@pytest.mark.parametrize("count", range(2, 21))
def test_a_changed_word_is_a_duplicate_among_any_number_of_others(count: int) -> None:
    draw = random.Random(count)
    words = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=7)) for _ in range(400)]
    others = [" ".join(draw.choices(words, k=40)) for _ in range(count - 2)]
    assert decisions([FLOOD, *others, EDITED]) == ["kept"] * (count - 1) + ["duplicate"]


@pytest.mark.parametrize("count", range(2, 21))
def test_versions_with_a_changed_word_each_are_one(count: int) -> None:
    words = FLOOD.split()
    versions = [" ".join([*words[:i], "other", *words[i + 1 :]]) for i in range(1, count)]
    assert decisions([FLOOD, *versions]) == ["kept"] + ["duplicate"] * (count - 1)


def test_an_iterator_is_read_as_often_as_needed() -> None:
    datasets = pytest.importorskip("datasets")

    def rows() -> Iterator[dict[str, str]]:
        yield from ({"text": text} for text in (FLOOD, STRIKE, EDITED))

    assert decisions(datasets.IterableDataset.from_generator(rows)) == ["kept", "kept", "duplicate"]


@pytest.mark.parametrize("command", [["dedup", "-", "-o", "-"], ["dedup", "/dev/stdin", "-o", "-"]])
def test_a_pipe_is_read_twice(command: list[str]) -> None:
    lines = jsonl([{"id": str(i), "text": text} for i, text in enumerate((FLOOD, STRIKE, EDITED))])
    done = subprocess.run(
        [sys.executable, "-m", "neardup", *command, "--quiet"],
        input=lines.encode(),
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"".join(lines.encode().splitlines(keepends=True)[:2])


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    rows = [{"id": str(i), "text": text} for i, text in enumerate((FLOOD, STRIKE, EDITED, LIBRARY))]
    path.write_text(jsonl(rows), "utf-8")
    return path


def test_options_of_a_run(docs: Path, run: Run, tmp_path: Path) -> None:
    assert run("dedup", docs, "-o", tmp_path / "old", "--limit", 2).exit_code == 0
    for reference, duplicates in ((tmp_path / "old", 3), (docs, 4)):
        said = run("find", docs, "--against", reference, "--json", "--quiet").stdout
        assert json.loads(said)["counts"]["duplicates"] == duplicates
    estimate = json.loads(run("dedup", docs, "--dry-run", "--json").stdout)
    assert (estimate["documents"], estimate["duplicates_low"], estimate["whole"]) == (4, 1, True)
    assert run("dedup", docs, "-o", tmp_path / "all", "--annotate").exit_code == 0
    rows = read(tmp_path / "all" / "annotated.jsonl")
    assert [row["kept_id"] for row in rows] == [None, None, "0", None]
    why = nd.Result.load(tmp_path / "all").explain("2")
    assert (why.decision, why.kept_id, why.note) == ("duplicate", "0", None)
    assert why.comparison is not None
    assert [why.comparison.texts_of(p) for p in why.comparison.differing] == [("forty", "thirty")]


def test_a_run_is_built_on_with_what_it_counted(docs: Path, tmp_path: Path) -> None:
    """As one run over both with the counts of the old part."""
    new = [{"id": "n", "text": FLOOD.replace("boats", "lorries")}, {"id": "m", "text": "else"}]
    run = nd.dedup(docs, signatures=True).save(tmp_path / "run")
    part = nd.dedup(new, against=run)
    table = tmp_path / "run" / "artefacts"
    both = read(docs) + new
    full = nd.dedup(both, frequencies=str(table / "frequencies.arrow"))
    columns = ["decision", "score"]
    assert part.decisions.select(columns).equals(full.decisions.slice(4).select(columns))
    assert part.decisions["kept_id"].to_pylist() == ["ref:0", None]


def test_an_interrupted_count_leaves_nothing(
    docs: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("neardup.artefacts.frequencies.FrequencyCounter.finish", interrupt)
    out = tmp_path / "new" / "out"
    done = run("dedup", docs, "-o", out)
    assert done.exit_code == 130
    assert done.stderr.endswith(f"Interrupted; nothing was written to {out}.\n")
    assert not (tmp_path / "new").exists()
