"""Output survives power cuts, kills, full disks and second writers: it is the old one or the new
one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import click
import pytest

import neardup as nd
from cli.sample import DOCUMENTS, Run, docs, jsonl, run
from neardup.draft import Draft
from neardup.errors import NeardupError
from neardup.runs.result import Result
from power import Disk, State, put, tree

pytestmark = pytest.mark.kills
__all__ = ["docs", "run"]
RUN = "run.json"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder that has nothing but what a test writes."""
    (tmp_path / "place").mkdir()
    return tmp_path / "place"


@pytest.fixture
def disk(place: Path) -> Iterator[Callable[[], Disk]]:
    made: list[Disk] = []

    def begin() -> Disk:
        made.append(Disk(place))
        return made[-1]

    yield begin
    for one in made:
        one.close()


def below(state: State, folder: str) -> State:
    """What the state has in a folder but a lock, which locks nothing when its process is gone."""
    prefix = f"{folder}/"
    names = [name for name in state if name.startswith(prefix) and not name.endswith(".applying")]
    return {name.removeprefix(prefix): state[name] for name in names}


def as_loaded(state: State, scratch: Path) -> State:
    """The folder ``out`` of a state, after somebody has opened it as a run."""
    put(state, scratch)
    if (scratch / "out").exists():
        with suppress(NeardupError):
            Result.load(scratch / "out")
    found = below(tree(scratch), "out")
    shutil.rmtree(scratch)
    return found


