"""Kernels, pairs that are off, and bodies that lean, on clips that nobody has learnt from.

``python benchmarks/unseen.py --page`` writes docs/manual/unseen_measures.md, in a quarter of an hour; it needs the
captures, and the bpy module for Map's part.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Before NumPy comes in: a second thread makes small solves wait for each other on a busy machine.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

TABLE = ROOT / "docs" / "manual" / "unseen_measures.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", action="store_true", help="write the manual's page instead of printing it")
    args = parser.parse_args()
    from benchmarks import _adapt_speed, _unseen_page
    from benchmarks._kernel_measures import kernels_compared
    from benchmarks._lean_measures import leaning
    from benchmarks._map_kernels import map_compared
    from benchmarks._map_odd_pairs import map_pairs_named
    from benchmarks._odd_pair_measures import odd_pairs_named

    odd = odd_pairs_named(), map_pairs_named()
    parts = list(kernels_compared()), list(map_compared()), *odd, list(leaning())
    text = _unseen_page.page(*parts, _adapt_speed.machine())
    if args.page:
        TABLE.write_text(text)
        print(f"Wrote {TABLE.relative_to(ROOT)}.")
    else:
        print(text)


if __name__ == "__main__":
    main()
