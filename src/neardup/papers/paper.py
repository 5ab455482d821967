"""The papers: what each is, its recipes, its experiments, and where neardup differs from it.

A paper is one TOML file beside this module, and its name is that of the file everywhere: the recipe
``broder1997``, the experiment ``broder1997``, ``neardup papers broder1997``. A paper with several
recipes or experiments has them under names of their own, such as ``conrad2003-identical``. The
tables of the README and of docs/papers.md are written from these files. Works without a recipe that
the papers cite, or that readers ask for, are listed in ``CITED``.
"""

from __future__ import annotations

import difflib
import functools
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, NamedTuple

from neardup.classes import dataclass
from neardup.errors import SettingsError

FOLDER = Path(__file__).parent
# The five papers that neardup is built from, then the systems that these describe, by year.
SOURCES = ("williams2013", "raveena2014", "conrad2003", "lecture", "montanari2012")
SYSTEMS = (
    *("manber1994", "brin1995", "heintze1996", "broder1997", "gravano2001"),
    *("charikar2002", "chowdhury2002", "cooper2002", "park2002", "kolcz2004"),
    *("henzinger2006", "manku2007", "theobald2008", "wang2009", "ferro2010"),
    *("sood2011", "yalniz2011"),
)
ALL_AUTHORS = 3  # more are named "et al."
LONG = 4  # letters; shorter words stand in every title
_UNSAID = {
    "al",
    "and",
    "by",
    "et",
    "paper",
    "the",
}  # in citations


class Study(NamedTuple):
    """An experiment: ``run`` is module:function, ``options`` are those that it needs or uses."""

    run: str
    shows: str
    options: str = ""


class Cited(NamedTuple):
    """A cited work without a recipe, and what to take instead."""

    work: str
    instead: str


CITED = (
    Cited(
        "Shivakumar & García-Molina 1998, Finding near-replicas of documents on the Web",
        "`evaluate --paper henzinger2006 --source COLUMN` tells copies of one host from others.",
    ),
    Cited(
        "Phelps & Wilensky 2000, Robust hyperlinks",
        "`--recipe conrad2003-identical` is a signature of few rare terms.",
    ),
    Cited(
        "Padmasree, Ambati, Chandulal & Rao 2006, Signature based duplication detection in digital "
        "libraries",
        "`--method exact --set 'fields=[\"title\"]'` compares metadata in place of texts.",
    ),
    Cited(
        "Lakkaraju, Gauch & Speretta 2008, Document similarity based on concept tree distance",
        "it needs a taxonomy and a classifier for it, which neardup does not have.",
    ),
    Cited(
        "Broder 2000, Identifying and filtering near-duplicate documents",
        "`--recipe henzinger2006-supershingles` has its 84 minima in 6 groups of 14.",
    ),
    Cited(
        "Ilinsky et al. 2002, An efficient method to detect duplicates of Web documents with the "
        "use of inverted index",
        "`--method shingles --set keys=prefix` joins by an inverted index, complete.",
    ),
    Cited(
        "Hajishirzi, Yih & Kołcz 2010, Adaptive near-duplicate detection via similarity learning",
        "`neardup train` learns from labelled pairs.",
    ),
    Cited(
        "Yang & Callan 2006, Near-duplicate detection by instance-level constrained clustering",
        "`neardup label clusters RUN LABELS` takes labels as must-link and cannot-link.",
    ),
    Cited(
        "Narayana, Premchand & Govardhan 2009, near duplicate page detection in web crawling",
        "`--method keywords` compares weighted keywords.",
    ),
    Cited(
        "Zhao, Wang, Liu & Ye 2011, On similarity preserving feature selection",
        "`neardup train --measures auto` selects measures.",
    ),
    Cited(
        "Zhe et al. 2005, Clean-living: Eliminating near-duplicates in lifetime personal storage",
        "`neardup dedup FOLDER` reads the files of a folder.",
    ),
    Cited(
        "Kumar et al. 2009, Duplicate and near duplicate documents detection: A review",
        "it is a survey; `neardup methods` lists what neardup has.",
    ),
    Cited(
        "Miller 1990, Detecting duplicates: A researcher's dream come true",
        "`neardup group` shows the duplicates of a result list under one of them.",
    ),
    Cited(
        "Broder 1993, Some applications of Rabin's fingerprinting method",
        "`--recipe broder1997` takes fingerprints of shingles, by another hash function.",
    ),
    Cited(
        "Broder 1997, On the resemblance and containment of documents",
        "`--method shingles` has both measures; `--recipe broder1997` is the run on the Web.",
    ),
    Cited(
        "Indyk & Motwani 1998, Approximate nearest neighbors",
        "`--method shingles --set keys=bands` finds pairs by locality-sensitive hashing.",
    ),
)


