"""``--extract`` and the inputs it is for, from the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from cli.sample import Run
from documents.crawl import CRAWL
from documents.pages import OTHER, plain_skin, rich_skin


def test_a_column_of_html(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    rows = [{"html": plain_skin()}, {"html": rich_skin()}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ask = ["find", path, "--text", "html", "--method", "shingles", "--json", "--quiet"]
    assert json.loads(run(*ask).stdout)["counts"]["pairs"] == 0
    assert json.loads(run(*ask, "--extract", "resiliparse").stdout)["counts"]["pairs"] == 1
    wrong = run(*ask, "--extract", "readability")
    assert wrong.exit_code == 2
    assert "expected one of trafilatura, resiliparse, all-text, none" in wrong.stderr


def test_evaluation_extracts_too(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "crawl.jsonl"
    pages = [plain_skin(), rich_skin(), rich_skin(OTHER), plain_skin(OTHER)]
    rows = [{"id": str(i), "html": page, "story": i // 2} for i, page in enumerate(pages)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ask = ["evaluate", path, "--group", "story", "--text", "html", "--method", "shingles"]
    told = json.loads(run(*ask, "--json", "--quiet", "--extract", "resiliparse").stdout)
    assert told["settings"][0]["pairs"] == 2


def test_a_crawl_is_summed_up(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(b"".join(map(gzip.compress, CRAWL)))
    done = run("dedup", path, "-o", tmp_path / "out", "--extract", "all-text")
    assert done.exit_code == 0, done.stderr
    assert "Skipped, because they hold no text: 1 image/png, 1 request" in done.stderr
    assert "row 5: page has no text" in done.stderr
    assert (tmp_path / "out/kept.warc.gz").exists()
    estimate = run("dedup", path, "--dry-run", "--extract", "all-text")
    assert estimate.exit_code == 0
    refused = run("dedup", path, "-o", tmp_path / "other", "--annotate")
    assert "cannot be annotated" in refused.stderr
