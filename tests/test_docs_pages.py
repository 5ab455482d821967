"""Every page tells the truth: code prints what the page says, commands and files exist."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from apart import apart
from cli.every import command_of, every_command
from neardup.cli import main
from neardup.methods import registry
from neardup.methods.minhash import choose_bands
from neardup.methods.parameters import parameters
from neardup.text.text_options import Text
from pages import DOCS, PAGES, README, ROOT, each_page

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"(?<!`)`(neardup [^`\n]+)`(?!`)")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def blocks(page: Path, *languages: str) -> list[str]:
    return [
        body for language, body in BLOCK.findall(page.read_text("utf-8")) if language in languages
    ]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the examples in it: what a page writes stays there."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@each_page
def test_python_runs_and_prints_what_it_says(page: Path, workplace: Path) -> None:
    """A ``text`` block right after a ``python`` block is what that block prints."""
    found = list(BLOCK.finditer(page.read_text("utf-8")))
    names: dict[str, object] = {"__name__": "page"}
    for i, block in enumerate(found):
        if block[1] != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = compile(block[2], f"{page}, block {i}", "exec", dont_inherit=True)
            if "asyncio" in block[2]:
                apart(exec, code, names)
            else:
                exec(code, names)
        after = found[i + 1] if i + 1 < len(found) else None
        if after and after[1] == "text" and not block.string[block.end() : after.start()].strip():
            assert printed.getvalue() == after[2]
    assert workplace.exists()


@each_page
def test_commands_print_what_the_page_says(page: Path, workplace: Path) -> None:
    """With NEARDUP_UPDATE_DOCS=1 the page is made to say what they print; read the difference."""
    for session in blocks(page, "console"):
        for part in session.split("$ neardup ")[1:]:
            command, _, expected = part.partition("\n")
            done = CliRunner().invoke(main, shlex.split(command))
            if os.environ.get("NEARDUP_UPDATE_DOCS"):
                _correct(page, f"$ neardup {part}", command, _trimmed(done.output))
            else:
                assert _trimmed(done.output) == _trimmed(expected), command
    assert workplace.exists()


def _correct(page: Path, part: str, command: str, lines: list[str]) -> None:
    page_text = page.read_text("utf-8")
    made = "\n".join([f"$ neardup {command}", *lines]) + "\n"
    page.write_text(page_text.replace(part, made, 1), "utf-8")


def _trimmed(output: str) -> list[str]:
    """Where the clone stands is the reader's affair."""
    elsewhere = output.replace(str(ROOT), "/home/you/neardup")
    return [line.rstrip() for line in elsewhere.strip("\n").splitlines()]


def commands(page: Path) -> Iterator[list[str]]:
    """Every ``neardup …`` that the page shows: in a shell block, or between backquotes."""
    shown = [line for body in blocks(page, "sh", "console", "") for line in body.splitlines()]
    written = BLOCK.sub("", page.read_text("utf-8"))
    for line in [*shown, *INLINE.findall(written)]:
        for found in re.finditer(r"(?:^|[|&$]\s*|\s)neardup ([a-z-].*?)(?=\||&&|>|#|$)", line):
            yield found[1].split()


@each_page
def test_commands_and_their_options_exist(page: Path) -> None:
    every = every_command()
    for line in commands(page):
        if line[0] in ("--help", "--version", "-h"):
            continue
        name, arguments = command_of(line)
        known = {option for parameter in every[name].params for option in parameter.opts}
        used = {word.partition("=")[0] for word in arguments if re.match(r"--?[a-z]", word)}
        assert used <= known | {"--help", "-h"}, (name, arguments)


@each_page
def test_options_and_parameters_that_are_named_exist(page: Path) -> None:
    """Between backquotes, without their command: `--keep longest`, `--set words=3`."""
    known = {"--help"}
    for command in every_command().values():
        for parameter in command.params:
            known.update(parameter.opts, parameter.secondary_opts)
    written = page.read_text("utf-8")
    assert {*re.findall(r"(?<!`)`(--[a-z-]+)", BLOCK.sub("", written))} <= known
    classes = [registry.method_class(name) for name in registry.METHODS]
    known = {one.name for cls in classes for one in parameters(cls)}
    named = {*re.findall(r"--set '?([a-z_.]+)=", written)}
    assert {name for name in named if not name.startswith("fields.")} <= known  # any column


