"""References of a library: BibTeX, RIS and CSL-JSON, read beside the files that they describe and
written for reference managers such as Zotero.

A reference has the field names of BibTeX. It is joined to a file that it names, whose name is its
key or its DOI, or that states its DOI on the first page. An entry that cannot be read is passed
over and counted; it is no document.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from neardup.documents.encodings import decoded
from neardup.documents.extraction.page import Meta

SUFFIXES = (".bib", ".ris")
FIRST_PAGE = 6_000  # characters in which a document states its own DOI
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"'<>{}\\|^]{1,200}")
# What servers of preprints register, and what else says that an entry is a preprint.
_PREPRINTS = ("10.48550/", "10.1101/", "10.26434/", "10.21203/", "10.2139/", "10.31234/")
_PREPRINT = re.compile(r"\b(preprint|arxiv|biorxiv|medrxiv|chemrxiv|ssrn|working paper)\b", re.I)


@dataclass(frozen=True)
class Reference:
    """``fields`` hold plain text; ``written`` what a BibTeX file has for them."""

    key: str
    type: str = "misc"
    fields: Mapping[str, str] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    written: Mapping[str, str] = field(default_factory=dict)

    @property
    def doi(self) -> str | None:
        return plain_doi(self.fields.get("doi", "")) or plain_doi(self.fields.get("url", ""))

    @property
    def is_preprint(self) -> bool:
        if (self.doi or "").startswith(_PREPRINTS) or self.type == "unpublished":
            return True
        stated = " ".join(self.fields.get(n, "") for n in ("journal", "howpublished", "genre"))
        return bool(_PREPRINT.search(stated))

    def meta(self) -> Meta:
        fields = self.fields
        doi = self.doi
        url = fields.get("url") or (f"https://doi.org/{doi}" if doi else None)
        people = fields.get("author", "").replace(" and ", "; ")
        date = fields.get("date") or fields.get("year")
        return Meta(fields.get("title"), people or None, date, url, fields.get("language"))


def plain_doi(text: str) -> str | None:
    """The first DOI in a text, in lower case, because letters of a DOI have no case."""
    found = _DOI.search(text)
    return found[0].rstrip(".,;)]").lower() if found else None


def references(name: str, data: bytes) -> tuple[list[Reference], int]:
    """The references of a file, and the number of entries that cannot be read."""
    text = decoded(data).text
    if text is None:
        return [], 0
    if name.lower().endswith(".json"):
        return _csl(text)
    read = _bibtex if name.lower().endswith(".bib") else _ris
    entries = list(read(text))
    known = [entry for entry in entries if entry is not None]
    return known, len(entries) - len(known)


_ENTRY = re.compile(r"^[ \t]*@[ \t]*(\w+)[ \t]*[{(]", re.MULTILINE)
_KEY = re.compile(r"\s*([^\s,{}()=]*)\s*,")
_FIELD = re.compile(r"[\s,]*([A-Za-z][\w:+-]*)\s*=\s*")
_BARE = re.compile(r"[^\s,{}()\"#=]+")
_VERBATIM = ("url", "doi")  # in which no sign means anything else
_JOIN = re.compile(r"\s*#\s*")
_MONTHS = {m.lower(): m for m in re.findall("...", "JanFebMarAprMayJunJulAugSepOctNovDec")}


def _bibtex(text: str) -> Iterator[Reference | None]:
    """Each entry ends where the next one begins, so an open brace costs one entry only."""
    starts = list(_ENTRY.finditer(text))
    macros = dict(_MONTHS)
    for match, after in zip(starts, [*starts[1:], None], strict=False):
        type_ = match[1].lower()
        body = text[match.end() : after.start() if after else len(text)]
        if type_ == "string":
            macros |= _values(body, 0, macros) or {}
        elif type_ not in ("comment", "preamble"):
            yield _entry(type_, body, macros)


def _entry(type_: str, body: str, macros: Mapping[str, str]) -> Reference | None:
    key = _KEY.match(body)
    written = _values(body, key.end(), macros) if key else None
    if key is None or written is None:
        return None
    plain = {
        name: re.sub(r"\\(.)", r"\1", value) if name in _VERBATIM else without_latex(value)
        for name, value in written.items()
    }
    files = plain.pop("file", "")
    raw = written.pop("file", files)
    if "journaltitle" in plain:  # BibLaTeX
        plain["journal"] = plain["journaltitle"]
    whole = {name: value for name, value in written.items() if _is_balanced(value)}
    return Reference(key[1], type_, plain, tuple(_paths(raw)), whole)


def _is_balanced(value: str) -> bool:
    """Whether all readers agree on where the value ends: some count braces after a backslash."""
    depth = 0
    for sign in value:
        depth += (sign == "{") - (sign == "}")
        if depth < 0:
            return False
    return depth == 0 and not value.endswith("\\")


def _values(body: str, at: int, macros: Mapping[str, str]) -> dict[str, str] | None:
    """The fields from ``at`` on; None if one does not end."""
    values: dict[str, str] = {}
    while match := _FIELD.match(body, at):
        parts, at = list[str](), match.end()
        while True:
            part, at = _value(body, at, macros)
            if part is None:
                return None
            parts.append(part)
            if (joined := _JOIN.match(body, at)) is None:
                break
            at = joined.end()
        values.setdefault(match[1].lower(), " ".join("".join(parts).split()))
    return values


def _value(body: str, at: int, macros: Mapping[str, str]) -> tuple[str | None, int]:
    if at < len(body) and body[at] in '{"':
        end = _end(body, at)
        return (None, at) if end is None else (body[at + 1 : end], end + 1)
    bare = _BARE.match(body, at)
    return (macros.get(bare[0].lower(), bare[0]), bare.end()) if bare else (None, at)


def _end(body: str, at: int) -> int | None:
    """Where a value in braces or quotes ends, which may hold braces."""
    closing, depth, i = ("}" if body[at] == "{" else '"'), 0, at + 1
    while i < len(body):
        sign = body[i]
        if sign == "\\":
            i += 1
        elif sign == closing and depth == 0:
            return i
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth < 0:
                return None
        i += 1
    return None


_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304",
    ".": "\u0307", "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328",
    "r": "\u030a", "d": "\u0323",
}  # fmt: skip
_SIGNS = {
    "ss": "ß", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ",
    "aa": "å", "AA": "Å", "i": "i", "j": "j", "textendash": "–", "textemdash": "—",
}  # fmt: skip
_ACCENT = re.compile(r"\\([`'^\"~=.]|[uvHckrd](?![A-Za-z]))\s*\{?\s*\\?([A-Za-z])\}?")
_SIGN = re.compile(r"\\([A-Za-z]+)\s*(?:\{\})?")


def without_latex(value: str) -> str:
    """The value as people read it: accents as letters, no braces and no commands."""
    value = _ACCENT.sub(lambda m: m[2] + _ACCENTS[m[1]], value)
    value = _SIGN.sub(lambda m: _SIGNS.get(m[1], ""), value)
    value = re.sub(r"\\(.)", r"\1", value).replace("{", "").replace("}", "").replace("~", " ")
    return unicodedata.normalize("NFC", " ".join(value.replace("---", "—").split()))


def _paths(written: str) -> Iterator[str]:
    """The files of a field ``file``: a path, or ``label:path:type`` parted by ``;`` (Zotero,
    JabRef), with backslashes before signs that are meant."""
    for one in re.split(r"(?<!\\);", written):
        parts = [re.sub(r"\\(.)", r"\1", part) for part in re.split(r"(?<!\\):", one)]
        named = [part for part in parts if PurePosixPath(part).suffix] or parts
        if longest := max(named, key=len).strip():
            yield longest.replace("\\", "/")


_TAG = re.compile(r"([A-Z][A-Z0-9])  ?- ?(.*)")
_RIS_TYPES = {
    "JOUR": "article", "MGZN": "article", "NEWS": "article", "BOOK": "book", "CHAP": "incollection",
    "CONF": "inproceedings", "CPAPER": "inproceedings", "THES": "phdthesis", "RPRT": "techreport",
    "UNPB": "unpublished",
}  # fmt: skip
_RIS_FIELDS = {
    "TI": "title", "T1": "title", "DO": "doi",
    "UR": "url", "JO": "journal", "JF": "journal", "T2": "journal", "JA": "journal",
    "VL": "volume", "IS": "number", "SP": "pages", "PB": "publisher", "AB": "abstract",
    "LA": "language", "M3": "genre",
}  # fmt: skip


def _ris(text: str) -> Iterator[Reference | None]:
    lines: list[tuple[str, str]] = []
    for line in text.splitlines():
        match = _TAG.fullmatch(line.strip())
        if match and match[1] == "TY" and lines:  # the one before has no end
            yield None
            lines = []
        if match:
            lines.append((match[1], " ".join(match[2].split())))
        if match and match[1] == "ER":
            yield _record(lines)
            lines = []
    if lines:
        yield None


def _record(lines: Sequence[tuple[str, str]]) -> Reference | None:
    if lines[0][0] != "TY":
        return None
    fields: dict[str, str] = {}
    for tag, value in lines:
        if (name := _RIS_FIELDS.get(tag)) and value:
            fields.setdefault(name, value)
    authors = [value for tag, value in lines if tag in ("AU", "A1") and value]
    if authors:
        fields["author"] = " and ".join(authors)
    given = [value for date in _RIS_DATES for tag, value in lines if tag == date and value]
    if dates := ["-".join(filter(None, value.split("/")[:3])) for value in given]:
        fields["year"] = dates[0][:4]
        fields["date"] = max(dates, key=_precision)
    key = next((value for tag, value in lines if tag == "ID" and value), "")
    files = tuple(value for tag, value in lines if tag in ("L1", "L4") and value)
    return Reference(key, _RIS_TYPES.get(lines[0][1].upper(), "misc"), fields, files)


_RIS_DATES = ("PY", "Y1", "DA")  # PY is often the year alone, beside the day in DA


def _precision(date: str) -> int:
    """2 with a day, 1 with a month; −1 for what is no date in numbers, such as ``May 2021``."""
    return date.count("-") if re.fullmatch(r"\d{4}(-\d{1,2}){0,2}", date) else -1


_CSL_TYPES = {
    "article-journal": "article", "article-magazine": "article", "article-newspaper": "article",
    "article": "unpublished", "book": "book", "chapter": "incollection", "thesis": "phdthesis",
    "paper-conference": "inproceedings", "report": "techreport", "manuscript": "unpublished",
}  # fmt: skip
_CSL_FIELDS = {
    "title": "title", "DOI": "doi", "URL": "url", "container-title": "journal", "volume": "volume",
    "issue": "number", "page": "pages", "publisher": "publisher", "abstract": "abstract",
    "language": "language", "genre": "genre",
}  # fmt: skip


def is_csl(head: bytes) -> bool:
    """Whether a JSON file looks like CSL-JSON: an array of items that have a type and a title."""
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    return start.startswith(b"[") and b'"type"' in head and b'"title"' in head


def _csl(text: str) -> tuple[list[Reference], int]:
    try:
        items = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return [], 0
    items = items if isinstance(items, list) else []
    found = [_csl_item(item) for item in items]
    known = [reference for reference in found if reference is not None]
    return known, len(items) - len(known)


def _csl_item(item: Any) -> Reference | None:
    if not isinstance(item, dict) or not isinstance(item.get("type"), str):
        return None
    fields = {
        name: " ".join(str(item[csl]).split())
        for csl, name in _CSL_FIELDS.items()
        if isinstance(item.get(csl), str | int | float) and item[csl] != ""
    }
    people = item.get("author")
    names = [name for one in people if (name := _person(one))] if isinstance(people, list) else []
    fields |= {"author": " and ".join(names)} if names else {}
    if date := _issued(item.get("issued")):
        fields |= {"date": date, "year": date[:4]}
    paths = (item.get("file"), item.get("PDF"))
    files = tuple(path for path in paths if isinstance(path, str))
    return Reference(str(item.get("id", "")), _CSL_TYPES.get(item["type"], "misc"), fields, files)


def _person(person: Any) -> str:
    if not isinstance(person, dict):
        return ""
    parts = [person.get("family") or person.get("literal"), person.get("given")]
    return ", ".join(part for part in parts if isinstance(part, str) and part)


def _issued(issued: Any) -> str | None:
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    first = parts[0] if isinstance(parts, list) and parts else None
    if not isinstance(first, list) or not all(isinstance(p, int | str) for p in first) or not first:
        return None
    return "-".join(str(part).zfill(2) for part in first[:3])


class Library:
    """References, by the files that they describe."""

    def __init__(self, references: Iterable[Reference], names: Sequence[str]) -> None:
        self.references = list(references)
        self._by_doi = {doi: one for one in reversed(self.references) if (doi := one.doi)}
        self._by_name = self._joined(names)

    def _joined(self, names: Sequence[str]) -> dict[str, Reference]:
        """The reference of each file: the one that names its path, else its file name, else one
        whose key or DOI is the name of the file."""
        by_file = {_name(name): name for name in reversed(names)}
        joined: dict[str, Reference] = {}
        ways: tuple[Callable[[Reference], Iterable[str]], ...] = (
            lambda one: [path for path in one.files if path in known],
            lambda one: [by_file[_name(path)] for path in one.files if _name(path) in by_file],
            lambda one: by_stem.get(_letters(one.key), ()) if one.key else (),
            lambda one: by_stem.get(_letters(one.doi), ()) if one.doi else (),
        )
        known, by_stem = set(names), dict[str, list[str]]()
        for name in names:
            by_stem.setdefault(_letters(PurePosixPath(name).stem), []).append(name)
        for way in ways:
            for one in self.references:
                for name in way(one):
                    joined.setdefault(name, one)
        return joined

    def of(self, name: str, text: str | None = None) -> Reference | None:
        """The reference of a file, which may state its DOI in the text."""
        if (known := self._by_name.get(name)) or text is None or not self._by_doi:
            return known
        stated = (match[0] for match in _DOI.finditer(text[:FIRST_PAGE]))
        found = (self._by_doi.get(plain_doi(doi) or "") for doi in stated)
        if reference := next(filter(None, found), None):
            self._by_name[name] = reference
        return reference


def _name(path: str) -> str:
    return re.split(r"[/\\]", path)[-1].lower()


def _letters(text: str | None) -> str:
    return re.sub(r"[\W_]+", "", text or "").lower()


def bibtex(reference: Reference, more: Mapping[str, str]) -> str:
    """An entry as written, with fields of ours after it. Braces are balanced: a value cannot end
    its entry."""
    named = {name: _braced(value, name) for name, value in reference.fields.items() if value}
    named |= reference.written
    named |= {name: _braced(value) for name, value in more.items() if value and name != "file"}
    if (path := more.get("file")) and not set("{}\\") & set(path):
        named["file"] = re.sub("([:;])", r"\\\1", path)  # else they part files and labels
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in named.items())
    return f"@{reference.type}{{{reference.key},\n{lines}}}\n"


def _braced(value: str, name: str = "") -> str:
    value = " ".join(value.replace("\\", "/").replace("{", "(").replace("}", ")").split())
    return value if name in _VERBATIM else re.sub(r"([&%$#_])", r"\\\1", value)


_RIS_ORDER = {"date": "DA", "title": "TI", "doi": "DO", "url": "UR", "journal": "JO"} | {
    name: tag for tag, name in _RIS_FIELDS.items() if tag in ("VL", "IS", "SP", "PB", "AB", "LA")
}


def ris(reference: Reference, more: Mapping[str, str]) -> str:
    types = {type_: tag for tag, type_ in reversed(_RIS_TYPES.items())}
    lines = [("TY", types.get(reference.type, "GEN")), ("ID", reference.key)]
    people = reference.fields.get("author", "").split(" and ")
    lines += [("AU", person) for person in people if person]
    year = reference.fields.get("year") or reference.fields.get("date", "")[:4]
    lines += [("PY", year)] if year else []
    fields = {**reference.fields, "file": more.get("file", ""), "note": more.get("note", "")}
    tags = _RIS_ORDER | {"file": "L1", "note": "N1"}
    lines += [(tag, fields[name]) for name, tag in tags.items() if fields.get(name)]
    written = "".join(f"{tag}  - {' '.join(value.split())}\n" for tag, value in lines)
    return f"{written}ER  - \n\n"