@pytest.mark.parametrize("before", ["nothing", "empty", "run", "run and notes"])
def test_a_cut_at_any_moment_leaves_the_old_run_or_the_new_one(
    run: Run,
    docs: Path,
    place: Path,
    tmp_path: Path,
    disk: Callable[[], Disk],
    monkeypatch: pytest.MonkeyPatch,
    before: str,
) -> None:
    out = place / "out"
    if before.startswith("run"):
        run("find", docs, "-o", out)
    if before == "empty":
        out.mkdir()
    if before == "run and notes":
        (out / "notes.txt").write_text("mine")
    old, disk_now, acknowledged = tree(out) if out.exists() else {}, disk(), []
    echo = click.echo

    def acknowledge(*arguments: object, **options: object) -> None:
        acknowledged.append(disk_now.moment())
        echo(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(click, "echo", acknowledge)
    with disk_now.recording(monkeypatch):
        done = run("dedup", docs, "-o", out, "--overwrite")
    assert done.exit_code == 0
    new = tree(out)
    for state in acknowledged[0]:
        assert below(state, "out") == new
    seen = [as_loaded(state, tmp_path / "cut") for state in disk_now.states]
    assert [state for state in seen if state not in (old, new)] == []
    assert old in seen
    assert set(tree(place)) == {"out", *(f"out/{name}" for name in new)}
    assert ("notes.txt" in new) == (before == "run and notes")


def test_a_policy_is_applied_and_undone_or_not(
    run: Run, docs: Path, place: Path, disk: Callable[[], Disk], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = place / "out"
    run("dedup", docs, "-o", out)
    old = tree(place)
    applying = disk()
    with applying.recording(monkeypatch):
        assert run("apply", out, "--action", "default=drop").exit_code == 0
    new = tree(place)
    undoing = disk()
    with undoing.recording(monkeypatch):
        assert run("undo", out).exit_code == 0
    assert tree(place) == old
    for moments, at_last in ((applying, below(new, "out/applied/1")), (undoing, {})):
        seen = [below(state, "out/applied/1") for state in moments.states]
        assert [state for state in seen if state not in ({}, below(new, "out/applied/1"))] == []
        assert seen[-1] == at_last


@pytest.mark.parametrize(
    ("command", "made"),
    [
        (("dedup", "DOCS", "-o", "OUT/deep/kept.jsonl"), "deep/kept.jsonl"),
        (("idf", "build", "DOCS", "-o", "OUT/words.idf"), "words.idf"),
        (("label", "sample", "RUN", "-o", "OUT/pairs.jsonl"), "pairs.jsonl"),
    ],
)
def test_a_file_is_whole_or_absent(
    run: Run,
    docs: Path,
    place: Path,
    disk: Callable[[], Disk],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    made: str,
) -> None:
    finished = nd.dedup(docs).save(docs.with_name("finished"))
    named = {"DOCS": docs, "RUN": finished}
    arguments = [str(named.get(a, a)).replace("OUT", str(place)) for a in command]
    now = disk()
    with now.recording(monkeypatch):
        done = run(*arguments)
    assert done.exit_code == 0, done.output
    content = (place / made).read_bytes()
    assert {state[made] for state in now.states if made in state} == {content}
    assert [state.get(made) for state in now.moment()] == [content] * 3


def test_a_result_in_python_is_durable_too(
    place: Path, disk: Callable[[], Disk], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = disk()
    with now.recording(monkeypatch):
        nd.dedup(["a text", "a text"]).save(place / "deep" / "out")
    saved = below(tree(place), "deep/out")
    assert [below(state, "deep/out") for state in now.moment()] == [saved] * 3


# A command whose process dies, or gets a signal, at its n-th call of os.fsync, os.rename …
DYING = """
import itertools, os, signal, sys
sign, at = int(sys.argv[1]), int(sys.argv[2])
calls = itertools.count(1)

def dies(function):
    def wrapped(*arguments, **options):
        if next(calls) == at:
            os.kill(os.getpid(), sign)
        return function(*arguments, **options)
    return wrapped

from neardup.cli import main
for name in ("fsync", "rename", "replace", "unlink", "rmdir", "mkdir"):
    setattr(os, name, dies(getattr(os, name)))
sys.argv[1:] = sys.argv[3:]
main()
"""


def dying(sign: signal.Signals, at: int, *command: object) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", DYING, str(int(sign)), str(at), *map(str, command)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def test_a_killed_run_leaves_the_earlier_one(run: Run, docs: Path, place: Path) -> None:
    out, calls = place / "out", range(5, 60, 11)
    run("find", docs, "-o", out)
    old = tree(out)
    run("dedup", docs, "-o", place / "new")
    names = set(tree(place / "new"))
    shutil.rmtree(place / "new")
    for at in calls:
        done = dying(signal.SIGKILL, at, "dedup", docs, "-o", out, "--overwrite")
        now = below(tree(place), "out")
        if now != old:
            assert set(now) == names
            assert Result.load(out).counts.documents == len(DOCUMENTS)
            shutil.rmtree(out)
            run("find", docs, "-o", out)
            old = tree(out)
        elif done.returncode == 0:
            pytest.fail("the run ended without having replaced the folder")
    assert run("dedup", docs, "-o", out, "--overwrite").exit_code == 0
    assert [path.name for path in place.iterdir()] == ["out"]


@pytest.mark.parametrize("there", [False, True])
def test_sigterm_is_one_sentence_and_leaves_nothing(
    run: Run, docs: Path, place: Path, there: bool
) -> None:
    out = place / "out"
    if there:
        run("find", docs, "-o", out)
    old = tree(place)
    done = dying(signal.SIGTERM, 12, "dedup", docs, "-o", out, "--overwrite")
    left = "holds the earlier run" if there else "nothing was written to"
    assert done.returncode == 143
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("Terminated; ")
    assert left in done.stderr
    assert tree(place) == old


FULL = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
from neardup.cli import main
main()
"""


def test_a_full_disk_leaves_the_earlier_run(run: Run, docs: Path, place: Path) -> None:
    out = place / "out"
    run("find", docs, "-o", out)
    old = tree(place)
    command = [sys.executable, "-c", FULL, "dedup", docs, "-o", out, "--overwrite"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Error: " in done.stderr
    assert tree(place) == old


def test_of_two_runs_at_once_the_second_is_refused(run: Run, docs: Path, place: Path) -> None:
    out = place / "out"
    run("find", docs, "-o", out)
    old = tree(out)
    with Draft(out, RUN):
        done = run("dedup", docs, "-o", out, "--overwrite")
        assert done.exit_code == 2
        assert f"Another process is writing {out}. Hint: wait until" in done.stderr
        assert tree(out) == old
    assert run("dedup", docs, "-o", out, "--overwrite").exit_code == 0


@pytest.mark.parametrize("out", ["deep/out", "kept.jsonl"])
def test_runs_that_start_together_do_not_mix(tmp_path: Path, place: Path, out: str) -> None:
    """Each has an input of its own, so the folder tells whose it is."""
    runs = []
    for number in range(2):
        source = tmp_path / f"{number}.jsonl"
        source.write_text(jsonl([{**one, "id": f"{number}{one['id']}"} for one in DOCUMENTS]))
        command = [sys.executable, "-m", "neardup", "dedup", source, "-o", place / out]
        pipe = subprocess.PIPE
        runs.append(subprocess.Popen([str(c) for c in command], stderr=pipe, text=True))
    told = [process.communicate()[1] for process in runs]
    codes = [process.returncode for process in runs]
    assert sorted(codes) == [0, 2], told
    for code, said in zip(codes, told, strict=True):
        assert code == 0 or "Another process is writing" in said or "already" in said
    winner = codes.index(0)
    kept = place / out if out.endswith("jsonl") else place / out / "kept.jsonl"
    ids = [json.loads(line)["id"] for line in kept.read_text().splitlines()]
    assert ids == [f"{winner}{name}" for name in ("fox", "other", "short")]
    if kept.parent.name == "out":
        assert Result.load(kept.parent).decisions["id"][0].as_py() == f"{winner}fox"
    assert not list(place.rglob(".*"))


def test_what_a_killed_run_left_blocks_nobody(run: Run, docs: Path, place: Path) -> None:
    out = place / "out"
    code = "import os, sys; from pathlib import Path; from neardup.draft import Draft\n"
    code += f"draft = Draft(Path(sys.argv[1]), {RUN!r}).__enter__(); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(out)], check=False)
    assert len(list(place.iterdir())) == 2  # a lock that nobody holds, and an empty draft
    assert run("dedup", docs, "-o", out).exit_code == 0
    assert [path.name for path in place.iterdir()] == ["out"]


@pytest.mark.parametrize("how", ["working directory", "link", "only the folder is writable"])
def test_folders_that_cannot_be_renamed(
    docs: Path, place: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = place / "out"
    out.mkdir(mode=0o750)
    result = nd.dedup(docs)
    if how == "working directory":
        monkeypatch.chdir(out)
        result.save(".", overwrite=True)
        assert (Path.cwd() / RUN).exists()
    elif how == "link":
        (place / "link").symlink_to(out)
        result.save(place / "link", overwrite=True)
        assert (place / "link").is_symlink()
    else:
        access = os.access  # root may write everywhere
        monkeypatch.setattr(os, "access", lambda path, mode: path != place and access(path, mode))
        result.save(out, overwrite=True)
        result.save(out, overwrite=True)
    assert Result.load(out).counts.documents == len(DOCUMENTS)
    assert out.stat().st_mode & 0o777 == 0o750
    assert not list(place.rglob(".*"))


def test_a_foreign_folder_cannot_have_files_removed(docs: Path, place: Path) -> None:
    out = nd.dedup(docs).save(place / "out")
    (place / "mine").write_text("mine")
    put(
        {RUN: b"{}", ".replaced": json.dumps(["../mine", "..", "."]).encode()},
        out / ".neardup-whole",
    )
    with pytest.raises(NeardupError):
        Result.load(out)
    assert (place / "mine").read_text() == "mine"
