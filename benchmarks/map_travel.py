"""How far Map's targets go: animals that step on the spot, at four tempos and three frame rates, and captured people.

``python benchmarks/map_travel.py --json`` prints, as its last line, the machine and percent off in some four minutes;
``--page`` writes docs/manual/map_travel.md and its picture. It needs the captures, not bpy.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

PAGE = ROOT / "docs" / "manual" / "map_travel.md"
PICTURE = PAGE.parent / "images" / "map_travel.png"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--page", action="store_true", help="write the manual's page and its picture")
    args = parser.parse_args()
    from benchmarks import (
        _adapt_speed,
        _travel_cases,
        _travel_measures,
        _travel_page,
        _travel_people,
        _travel_picture,
        _travel_smoothed,
    )

    found = {}
    for case in _travel_cases.TUNED + _travel_cases.HELD_OUT:
        found[case] = _travel_measures.case_figures(case)
        worst = (f"{way} {abs(off).max():.0f}" for way, off in found[case].items())
        print(" ".join(case).strip(), "worst percent off:", *worst, flush=True)
    clips = *_travel_people.PERFORMED, *_travel_people.BLOCKS, *_travel_people.DOGS
    own = {case[2:]: _travel_cases.own_figures(*case[2:]) for case in found}
    people = {name: _travel_people.own_figures(name) for name in clips}
    learnt = {
        key: _travel_people.learnt_figures(*key)
        for of in _travel_people.LEARNT_OF
        for key in (*((of, to, 1.0) for to in _travel_people.TOLD_OF), (of, of, 1 / 3), (of, of, 2.0))
    }
    stumps = _travel_smoothed.stump_figures()
    smoothed = stumps, [_travel_smoothed.animal_figures(case, frames) for case in found for frames in (1.0, 2.0)]
    back = {
        text: [ratio for case in found for ratio in _travel_smoothed.backward_figures(case, paired_so)]
        for text, paired_so in (("steps backward", True), ("steps forward", False))
    }
    machine = _adapt_speed.machine()
    if args.page:
        where = f"{machine['processor']}, one thread, Python {machine['python']}, NumPy {machine['numpy']}"
        PAGE.write_text(_travel_page.page(found, own, people, learnt, smoothed, back, where))
        _travel_picture.draw(PICTURE)
        print(f"Wrote {PAGE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}.")
    if args.json:
        animals = {
            " ".join(case).strip(): {way: off.round(1).tolist() for way, off in rows.items()}
            for case, rows in found.items()
        }
        told = {"animals": animals, "people": people, "stumps": stumps, "backward": back}
        print(json.dumps({"machine": machine} | told))


if __name__ == "__main__":
    main()
