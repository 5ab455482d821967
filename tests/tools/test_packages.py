"""What goes into packages beside the code: the manual page, the citation, the stable ABI."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

import click
import yaml

from neardup.cli import main
from pages import ROOT
from tools import man, wheels
from tools.requirements import requirements

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def commands(group: click.Group, name: str = "neardup") -> Iterator[tuple[str, click.Command]]:
    for inner in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), inner)
        assert command is not None
        yield f"{name} {inner}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {inner}")


def test_the_manual_page_has_every_command_and_option() -> None:
    page = man.page().replace("\\-", "-")
    parts = dict(
        re.findall(r"^\.SS (neardup [a-z ]+?)(?: [^a-z\n].*)?\n([^\f]*?)(?=^\.S)", page, re.M)
    )
    for path, command in commands(main):
        options = {option for one in command.params for option in one.opts if option[0] == "-"}
        assert all(option in parts[path] for option in options), path
    assert PYPROJECT["project"]["version"] in page.splitlines()[0]


def test_nothing_in_the_manual_page_is_taken_for_a_request() -> None:
    assert man.escaped(".gz or .zst\n'quoted' a-b\\n") == "\\&.gz or .zst\n\\&'quoted' a\\-b\\en"
    requests = set(re.findall(r"^[.'](\w+)", man.page(), re.M))
    assert requests <= {"TH", "SH", "SS", "TP", "PP", "nf", "fi"}


def test_the_citation_is_of_this_version_and_licence() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {
        "cff-version",
        "message",
        "title",
        "authors",
    } <= cited.keys()  # what the format requires
    for key in ("version", "license", "keywords"):
        assert cited[key] == PYPROJECT["project"][key]
    assert cited["abstract"] == PYPROJECT["project"]["description"]


def test_one_wheel_serves_python_3_12_and_later() -> None:
    major, minor = wheels.STABLE
    assert PYPROJECT["tool"]["scikit-build"]["wheel"]["py-api"] == f"cp{major}{minor}"
    built = PYPROJECT["tool"]["cibuildwheel"]["build"]
    assert built == [f"cp{major}{n}-*" for n in range(11, minor + 1)]
    assert wheels.SENTENCE in (ROOT / "README.md").read_text("utf-8")


def test_what_an_installation_with_extras_needs() -> None:
    """As the metadata of a package says it, with the extras of extras."""
    project = PYPROJECT["project"]
    optional = project["optional-dependencies"]
    found = requirements("all", "spark", "dev")
    assert [one for one in found if one.startswith("neardup")] == []
    listed = {*project["dependencies"], *(one for extra in optional.values() for one in extra)}
    assert {*found} == {one for one in listed if not one.startswith("neardup[")}
    assert requirements("spark") == [*project["dependencies"], *optional["spark"]]
