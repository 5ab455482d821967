"""The tutorials: notebooks under ``docs/tutorials`` whose outputs are those of a real kernel.

``python tools/notebooks.py [NAME …]`` runs them and stores what they show. A tutorial runs in the
layout of the repository with nothing in it but ``examples``: it leaves nothing behind, and uses
nothing that a reader does not have. ``shown`` is what a test compares: the text of the outputs.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"
SECONDS = 120  # for a cell
TAG = re.compile(r"<style>.*?</style>|<[^>]+>", re.DOTALL)


def tutorials() -> list[Path]:
    return sorted(TUTORIALS.glob("*.ipynb"))


def read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


def executed(path: Path) -> Any:
    """The notebook after a run of all its cells; a cell that fails raises its error."""
    from nbclient import NotebookClient

    notebook = read(path)
    with tempfile.TemporaryDirectory() as place, _environment(Path(place)):
        folder = Path(place, "neardup", "docs", "tutorials")
        folder.mkdir(parents=True)
        (folder.parents[1] / "examples").symlink_to(ROOT / "examples")
        where = {"metadata": {"path": str(folder)}}
        client = NotebookClient(notebook, timeout=SECONDS, resources=where, record_timing=False)
        client.execute(env=dict(os.environ))
    return plain(notebook)


@contextmanager
def _environment(place: Path) -> Iterator[None]:
    """The commands of this environment, and no settings or history of the person who runs it."""
    before = dict(os.environ)
    homes = ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    os.environ.update({home: str(place / home) for home in homes}, COLUMNS="100")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def plain(notebook: Any) -> Any:
    """The notebook without what another run would change, so that a difference means something.
    Of a bar of progress that went away, an empty output is left."""
    for number, cell in enumerate(notebook.cells, 1):
        cell.metadata, cell.id = {}, f"cell-{number}"
        if cell.cell_type == "code":
            cell.execution_count = None
            there = [one for one in cell.outputs if one.get("data", {}).get("text/html") != ""]
            cell.outputs = [_plain_output(output) for output in _joined(there)]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook.metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return notebook


def _joined(outputs: list[Any]) -> Iterator[Any]:
    """Pieces of one stream, which a kernel sends as they come, as one output."""
    before = None
    for output in outputs:
        if before and output.output_type == "stream" and output.get("name") == before.get("name"):
            before.text += output.text
        else:
            before = output
            yield output


def _plain_output(output: Any) -> Any:
    """Beside a page, the text of an object says less, and may hold its address in memory."""
    if "execution_count" in output:
        output.execution_count = None
    if {"text/html", "image/svg+xml"} & {*output.get("data", {})}:
        output.data.pop("text/plain", None)
    return output


def shown(notebook: Any) -> list[list[str]]:
    """The text of the outputs of each code cell."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [[_text(output) for output in cell.outputs] for cell in cells]


def _text(output: Any) -> str:
    if output.output_type == "stream":
        return str(output.text).rstrip()
    data = output.data
    written = data.get("text/html") or data.get("image/svg+xml") or data.get("text/plain", "")
    return " ".join(TAG.sub(" ", written).split())


def store(path: Path) -> None:
    import nbformat

    nbformat.write(executed(path), path)


if __name__ == "__main__":
    for name in sys.argv[1:] or [path.stem for path in tutorials()]:
        store(TUTORIALS / f"{name}.ipynb")
