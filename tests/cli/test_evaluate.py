from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

import neardup as nd
from evaluation.collections import grouped
from neardup.cli import main
from neardup.evaluation.sections import Section
from neardup.report.html_page import Table


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    path = tmp_path / "docs.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in grouped(groups=8)))
    return path


def evaluated(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["evaluate", *map(str, arguments)])


def test_a_sweep_ends_with_a_setting_to_paste(docs: Path) -> None:
    done = evaluated(docs, "--group", "group", "--method", "shingles words=3", "--sweep")
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0] == "Gold"
    assert lines[1].startswith("32 documents; gold is 8 groups. 48 pairs are duplicates, 40 of")
    assert sum(line.startswith("shingles words=3 ") for line in lines) == 14 + 1
    assert sum("←" in line for line in lines) == 1
    assert lines[-1].startswith(f"  neardup dedup {docs} --method shingles --set words=3 --thresh")


def test_the_command_reads_what_was_read(docs: Path, run: Any, tmp_path: Path) -> None:
    """And sets aside what was measured."""
    done = evaluated(docs, "--group", "group", "--sweep", "--limit", 20, "--id", "id", "--json")
    told = json.loads(done.stdout)["recommendation"]
    assert "--limit 20 --method" in told["command"]
    words = shlex.split(told["command"])[1:]
    words[words.index("OUT")] = str(tmp_path / "again")
    assert run(*words).exit_code == 0
    result = nd.Result.load(tmp_path / "again")
    assert len(result.pairs) == told["measures"]["tp"] + told["measures"]["fp"]


