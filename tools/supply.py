"""What neardup is made of: locked versions, licences, a bill of materials, checksums of releases.

``python tools/supply.py lock`` writes the installed versions of all that development needs to
``constraints.txt``, ``licences`` writes ``docs/licences.md``, ``sbom`` writes
``dist/neardup.cdx.json`` (CycloneDX 1.5), ``sums`` writes ``dist/SHA256SUMS``, ``sign`` signs it
with the SSH key that ``NEARDUP_SIGNING_KEY`` names, ``check`` verifies signature and checksums
against the keys of the file ``allowed_signers``, and ``audit`` asks pip-audit for known weaknesses.
All but ``audit`` work without a network, from the metadata of what is installed.
"""

from __future__ import annotations

import hashlib
import importlib.metadata as metadata
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCK, LICENCES, DIST = ROOT / "constraints.txt", ROOT / "docs" / "licences.md", ROOT / "dist"
USERS = ("all", "spark", "scrapy", "langchain", "llamaindex")  # the extras that users install
SUMS, SIGNERS, SIGNER = "SHA256SUMS", ROOT / "allowed_signers", "releases@neardup"
NO_KEY = (
    "Signing needs the path of an SSH key in NEARDUP_SIGNING_KEY, which is not set. "
    "Hint: make sign KEY=~/.ssh/id_ed25519"
)
NO_AUDIT = (
    "The audit needs the package pip-audit, which was not found. "
    "Hint: .venv/bin/python -m pip install pip-audit"
)


class Part(NamedTuple):
    """An installed package; ``needed`` says whether users need it in the base installation, only
    with an extra, or only developers do."""

    name: str
    version: str
    licence: str
    needed: str


def parts() -> list[Part]:
    """Everything that neardup with all extras needs, and what that needs in turn."""
    needed: dict[str, str] = {}
    for use, extras in (("base", ()), ("extra", USERS), ("development", ("dev",))):
        for name in _reached("neardup", extras):
            needed.setdefault(name, use)
    needed.pop("neardup", None)
    return [_part(name, use) for name, use in sorted(needed.items())]


def _reached(name: str, extras: tuple[str, ...]) -> Iterator[str]:
    waiting, seen = [(name, extras)], set[tuple[str, tuple[str, ...]]]()
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        try:
            wanted = metadata.distribution(at[0]).requires or []
        except metadata.PackageNotFoundError:
            continue  # not for this platform
        yield canonicalize_name(at[0])
        for line in wanted:
            need = Requirement(line)
            if any(_holds(need, extra) for extra in ("", *at[1])):
                waiting.append((canonicalize_name(need.name), tuple(sorted(need.extras))))


def _holds(need: Requirement, extra: str) -> bool:
    return need.marker is None or need.marker.evaluate({"extra": extra})


def _part(name: str, use: str) -> Part:
    found = metadata.metadata(name)
    return Part(name, metadata.version(name), _licence(found), use)


def _licence(found: Any) -> str:
    """The expression if there is one, else the classifiers, else the first line of the text."""
    if expression := found.get("License-Expression"):
        return str(expression)
    marked = [c.rpartition(" :: ")[2] for c in found.get_all("Classifier", []) if "License ::" in c]
    named = [name for name in marked if name != "OSI Approved"]
    written = (found.get("License") or "").strip().partition("\n")[0]
    return ", ".join(named) or written[:60] or "not stated"


def lock() -> None:
    lines = [f"{part.name}=={part.version}" for part in parts()]
    head = "# What `make dev LOCKED=1` installs; written by `python tools/supply.py lock`."
    LOCK.write_text("\n".join([head, *lines]) + "\n", "utf-8")


def licences() -> None:
    uses = {
        "base": "The base installation",
        "extra": f"Extras ({', '.join(f'`{name}`' for name in USERS)})",
        "development": "Development only",
    }
    page = [
        "# Licences of what neardup uses",
        "",
        "neardup is under the [Apache License 2.0](../LICENSE). It copies none of these packages; "
        "pip installs them. `python tools/supply.py licences` writes this page from the metadata "
        "of the packages, which state their licences themselves.",
    ]
    for use, title in uses.items():
        rows = [f"| {p.name} | {p.licence.replace('|', '/')} |" for p in parts() if p.needed == use]
        page += ["", f"## {title}", "", "| package | licence |", "|---|---|", *rows]
    LICENCES.write_text("\n".join(page) + "\n", "utf-8")


def sbom() -> dict[str, Any]:
    """What users may install with neardup, as CycloneDX."""
    own = metadata.version("neardup")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": _component("neardup", own, "Apache-2.0", "application")},
        "components": [
            _component(part.name, part.version, part.licence, "library")
            | {"scope": "required" if part.needed == "base" else "optional"}
            for part in parts()
            if part.needed != "development"
        ],
    }


def _component(name: str, version: str, licence: str, kind: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{name}@{version}"
    stated = {"licenses": [{"license": {"name": licence}}]} if licence != "not stated" else {}
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl, **stated}


def write_sbom() -> None:
    DIST.mkdir(exist_ok=True)
    (DIST / "neardup.cdx.json").write_text(json.dumps(sbom(), indent=1) + "\n", "utf-8")


def sums(folder: Path = DIST) -> None:
    files = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("SHA256"))
    lines = [f"{_digest(p)}  {p.name}\n" for p in files]
    (folder / SUMS).write_text("".join(lines), "utf-8")


def sign(folder: Path = DIST) -> int:
    """``SHA256SUMS.sig``, by OpenSSH, which developers have anyway."""
    key = os.environ.get("NEARDUP_SIGNING_KEY")
    if not key:
        print(NO_KEY, file=sys.stderr)
        return 1
    (folder / f"{SUMS}.sig").unlink(missing_ok=True)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", "file", str(folder / SUMS)]
    return subprocess.run(command).returncode


def check(folder: Path = DIST, signers: Path = SIGNERS) -> int:
    """Whether a known key signed the checksums, and whether the files have them."""
    verify = ["ssh-keygen", "-q", "-Y", "verify", "-f", str(signers), "-I", SIGNER, "-n", "file"]
    listed = (folder / SUMS).read_bytes()
    signed = subprocess.run([*verify, "-s", str(folder / f"{SUMS}.sig")], input=listed).returncode
    if signed != 0:
        print(f"{folder / SUMS} is not signed by a key of {signers}.", file=sys.stderr)
        return 1
    names = [line.split("  ", 1) for line in listed.decode().splitlines()]
    wrong = [name for digest, name in names if _digest(folder / name) != digest]
    for name in wrong:
        print(f"{folder / name} is not the file that was signed.", file=sys.stderr)
    return int(bool(wrong))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


def audit() -> int:
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    found = shutil.which("pip-audit", path=beside)
    if not found:
        print(NO_AUDIT, file=sys.stderr)
        return 1
    # Strict: where no list of weaknesses can be reached, pip-audit skips packages and reports none.
    command = [found, "--requirement", str(LOCK), "--no-deps", "--disable-pip", "--strict"]
    return subprocess.run(command).returncode


COMMANDS = {
    "lock": lock,
    "licences": licences,
    "sbom": write_sbom,
    "sums": sums,
    "sign": sign,
    "check": check,
    "audit": audit,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in COMMANDS]
    if unknown or not names:
        print(
            f"Expected some of {', '.join(COMMANDS)}; got {unknown or 'nothing'}.", file=sys.stderr
        )
        return 2
    return max(COMMANDS[name]() or 0 for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
