"""The peers, in a virtual environment of their own: they never meet our dependencies."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.corpus import WORK, MissingError

PACKAGES = [
    "daft",
    "gaoya",
    "numpy",
    "orjson",
    "pyarrow",
    "scipy",
    "xxhash<4",  # truth.py hashes str, which 4.0 refuses
]
HOME = WORK / "peers-venv"
STAMP = HOME / ".installed"
PYTHON = HOME / "bin" / "python"


def make() -> Path:
    """The interpreter of the peers; installs them the first time or when the list has changed."""
    wanted = "\n".join(PACKAGES)
    if not (STAMP.exists() and STAMP.read_text() == wanted):
        print("installing the peers", file=sys.stderr)
        venv.create(HOME, clear=True, symlinks=True, with_pip=True)
        _install()
        STAMP.write_text(wanted)
    return PYTHON


def _install() -> None:
    command = [PYTHON, "-m", "pip", "install", "--quiet", *PACKAGES]
    done = subprocess.run(command, stdout=sys.stderr, check=False)
    if done.returncode:
        raise MissingError(
            "The peers could not be installed (pip's message is above). "
            "Hint: `--sides neardup --rows signatures dedup workers help` needs none, "
            "once the corpus is there."
        )
