"""Pages for tests: one article in several skins, PDF files, records of a crawl."""

from __future__ import annotations

ARTICLE = (
    "The harbour of the old town was closed on Tuesday after a storm had torn a freighter from its "
    "moorings. Nobody was hurt, the harbour master said, but the ship lies across the entrance and "
    "will not be moved before the weekend.",
    "Fishermen from three villages came with their boats to take the crew ashore. The owner of the "
    "freighter, a small company from the north, has promised to pay for the damage, which is put "
    "at two million.",
    "It is the second accident of this kind within a year. The council wants to discuss on Friday "
    "whether larger ships should be sent to the new port in the bay, as its engineers have asked "
    "for since the pier was built.",
)
OTHER = (
    "Researchers have counted the swallows of the valley for forty years, and never were there as "
    "few as in this spring. They blame the dry summers, in which the birds find no mud for nests.",
    "In the villages people have begun to put up boards with nests of clay. Every second one was "
    "taken within weeks, more than the researchers had hoped for when they drew up the plan.",
    "Whether that is enough will be seen when the birds return from the south. The count goes on, "
    "with the help of schools, and anyone who sees a nest is asked to write a card.",
)
MENU = "".join(f"<li><a href='/{i}'>Section number {i} of our paper</a></li>" for i in range(12))


def plain_skin(parts: tuple[str, ...] = ARTICLE, title: str = "Harbour closed") -> str:
    body = "".join(f"<p>{part}</p>" for part in parts)
    return (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{title}</title>"
        "<meta name='author' content='Ada Brown'><meta property='article:published_time' "
        "content='2024-03-05T06:00:00Z'></head>"
        f"<body><article><h1>{title}</h1>{body}</article></body></html>"
    )


def rich_skin(parts: tuple[str, ...] = ARTICLE, title: str = "Harbour closed") -> str:
    """With menus, scripts and notices around the same text."""
    body = "".join(f"<p>{part}</p><script>track('ad')</script>" for part in parts)
    notice = "We use cookies and similar tools to offer you a better service on all our sites."
    return (
        f"<html><head><title>{title} | The Daily Coast</title><style>p {{ color: red }}</style>"
        f"</head><body><nav><ul>{MENU}</ul></nav><div class='cookie-banner'>{notice}</div>"
        f"<main><article><h1>{title}</h1>{body}</article></main>"
        f"<aside><h3>Most read</h3><ul>{MENU}</ul></aside>"
        f"<footer>All rights reserved. Imprint. Privacy. Contact. {notice}</footer></body></html>"
    )
