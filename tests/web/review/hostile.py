"""Documents that mean harm, and a run of them."""

from __future__ import annotations

import json
from pathlib import Path

import neardup as nd

SCRIPT = "<script>document.title='broken'; fetch('http://elsewhere.invalid/')</script>"
IMAGE = '"><img src=http://elsewhere.invalid/x.png onerror="alert(1)">'
IDS = (
    SCRIPT,
    IMAGE,
    "\u202egnp.exe\u2066",
    "x" * 3000,
    "a&b=c#d?e/f/../g%20h+i",
    "'; DROP TABLE documents; --",
    "{{ 7 * 7 }}{% include 'base.html' %}",
    "\u0645\u062b\u0627\u0644 \u200f\u200e",
    " spaces \n and \t lines ",
)
BODY = " ".join(f"word{i}" for i in range(60))


def documents() -> list[dict[str, str]]:
    made = []
    for number, id in enumerate(IDS):
        text = f"{BODY} {SCRIPT} {IMAGE} \u202e{{{{ 7 * 7 }}}} </div></main> {id[:99]}"
        source, date = f"{IMAGE}{number % 2}\u202e", f"<u>{number}</u>"
        made.append({"id": id, "text": text, "source": source, "date": date})
        made.append({"id": f"{id} copy", "text": f"{text} more", "source": source, "date": date})
    made.append({"id": "one long line", "text": "<i>" + "y" * 2_000_000, "source": "", "date": ""})
    made.append({"id": "empty", "text": "", "source": "", "date": ""})
    return made


def hostile_run(folder: Path) -> Path:
    path = folder / "<b>docs & co.jsonl"
    lines = [json.dumps(one) + "\n" for one in documents()]
    path.write_text("".join([*lines, "{ no json\n", '{"id": "<b>no text"}\n']))
    return nd.find(str(path), method="shingles", threshold=0.5).save(folder / "<i>run")
