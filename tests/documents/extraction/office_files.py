"""Office files and books for tests, as small as their readers allow."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
A = 'xmlns:a="a" xmlns:p="p"'
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CORE = (
    '<c:coreProperties xmlns:c="c" xmlns:dc="dc" xmlns:t="t"><dc:title>Harbour</dc:title>'
    "<dc:creator>Ada Brown</dc:creator><t:created>2024-03-05T10:00:00Z</t:created>"
    "</c:coreProperties>"
)


def package(parts: dict[str, str | bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return data.getvalue()


def paragraph(text: str) -> str:
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


def docx(body: str, **parts: str) -> bytes:
    others = {name.replace("__", "/") + ".xml": text for name, text in parts.items()}
    return package({"word/document.xml": f"<w:document {W}>{body}</w:document>", **others})


def slide(paragraphs: Sequence[str]) -> str:
    lines = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in paragraphs)
    number = '<a:p><a:fld type="slidenum"><a:t>7</a:t></a:fld></a:p>'
    return f"<p:sld {A}><p:txBody>{lines}{number}</p:txBody></p:sld>"


def relations(targets: dict[str, tuple[str, str]]) -> str:
    lines = (
        f'<Relationship Id="{id_}" Type="{R}/{kind}" Target="{target}"/>'
        for id_, (kind, target) in targets.items()
    )
    return f"<Relationships>{''.join(lines)}</Relationships>"


def pptx(slides: Sequence[Sequence[str]], notes: str = "") -> bytes:
    """The first slide is in the last file, as after slides were moved."""
    names = [f"slide{n}.xml" for n in range(len(slides), 0, -1)]
    ids = "".join(f'<p:sldId id="{n}" r:id="r{n}"/>' for n in range(len(slides)))
    parts: dict[str, str | bytes] = {
        "ppt/presentation.xml": f'<p:presentation {A} xmlns:r="{R}">{ids}</p:presentation>',
        "ppt/_rels/presentation.xml.rels": relations(
            {f"r{n}": ("slide", f"slides/{name}") for n, name in enumerate(names)}
        ),
        "docProps/core.xml": CORE,
    }
    parts |= {f"ppt/slides/{name}": slide(text) for name, text in zip(names, slides, strict=True)}
    if notes:
        parts[f"ppt/slides/_rels/{names[0]}.rels"] = relations(
            {"r1": ("notesSlide", "../notesSlides/notesSlide1.xml")}
        )
        parts["ppt/notesSlides/notesSlide1.xml"] = slide([notes])
    return package(parts)


def odt(body: str, **parts: str) -> bytes:
    content = (
        '<o:document-content xmlns:o="o" xmlns:text="t" xmlns:draw="d"><o:body><o:text>'
        f"{body}</o:text></o:body></o:document-content>"
    )
    others = {name.replace("__", "/") + ".xml": text for name, text in parts.items()}
    return package({"content.xml": content, **others})


def epub(chapters: Sequence[str], **parts: str) -> bytes:
    """Chapters are the bodies of pages; the table of contents is the first of them."""
    pages = {f"Text/ch {n}.xhtml": body for n, body in enumerate(("A contents list", *chapters))}
    items = "".join(
        f'<item id="i{n}" href="{name.replace(" ", "%20")}" media-type="application/xhtml+xml"'
        + (' properties="nav"/>' if n == 0 else "/>")
        for n, name in enumerate(pages)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(pages)))
    book = (
        '<package xmlns:dc="dc"><metadata><dc:title>Harbour</dc:title><dc:creator>Ada Brown'
        "</dc:creator><dc:date>2024-03-05</dc:date><dc:language>en</dc:language></metadata>"
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    start = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    page = "<html><head><title>Hidden</title></head><body>{}</body></html>"
    others = {name.replace("__", "/") + ".xml": text for name, text in parts.items()}
    return package(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": start,
            "OPS/book.opf": book,
            **{f"OPS/{name}": page.format(body) for name, body in pages.items()},
            **others,
        }
    )


def rtf(body: str) -> bytes:
    head = (
        r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman Times;}{\f1\fcharset204 Arial;}}"
        r"{\info{\title Harbour}{\author Ada Brown}{\creatim\yr2024\mo3\dy5}{\company Gone}}"
    )
    return f"{head}{{\\header Gone}}{body}}}".encode("cp1252")
