"""Measurements that were written down, and the tables that pages make of them.

`recorded.toml` is the one place of a figure that several pages show. A page has a comment such as
`<!-- figures: signatures -->`; what stands below it is made here, and a test compares the two, so
that no page says another figure than the others.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.table import markdown

Measurement = dict[str, Any]
Recorded = dict[str, Measurement]

FILE = Path(__file__).with_name("recorded.toml")
BLOCK = re.compile(r"<!-- figures: (\w+) -->\n\n?(?:\|.*\n)*(?:\n\*Measured .*\n)*")
ABOUT = ("command", "machine", "date", "beside", "true_pairs")
FORMATS = {
    "best": ".2f",
    "median": ".2f",
    "recall": ".4f",
    "processor": ".1f",
    "wall": ".1f",
    "system": ".1f",
} | dict.fromkeys(("docs_s", "peak_mb", "reported", "below", "runs"), ",d")
CASES = {
    "known": "is there",
    "changed": "is there with another word in the middle",
    "shuffled": "has the words of one that is there, shuffled",
}


def read() -> Recorded:
    return tomllib.loads(FILE.read_text("utf-8"))


def with_figures(page: str, recorded: Recorded) -> str:
    """The page with what `recorded` says below each of its comments."""
    return BLOCK.sub(
        lambda found: f"<!-- figures: {found[1]} -->\n\n{made(found[1], recorded)}\n", page
    )


def made(name: str, recorded: Recorded) -> str:
    table, of = TABLES[name]
    lines = dict.fromkeys(_measured(recorded["machines"], recorded[one], name) for one in of)
    return "\n\n".join([table(recorded), *lines])


def sides(measurement: Measurement) -> dict[str, Measurement]:
    return {name: side for name, side in measurement.items() if name not in ABOUT}


def shown(column: str, value: float) -> str:
    """As the tables have it: 0.85 s, 743.1 and 1,719 MB/s, 118,246 documents/s."""
    if column == "mb_s":
        return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}"
    return format(value, FORMATS[column])


def advantage(side: Measurement, ours: Measurement) -> str:
    times = ours["docs_s"] / side["docs_s"]
    return f"{times:.1f}×" if times < 25 else f"{times:.0f}×"


def _usual(one: Measurement) -> Measurement:
    """Without the lines of ours at other levels, which have a table of their own."""
    return {name: side for name, side in one.items() if not name.startswith("neardup_")}


def _measured(machines: Measurement, one: Measurement, name: str) -> str:
    """The line below a table: how, when and with which instructions. Tables for readers who only
    look (README) have the instructions alone."""
    machine = machines[one["machine"]]
    if name in SHORT:
        return f"*Measured with {machine['instructions']}, on {machine['is']}.*"
    level = "the level of its column" if name == "levels" else machine["instructions"]
    when = f"{one['date']:%Y-%m-%d}"
    return f"*Measured {when} with {level} by `{one['command']}`; {one['beside']}.*"


def _rows(one: Measurement, columns: tuple[str, ...]) -> list[list[str]]:
    """One a side, with its advantage last; none for our own."""
    ours = sides(one)["neardup"]
    return [
        [
            side["called"],
            *(shown(column, side[column]) for column in columns),
            "" if side is ours else advantage(side, ours),
        ]
        for side in sides(one).values()
    ]


def default(recorded: Recorded) -> str:
    head = ["JSONL → run folder", "wall s", "processor s", "of it system s", "peak MB"]
    ours = recorded["default"]["neardup"]["processor"]
    rows = [
        [
            side["called"],
            *(
                shown(column, side[column]) if column in side else "–"
                for column in ("wall", "processor", "system", "peak_mb")
            ),
            "" if side["processor"] == ours else f"{side['processor'] / ours:.2f}×",
        ]
        for side in sides(_usual(recorded["default"])).values()
    ]
    return markdown([*head, "times the default"], rows)


def signatures(recorded: Recorded) -> str:
    head = ["side", "best s", "median s", "MB/s", "documents/s", "our advantage"]
    return markdown(
        head, _rows(_usual(recorded["signatures"]), ("best", "median", "mb_s", "docs_s"))
    )


def levels(recorded: Recorded) -> str:
    """Our own lines of every table, a column a level."""
    names = {"neardup_portable": "portable (SSE2)", "neardup_sse4": "SSE4"}
    names |= {"neardup": "AVX2", "neardup_avx512": "AVX-512"}
    works = [
        ("text → 128 MinHash values, MB/s", "signatures", "mb_s"),
        ("text → SimHash, MB/s", "simhash", "mb_s"),
        ("JSONL → decisions with `shingles`, s", "dedup", "best"),
        ("the whole default command, processor s", "default", "processor"),
    ]
    rows = [
        [work, *(shown(column, recorded[one][name][column]) for name in names)]
        for work, one, column in works
    ]
    return markdown(["100,000 documents, one core", *names.values()], rows)


def simhash(recorded: Recorded) -> str:
    work = "text in memory → 64-bit SimHash of words and the keys of an index, one core"
    head = [work, "best s", "median s", "MB/s", "documents/s", "our advantage"]
    return markdown(head, _rows(_usual(recorded["simhash"]), ("best", "median", "mb_s", "docs_s")))


def dedup(recorded: Recorded) -> str:
    one = recorded["dedup"]
    head = ["side", "best s", "median s", "MB/s", "documents/s", "peak MB", "our advantage"]
    *rows, both = _rows(_usual(one), ("best", "median", "mb_s", "docs_s", "peak_mb"))
    faster = advantage(one["neardup"], one["two_cores"])
    return markdown(head, [*rows, [*both[:-1], f"{faster} one core"]])


def found(recorded: Recorded) -> str:
    columns = ("reported", "recall", "below")
    rows = [
        [side["called"], *(shown(column, side[column]) for column in columns)]
        for side in sides(recorded["found"]).values()
    ]
    return markdown(["side", "pairs reported", "recall", "pairs below the threshold"], rows)


def lookup(recorded: Recorded) -> str:
    head = ["a text that …", "side", "median µs", "99th percentile µs", "found a look-up"]
    rows = [
        [said if first else "", side["called"], *_times(side[case]), f"{side[case]['hits']:.2f}"]
        for case, said in CASES.items()
        for first, side in zip(
            (True, False), sides(_usual(recorded["lookup"])).values(), strict=True
        )
    ]
    rule = ["---", "---", "--:", "--:", "--:"]
    return "\n".join(_line(cells) for cells in [head, rule, *rows])


def dedup_20k(recorded: Recorded) -> str:
    head = ["side", "runs", "best s", "MB/s", "documents/s", "peak MB", "recall", "wrong pairs"]
    columns = ("runs", "best", "mb_s", "docs_s", "peak_mb", "recall", "below")
    rows = [row for name in ("dedup_20k", "slow_20k") for row in _rows(recorded[name], columns)]
    return markdown([*head, "our advantage"], rows)


def check(recorded: Recorded) -> str:
    """docs/online.md: what `check` takes."""
    names = ("a text that is there", "… with one word replaced", "… that resembles nothing")
    rows = [
        [(f"`check` of {name}" if i == 0 else name), *_times(recorded["lookup"]["neardup"][case])]
        for i, (name, case) in enumerate(zip(names, CASES, strict=True))
    ]
    peer = recorded["lookup"]["gaoya"]
    rows += [
        [(f"{peer['called']}, {name}" if i == 0 else name), *_times(peer[case])]
        for i, (name, case) in enumerate(zip(names, CASES, strict=True))
    ]
    return markdown(["", "median µs", "99th percentile µs"], rows)


def peers(recorded: Recorded) -> str:
    """docs/scale.md: end to end, from three runs."""
    slow, fast, many = recorded["slow_20k"], recorded["dedup_20k"], recorded["dedup"]
    few, most = "20,000 documents to pairs, one core", "100,000 documents to pairs, one core"
    rows = [
        [slow["spark"]["called"], few, _seconds(slow["spark"])],
        ["neardup, local", "the same, beside it", _seconds(slow["neardup"])],
        [fast["rensa"]["called"], f"{few}, another run", _seconds(fast["rensa"])],
        ["neardup, local", "the same, beside it", _seconds(fast["neardup"])],
        [many["daft"]["called"], f"{most}, not verified", _seconds(many["daft"])],
        [many["gaoya"]["called"], most, _seconds(many["gaoya"])],
        ["neardup, local", "the same, beside them", _seconds(many["neardup"])],
    ]
    return "\n".join(_line(cells) for cells in [["", "what", "time"], ["---", "---", "--:"], *rows])


def avx2(recorded: Recorded) -> str:
    """docs/how-good.md: the default command, and the times of peers as multiples of ours."""
    whole = sides(_usual(recorded["default"]))
    ratios = tomllib.loads(FILE.with_name("peer_ratios.toml").read_text("utf-8"))["avx2"]
    rows = [
        [
            "100,000 documents (628 MB), the whole command",
            side["called"],
            f"{side['processor']:.1f} s",
        ]
        for side in whole.values()
    ]
    for row, work in (
        ("signatures", "20,000 documents, text → 128 MinHash values"),
        ("dedup", "20,000 documents, JSONL → decisions, `--method shingles`"),
    ):
        rows += [
            [work, peer, f"{ratios[f'{row}_{peer}']:.1f} times as long as neardup"]
            for peer in ("daft", "gaoya")
        ]
    head = ["work", "who", "processor time"]
    return "\n".join(_line(cells) for cells in [head, ["---", "---", "--:"], *rows])


def measured(recorded: Recorded) -> str:
    """README: one line a kind of work."""
    ours = {name: one.get("neardup") for name, one in recorded.items()}
    hashes, bits, many, pairs, asked = (
        sides(recorded[name]) for name in ("signatures", "simhash", "dedup", "found", "lookup")
    )
    whole = sides(recorded["default"])
    rows = [
        [
            "100,000 documents (628 MB), the whole default command, one core",
            f"{whole['neardup']['processor']:.1f} s of processor time "
            f"({whole['two_cores']['wall']:.1f} s of wall time on two cores)",
            f"`--method shingles` {whole['shingles']['processor']:.1f} s, "
            f"gaoya (unverified) {whole['gaoya']['processor']:.1f} s",
        ],
        [
            "text → 128 MinHash values, one core",
            _speed(ours["signatures"]),
            f"daft {_speed(hashes['daft'])}, gaoya {_speed(hashes['gaoya'])}",
        ],
        [
            "100,000 documents (628 MB), JSONL → verified decisions "
            "(`--method shingles --kinds none`), one core",
            f"{_seconds(many['neardup'])}, {_size(many['neardup'])}",
            f"daft + banding {_seconds(many['daft'])}, {_size(many['daft'])} (unverified); "
            f"gaoya {_seconds(many['gaoya'])}, {_size(many['gaoya'])}",
        ],
        ["the same on two cores", _seconds(many["two_cores"]), ""],
        [
            "text → 64-bit SimHash of words, one core",
            _speed(ours["simhash"]),
            f"gaoya {_speed(bits['gaoya'])}",
        ],
        [
            "one text asked of an index of 100,000 documents, median and 99th percentile",
            f"{_micros(asked['neardup']['known'])}, "
            f"with a word changed {_micros(asked['neardup']['changed'])}",
            f"gaoya {_micros(asked['gaoya']['known'])}, {_micros(asked['gaoya']['changed'])}",
        ],
        [
            "pairs with resemblance ≥ 0.8 found (`--method shingles`), and wrong ones",
            f"{_true(pairs['neardup']):,} of {recorded['found']['true_pairs']:,}, "
            f"{pairs['neardup']['below']:,} wrong",
            f"daft + banding {_share(pairs['daft'])}, {pairs['daft']['below']:,} wrong; "
            f"gaoya {_share(pairs['gaoya'])}, {pairs['gaoya']['below']:,} wrong",
        ],
    ]
    rule = ["---"] * 3
    return "\n".join(_line(cells) for cells in [["work", "neardup", "beside it"], rule, *rows])


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _times(of: Measurement) -> list[str]:
    return [f"{of['median']:,}", f"{of['p99']:,}"]


def _micros(of: Measurement) -> str:
    return f"{of['median']:,} and {of['p99']:,} µs"


def _speed(side: Measurement) -> str:
    return f"{side['mb_s']:,.0f} MB/s"


def _seconds(side: Measurement) -> str:
    return f"{side['best']:.1f} s"


def _size(side: Measurement) -> str:
    mb = side["peak_mb"]
    return f"{mb / 1000:.1f} GB" if mb >= 1000 else f"{mb:,} MB"


def _true(side: Measurement) -> int:
    return int(side["reported"] - side["below"])


def _share(side: Measurement) -> str:
    return f"{100 * side['recall']:.1f} %"


# What a comment may name: how its table is made, and the measurements it is made of.
TABLES: dict[str, tuple[Callable[[Recorded], str], tuple[str, ...]]] = {
    "default": (default, ("default",)),
    "signatures": (signatures, ("signatures",)),
    "levels": (levels, ("signatures", "simhash", "dedup", "default")),
    "dedup": (dedup, ("dedup",)),
    "found": (found, ("found",)),
    "simhash": (simhash, ("simhash",)),
    "lookup": (lookup, ("lookup",)),
    "dedup_20k": (dedup_20k, ("dedup_20k", "slow_20k")),
    "check": (check, ("lookup",)),
    "peers": (peers, ("slow_20k", "dedup_20k", "dedup")),
    "avx2": (avx2, ("default",)),
    "measured": (measured, ("default", "signatures", "dedup", "found", "simhash", "lookup")),
}
SHORT = {"avx2", "measured", "check", "peers"}