@dataclass(frozen=True)
class Paper:
    """``recipes`` are settings as written, ``experiments`` say what to run, both by full name.
    ``differs`` is one line, ``differences`` are all of them."""

    name: str
    title: str
    authors: tuple[str, ...]
    year: int | None
    about: str
    reproduces: str
    differs: str
    differences: tuple[str, ...]
    commands: tuple[str, ...]
    also: tuple[str, ...]
    bibtex: Mapping[str, str]
    recipes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    experiments: Mapping[str, Study] = field(default_factory=dict)

    @property
    def cited_as(self) -> str:
        """The authors and the year: Conrad, Guo & Schriber 2003."""
        names = [author.split()[-1] for author in self.authors]
        if not names:
            return "Lecture"
        if len(names) > ALL_AUTHORS:
            return f"{names[0]} et al. {self.year}"
        *first, last = names
        return f"{' & '.join([', '.join(first), last]) if first else last} {self.year}"

    @property
    def experiment_commands(self) -> list[str]:
        return [
            f"neardup evaluate INPUT --paper {name} {study.options}".rstrip()
            for name, study in self.experiments.items()
        ]

    def citation(self) -> str:
        """The entry for BibTeX."""
        fields = dict(self.bibtex)
        kind = fields.pop("type")
        about: dict[str, Any] = {"title": f"{{{self.title}}}", **fields}
        if self.authors:
            about = {"author": " and ".join(self.authors), **about}
        if self.year:
            about["year"] = self.year
        lines = [f"  {name} = {{{value}}}," for name, value in about.items()]
        return "\n".join([f"@{kind}{{{self.name},", *lines, "}"])

    def is_by(self, words: Iterable[str]) -> bool:
        surnames = {word for author in self.authors for word in _words(author.split()[-1])}
        return surnames >= {*words} - {str(self.year)}

    def mentions(self, words: Iterable[str]) -> int:
        """How many of the words the paper has, in any of its parts."""
        parts = (self.name, self.title, self.about, self.reproduces, *self.authors, *self.also)
        text = " ".join(_words(" ".join((*parts, str(self.year), *self.recipes))))
        return sum(word in text for word in words)


@functools.cache
def papers() -> dict[str, Paper]:
    """All papers by name, in the order of the tables."""
    return {name: _read(FOLDER / f"{name}.toml") for name in (*SOURCES, *SYSTEMS)}


def _read(path: Path) -> Paper:
    written = tomllib.loads(path.read_text("utf-8"))
    recipes = _named(path.stem, written.pop("recipe", None), written.pop("recipes", {}))
    studies = _named(path.stem, written.pop("experiment", None), written.pop("experiments", {}))
    year = written.pop("year", None)
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in written.items()
    }
    experiments = {name: Study(**study) for name, study in studies.items()}
    return Paper(path.stem, year=year, recipes=recipes, experiments=experiments, **plain)


def _named(paper: str, own: Any, others: Mapping[str, Any]) -> dict[str, Any]:
    first = {paper: own} if own is not None else {}
    return first | {f"{paper}-{name}": value for name, value in others.items()}


def canonical(name: str) -> str:
    """The name that a paper, a recipe or an experiment has here: ``broder`` is ``broder1997``."""
    plain = name.casefold()
    aliases = {alias: paper.name for paper in papers().values() for alias in paper.also}
    for alias in sorted(aliases, key=len, reverse=True):
        if plain == alias or plain.startswith(f"{alias}-"):
            return aliases[alias] + plain[len(alias) :]
    return plain


def look_up(written: str) -> list[Paper]:
    """The paper of this name; else those that have all the words in title, authors or text."""
    found = papers()
    name = canonical(written)
    if name in found:
        return [found[name]]
    owners = [p for p in found.values() if name in p.recipes or name in p.experiments]
    words = _words(written)
    titled = [p for p in found.values() if words and words == _words(p.title)]
    written_by = [p for p in found.values() if p.is_by(words)]
    mentioning = [p for p in found.values() if p.mentions(words) == len(words)]
    return owners or titled or written_by or mentioning


def nearest(written: str) -> Paper | None:
    """The paper that has most of the words, if it has two that are not short."""
    words = [word for word in _words(written) if len(word) > LONG]
    near = max(papers().values(), key=lambda paper: paper.mentions(words))
    return near if near.mentions(words) > 1 else None


def cited(written: str) -> list[Cited]:
    """Cited works without a recipe that have all the words."""
    words = _words(written)
    return [one for one in CITED if all(word in " ".join(_words(one.work)) for word in words)]


def _words(text: str) -> list[str]:
    """Letters and digits without accents, as people type them."""
    folded = unicodedata.normalize("NFKD", text.casefold().replace("ł", "l"))
    found = re.findall(r"[^\W_]+", "".join(c for c in folded if not unicodedata.combining(c)))
    return [word for word in found if word not in _UNSAID]


def named(name: str, known: Mapping[str, Any], what: str, hint: str) -> str:
    """The full name of a recipe or experiment among the ``known``; refuses others with the nearest
    names."""
    full = canonical(name)
    if full in known:
        return full
    own = [other for other in known if other.startswith(f"{full}-")]
    near = own or difflib.get_close_matches(full, known, 1)
    if near:
        hint = f"did you mean {' or '.join(map(repr, near))}?"
    raise SettingsError(f"There is no {what} {name!r}.", hint=hint)
