"""Kernels, pairs that are off, and bodies that lean, on clips that nobody has learnt from.

``python benchmarks/unseen.py --page`` writes docs/manual/unseen_measures.md, in about half an hour; it needs the
captures, and the bpy module for Map's part.  ``--quick`` prints the same page of one case of each kind, in two minutes,
to see that all of it runs.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Before NumPy comes in: a second thread makes small solves wait for each other on a busy machine.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

TABLE = ROOT / "docs" / "manual" / "unseen_measures.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the manual's page instead of printing it")
    parser.add_argument("--quick", action="store_true", help="print it of one case of each kind alone")
    args = parser.parse_args()
    if args.page and args.quick:
        parser.error("the manual's page is of all cases: give --page or --quick")
    from benchmarks import _adapt_speed, _unseen_page
    from benchmarks._kernel_measures import kernels_compared
    from benchmarks._lean_measures import leaning
    from benchmarks._map_kernels import map_compared
    from benchmarks._map_odd_pairs import map_pairs_named
    from benchmarks._odd_pair_measures import odd_pairs_named

    measures = kernels_compared, map_compared, odd_pairs_named, map_pairs_named, leaning
    parts = [_timed(measure, args.quick) for measure in measures]
    text = _unseen_page.page(*parts, _adapt_speed.machine())
    if args.page:
        TABLE.write_text(text)
        print(f"Wrote {TABLE.relative_to(ROOT)}.")
    else:
        print(text)


def _timed(measure: Callable, quick: bool):
    """What it returns or yields, a list then; says how long it took."""
    began = time.perf_counter()
    found = measure(quick)
    found = found if isinstance(found, dict) else list(found)
    print(f"{measure.__name__}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    main()
