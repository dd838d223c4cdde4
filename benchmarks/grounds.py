"""Motions that were made on a flat ground, on stairs, ramps, a terrain and planks that take its place.

``python benchmarks/grounds.py`` prints a line a case, then one JSON object.  ``--rows looked-at``, ``--scene NAME``,
``--ground NAME`` choose among them;  ``--out FILE`` keeps the figures;  ``--strip DIR`` draws each case around its
worst frame and evenly over the clip, source in grey;  ``--page`` writes docs/manual/grounds_measures.md and its strips,
``--page FILE`` from the figures of an ``--out`` before.  Rules were tuned on the cases that are marked as looked at.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Before NumPy comes in: a second thread makes small solves wait for each other on a busy machine.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

from benchmarks import _adapt_looks_strip as strip  # noqa: E402
from benchmarks import _grounds_cases as table  # noqa: E402
from benchmarks import _grounds_measures as measures  # noqa: E402
from benchmarks import _grounds_page as page  # noqa: E402
from solvers.core.errors import InputError  # noqa: E402

PAGE = ROOT / "docs" / "manual" / "grounds_measures.md"
IMAGES = ROOT / "docs" / "manual" / "images"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    marks = {"looked-at": table.LOOKED_AT, "held-out": table.HELD_OUT, "all": "all"}
    parser.add_argument("--rows", choices=marks, default="all")
    parser.add_argument("--scene", nargs="+", choices=table.SOURCES, default=())
    parser.add_argument("--ground", nargs="+", choices=table.GROUNDS, default=())
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--strip", type=Path, metavar="DIR", help="draw each case there")
    parser.add_argument("--page", nargs="?", type=Path, const=Path(), metavar="FILE", help="write the manual's page")
    args = parser.parse_args()
    if args.page and args.page != Path():
        PAGE.write_text(page.page(json.loads(args.page.read_text())))
        return
    found = []
    for result in measures.results(table.cases(marks[args.rows], tuple(args.scene), tuple(args.ground))):
        case = result.row.case
        entry = {"scene": case.scene, "ground": case.ground, "mark": case.mark} | result.figures
        found.append(entry | {"broken": measures.broken(case, result.figures)})
        print(page.line(found[-1]), flush=True)
        if args.strip:
            args.strip.mkdir(parents=True, exist_ok=True)
            strip.draw(result, args.strip / f"{case.scene}_{case.ground}.png")
        if args.page is not None and (case.scene, case.ground) in page.PICTURES:
            strip.draw(result, IMAGES / f"grounds_{case.scene}_{case.ground}.png")
    report = {"rows": found} | page.summary(found)
    if args.page is not None or not (args.scene or args.ground):
        report["back"] = [measures.there_and_back(*pair) for pair in page.BACK]
    print(json.dumps(report))
    if args.out:
        args.out.write_text(json.dumps(report, indent=1))
    if args.page is not None:
        PAGE.write_text(page.page(report))


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(str(error))
