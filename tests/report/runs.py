"""Runs whose reports are looked at: ordinary, hostile, empty and extreme ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from neardup import api as nd
from neardup.runs.result import Result

WORDS = (
    "the ferry left the harbour an hour late because the captain waited for a doctor who had to "
    "reach the island before the storm and the passengers who knew him did not complain at all"
)
SCRIPT = "<script>alert('id')</script>"
HOSTILE = [
    SCRIPT,
    '"><img src=x onerror=alert(1)>',
    "</style></title></textarea><svg onload=alert(2)>",
    "]]>--></script><script src=http://example.com/x.js></script>",
    "a\u202eb\u2066c\u200f\x00\x1b[31m\x7f\ufeff",
    "javascript:alert(3)",
    "<iframe srcdoc='<script>parent.alert(4)</script>'></iframe>",
    "<style>*{display:none}</style><base href=http://example.com/>",
    "<meta http-equiv=refresh content='0; url=http://example.com/'>",
    "x" * 1_000_000,
    "ﷺ" * 5000,
    "' onmouseover='alert(5)",
    "\u0301" * 300 + "z",
]


def edited(text: str, place: int, word: str) -> str:
    words = text.split()
    return " ".join([*words[:place], word, *words[place + 1 :]])


def hostile(folder: Path) -> Path:
    """Markup in ids, texts, sources, dates, file names and reasons."""
    documents: list[dict[str, Any]] = []
    for i, bad in enumerate(HOSTILE):
        text = f"{WORDS} number {i} {bad if len(bad) < 9000 else bad[:60_000]} {WORDS[::-1]}"
        documents += [
            {
                "id": f"{bad}{copy}" if copy else bad,
                "text": text if copy < 2 else edited(text, 5, bad[:500]),
                "date": bad if copy else "2003-11-03",
                "site": bad,
            }
            for copy in range(3)
        ]
    path = folder / "a <img src=x onerror=alert(6)>.jsonl"
    lines = [json.dumps(document) for document in documents]
    rejected = ["{", json.dumps({"id": SCRIPT, "text": None}), '"<b>"', json.dumps(documents[0])]
    path.write_text("\n".join([*lines, *rejected]) + "\n", "utf-8")
    return path


def collections() -> dict[str, list[Any]]:
    """Each of them a run that once might have had no report."""
    return {
        "empty": [],
        "one": [WORDS],
        "all rejected": [None, 7, None],
        "all equal": [WORDS] * 3000,
        "all short": ["one", "one", "two", ""],
        "empty texts": ["", "", ""],
        "no duplicates": [WORDS, WORDS[::-1]],
        "cjk": [f"東京都は{day}、新しい計画を発表しました。" * 5 for day in ("今日", "昨日")],
        "emoji": ["👩‍👩‍👧‍👦🏳️‍🌈 " * 40, "👩‍👩‍👧‍👦🏳️‍🌈 " * 40],
        "long": ["a" * 1_000_000, "a" * 1_000_000, f"{WORDS} " * 8000, f"{WORDS} " * 8000 + "end"],
        "surrogates": [{"id": "x\udc80", "text": WORDS}, {"id": "y", "text": WORDS}],
    }


def run(documents: Any, **settings: Any) -> Result:
    return nd.dedup(documents, **{"method": "shingles", "threshold": 0.5, **settings})
