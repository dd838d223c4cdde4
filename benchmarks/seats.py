"""Seats that are raised and lowered: whether pelvis, thighs and feet keep their distances to what they rest on.

``python benchmarks/seats.py`` prints a line a row; ``--case NAME ...`` and ``--metres M ...`` choose among them;
``--out FILE`` keeps the figures as JSON, ``--json`` prints them; ``--strip DIR`` draws each row.  ``--page`` writes
docs/manual/seats_measures.md.
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

from benchmarks import _seat_cases as cases  # noqa: E402
from benchmarks import _seat_measures as measures  # noqa: E402

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
    args = parser.parse_args()
    found = []
    print(f"{'':24}" + " ".join(f"{name.rsplit('_', 1)[0][:11]:>11}" for name in _LINE))
    for name in args.case:
        case = cases.CASES[name]
        scene = case.build()
        binding = measures.bound(scene)
        for metres in args.metres:
            figures, _ = measures.row(scene, case, binding, metres)
            found.append({"case": name, "mark": case.mark, "metres": metres, **figures})
            words = (f"{figures[key]:11.2f}" if figures[key] is not None else f"{'-':>11}" for key in _LINE)
            print(f"{name:12}{100 * metres:+4.0f} cm    " + " ".join(words), flush=True)
    if args.out:
        args.out.write_text(json.dumps({"rows": found}, indent=1))
    if args.json:
        print(json.dumps({"rows": found}))


if __name__ == "__main__":
    main()
