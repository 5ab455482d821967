"""The README of the material: what it was made from, under which licences, and how much it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from neardup.planting.material import unit_count
from tools.general_model.document import Document

HEAD = """# Training material of the general model

One file is one collection: documents of one genre with their real revisions, copies with planted
edits, and traps. A line has `id`, `text`, `group`, `source`, `licence`, `lang`; planted ones also
`of` (the original), `edit`, `rate`, `kind` and `donors`, traps `trap_of`.

- Same `group`: duplicates. Real revisions resemble each other by 0.2 or more (shingles of three
  words); no two real documents have equal normal forms.
- Unlike `group`: no duplicates, but for pairs with a document that is one of the `donors`, or in
  its group: those share a passage, and are neither. A trap and its `trap_of` share only a frame.
"""


def summary(collections: dict[str, list[Document]]) -> str:
    everything = [one for some in collections.values() for one in some]
    parts = [HEAD, _counts(collections), _edits(everything), _sources(everything)]
    return "\n".join(parts)


def revision_pairs(documents: Iterable[Document]) -> int:
    sizes = Counter(one.group for one in documents if one.edit is None)
    return sum(size * (size - 1) // 2 for size in sizes.values())


def _counts(collections: dict[str, list[Document]]) -> str:
    rows = [_row(name, some) for name, some in collections.items()]
    rows.append(_row("all", [one for some in collections.values() for one in some]))
    header = ["collection", "languages", "real", "groups", "revision pairs", "copies", "traps"]
    return _table("Collections", [*header, "words, 5 % to 95 %"], rows)


def _row(name: str, some: Sequence[Document]) -> list[str]:
    real = [one for one in some if one.edit is None]
    copies = [one for one in some if one.of]
    length = sorted(unit_count(one.text) for one in real)
    spread = f"{length[len(length) // 20]}–{length[-1 - len(length) // 20]}"
    languages = sorted({one.lang for one in real})
    told = " ".join(languages) if len(languages) < 8 else str(len(languages))
    groups = len({one.group for one in real})
    counts = [len(real), groups, revision_pairs(some), len(copies)]
    return [name, told, *map(str, counts), str(len(some) - len(real) - len(copies)), spread]


def _edits(everything: Sequence[Document]) -> str:
    count = Counter((one.edit, one.rate) for one in everything if one.edit)
    rows = [[str(edit), f"{rate:g}", str(n)] for (edit, rate), n in count.items()]
    return _table("Planted", ["edit", "rate", "documents"], rows)


def _sources(everything: Sequence[Document]) -> str:
    count = Counter((one.source, one.licence) for one in everything if one.edit is None)
    rows = [[*source.split("_", 1), licence, str(n)] for (source, licence), n in count.items()]
    return _table("Packages", ["package", "version", "licence", "documents"], sorted(rows))


def _table(title: str, header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return f"## {title}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)
