"""``python -m quality.kinds``: the kinds of planted pairs, as told and as they are."""

from __future__ import annotations

import argparse
import sys

from conftest import DATA
from quality.kinds.figures import calibration, figures, write
from quality.kinds.page import TABLES
from quality.kinds.planted import HELD_OUT, TUNED, mixed_pairs, planted, told
from quality.sets import digest

PER_CHANGE, MIXED_CHANGES, SEED = 10, 2, 1


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m quality.kinds", description=__doc__)
    parser.add_argument("--calibrate", action="store_true", help="print kind_rules.CONFIDENCE")
    parser.add_argument("--tuned", action="store_true", help="the sets that the rules were made on")
    parser.add_argument("--pin", action="store_true", help="write what was measured down")
    asked = parser.parse_args()
    if asked.calibrate:
        pairs = [*planted(DATA, TUNED, PER_CHANGE), *mixed_pairs(DATA, TUNED, MIXED_CHANGES)]
        for name, points in calibration(pairs).items():
            print(f'    "{name}": ({", ".join(map(str, points))}),')
        return
    made = figures(told(planted(DATA, TUNED if asked.tuned else HELD_OUT, PER_CHANGE, SEED)))
    print("\n\n".join(table(made) for table in TABLES.values()))
    print(f"direction {made['direction']}, right {made['right']}", file=sys.stderr)
    if asked.pin:
        write({"digests": {name: digest(DATA / name) for name in HELD_OUT}, **made})


if __name__ == "__main__":
    main()
