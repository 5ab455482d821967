"""The properties of the Unicode Character Database that words depend on, read from its files.

Normalisation is derived here from UnicodeData.txt itself (UAX #15), since the ``unicodedata`` of
the Python that runs this has a version of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

CODE_POINTS = 0x110000
S_BASE, L_BASE, V_BASE, T_BASE = 0xAC00, 0x1100, 0x1161, 0x11A7
HANGUL = range(S_BASE, S_BASE + 11172)


class Database:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.version = self._version()
        self.category = ["Cn"] * CODE_POINTS
        self.combining = [0] * CODE_POINTS
        self.canonical: dict[int, tuple[int, ...]] = {}
        self.compatible: dict[int, tuple[int, ...]] = {}
        self._read_characters()
        self.script = self._by_value("Scripts.txt", "Unknown")
        self.extensions = self._extensions()
        self.white_space = set(self._points("PropList.txt", "White_Space"))
        self.ignorable = set(
            self._points("DerivedCoreProperties.txt", "Default_Ignorable_Code_Point")
        )
        derived = "DerivedNormalizationProps.txt"
        self.nfc_maybe = set(self._points(derived, "NFC_QC", "M"))
        self.compositions = self._compositions(
            set(self._points(derived, "Full_Composition_Exclusion"))
        )
        self.joining = {first for first, _ in self.compositions}
        self._folded = self._read_folded(derived)
        self._check()

    def folded(self, cp: int) -> tuple[int, ...]:
        """NFKC_Casefold of one character, as published."""
        return self._folded.get(cp, (cp,))

    @cache  # noqa: B019 - one database a run
    def kept(self, cp: int) -> tuple[int, ...]:
        """NFKC of one character, empty for a default-ignorable one."""
        if cp in self.ignorable:
            return ()
        return self.compose(self.decompose(cp, compatible=True))

    def scripts_of(self, cp: int) -> frozenset[str]:
        """The script; for letters of no single script (the prolonged sound mark) all its users."""
        if self.script[cp] == "Common" and self.category[cp][0] == "L" and cp in self.extensions:
            return self.extensions[cp]
        return frozenset((self.script[cp],))

    def decompose(self, cp: int, *, compatible: bool = False) -> tuple[int, ...]:
        """In canonical order."""
        points = list(self._parts(cp, compatible))
        start = 0
        for i in range(len(points) + 1):
            if i == len(points) or self.combining[points[i]] == 0:
                points[start:i] = sorted(points[start:i], key=self.combining.__getitem__)
                start = i + 1
        return tuple(points)

    def compose(self, points: tuple[int, ...]) -> tuple[int, ...]:
        out: list[int] = []
        starter, last = -1, -1
        for cp in points:
            ccc = self.combining[cp]
            if starter >= 0 and (last < ccc or last == -1):
                joined = self._join(out[starter], cp)
                if joined is not None:
                    out[starter] = joined
                    continue
            if ccc == 0:
                starter, last = len(out), -1
            else:
                last = ccc
            out.append(cp)
        return tuple(out)

    def _join(self, a: int, b: int) -> int | None:
        if a in range(L_BASE, L_BASE + 19) and b in range(V_BASE, V_BASE + 21):
            return S_BASE + ((a - L_BASE) * 21 + b - V_BASE) * 28
        if a in HANGUL and (a - S_BASE) % 28 == 0 and b in range(T_BASE + 1, T_BASE + 28):
            return a + b - T_BASE
        return self.compositions.get((a, b))

    def _parts(self, cp: int, compatible: bool) -> Iterator[int]:
        if cp in HANGUL:
            syllable = cp - S_BASE
            yield L_BASE + syllable // 588
            yield V_BASE + syllable % 588 // 28
            if syllable % 28:
                yield T_BASE + syllable % 28
            return
        parts = self.canonical.get(cp) or (self.compatible.get(cp) if compatible else None)
        if parts is None:
            yield cp
            return
        for part in parts:
            yield from self._parts(part, compatible)

    def _version(self) -> str:
        head = (self.folder / "DerivedAge.txt").read_text(encoding="utf-8").split("\n", 1)[0]
        match = re.fullmatch(r"# DerivedAge-([0-9.]+)\.txt", head)
        assert match, head
        return match[1]

    def _lines(self, name: str) -> Iterator[list[str]]:
        with (self.folder / name).open(encoding="utf-8") as file:
            for line in file:
                fields = [field.strip() for field in line.split("#")[0].split(";")]
                if len(fields) > 1:
                    yield fields

    def _read_characters(self) -> None:
        first = 0
        for fields in self._lines("UnicodeData.txt"):
            cp, name = int(fields[0], 16), fields[1]
            if name.endswith(", First>"):
                first = cp
                continue
            for point in range(first if name.endswith(", Last>") else cp, cp + 1):
                self.category[point] = fields[2]
                self.combining[point] = int(fields[3])
            if fields[5].startswith("<"):
                self.compatible[cp] = hexes(fields[5].split(">")[1])
            elif fields[5]:
                self.canonical[cp] = hexes(fields[5])

    def _by_value(self, name: str, default: str) -> list[str]:
        values = [default] * CODE_POINTS
        for points, value, *_ in self._lines(name):
            for cp in span(points):
                values[cp] = value
        return values

    def _extensions(self) -> dict[int, frozenset[str]]:
        long = {f[1]: f[2] for f in self._lines("PropertyValueAliases.txt") if f[0] == "sc"}
        found = {}
        for points, scripts, *_ in self._lines("ScriptExtensions.txt"):
            for cp in span(points):
                found[cp] = frozenset(long[script] for script in scripts.split())
        return found

    def _points(self, name: str, *wanted: str) -> Iterator[int]:
        for points, *values in self._lines(name):
            if tuple(values[: len(wanted)]) == wanted:
                yield from span(points)

    def _compositions(self, excluded: set[int]) -> dict[tuple[int, int], int]:
        return {
            (parts[0], parts[1]): cp
            for cp, parts in self.canonical.items()
            if len(parts) == 2 and cp not in excluded
        }

    def _read_folded(self, name: str) -> dict[int, tuple[int, ...]]:
        found = {}
        for points, property_, *values in self._lines(name):
            if property_ == "NFKC_CF":
                found.update(dict.fromkeys(span(points), hexes(values[0] if values else "")))
        return found

    def _check(self) -> None:
        """What the kernel takes for granted."""
        for cp, mapped in self._folded.items():
            whole = tuple(part for point in mapped for part in self._parts(point, False))
            assert self.compose(whole) == mapped, hex(cp)
        for pair in self.compositions:
            assert pair[1] not in self.canonical, hex(pair[1])
            assert all(self.category[cp] != "Nd" and self.category[cp][0] != "P" for cp in pair)


def span(points: str) -> range:
    first, _, last = points.partition("..")
    return range(int(first, 16), int(last or first, 16) + 1)


def hexes(text: str) -> tuple[int, ...]:
    return tuple(int(part, 16) for part in text.split())
