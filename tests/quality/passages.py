"""What finding passages is worth, on texts where it is known which passages are copied.

- ``verbatim`` and ``edited``: character precision and recall of passages of 25 to 200 words planted
  into news, as they are or with a tenth of their words changed;
- ``clough_stevenson``: the accuracy of four classes of reuse, told by how much of an answer
  :func:`neardup.trace` finds in its source, each answer judged by the others;
- ``newsgroups20``: of what replies mark as quoted, the share that is found; and of what is
  classified as a quotation, the share that is marked;
- ``html_extraction``: what ``clean`` removes from whole pages: of snippets that belong to the main
  text, those that stay, and of those that do not, those that are gone.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import neardup as nd
from neardup.documents.extraction.extractor import Extraction, Extractor, page_of
from neardup.schema import Array
from quality.extraction import SNIPPETS, rows
from quality.sets import Figures

PLANTED = 400
LABELS = ("non", "heavy", "light", "cut")
Span = tuple[int, int]


def digest(folder: Path) -> str:
    """Of the documents and labels that are read."""
    made = hashlib.sha256()
    for name in ("docs.jsonl.zst", "pairs.jsonl.zst", SNIPPETS):
        if (folder / name).exists():
            made.update(hashlib.sha256((folder / name).read_bytes()).digest())
    return made.hexdigest()


def planted(folder: Path, edited: float) -> Figures:
    """Passages of one half of the news, planted into the other half at random places."""
    draw = random.Random(7)
    texts = [row["text"] for row in rows(folder / "docs.jsonl.zst")]
    own = {row["id"] for row in nd.passages(texts).occurrences.to_pylist()}
    alone = [text for i, text in enumerate(texts) if f"input:{i + 1}" not in own]
    donors, hosts = alone[::2], alone[1::2]
    donors = [text for text in donors if len(text.split()) > 230][:PLANTED]
    made, truth = [], []
    for donor, host in zip(donors, hosts, strict=False):
        text, span = _planted(donor, host, edited, draw)
        made.append(text)
        truth.append(span)
    found = nd.passages([*donors[: len(made)], *made]).occurrences.to_pylist()
    spans: list[list[Span]] = [[] for _ in made]
    for row in found:
        if row["row"] > len(made):
            spans[row["row"] - len(made) - 1].append((row["begin"], row["end"]))
    return precision_recall(spans, [[span] for span in truth])


def _planted(donor: str, host: str, edited: float, draw: random.Random) -> tuple[str, Span]:
    words = donor.split()
    size = draw.randint(25, 200)
    at = draw.randrange(len(words) - size)
    passage = " ".join(_edited(words[at : at + size], edited, words, draw))
    around = host.split()
    where = draw.randrange(len(around))
    before = "".join(f"{word} " for word in around[:where])
    after = "".join(f" {word}" for word in around[where:])
    return before + passage + after, (len(before), len(before) + len(passage))


def _edited(
    words: Sequence[str], share: float, others: Sequence[str], draw: random.Random
) -> list[str]:
    """A share of the words replaced, left out, doubled by another word, or swapped."""
    out = list(words)
    for at in draw.sample(range(len(out)), round(share * len(out))):
        kind = draw.randrange(4)
        if kind == 0:
            out[at] = draw.choice(others)
        elif kind == 1:
            out[at] = ""
        elif kind == 2:
            out[at] = f"{out[at]} {draw.choice(others)}"
        elif at + 1 < len(out):
            out[at], out[at + 1] = out[at + 1], out[at]
    return " ".join(out).split()


def precision_recall(found: Sequence[Sequence[Span]], truth: Sequence[Sequence[Span]]) -> Figures:
    both = said = true = 0
    for some, real in zip(found, truth, strict=True):
        a, b = _mask(some, real), _mask(real, some)
        both, said, true = both + int((a & b).sum()), said + int(a.sum()), true + int(b.sum())
    return {"precision": both / max(1, said), "recall": both / max(1, true)}


def _mask(spans: Sequence[Span], others: Sequence[Span]) -> npt.NDArray[np.bool_]:
    """Which characters are in the spans; as many as are in either list."""
    mask = np.zeros(max((end for _, end in (*spans, *others)), default=0), np.bool_)
    for begin, end in spans:
        mask[begin:end] = True
    return mask


def reuse(folder: Path) -> Figures:
    """The accuracy of four classes, and of reuse against none, each answer judged by the others."""
    documents = {row["id"]: row["text"] for row in rows(folder / "docs.jsonl.zst")}
    pairs = rows(folder / "pairs.jsonl.zst")
    shares = np.array([_shares(documents[pair["a"]], documents[pair["b"]]) for pair in pairs])
    labels = np.array([LABELS.index(pair["label"]) for pair in pairs])
    judged = np.array([_judged(shares, labels, i) for i in range(len(pairs))])
    return {
        "accuracy": float((judged == labels).mean()),
        "reuse": float(((judged > 0) == (labels > 0)).mean()),
    }


def _shares(answer: str, source: str) -> tuple[float, float, float]:
    """How much of the answer is in copies of four words, in exact ones of eight, in the longest."""
    near = nd.trace([answer], [source], min_words=4, similarity=0.5, workers=1)[0]
    exact = nd.trace([answer], [source], min_words=8, gap=0, workers=1)[0]
    return near.coverage, exact.coverage, exact.longest_words / len(answer.split())


def _judged(shares: Array, labels: Array, left_out: int) -> int:
    """Naive Bayes with normal distributions, trained on the other answers."""
    others = np.arange(len(labels)) != left_out
    scores = []
    for label in range(len(LABELS)):
        some = shares[others & (labels == label)]
        mean, spread = some.mean(0), some.std(0) + 0.03
        fit = ((shares[left_out] - mean) / spread) ** 2 / 2 + np.log(spread)
        scores.append(np.log(len(some)) - fit.sum())
    return int(np.argmax(scores))


QUOTED = re.compile(r"^[ \t]*(?:[A-Za-z]{0,3}>|\|).*\n?", re.MULTILINE)


def quoted(folder: Path) -> Figures:
    """Blocks of at least 20 marked words in replies whose parent is in the set."""
    replies = {p["a"] for p in rows(folder / "pairs.jsonl.zst") if p["label"] == "reply"}
    documents = rows(folder / "docs.jsonl.zst")
    found = nd.passages(documents)
    copies: dict[str, list[Span]] = {}
    classes = found.passages["class"].to_pylist()
    marked = inside = 0
    lines = {row["id"]: list(_marked(row["text"])) for row in documents}
    for row in found.occurrences.to_pylist():
        span = row["begin"], row["end"]
        copies.setdefault(row["id"], []).append(span)
        if not row["original"] and classes[row["passage"]] == "quotation":
            inside += row["end"] - row["begin"]
            marked += sum(max(0, min(e, span[1]) - max(b, span[0])) for b, e in lines[row["id"]])
    chosen = [row["id"] for row in documents if row["id"] in replies]
    truth = [_blocks(row["text"]) for row in documents if row["id"] in replies]
    recall = precision_recall([copies.get(id, []) for id in chosen], truth)["recall"]
    return {"recall": recall, "precision": marked / max(1, inside)}


def _marked(text: str) -> Iterator[Span]:
    for match in QUOTED.finditer(text):
        yield match.span()


def _blocks(text: str) -> list[Span]:
    blocks: list[Span] = []
    for begin, end in _marked(text):
        if blocks and blocks[-1][1] == begin:
            blocks[-1] = (blocks[-1][0], end)
        else:
            blocks.append((begin, end))
    return [(b, e) for b, e in blocks if len(re.findall(r"\w+", text[b:e])) >= 30]


def boilerplate(folder: Path, every: int = 1) -> Figures:
    pages = rows(folder / SNIPPETS)[::every]
    texts = Extractor(Extraction("all-text", 2)).texts([page_of(page["html"]) for page in pages])
    documents: list[dict[str, Any]] = [
        {"id": page["id"], "url": page["url"], "text": text.text or ""}
        for page, text in zip(pages, texts, strict=True)
    ]
    made = nd.clean(documents, unit="line", min_words=8)
    before, after = [d["text"] for d in documents], [d["text"] for d in made.documents]
    kept = gone = must = apart = 0
    for page, old, new in zip(pages, before, after, strict=True):
        wanted = [part for part in page["with_"] if part in old]
        unwanted = [part for part in page["without"] if part in old]
        must, apart = must + len(wanted), apart + len(unwanted)
        kept += sum(part in new for part in wanted)
        gone += sum(part not in new for part in unwanted)
    return {"must": kept / max(1, must), "gone": gone / max(1, apart)}