@each_page
def test_files_that_are_named_exist(page: Path) -> None:
    """`matching/rare.py` is one of the package, `native/hash.hpp` one of the repository."""
    written = BLOCK.sub("", page.read_text("utf-8"))
    for name in re.findall(r"`((?:\w+/)+\w+\.(?:py|pyi|hpp|cpp|md|svg|jsonl|toml))`", written):
        if "NAME" not in name and not name.startswith("out/"):
            assert any((root / name).exists() for root in (ROOT, ROOT / "src" / "neardup")), name


def test_every_page_can_be_reached() -> None:
    """From the README, by links alone."""
    seen, todo = set(), [README]
    while todo:
        page = todo.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        links = (a or b for a, b in LINK.findall(page.read_text("utf-8")))
        todo += [
            (page.parent / link.partition("#")[0]).resolve() for link in links if ":" not in link
        ]
    assert set(PAGES) <= seen


@pytest.mark.parametrize(
    "command", ["pip install . && neardup dedup examples/news.jsonl -o out", "make test"]
)
def test_the_two_commands_of_the_readme(command: str) -> None:
    assert f"```sh\n{command}\n```" in README.read_text("utf-8")


@pytest.mark.parametrize("name", registry.METHODS)
def test_every_method_has_a_page_that_names_every_parameter(name: str) -> None:
    page = (DOCS / "methods" / f"{name}.md").read_text("utf-8")
    for one in dataclasses.fields(registry.method_class(name)):
        default = f" | `{one.default}` |" if one.default_factory is dataclasses.MISSING else ""
        assert f"| `{one.name}`{default}" in page, one.name


def test_every_option_of_text_is_explained() -> None:
    page = (DOCS / "methods" / "README.md").read_text("utf-8")
    for one in dataclasses.fields(Text):
        assert f"| `text.{one.name}` |" in page, one.name


def test_the_table_of_bands_is_the_code() -> None:
    page = (DOCS / "how-it-works.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (0\.\d+|1\.0) \| (\d+) \| (\d+) \| (\d+) \| (\S+) \|$", page, re.MULTILINE
    )
    assert len(rows) > 8
    for t, bands, rows_, values, miss_rate in rows:
        chosen = choose_bands(float(t), 128, 0.001)
        assert chosen is not None
        assert (chosen.bands, chosen.rows, chosen.values) == (int(bands), int(rows_), int(values))
        assert f"{chosen.miss_rate(float(t)):.1e}" == f"{float(miss_rate):.1e}"
    assert choose_bands(0.27, 128, 0.001) is None  # "up to 0.27" in README and how-it-works


def test_the_picture_shows_the_real_numbers() -> None:
    """What docs/flow.svg says of row 6 of the example."""
    from neardup.documents import Columns, collect
    from neardup.methods.shingles import Shingles
    from neardup.text.words import words

    chunk = next(iter(collect(ROOT / "examples" / "news.jsonl").chunks(Columns())))
    records = chunk.read().records
    made = Shingles().prepare(records)
    shared = len({*made.evidence[0].tolist()} & {*made.evidence[5].tolist()})
    keys = len({*made.keys[0].tolist()} & {*made.keys[5].tolist()})
    features = len(made.evidence[5])
    union = len(made.evidence[0]) + features - shared
    picture = (DOCS / "flow.svg").read_text("utf-8")
    for said in (
        f"{len(words(records.column('text')[5].as_py()))} words",
        f"{features} shingles",
        f"{len(made.keys[5])} keys",
        f"{features} features",
        f"{keys} keys shared",
        f"{shared}/{union} ≥ 4/5",
    ):
        assert f">{said}<" in picture


def test_contributing_names_every_folder() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    folders = {file.parent.name for file in (ROOT / "src" / "neardup").glob("*/*.py")}
    assert {name for name in folders if f"`{name}/`" not in page} == set()


@each_page
def test_plain_words(page: Path) -> None:
    said = set(re.findall(r"[a-z]+", page.read_text("utf-8").lower()))
    assert not said & {"powerful", "simply", "blazing", "seamless", "seamlessly", "effortless"}


@each_page
def test_nothing_is_said_of_a_state_that_passes(page: Path) -> None:
    """Such a sentence is false as soon as the feature is there, and nobody looks for it."""
    said = " ".join(page.read_text("utf-8").lower().split())
    for phrase in ("this version of neardup", "apart so far", "not yet supported", "for now,"):
        assert phrase not in said, phrase
