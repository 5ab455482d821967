"""Packages from where this machine gets them: ``apt-get`` and ``pip`` know it, nothing here does.

What was fetched stays in the cache, so a stopped build goes on.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

AT_ONCE = 12  # pip spends nearly all of its time waiting
BATCH = 8

Said = dict[str, Any]


def debian(names: Sequence[str], cache: Path) -> dict[str, Path]:
    """The unpacked folder of each package, ``name_version``."""
    folder = cache / "deb"
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in names if not _deb(folder, name)]
    if missing:
        subprocess.run(["apt-get", "-qq", "download", *missing], cwd=folder, check=True)
    return {name: _unpacked(cache, _deb(folder, name)) for name in names}


def _deb(folder: Path, name: str) -> Path | None:
    return next(iter(sorted(folder.glob(f"{name}_*.deb"))), None)


def _unpacked(cache: Path, deb: Path | None) -> Path:
    assert deb is not None, "apt-get said that it has the package"
    name, version, _ = deb.stem.split("_")
    target = cache / "unpacked" / f"{name}_{version.replace('%3a', ':')}"
    if not target.exists():
        partial = target.with_name(target.name + ".partial")
        partial.parent.mkdir(exist_ok=True)
        subprocess.run(["dpkg-deb", "-x", deb, partial], check=True)
        partial.rename(target)
    return target


def metadata(wanted: Sequence[tuple[str, str]], cache: Path) -> dict[tuple[str, str], Said]:
    """What each (name, version) says of itself; those that are not to be had are left out."""
    (cache / "metadata").mkdir(parents=True, exist_ok=True)
    missing = [one for one in wanted if not _kept(cache, *one).exists()]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda batch: _report(batch, cache), _batches(missing)))
    found = {one: json.loads(_kept(cache, *one).read_text("utf-8")) for one in wanted}
    return {one: said for one, said in found.items() if said}


def _kept(cache: Path, name: str, version: str) -> Path:
    """A JSON file, of an empty object where there is no such wheel."""
    return cache / "metadata" / f"{name}_{version}.json"


def _batches(wanted: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """pip takes many packages at once, but not two versions of one."""
    rounds: dict[int, list[tuple[str, str]]] = {}
    seen: Counter[str] = Counter()
    for one in wanted:
        rounds.setdefault(seen[one[0]], []).append(one)
        seen[one[0]] += 1
    return [some[i : i + BATCH] for some in rounds.values() for i in range(0, len(some), BATCH)]


def _report(batch: Sequence[tuple[str, str]], cache: Path) -> None:
    """What pip would install. One by one where it refuses the whole."""
    options = ["-qqq", "--dry-run", "--no-deps", "--ignore-installed", "--report", "-"]
    asked = [f"{name}=={version}" for name, version in batch]
    command = [sys.executable, "-m", "pip", "install", *options, "--only-binary", ":all:", *asked]
    done = subprocess.run(command, capture_output=True)
    if done.returncode and len(batch) > 1:
        for one in batch:
            _report([one], cache)
        return
    said = [one["metadata"] for one in json.loads(done.stdout or "{}").get("install", [])]
    known = {_plain(one["name"]): one for one in said}
    for name, version in batch:
        written = json.dumps(known.get(_plain(name), {}), ensure_ascii=False)
        _kept(cache, name, version).write_text(written, "utf-8")


def _plain(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()
