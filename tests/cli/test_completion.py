"""What a shell offers after ``neardup …`` and the key of completion."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from neardup.methods import registry

NEARDUP = Path(sys.executable).with_name("neardup")


def offered(*words: str, shell: str = "bash") -> list[str]:
    """Lines of the protocol between click and the shell, for the last of the words."""
    given = {"COMP_WORDS": " ".join(("neardup", *words)), "COMP_CWORD": str(len(words))}
    if shell == "fish":
        given["COMP_CWORD"] = words[-1]  # fish gives the word itself
    environment = {**os.environ, **given, "_NEARDUP_COMPLETE": f"{shell}_complete"}
    done = subprocess.run([NEARDUP], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ded"], ["plain,dedup"]),
        (["index", "che"], ["plain,check"]),
        (["dedup", "--method", "sh"], ["plain,shingles"]),
        (["methods", "raregr"], ["plain,raregrams"]),
        (["dedup", "--keep", "l"], ["plain,last", "plain,longest"]),
        (["dedup", "--action", "identical=d"], ["plain,identical=drop"]),
        (["check", "--fail-on", "rev"], ["plain,revision"]),
        (["find", "--clusters", ""], ["plain,rule", "plain,components", "plain,average"]),
        (["watch", "--against", ""], ["plain,kept", "plain,seen"]),
        (["dedup", "--export", "x"], ["plain,xlsx"]),
        (["dedup", "--extract", "t"], ["plain,trafilatura"]),
        (["dedup", "--threshold", ""], ["plain,auto"]),
        (["dedup", "--recipe", "raveena"], ["file,raveena", "plain,raveena2014"]),
        (["review", "--guideline", "conrad"], ["plain,conrad2003"]),
        (["dedup", "new"], ["file,new"]),
        (["dedup", "new.jsonl", "-o", "ou"], ["file,ou"]),
        (["dedup", "--text", "bo"], []),
    ],
)
def test_closed_values_are_offered_and_files_elsewhere(
    words: list[str], expected: list[str]
) -> None:
    assert offered(*words) == expected


def test_every_method_is_offered_to_every_shell() -> None:
    for shell in ("bash", "zsh", "fish"):
        lines = " ".join(offered("dedup", "--method", "", shell=shell)).replace(",", " ").split()
        assert set(registry.names()) <= set(lines)


def test_bash_completes_with_what_the_page_tells_to_load() -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash was not found.")
    script = (
        'eval "$(_NEARDUP_COMPLETE=bash_source neardup)"; COMP_WORDS=(neardup dedup --method sim); '
        'COMP_CWORD=3; _neardup_completion neardup; echo "${COMPREPLY[@]}"'
    )
    path = f"{NEARDUP.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run([bash, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "simhash", done.stderr
