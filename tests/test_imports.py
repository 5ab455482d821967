"""Stages import only earlier stages; nothing imports the command line; a start is light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import neardup

ROOT = Path(neardup.__file__).parent
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"

# The flow, first to last. What stands in one row may import what stands in rows above it.
LAYERS = (
    ("classes", "wording", "errors", "_native"),
    ("progress",),
    ("client", "schema", "files"),
    ("draft",),
    ("documents", "text"),
    ("features", "planting"),
    ("artefacts",),
    ("methods",),
    ("settings", "arguments"),
    ("matching",),
    ("decisions",),
    ("plan",),
    ("runs", "papers.recipe"),
    ("passages",),
    ("engines",),  # batch, ranked lists, index, Spark; Spark has the batch engine decide its parts
    ("api", "spark"),
    ("testing",),
    ("labels",),
    ("evaluation",),
    ("papers",),
    ("integrations",),
    ("web",),
    ("cli",),
    ("__main__",),
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names}


def stage_of(module: str) -> str:
    """A Result has a report, and a report shows a Result: ``runs`` and ``report`` are one floor.
    Recipes are settings, which every engine may take; the experiments of papers come last."""
    if module.split(".")[:2] in (["papers", "recipe"], ["papers", "paper"]):
        return "papers.recipe"
    first = module.split(".", maxsplit=1)[0]
    return "runs" if first == "report" else first


def modules() -> list[Path]:
    return sorted(
        path for path in ROOT.rglob("*.py") if path.parent != ROOT or path.stem != "__init__"
    )


@cache
def imports(path: Path) -> list[tuple[str, bool]]:
    """(module of neardup that is imported, only for types?), wherever in the file."""
    tree = ast.parse(path.read_text("utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
        for inner in ast.walk(node)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        ours = (name for name in names if name.split(".")[0] == "neardup")
        found += [(name, id(node) in for_types) for name in ours]
    return found


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def breaches() -> set[tuple[str, str]]:
    found = set()
    for path in modules():
        module = name_of(path)
        stage = stage_of(module)
        for target, _ in imports(path):
            other = stage_of(target.partition(".")[2] or "api")
            if other.startswith("__"):  # neardup.__version__
                continue
            if other not in LAYER:  # a public name: from neardup import dedup
                other = stage_of(neardup._HOMES[other])
            if other != stage and LAYER[other] >= LAYER[stage]:
                found.add((module, target))
    return found


def test_every_module_has_its_layer() -> None:
    stages = {stage_of(name_of(path)) for path in modules()}
    assert stages <= LAYER.keys()


def test_stages_import_only_earlier_stages() -> None:
    assert breaches() == set()


def test_nothing_imports_the_command_line_or_the_service() -> None:
    for path in modules():
        stage = name_of(path).split(".")[0]
        if stage in ("cli", "web", "__main__"):
            continue
        for target, _ in imports(path):
            assert target.split(".")[1:2] not in (["cli"], ["web"]), f"{path} imports {target}"


def test_methods_do_not_know_each_other() -> None:
    """One method, one file; what they share is in base.py, minhash.py, set_measures.py …"""
    from neardup.methods import registry

    files = {target.partition(":")[0] for target in registry.METHODS.values()}
    for path in modules():
        module = "neardup." + name_of(path)
        if module in files:
            assert not {t.rpartition(".")[0] for t, _ in imports(path)} & (files - {module})


def loaded(code: str) -> set[str]:
    check = f"{code}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("heavy", ["numpy", "pyarrow", "pandas", "click", "rich", "rapidfuzz"])
def test_import_neardup_is_light(heavy: str) -> None:
    assert heavy not in loaded("import neardup; dir(neardup)")


def test_every_public_name_is_there() -> None:
    assert neardup.__all__ == sorted(neardup.__all__)
    assert len(neardup.__all__) <= 14
    for name in neardup.__all__:
        assert getattr(neardup, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'dedupe'"):
        _ = neardup.dedupe


NAMED = re.compile(r"`([a-z_/]+\.py)`")


@pytest.mark.parametrize("path", [*modules(), CONTRIBUTING], ids=lambda path: path.name)
def test_files_that_a_text_names_are_there(path: Path) -> None:
    """A signpost to a file that was moved leads a newcomer nowhere."""
    there, repository = {file.name for file in modules()}, CONTRIBUTING.parent
    named = set(NAMED.findall(path.read_text("utf-8")))
    assert {
        n for n in named if Path(n).name not in there and not (repository / n).exists()
    } == set()
