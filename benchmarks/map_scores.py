"""How well Map does beside other ways, on rigs whose right answer is known and on captures where nobody knows it.

``python benchmarks/map_scores.py --json`` prints, as its last line, all scores; it needs the captures and the bpy
module, and takes two minutes.  ``--page`` writes docs/manual/map_scores.md and its picture.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Before NumPy comes in: a second thread makes small solves wait for each other on a busy machine.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

TABLE = ROOT / "docs" / "manual" / "map_scores.md"
PICTURE = TABLE.parent / "images" / "map_scores.png"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="only cases with one of these words in their names")
    parser.add_argument("--page", action="store_true", help="write the manual's page and its picture")
    args = parser.parse_args()
    from benchmarks import _adapt_speed, _map_score_page

    began = time.process_time()
    found, loops = _scores(args.only)
    machine = _adapt_speed.machine() | {"seconds": time.process_time() - began}
    if args.page:
        from benchmarks import _map_score_picture

        TABLE.write_text(_map_score_page.page(found, loops, machine))
        _map_score_picture.draw(str(PICTURE))
        print(f"Wrote {TABLE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}.")
    if args.json:
        print(json.dumps({"machine": machine, "cases": found, "mean": _map_score_page.means(found), "loops": loops}))


def _scores(only: list[str] | None) -> tuple[dict, dict]:
    import numpy as np

    from benchmarks import _map_score_cases, _map_score_measures, _map_score_suggest

    found, loops = {}, {}
    for case in _map_score_cases.score_cases():
        if only and not any(word.lower() in case.name.lower() for word in only):
            continue
        ways = _map_score_measures.scored(case)
        found[case.name] = {"held_out": case.held_out, "ways": ways}
        for way, row in ways.items():
            print(f"{case.name:36} {way:22} {row if isinstance(row, str) else _text(row)}", flush=True)
        if case.unseen.any():
            loops[case.name] = _map_score_suggest.suggested(case)
            for way, row in loops[case.name].items():
                print(f"{case.name:36} {way:34} {_text(row)}", flush=True)
    if loops:
        ways = next(iter(loops.values()))
        loops["mean"] = {
            way: {key: float(np.mean([case[way][key] for case in loops.values()])) for key in row}
            for way, row in ways.items()
        }
    return found, loops


def _text(row: dict[str, float]) -> str:
    return "  ".join(f"{key} {value:.3g}" for key, value in row.items())


if __name__ == "__main__":
    main()
