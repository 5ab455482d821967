"""The description of a run, ``run.json``: read, checked, and trusted only as far as it must be.

The file may be damaged, or come from somebody else with checksums that fit. So every value that a
reader uses has the type that it expects, and a place that the file names is opened only if that
can do no harm.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neardup.documents.file_formats import address_of
from neardup.draft import settle
from neardup.errors import InputError
from neardup.runs.checksums import CHECKSUMS, Checksums, damaged

RUN = "run.json"
FORMAT, WITHOUT_CHECKSUMS = 4, 3
PASSAGES = "passages 1"  # the format of runs of `neardup passages`, which have tables of their own


def is_run(place: Path | str) -> bool:
    """Whether a reference is the folder of a run: any folder but one of documents, which has files
    and none of a run."""
    if not isinstance(place, Path) or not place.is_dir():
        return False
    settle(place, RUN)
    ours = any((place / name).exists() for name in (RUN, "decisions.parquet"))
    return ours or not any(place.iterdir())


def read_info(folder: Path) -> tuple[dict[str, Any], Checksums]:
    """The content of ``run.json``, and the checksums by which other files are checked."""
    settle(folder, RUN)
    try:
        data = (folder / RUN).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{folder} is not the folder of a finished run: it has no {RUN}.",
            hint="give the folder that `neardup dedup … -o FOLDER` wrote.",
        ) from None
    except OSError as error:
        raise InputError(f"{folder / RUN} cannot be read: {error}.") from error
    checksums = Checksums(folder)
    checksums.check_bytes(RUN, data)
    try:
        info = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise damaged(folder / RUN, str(error)) from error
    stored = info.get("format") if isinstance(info, dict) else None
    if stored == PASSAGES:
        raise InputError(
            f"{folder} is a run of `neardup passages`, which has no decisions.",
            hint="look at its report.html, or give the folder of `neardup dedup`.",
        )
    if stored not in (FORMAT, WITHOUT_CHECKSUMS):
        raise InputError(
            f"{folder} has format {stored!r}; this version reads format {FORMAT}.",
            hint="make the run again with this version.",
        )
    if checksums.digests is None and stored != WITHOUT_CHECKSUMS:
        raise damaged(folder, f"it has no {CHECKSUMS}")
    for fault in _faults(info):
        raise damaged(folder / RUN, fault)
    return info, checksums


def is_passage_run(folder: Path) -> bool:
    try:
        info = json.loads((folder / RUN).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(info, dict) and info.get("format") == PASSAGES


_NONE = type(None)
_NUMBER = (int, float)
# The types of values by their place; * stands for every key of an object or item of a list. A value
# may be missing unless its place ends with !.
_TYPES: dict[str, tuple[type, ...]] = {
    "settings!": (dict,),
    "settings.method!": (str,),
    "settings.parameters!": (dict,),
    "settings.parameters.threshold": _NUMBER,
    "settings.parameters.text": (dict,),
    "settings.resolved": (dict,),
    "settings.signature!": (dict,),
    "settings.signature.artefacts!": (dict,),
    "settings.text!": (str,),
    "settings.id": (str, _NONE),
    "settings.date": (str, _NONE),
    "settings.encoding": (str, _NONE),
    "settings.extract": (str, _NONE),
    "settings.within": (str, _NONE),
    "settings.keep": (str, list, _NONE),
    "settings.policy": (dict, _NONE),
    "settings.limits": (dict,),
    "settings.limits.*": (int,),
    "settings.limit": (int, _NONE),
    "settings.clusters!": (str,),
    "settings.kinds!": (str,),
    "inputs": (list, _NONE),
    "inputs.*": (dict, _NONE),
    "inputs.*.source!": (str, _NONE),
    "inputs.*.file!": (str,),
    "inputs.*.path!": (str,),
    "artefacts!": (dict,),
    "artefacts.*": (dict,),
    "artefacts.*.digest!": (str,),
    "against": (list, _NONE),
    "against.*": (str,),
    "pairs": (str,),
    "counts!": (dict,),
    "counts.*": _NUMBER,
    "timings": (dict,),
    "timings.*": _NUMBER,
    "kinds": (dict, _NONE),
    "kinds.*": _NUMBER,
    "flags": (dict, _NONE),
    "flags.*": _NUMBER,
    "versions": (dict,),
    "versions.*": (str,),
    "candidates": _NUMBER,
    "refused": _NUMBER,
    "peak_memory": (int, float, _NONE),
    "kept_files": (list,),
    "kept_files.*": (str,),
    "kept_of": (dict,),
    "mostly_rejected": (list,),
    "mostly_rejected.*": (dict,),
    "encodings": (dict, _NONE),
}


def _faults(info: dict[str, Any]) -> Iterator[str]:
    for place, types in _TYPES.items():
        yield from _faults_at(info, place.removesuffix("!").split("."), types, place)


def _faults_at(value: Any, keys: list[str], types: tuple[type, ...], place: str) -> Iterator[str]:
    if not keys:
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            yield f"{place.removesuffix('!')!r} is {type(value).__name__}"
    elif keys[0] == "*":
        items = value.values() if isinstance(value, dict) else value or ()
        for item in items:
            yield from _faults_at(item, keys[1:], types, place)
    elif isinstance(value, dict) and keys[0] in value:
        yield from _faults_at(value[keys[0]], keys[1:], types, place)
    elif place.endswith("!") and value is not None and len(keys) == 1:
        yield f"{place.removesuffix('!')!r} is missing"


TRUST = "NEARDUP_TRUST_RUNS"  # an environment variable


def is_trusted() -> bool:
    """Whether the user has said that runs may name any place to read from."""
    return os.environ.get(TRUST) == "1"


def check_place(place: str, of: str) -> None:
    """Refuses a place that ``run.json`` names, if opening it could do what its user did not ask
    for: to connect to a server, or to wait for a device."""
    path = Path(place)
    if is_trusted() or not (address_of(place) or path.is_fifo() or path.is_char_device()):
        return
    raise InputError(
        f"The {of} of the run is {place}, which is not opened because a file names it.",
        hint=f"if you know who made the run, set the environment variable {TRUST}=1.",
    )
