"""The text of a Word document (.docx), paragraph by paragraph, with its notes.

A .docx is a ZIP archive of XML files (ECMA-376). The parts that hold text are read up to a size, so
that an archive that unpacks to gigabytes costs no memory, and their XML is parsed as any other:
entities are refused. Deleted text that is tracked as a change is left out.
"""

from __future__ import annotations

import io
import zipfile
import zlib

from neardup.documents.extraction.page import Extracted, Meta, Page
from neardup.documents.xml import Element, local, tree
from neardup.errors import UnreadableError

LARGEST = 64 << 20  # bytes of a part; the text of a thousand pages takes ten
PARTS = ("word/document.xml", "word/footnotes.xml", "word/endnotes.xml")
CORE = "docProps/core.xml"
_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
NO_TEXT = "Word document has no text"


def extract_docx(page: Page) -> Extracted:
    try:
        with zipfile.ZipFile(io.BytesIO(page.data)) as archive:
            lines = [line for part in PARTS for line in _lines(_part(archive, part))]
            meta = _meta(_part(archive, CORE))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        return Extracted(None, f"Word document cannot be read: {error}")
    except UnreadableError as error:
        return Extracted(None, f"Word document cannot be read: {error.reason}")
    text = "\n".join(lines)
    return Extracted(text, None, meta, "docx") if text.strip() else Extracted(None, NO_TEXT, meta)


def _part(archive: zipfile.ZipFile, name: str) -> Element | None:
    """The root of a part; only the document itself has to exist."""
    if name not in archive.namelist():
        if name == PARTS[0]:
            raise UnreadableError("No Word document.", reason=f"it has no {name}")
        return None
    with archive.open(name) as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        reason = f"its {name} unpacks to more than {LARGEST >> 20} MB"
        raise UnreadableError(f"The Word document is too large: {reason}.", reason=reason)
    return tree(data)


def _lines(root: Element | None) -> list[str]:
    found = () if root is None else (e for e in root.iter() if local(e) == "p")
    return [line for paragraph in found if (line := "".join(_pieces(paragraph))).strip()]


def _pieces(paragraph: Element) -> list[str]:
    """The text of a paragraph, without that of paragraphs inside it, such as text boxes."""
    pieces = []
    for child in paragraph:
        name = local(child)
        if name == "t":
            pieces.append(child.text or "")
        elif name in _SIGNS:
            pieces.append(_SIGNS[name])
        elif name != "p" and name != "del":
            pieces += _pieces(child)
    return pieces


def _meta(core: Element | None) -> Meta:
    values = {} if core is None else {local(e): (e.text or "").strip() for e in core.iter()}
    date = values.get("created", "")[:10] or None
    return Meta(title=values.get("title") or None, author=values.get("creator") or None, date=date)
