"""Seats that are raised and lowered: whether pelvis, thighs and feet keep their distances to what they rest on.

``python benchmarks/seats.py`` prints a line a row; ``--case NAME ...`` and ``--metres M ...`` choose among them;
``--out FILE`` keeps the figures as JSON, ``--json`` prints them; ``--strip DIR`` draws each row.  ``--page`` writes
docs/manual/seats_measures.md and its strips; with a file of ``--out`` after it, from its figures.
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

from benchmarks import _adapt_speed as speed  # noqa: E402
from benchmarks import _seat_cases as cases  # noqa: E402
from benchmarks import _seat_measures as measures  # noqa: E402
from benchmarks import _seat_page as pages  # noqa: E402

PAGE = ROOT / "docs" / "manual" / "seats_measures.md"

_LINE = (
    "all_kept_pct",
    "pelvis_kept_pct",
    "thigh_kept_pct",
    "foot_kept_pct",
    "out_of_reach_pct",
    "pelvis_moved_cm",
    "jump_cm",
    "turn_deg",
    "penetration_gain_pct",
    "contacts_kept_pct",
    "jerk_mean_ratio",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", choices=cases.CASES, default=list(cases.CASES))
    parser.add_argument("--metres", nargs="+", type=float, default=cases.METRES)
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--strip", type=Path, metavar="DIR", help="draw each row there")
    parser.add_argument("--page", nargs="?", const="", metavar="RAW", help="write the manual's page")
    args = parser.parse_args()
    if args.page:
        _write_page(json.loads(Path(args.page).read_text())["rows"])
        return
    found = []
    print(f"{'':24}" + " ".join(f"{name.rsplit('_', 1)[0][:11]:>11}" for name in _LINE))
    for name in args.case:
        case = cases.CASES[name]
        scene = case.build()
        binding = measures.bound(scene)
        for metres in args.metres:
            figures, motion, sits = measures.row(scene, case, binding, metres)
            if args.strip and sits.any():
                pages.draw(scene, case, motion, sits, metres, args.strip / pages.picture(name, metres))
            found.append({"case": name, "mark": case.mark, "metres": metres, **figures})
            words = (f"{figures[key]:11.2f}" if figures[key] is not None else f"{'-':>11}" for key in _LINE)
            print(f"{name:12}{100 * metres:+4.0f} cm    " + " ".join(words), flush=True)
    if args.out:
        args.out.write_text(json.dumps({"rows": found}, indent=1))
    if args.page is not None:
        _write_page(found)
    if args.json:
        print(json.dumps({"rows": found}))


def _write_page(rows: list[dict]) -> None:
    """The page, and its strips, which are solved anew."""
    about = speed.machine()
    where = f"Measured on: {about['processor']}, one thread, Python {about['python']}, NumPy {about['numpy']}"
    PAGE.write_text(pages.page(rows, where))
    for name, metres in pages.PICTURES:
        case = cases.CASES[name]
        scene = case.build()
        _, motion, sits = measures.row(scene, case, measures.bound(scene), metres)
        pages.draw(scene, case, motion, sits, metres, PAGE.parent / "images" / pages.picture(name, metres))
    print(f"Wrote {PAGE.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
