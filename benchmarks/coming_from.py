"""The blocks of docs/coming-from.md that belong to other tools, run to the letter.

A block is what stands first in fences under `## From TOOL`; the fence after it is what it prints
last. Each runs in an empty folder that has the items as `news.jsonl` and `news/news.jsonl`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import peers
from benchmarks.corpus import ROOT

PAGE, ITEMS = ROOT / "docs" / "coming-from.md", ROOT / "examples" / "news.jsonl"
SIDES = {"datasketch": "datasketch", "text-dedup": "text_dedup"}
SIDES |= {"datatrove": "datatrove", "rensa": "rensa"}
MORE = {"datatrove": ["spacy"]}  # its tokeniser, which the other rows do without
BLOCK = re.compile(
    r"^## From (?P<tool>\S+)\n.*?^```(?P<language>py|bash)\n(?P<code>.*?)^```\n+"
    r"^```text\n(?P<said>.*?)\n```$",
    re.MULTILINE | re.DOTALL,
)


class Block(NamedTuple):
    tool: str
    language: str
    code: str
    said: str


def blocks(page: str) -> list[Block]:
    return [Block(**found.groupdict()) for found in BLOCK.finditer(page)]


def run(block: Block) -> dict[str, Any]:
    side = SIDES[block.tool]
    python = peers.make(side, MORE.get(side, []))
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        (folder / "news").mkdir()
        for place in ("news.jsonl", "news/news.jsonl"):
            shutil.copy(ITEMS, folder / place)
        said = _last_line(_command(block, python, folder), python, folder)
    return {"tool": block.tool, "written": block.said, "said": said}


def _command(block: Block, python: Path, folder: Path) -> list[str]:
    script = folder / f"block.{block.language}"
    script.write_text(block.code)
    return [str(python) if block.language == "py" else "bash", script.name]


def _last_line(command: list[str], python: Path, folder: Path) -> str:
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = (done.stderr if done.returncode else done.stdout).strip().splitlines()
    return lines[-1] if lines else f"nothing, and ended with exit code {done.returncode}"
