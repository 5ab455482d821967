"""What extractors are worth on real pages whose main text is known.

- ``precision``, ``recall``, ``f1`` of runs of four words, as the authors of the pages with whole
  texts have it, the mean over pages;
- ``must``: of snippets that belong to the main text, those that are there; ``apart``: of snippets
  of menus and notices, those that are not;
- ``skins``: of articles that were printed again in another skin, those that are found, and
  ``alone``: of the pairs that are found, those that are such articles.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import neardup as nd
from neardup.documents.extraction.extractor import Extraction, Extractor, page_of
from neardup.documents.streams import open_binary
from quality.sets import Figures

HOWS = ("trafilatura", "resiliparse", "all-text")
EVERY = 3  # of the many pages with snippets, for time
WHOLE, SNIPPETS = "scrapinghub.jsonl.zst", "trafilatura.jsonl.zst"


def rows(path: Path) -> list[dict[str, Any]]:
    with open_binary(path, "zstd") as stream:
        return [json.loads(line) for line in stream.read().split(b"\n") if line.strip()]


def digest(folder: Path) -> str:
    made = hashlib.sha256()
    for name in (WHOLE, SNIPPETS):
        made.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return made.hexdigest()


def figures(folder: Path, how: str) -> Figures:
    extractor = Extractor(Extraction(how, 2))
    whole, snippets = rows(folder / WHOLE), rows(folder / SNIPPETS)[::EVERY]
    return _whole_texts(extractor, whole) | _snippets(extractor, snippets) | _two_skins(whole, how)


def _texts(extractor: Extractor, pages: Sequence[dict[str, Any]]) -> list[str]:
    found = extractor.texts([page_of(page["html"]) for page in pages])
    return [one.text or "" for one in found]


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return Counter(tuple(words[i : i + 4]) for i in range(max(1, len(words) - 3)))


def _whole_texts(extractor: Extractor, pages: Sequence[dict[str, Any]]) -> Figures:
    shares = []
    for page, text in zip(pages, _texts(extractor, pages), strict=True):
        gold, found = _runs(page["gold_text"]), _runs(text)
        shared = (gold & found).total()
        shares.append((shared / max(found.total(), 1), shared / max(gold.total(), 1)))
    precision, recall = np.mean(shares, axis=0)
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall),
    }


def _snippets(extractor: Extractor, pages: Sequence[dict[str, Any]]) -> Figures:
    there: dict[str, list[bool]] = {"with_": [], "without": []}
    for page, text in zip(pages, _texts(extractor, pages), strict=True):
        line = " ".join(text.split())
        for side, found in there.items():
            found += [" ".join(snippet.split()) in line for snippet in page[side] or ()]
    return {"must": np.mean(there["with_"]), "apart": 1 - np.mean(there["without"])}


def _two_skins(pages: Sequence[dict[str, Any]], how: str) -> Figures:
    """Each page, and its article in a plain one; compared by shingles as they come."""
    plain = [
        f"<html><body><h1>Reprint</h1><p>{html.escape(page['gold_text'])}</p></body></html>"
        for page in pages
    ]
    documents = [
        {"id": f"{side}{i}", "text": text}
        for side, texts in (("page", [page["html"] for page in pages]), ("copy", plain))
        for i, text in enumerate(texts)
    ]
    pairs = nd.find(documents, method="shingles", extract=how).pairs
    found = list(zip(pairs["a"].to_pylist(), pairs["b"].to_pylist(), strict=True))
    right = sum({a[:4], b[:4]} == {"page", "copy"} and a[4:] == b[4:] for a, b in found)
    return {"skins": right / len(pages), "alone": right / max(len(found), 1)}
