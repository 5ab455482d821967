"""The written lists, ``debian.toml`` and ``pypi.toml``, and the documents that they stand for."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from neardup.planting.material import unit_count
from tools.general_model import fetch
from tools.general_model.document import Document, ordered
from tools.general_model.languages import language, untranslated
from tools.general_model.readers import READERS, licence

HERE = Path(__file__).parent
FEWEST, MOST = 30, 20_000  # words of a text
MOST_CHARACTERS = 200_000
FREE = ("Apache", "BSD", "MIT", "ISC", "Python", "GPL", "General Public", "Mozilla", "MPL", "CC0")
FREE += ("Public Domain", "Unlicense", "HPND", "Zope", "CC-BY", "Academic", "Artistic", "EUPL")
FEWEST_TEXTS = 30  # of a language, to be a collection of its own


@dataclass(frozen=True)
class Files:
    """Files of Debian packages. ``paths`` is a pattern with the groups ``page`` (what is one text
    in all versions), and ``lang`` where it is not stated; ``most`` pages of a collection are
    taken, and no part of which ``without`` finds the name."""

    collection: str
    packages: list[str]
    paths: str
    reader: str
    licence: str
    lang: str | None = None
    langs: tuple[str, ...] = ()
    most: int = 150
    without: str = "$^"


def collections(cache: Path) -> dict[str, list[Document]]:
    """All documents by the name of their collection."""
    found: dict[str, list[Document]] = {}
    for one in [*debian(cache), *_pypi(cache)]:
        found.setdefault(one[0], []).append(one[1])
    return found


def _listed(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text("utf-8"))


class _Page(NamedTuple):
    name: str
    package: str
    path: Path
    lang: str


def debian(cache: Path) -> Iterator[tuple[str, Document]]:
    """Texts of Debian packages, with the name of their collection."""
    sources = [Files(**one) for one in _listed("debian.toml")["files"]]
    folders = fetch.debian(sorted({name for one in sources for name in one.packages}), cache)
    for files in sources:
        taken: dict[str, list[_Page]] = {}
        for name in files.packages:
            for page in _matching(files, folders[name]):
                taken.setdefault(files.collection.format(lang=page.lang), []).append(page)
        for collection, pages in taken.items():
            pages.sort(key=lambda page: (ordered(page.name), page.lang, page))
            for one in _read(files, collection, pages):
                yield collection, one


def _matching(files: Files, folder: Path) -> Iterator[_Page]:
    for path in sorted(folder.rglob("*")):
        found = re.fullmatch(files.paths, path.relative_to(folder).as_posix())
        if found and path.is_file() and not path.is_symlink():
            said = found.groupdict()
            lang = files.lang or re.split("[-_@]", said["lang"])[0].lower()
            if not files.langs or lang in files.langs:
                yield _Page(said["page"], folder.name, path, lang)


def _read(files: Files, collection: str, pages: list[_Page]) -> Iterator[Document]:
    """The texts of the first pages that are long enough, all versions of each."""
    groups: set[str] = set()
    for page in pages:
        if len(groups) == files.most and page.name not in groups:
            return
        for part, text in READERS[files.reader](page.path):
            name = f"{page.lang}/{page.name}" + (f":{part}" if part else "")
            unwanted = untranslated(text, page.lang) or re.search(files.without, name)
            if fits(text) and not unwanted:
                groups.add(page.name)
                id = f"{page.package.split('_')[0]}/{page.path.name}/{name}"
                group = f"{collection}/{name}"
                yield Document(id, text, group, page.package, files.licence, page.lang)


def fits(text: str) -> bool:
    return len(text) <= MOST_CHARACTERS and FEWEST <= unit_count(text) <= MOST


def free(terms: str) -> bool:
    return any(name in terms for name in FREE)


def _pypi(cache: Path) -> Iterator[tuple[str, Document]]:
    """Descriptions of packages in several versions; languages with enough of them are collections
    of their own."""
    for family, names in _listed("pypi.toml").items():
        wanted = [(name, version) for name, some in names.items() for version in some]
        read: list[Document] = []
        for (name, version), said in fetch.metadata(wanted, cache).items():
            text, terms = said.get("description", ""), licence(said)
            if free(terms) and fits(text) and (lang := language(text)):
                at = f"{name}_{version}"
                read.append(Document(at, text, f"{family}/{name}", at, terms, lang))
        yield from _by_language(family, read)


def _by_language(family: str, read: list[Document]) -> Iterator[tuple[str, Document]]:
    count = {lang: sum(one.lang == lang for one in read) for lang in {one.lang for one in read}}
    for one in read:
        own = one.lang if count[one.lang] >= FEWEST_TEXTS else "mixed"
        yield f"{family}-{own}", one
