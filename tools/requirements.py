"""What an installation with extras needs beside neardup, one requirement a line: ``make dev``
installs it while the kernels are built.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"
OWN = re.compile(r"neardup\[([a-z,]+)\]")


def requirements(*extras: str) -> list[str]:
    """Of neardup and these extras; an extra may name others."""
    project = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]
    optional = project["optional-dependencies"]

    def of(extra: str) -> Iterator[str]:
        for one in optional[extra]:
            own = OWN.fullmatch(one)
            if own:
                for other in own[1].split(","):
                    yield from of(other)
            else:
                yield one

    found = [*project["dependencies"], *(one for extra in extras for one in of(extra))]
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    print("\n".join(requirements(*sys.argv[1:])))
