"""No content of the zoo makes a method compare all documents with each other.

What is counted is candidates, not seconds. Where all documents meet, each would be compared with
1,000 others on average; the bound is what a document may cost however many there are.
"""

from __future__ import annotations

import pytest

import neardup as nd
from benchmarks import growth, zoo
from neardup.cli import summary
from neardup.matching.candidates import MOST_COMPARED
from neardup.plan import FEWEST_PAIRS

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


@pytest.mark.parametrize("method", ["rareshingles", "spotsigs"])
def test_copies_are_found_where_all_documents_meet(method: str) -> None:
    """Of all that a document meets, its copy shares most keys, so the cap does not lose it."""
    texts = zoo.texts("stock sentences", 1_500)
    copies = [text.partition(". ")[2] for text in texts[::30]]
    result = nd.dedup([*texts, *copies], method=method, kinds="none")
    assert result.info["capped"] > 500
    assert any("had more candidates" in line for line in summary.lines(result, None, 1.0, None))
    assert result.counts.duplicates == len(copies)
