"""The peers, in virtual environments of their own: they never meet our dependencies."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.corpus import WORK, MissingError


class InstallError(MissingError):
    """pip could not install a peer: the tables say so in its line."""


@dataclass(frozen=True)
class Peer:
    """`slow` ones run only if asked for; one that is `alone` wants other versions of the rest; one
    that is not `timed` is there for docs/quality.md only."""

    package: str
    slow: bool = False
    alone: bool = False
    timed: bool = True


PEERS = {
    "daft": Peer("daft"),
    "gaoya": Peer("gaoya"),
    "rensa": Peer("rensa"),
    "fastsketchlsh": Peer("FastSketchLSH"),
    "datasketch": Peer("datasketch", slow=True),
    "text_dedup": Peer("text-dedup", slow=True, alone=True),
    "datatrove": Peer("datatrove[io,processing]", slow=True),
    "spark": Peer("pyspark", slow=True),
    "unisim": Peer("unisim", alone=True, timed=False),
}
COMMON = ["numpy", "orjson", "pyarrow", "scipy", "xxhash<4"]  # 4.0 hashes no str
LEAST = ["orjson"]  # for a peer that is alone and brings the others itself
SHARED = WORK / "peers-venv"


def make(side: str, more: Sequence[str] = ()) -> Path:
    """The interpreter that has this peer and what more is asked for; installs it the first time."""
    peer = PEERS[side]
    home = WORK / f"{peer.package}-venv" if peer.alone else SHARED
    python = _with_packages(home, ".common", LEAST if peer.alone else COMMON)
    _with_packages(home, f".{side}", [peer.package])
    for package in more:
        _with_packages(home, f".{package}", [package])
    return python


def common() -> Path:
    """An interpreter with what every runner needs."""
    return _with_packages(SHARED, ".common", COMMON)


def _with_packages(home: Path, stamp: str, packages: list[str]) -> Path:
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, symlinks=True, with_pip=True)
    installed = home / stamp
    if not (installed.exists() and installed.read_text() == "\n".join(packages)):
        _install(python, packages)
        installed.write_text("\n".join(packages))
    return python


def _install(python: Path, packages: list[str]) -> None:
    print("installing", *packages, file=sys.stderr)
    command = [python, "-m", "pip", "install", "--quiet", *packages]
    done = subprocess.run(
        command, stdout=sys.stderr, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise InstallError(f"does not install: {(errors or ['pip failed'])[-1]}")
