"""Duplicated or drifted prose in documentation, section by section, for builds that should fail.

``check`` cuts Markdown, reStructuredText and text files at their headings, leaves fenced code out,
and compares all sections of all files. The score of a pair is the resemblance of word shingles, so
it depends on the two sections alone: a page that is added elsewhere cannot break a build.

A baseline is a JSON file of accepted pairs, by file and heading. An accepted pair fails again if
its sections had the same words when they were accepted and now differ: copies that have to stay
alike have drifted apart.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from neardup import schema
from neardup.documents.collection import collect
from neardup.documents.encodings import decoded
from neardup.documents.open_files import Limits
from neardup.engines.execution import execute
from neardup.errors import SettingsError, UsageError
from neardup.files import from_json, whole_file
from neardup.plan import resolve
from neardup.runs.comparison import compare
from neardup.settings import settings_of
from neardup.wording import many, score_text, shortened

MARKDOWN, OTHERS = (".md", ".markdown", ".mdx"), (".rst", ".txt", ".text")
SCORE, MIN_WORDS = 0.5, 20
SAME_WORDS = ("identical", "normalised", "layout")
_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)[\s#]*$")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_UNDERLINE = re.compile(r"([=\-~^\"'`*+#.])\1{2,}\s*$")


class Section(NamedTuple):
    path: str
    heading: str
    line: int
    text: str

    @property
    def name(self) -> str:
        return f"{self.path}#{self.heading}" if self.heading else self.path

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Finding(NamedTuple):
    """Two sections of similar text. ``drifted``: they were accepted while their words were
    equal."""

    a: Section
    b: Section
    score: float
    kind: str
    drifted: bool = False

    @property
    def key(self) -> tuple[str, str]:
        return self.a.name, self.b.name

    def differing(self, most: int = 3) -> list[tuple[str, str]]:
        """The first passages that differ, as they stand in both sections."""
        compared = compare(self.a.text, self.b.text)
        return [compared.texts_of(passage) for passage in compared.differing[:most]]

    def lines(self) -> list[str]:
        what = "has drifted from its accepted copy" if self.drifted else "repeats"
        why = f"{self.kind}, score {score_text(self.score, self.kind, 2)}"
        told = [f"{self.b.place}: {what} {self.a.place} ({why})"]
        if self.a.heading or self.b.heading:
            told.append(f"  sections: {self.a.heading or '(top)'} | {self.b.heading or '(top)'}")
        for before, after in self.differing():
            told += [f"  {sign} {shortened(t)}" for sign, t in (("-", before), ("+", after)) if t]
        return told

    def data(self) -> dict[str, Any]:
        sides = {n: s._asdict() for n, s in (("a", self.a), ("b", self.b))}
        for side in sides.values():
            del side["text"]
        return {**sides, "score": self.score, "kind": self.kind, "drifted": self.drifted}


@dataclass(frozen=True)
class Checked:
    """``findings`` fail the check. ``accepted`` are those of the baseline; ``gone`` are names of
    pairs in the baseline that were not found. ``unread`` has a reason for each unreadable file."""

    files: int
    sections: int
    findings: list[Finding]
    accepted: list[Finding]
    gone: list[tuple[str, str]]
    unread: dict[str, str]

    @property
    def passed(self) -> bool:
        return not self.findings and not self.unread

    def sentence(self) -> str:
        told = f"{many(self.files, 'file')}, {many(self.sections, 'section')}: "
        told += f"{many(len(self.findings), 'repeated section pair')}"
        told += f", {len(self.accepted):,} accepted" if self.accepted else ""
        return told + (f", {len(self.unread):,} unreadable" if self.unread else "")

    def update(self, baseline: str | Path) -> None:
        """Accepts all findings: writes them to the file, and leaves out pairs that are gone."""
        rows = [
            {"a": f.a.name, "b": f.b.name, "kind": f.kind, "score": round(f.score, 4)}
            for f in sorted([*self.accepted, *self.findings], key=lambda f: f.key)
        ]
        with whole_file(Path(baseline)) as part:
            part.write_text(
                json.dumps({"accepted": rows}, indent=2, ensure_ascii=False) + "\n", "utf-8"
            )


def check(
    paths: str | Path | Iterable[str | Path],
    *,
    kinds: Iterable[str] = (),
    score: float = SCORE,
    min_words: int = MIN_WORDS,
    baseline: str | Path | None = None,
) -> Checked:
    """Compare all sections of the files and folders ``paths``.

    ``kinds`` limits what fails to these kinds of duplicates; ``score`` is the least resemblance;
    sections of fewer than ``min_words`` words are not compared; ``baseline`` names a file of
    accepted pairs, which need not exist.
    """
    wanted = _checked_kinds(kinds)
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    files = list(dict.fromkeys(file for path in given for file in prose_files(Path(path))))
    read = {file: _read(file) for file in files}
    sections = [s for file, (text, _) in read.items() for s in sections_of(file, text or "")]
    long = [section for section in sections if len(section.text.split()) >= min_words]
    findings = [f for f in _similar(long, score) if f.kind in wanted]
    known = read_baseline(Path(baseline)) if baseline else {}
    judged = [f._replace(drifted=_has_drifted(f, known)) for f in findings]
    return Checked(
        len(files),
        len(long),
        [f for f in judged if f.drifted or f.key not in known],
        [f for f in judged if not f.drifted and f.key in known],
        sorted(known.keys() - {f.key for f in findings}),
        {file.as_posix(): reason for file, (_, reason) in read.items() if reason},
    )


def _checked_kinds(kinds: Iterable[str]) -> set[str]:
    named = set(kinds)
    if unknown := sorted(named - set(schema.KINDS)):
        raise SettingsError(
            f"There is no kind {unknown[0]!r}.", hint=f"kinds are {', '.join(schema.KINDS)}."
        )
    return named or set(schema.KINDS)


def prose_files(path: Path) -> list[Path]:
    """The path itself if it is a file, else all prose below it, without hidden files and
    ``node_modules``. Links are not followed."""
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise UsageError(f"{path} does not exist.", hint="name files or folders of prose.")
    found = []
    for folder, below, names in os.walk(path):
        below[:] = [n for n in below if not n.startswith(".") and n != "node_modules"]
        files = (Path(folder, name) for name in names if not name.startswith("."))
        found += [f for f in files if f.suffix.lower() in MARKDOWN + OTHERS and not f.is_symlink()]
    return sorted(found)


def _read(file: Path) -> tuple[str | None, str | None]:
    try:
        if (size := file.stat().st_size) > Limits().document:
            return None, Limits().document_fault("file", size)
        text, reason, _ = decoded(file.read_bytes())
    except OSError as error:
        return None, f"file cannot be read: {error.strerror}"
    return text, reason


def sections_of(file: Path, text: str) -> list[Section]:
    """The text before the first heading, and what follows each heading, without fenced code.
    Headings that a file repeats are numbered."""
    markdown = file.suffix.lower() in MARKDOWN
    seen: Counter[str] = Counter()
    made = []
    for heading, line, body in _cut(text.splitlines(), markdown=markdown):
        seen[heading] += 1
        again = f" ({seen[heading]})" if seen[heading] > 1 else ""
        made.append(Section(file.as_posix(), heading + again, line, "\n".join(body).strip()))
    return made


def _cut(lines: Sequence[str], *, markdown: bool) -> Iterator[tuple[str, int, list[str]]]:
    heading, start, body, fence = "", 1, list[str](), ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line) if markdown else None
        if fence or mark:
            fence = _fence_after(fence, mark[1] if mark else "")
            continue
        title = _HEADING.match(line) if markdown else None
        underlined = body and body[-1].strip() and _UNDERLINE.match(line)
        if not title and not underlined:
            body.append(line)
            continue
        above = body.pop() if underlined else None
        if any(body) or heading:
            yield heading, start, body
        heading = title[1] if title else (above or "").strip()
        start, body = number - bool(underlined), []
    yield heading, start, body


def _fence_after(fence: str, mark: str) -> str:
    """The fence that is open after a line with ``mark``: a closing one is as long, or longer."""
    if not fence:
        return mark
    return "" if mark.startswith(fence) else fence


def _similar(sections: Sequence[Section], score: float) -> list[Finding]:
    if len(sections) < 2:
        return []
    names = {str(n): section for n, section in enumerate(sections)}
    rows = [{"id": n, "text": section.text} for n, section in names.items()]
    settings = settings_of({"method": "shingles", "threshold": score, "kinds": "all"})
    pairs = execute(collect(rows), resolve(settings, every_pair=True)).pairs.to_pylist()
    return [Finding(names[p["a"]], names[p["b"]], p["score"], p["kind"] or "other") for p in pairs]


Baseline = Mapping[tuple[str, str], str]


def read_baseline(path: Path) -> Baseline:
    """The kinds of accepted pairs; nothing is accepted if there is no such file."""
    if not path.exists():
        return {}
    try:
        rows = from_json(path.read_bytes())["accepted"]
        return {(str(row["a"]), str(row["b"])): str(row["kind"]) for row in rows}
    except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
        raise UsageError(
            f"{path} is no baseline: {error}.", hint="write it again with --update-baseline."
        ) from error


def _has_drifted(finding: Finding, known: Baseline) -> bool:
    return known.get(finding.key) in SAME_WORDS and finding.kind not in SAME_WORDS
