"""No content of the zoo makes a method compare all documents with each other.

What is counted is candidates, not seconds. Where all documents meet, each would be compared with
1,000 others on average; the bound is what a document may cost however many there are. Where they
meet and hardly any match, documents are compared with few others once there are more candidates
than are worth making, so that the number of candidates does not grow on its way to that bound.
"""

from __future__ import annotations

from typing import Any

import pytest

import neardup as nd
from benchmarks import growth, zoo
from neardup import plan
from neardup.cli import summary
from neardup.decisions.rule import FEWER, FEWEST_WALKED
from neardup.matching import paths
from neardup.matching.candidates import FIRST_SHARE, MOST_COMPARED
from neardup.plan import FEWEST_PAIRS
from neardup.schema import Ragged

DOCUMENTS = 2_000
# Three steps of a walk, the pairs that share several keys, and the pairs of small groups.
MOST = 4 * MOST_COMPARED + FEWEST_PAIRS / DOCUMENTS
CROWDED = {
    "stock sentences": ("raregrams", "rareshingles", "spotsigs"),
    "template and own": ("raregrams", "qgrams"),
    "versions and kin": ("raregrams", "shingles", "qgrams", "uniquewords"),
    "permutations": ("raregrams", "termvector", "uniquewords"),
    "few words": ("raregrams", "keywords", "termvector", "editdistance"),
    "one family": ("raregrams", "shingles"),
    "families": ("raregrams",),
    "short": ("raregrams", "keywords"),
    "shared page": ("raregrams",),
}


@pytest.mark.parametrize(
    ("content", "method"), [(c, method) for c, methods in CROWDED.items() for method in methods]
)
def test_no_content_costs_its_square(content: str, method: str) -> None:
    work = growth.work(method, content, DOCUMENTS)
    assert work.candidates <= MOST * DOCUMENTS


UNLIKE = 6_000
FIRST = MOST_COMPARED // FIRST_SHARE


@pytest.mark.parametrize("content", ["stock sentences", "permutations", "few words", "shared page"])
def test_where_hardly_any_match_few_of_those_that_meet_are_compared(
    content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some contents have too many pairs only when they are large; here fewer are too many."""
    monkeypatch.setattr(plan, "USUAL_PAIRS", 2)
    monkeypatch.setattr(plan, "FEWEST_PAIRS", 0)
    assert growth.work("raregrams", content, UNLIKE).candidates <= FIRST * UNLIKE


# The walk shows after so many members that hardly any match, at the end of a block of twice as many
# at most. A member is compared with as many others of its block as before it.
WALKED = 2 * (2 * FEWEST_WALKED * MOST_COMPARED + MOST_COMPARED // FEWER * UNLIKE)


@pytest.mark.parametrize(
    ("content", "method"), [("stock sentences", "spotsigs"), ("few words", "keywords")]
)
def test_a_walk_in_which_hardly_any_match_compares_few(content: str, method: str) -> None:
    assert growth.work(method, content, UNLIKE).candidates <= FEWEST_PAIRS + WALKED


def test_sketches_tell_that_a_crowd_cannot_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """In large collections crowds are on the longest paths; here paths are short instead."""
    monkeypatch.setattr(paths, "path_depth", lambda *_: 1)
    work = growth.work("qgrams", "permutations", 4_000)
    assert work.capped > 0
    assert work.candidates <= 4_000


def test_paths_end_early_where_hardly_any_match(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where features are common, repetitions are as many as so many steps a document allow. Large
    collections have such deep paths; here a lower depth is the greatest, and few steps are many."""
    steps = []
    run = paths._Search._run

    def counted(search: paths._Search, roots: Ragged) -> tuple[Any, ...]:
        result = run(search, roots)
        steps.append(result[2])
        return result

    monkeypatch.setattr(paths._Search, "_run", counted)
    monkeypatch.setattr(paths, "MOST_DEPTH", 9)
    texts = zoo.texts("permutations", 4_000)
    copies = [" ".join([*words[1:], words[0]]) for words in map(str.split, texts[::80])]
    every = nd.dedup([*texts, *copies], method="qgrams", kinds="none", workers=1)
    all_steps = sum(steps)
    assert every.info["capped"] == 0
    steps.clear()
    monkeypatch.setattr(paths, "MOST_STEPS", most := all_steps // (2 * 4_050))
    fewer = nd.dedup([*texts, *copies], method="qgrams", kinds="none", workers=1)
    assert fewer.info["capped"] == 4_050
    assert sum(steps) <= 1.1 * most * 4_050
    assert fewer.counts.duplicates == every.counts.duplicates == len(copies)


@pytest.mark.parametrize("method", ["rareshingles", "spotsigs"])
def test_copies_are_found_where_all_documents_meet(method: str) -> None:
    """Of all that a document meets, its copy shares most keys, so the cap does not lose it."""
    texts = zoo.texts("stock sentences", 1_500)
    copies = [text.partition(". ")[2] for text in texts[::30]]
    result = nd.dedup([*texts, *copies], method=method, kinds="none")
    assert result.info["capped"] > 500
    assert any("had more candidates" in line for line in summary.lines(result, None, 1.0, None))
    assert result.counts.duplicates == len(copies)


@pytest.mark.parametrize("method", ["raregrams", "spotsigs"])
def test_rare_copies_are_found_where_hardly_any_match(method: str) -> None:
    """Also where a document is compared with the first few only: of the keys, and of a walk."""
    texts = zoo.texts("stock sentences", 4_000)
    copies = [text.partition(". ")[2] for text in texts[::80]]
    result = nd.dedup([*texts, *copies], method=method, kinds="none")
    assert result.info["capped"] > 0.9 * 4_000
    assert result.counts.duplicates == len(copies)
