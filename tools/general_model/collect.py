"""Build the training material of the general model.

    python -m tools.general_model.collect -o DIR

Each ``DIR/NAME.jsonl`` is a collection in which duplicates would be looked for: documents of one
genre, their real revisions, planted copies and traps. ``DIR/README.md`` says what is in it.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from tools.general_model.document import Document
from tools.general_model.groups import trusted
from tools.general_model.planted import with_copies
from tools.general_model.sources import collections
from tools.general_model.summary import summary

FEWEST = 20  # documents of a collection; the others are left out


def build(folder: Path, cache: Path, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, list[Document]] = {}
    for name, documents in sorted(collections(cache).items()):
        real = trusted(documents)
        if len(real) >= FEWEST:
            written[name] = with_copies(real, seed)
            write(folder / f"{name}.jsonl", written[name])
            print(f"{name}: {len(real)} of {len(documents)} documents", flush=True)
    (folder / "README.md").write_text(summary(written), "utf-8")


def write(path: Path, documents: Sequence[Document]) -> None:
    partial = path.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as file:
        for one in documents:
            said = {name: value for name, value in asdict(one).items() if value not in (None, ())}
            file.write(json.dumps(said, ensure_ascii=False) + "\n")
    partial.rename(path)


def read(path: Path) -> Iterator[Document]:
    for line in path.read_text("utf-8").split("\n")[:-1]:
        said = json.loads(line)
        yield Document(**{**said, "donors": tuple(said.get("donors", ()))})


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--cache", type=Path, help="where packages stay (DIR/.cache)")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    build(asked.output, asked.cache or asked.output / ".cache", asked.seed)


if __name__ == "__main__":
    main()
