"""How fast Adapt is, and with ``--full`` how well it keeps what a motion did with its surroundings.

``python benchmarks/adapt.py --json`` prints, as its last line, the machine and the medians, in under a minute.
``--full [--out raw.json] [--scene NAME ...]`` writes docs/manual/adapt_measures.md.  ``--profile`` shows where the time
goes when a clip is kept clear of its surroundings.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Before NumPy comes in: a second thread makes small solves wait for each other on a busy machine.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

from benchmarks import _adapt_measures as measures  # noqa: E402
from benchmarks import _adapt_speed as speed  # noqa: E402
from benchmarks.scenes import SCENES  # noqa: E402
from solvers.core.errors import InputError  # noqa: E402

TABLE = ROOT / "docs" / "manual" / "adapt_measures.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--full", action="store_true", help="measure every real scene under every edit")
    parser.add_argument("--profile", action="store_true", help="print the 20 costliest functions")
    parser.add_argument("--out", type=Path, metavar="FILE", help="with --full: the raw numbers as JSON")
    parser.add_argument("--scene", nargs="+", choices=SCENES, metavar="NAME", help="with --full: only these")
    args = parser.parse_args()
    if args.profile:
        _profile()
    elif args.full:
        _full(args)
    else:
        _speed(args.json)


def _speed(as_json: bool) -> None:
    machine, figures = speed.measured()
    for key, value in figures.items():
        print(f"{key:24} {value:10.4g}")
    if as_json:
        print(json.dumps({"machine": machine, "figures": figures}))


def _profile() -> None:
    problem = speed.standard()
    problem.keep(problem.bind())
    with cProfile.Profile() as profile:
        problem.adapt(collision=True)
    pstats.Stats(profile).sort_stats("tottime").print_stats(20)


def _full(args) -> None:
    rows = []
    for row in measures.rows(args.scene or list(SCENES)):
        rows.append(row)
        print(measures.line(row), file=sys.stderr, flush=True)
        if args.out:
            args.out.write_text(json.dumps({"machine": speed.machine(), "rows": rows}, indent=1))
    if args.scene:
        print(measures.tables(rows))
        return
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_text(measures.page(rows, speed.machine()))
    print(f"Wrote {TABLE.relative_to(ROOT)}.")


if __name__ == "__main__":
    try:
        main()
    except (InputError, speed.BakeError) as error:
        sys.exit(f"Error: {error}")