def test_the_folder_holds_data_and_report(docs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = (docs, "--group", "group", "--method", "qgrams", "--method", "imatch", "-o", out)
    done = evaluated(*arguments, "--thresholds", ".5,.7", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told == json.loads((out / "evaluation.json").read_text("utf-8"))
    assert [one["method"] for one in told["settings"]] == ["qgrams", "imatch"]
    assert [cut["value"] for cut in told["settings"][0]["cuts"]] == [0.5, 0.7]
    assert pq.read_table(out / "sweep.parquet").num_rows == 3
    assert (out / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert len(list((out / "pairs").iterdir())) == 2
    before = (out / "evaluation.json").read_bytes()
    assert evaluated(*arguments, "--thresholds", ".5,.7", "--quiet").exit_code == 0
    assert (out / "evaluation.json").read_bytes() == before


def test_auto_is_measured_beside_a_sweep(docs: Path, tmp_path: Path) -> None:
    """The row of auto is what a run with --threshold auto finds; what has no threshold stays."""
    methods = ("--method", "shingles", "--method", "exact", "--method", "raregrams")
    arguments = (docs, "--group", "group", *methods, "--threshold", "auto", "-o", tmp_path / "out")
    told = json.loads(evaluated(*arguments, "--thresholds", ".5,.9", "--json").stdout)
    cuts = [(one["name"], [cut["value"] for cut in one["cuts"]]) for one in told["settings"]]
    chosen = nd.find(docs, method="shingles", threshold="auto")
    assert cuts == [
        ("shingles", [0.5, 0.9]),
        ("shingles", [pytest.approx(chosen.threshold)]),
        ("exact", [None]),
        ("raregrams", [0.5, 0.9]),
        ("raregrams", [None]),
    ]
    assert told["settings"][1]["cuts"][0]["predicted"] == len(chosen.pairs)
    table = pq.read_table(tmp_path / "out" / "sweep.parquet")
    assert table["auto"].to_pylist() == [False, False, True, False, False, False, True]
    alone = evaluated(docs, "--group", "group", *methods[:4], "--threshold", "auto", "--json")
    recommended = json.loads(alone.stdout)["recommendation"]
    assert recommended["command"].endswith("--method shingles --threshold auto -o OUT")
    refused = evaluated(docs, "--group", "group", "--method", "exact", "--threshold", "auto")
    assert "exact has no threshold to choose" in refused.stderr


def test_recipes_are_named_in_tables_and_commands(docs: Path) -> None:
    arguments = ("--recipe", "charikar2002", "--recipe", "broder1997", "--set", "text.case=keep")
    told = json.loads(evaluated(docs, "--group", "group", *arguments, "--sweep", "--json").stdout)
    assert [one["method"] for one in told["settings"]] == [
        "charikar2002 text.case=keep",
        "broder1997 text.case=keep",
    ]
    assert f"neardup dedup {docs} --recipe " in told["recommendation"]["command"]


def test_tables_and_figures_for_an_article(docs: Path, tmp_path: Path) -> None:
    names = ("a.csv", "a.tex", "a.svg", "a.pdf", "a.xlsx")
    exports = [word for name in names for word in ("--export", tmp_path / name)]
    arguments = (docs, "--group", "group", "--method", "shingles", "--recipe", "charikar2002")
    done = evaluated(*arguments, "--thresholds", ".5,.9", *exports)
    assert done.exit_code == 0, done.output
    rows = (tmp_path / "a.csv").read_text("utf-8").splitlines()
    assert rows[0].startswith('"method","parameter","value","threshold","predicted","tp",')
    assert len(rows) == 1 + 2 + 11
    latex = (tmp_path / "a.tex").read_text("utf-8")
    assert latex.count(r" \\") == 1 + 2  # the head, and each setting once
    assert latex.count(r"\textbf{charikar2002}") + latex.count(r"\textbf{shingles}") == 1
    assert "charikar2002" in (tmp_path / "a.svg").read_text("utf-8")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF-")
    refused = evaluated(*arguments, "--export", tmp_path / "a.doc")
    assert "expected a name that ends with .csv, .xlsx, .parquet, .tex, .svg" in refused.stderr


def test_a_wish_sweeps(docs: Path) -> None:
    done = evaluated(docs, "--group", "group", "--recommend", "recall=.9", "--json")
    told = json.loads(done.stdout)
    assert len(told["settings"][0]["cuts"]) == 14
    assert told["recommendation"]["wish"] == {"measure": "recall", "least": 0.9}
    one = evaluated(docs, "--group", "group", "--recommend", "f1", "--threshold", ".6", "--json")
    assert len(json.loads(one.stdout)["settings"][0]["cuts"]) == 1


def test_labels_of_any_name(docs: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.csv"
    labels.write_text("left,right,grade\n0-0,0-1,cut\n1-0,1-2,light\n0-0,1-0,non\n2-0,2-1,heavy\n")
    done = evaluated(
        docs, "--pairs", labels, "--columns", "left,right,grade", "--positive", "cut,light",
        "--negative", "non", "--threshold", ".5", "--json",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["gold"]["positives"] == 2
    assert told["gold"]["unused"]["other_labels"] == {"heavy": 1}
    kinds = {kind["label"]: kind for kind in told["settings"][0]["cuts"][0]["kinds"]}
    assert kinds["cut"] == {"label": "cut", "equal": 0, "near": 1, "exist": 1, "missed": 0}


def test_every_method_has_its_warnings_and_pairs_their_encoding(docs: Path, tmp_path: Path) -> None:
    labels, out = tmp_path / "labels.csv", tmp_path / "out"
    labels.write_text("a,b,label,who\n0-0,0-1,yes,Zoë\n0-0,1-0,no,Zoë\n", "cp1252")
    methods = ("--method", "shingles", "--method", "raregrams", "--thresholds", ".3,.5")
    exported = ("-o", out, "--export", out / "a.tex")
    done = evaluated(docs, "--pairs", labels, "--encoding", "cp1252", *methods, *exported)
    assert done.exit_code == 0, done.output
    assert " ".join(done.stdout.split()).count("predicted pairs are not labelled: precision") == 2
    assert "Precision is that of the labelled pairs.}" in (out / "a.tex").read_text("utf-8")


def test_a_finished_run(docs: Path, tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text(
        '{"a": "0-0", "b": "0-1", "label": 1}\n{"a": "0-0", "b": "1-0", "label": 0}\n'
    )
    found = CliRunner().invoke(
        main, ["find", str(docs), "--threshold", "0.4", "-o", str(tmp_path / "run")]
    )
    assert found.exit_code == 0, found.output
    done = evaluated("--run", tmp_path / "run", "--pairs", labels, "--sweep", "--json")
    assert done.exit_code == 0, done.output
    cuts = json.loads(done.stdout)["settings"][0]["cuts"]
    assert [cut["value"] for cut in cuts] == [round(0.4 + 0.05 * i, 2) for i in range(12)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument 'INPUT...'"),
        (["DOCS"], "needs gold"),
        (["DOCS", "--group", "gruop"], "did you mean 'group'?"),
        (["DOCS", "--group", "group", "--pairs", "x.jsonl"], "either a column"),
        (["DOCS", "--pairs", "absent.jsonl"], "Cannot read absent.jsonl"),
        (["DOCS", "--group", "group", "--recommend", "speed"], "expected f1, precision"),
        (["DOCS", "--group", "group", "--thresholds", "2"], "expected a number above 0"),
        (["DOCS", "--group", "group", "--method", "simhash words=x"], "words"),
        (["DOCS", "--run", "x", "--group", "group"], "--run and INPUT cannot be combined"),
        (["DOCS", "--plant", "--group", "group"], "--plant and --group cannot be combined"),
        (["DOCS", "--group", "group", "-o", "FULL"], "not part of an evaluation"),
        (["DOCS", "--group", "group", "-o", "DOCS"], "is the input"),
        (["DOCS", "--group", "group", "--export", "no/a.svg"], "the folder no does not exist"),
        (["DOCS", "--pairs", "JA"], "--positive ja --negative nein"),
        (["DOCS", "--pairs", "JA", "--positive", "ja"], "--negative nein counts"),
        (["DOCS", "--pairs", "JA", "--columns", "von,nach"], "with --columns A,B,LABEL"),
        (["DOCS", "--pairs", "LATIN"], "probably windows-1252. Hint: give --encoding windows-1252"),
    ],
)
def test_what_is_wrong_is_said(docs: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    rows = "a,b,label,notiz\n0-0,0-1,{},größer\n0-0,1-0,{},Übung für die Straße\n"
    (tmp_path / "ja.csv").write_text(rows.format("ja", "nein"), "utf-8")
    (tmp_path / "latin.csv").write_text(rows.format("yes", "no"), "cp1252")
    places = {"DOCS": str(docs), "FULL": str(tmp_path / "full")}
    places |= {"JA": str(tmp_path / "ja.csv"), "LATIN": str(tmp_path / "latin.csv")}
    done = evaluated(*(places.get(one, one) for one in arguments))
    assert done.exit_code in (1, 2) or "--positive" in arguments
    assert said in done.output
    assert "Traceback" not in done.output
    assert (tmp_path / "full" / "letter.txt").read_text() == "dear"


@pytest.mark.kills
def test_a_killed_sweep_goes_on(docs: Path, tmp_path: Path) -> None:
    """The process is killed after the pairs of the first method are written."""
    out = tmp_path / "out"
    arguments = [str(docs), "--group", "group", "--sweep", "-o", str(out)]
    arguments += ["--method", "shingles", "--method", "qgrams"]
    code = (
        "import os, signal, sys\n"
        "from neardup.evaluation import scored_pairs as scored\n"
        "save = scored.save\n"
        "def killed(*given):\n"
        "    save(*given)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "scored.save = killed\n"
        "from neardup.cli import main\n"
        f"main(['evaluate', *{arguments!r}])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=os.environ)
    assert done.returncode == -signal.SIGKILL
    (first,) = (out / "pairs").iterdir()
    stamp = first.stat().st_mtime_ns
    assert evaluated(*arguments).exit_code == 0
    assert first.stat().st_mtime_ns == stamp
    assert len(list((out / "pairs").iterdir())) == 2


class Found:
    """What an experiment gives."""

    def data(self) -> dict[str, Any]:
        return {"answer": 42}

    def sections(self) -> list[Section]:
        return [Section("Answer", "In short.", Table(("n",), [(42,)]))]


def test_planting_is_told_what_was_asked(
    docs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def planted(inputs: Any, settings: Any, progress: Any, **more: Any) -> Found:
        asked.append((inputs.files, settings, more))
        assert progress is not None
        return Found()

    module = SimpleNamespace(evaluate=planted)
    monkeypatch.setitem(sys.modules, "neardup.evaluation.planted_experiment", module)
    done = evaluated(
        docs, "--plant", "--method", "qgrams q=5", "--edit", "ocr=0.1", "--sample", 7, "--limit", 9,
        "--thresholds", ".5,.6", "-o", tmp_path / "out",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stdout.split() == ["Answer", "In", "short.", "n", "42"]
    ((files, settings, more),) = asked
    assert files == [str(docs)]
    assert (settings.method.q, settings.limit, settings.threshold) == (5, 9, None)
    assert more == {"edits": ["ocr=0.1"], "seed": 0, "per_edit": 7, "thresholds": (0.5, 0.6)}
    assert json.loads((tmp_path / "out" / "evaluation.json").read_text()) == {"answer": 42}
    assert "<td class=n>42</td>" in (tmp_path / "out" / "report.html").read_text()
