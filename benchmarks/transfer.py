"""What Transfer costs, and with ``--full`` how well it does beside other ways to do the same.

``python benchmarks/transfer.py --json`` prints, as its last line, the machine and the figures, in a minute; it needs
the captures.  ``--full`` writes docs/manual/transfer_measures.md and its pictures, which needs the bpy module, in a
quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Before NumPy comes in: a second thread makes small solves wait for each other on a busy machine.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

TABLE = ROOT / "docs" / "manual" / "transfer_measures.md"
IMAGES = TABLE.parent / "images"
Figures = dict[str, float | None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--only", nargs="+", choices=_GROUPS, metavar="GROUP", help="only these figures")
    parser.add_argument("--full", action="store_true", help="compare with other ways, and write the manual's page")
    parser.add_argument("--cpu", action="store_true", help="time of the processor instead: for a busy machine")
    args = parser.parse_args()
    before = os.getloadavg()[0]
    figures: Figures = {}
    for group in args.only or _GROUPS:
        for key, value in _GROUPS[group](time.process_time if args.cpu else time.perf_counter).items():
            figures[key] = None if value is None else float(f"{value:.4g}")
            print(f"{key:24} {'not there' if value is None else f'{value:10.4g}'}", flush=True)
    from benchmarks import _adapt_speed

    load = {"load_average_before_after": [round(before, 2), round(os.getloadavg()[0], 2)]}
    machine = _adapt_speed.machine() | load | {"clock": "processor" if args.cpu else "wall"}
    if args.full:
        _full(figures, machine)
    if args.json:
        print(json.dumps({"machine": machine, "figures": figures}))


def _full(figures: Figures, machine: dict) -> None:
    from benchmarks import _transfer_page, _transfer_picture, _transfer_results

    found = _transfer_results.results()
    TABLE.write_text(_transfer_page.page(figures, found, machine))
    for path in (_transfer_picture.draw_curves(found, IMAGES), _transfer_picture.draw_seams(IMAGES)):
        print(f"Wrote {path.relative_to(ROOT)}.")
    print(f"Wrote {TABLE.relative_to(ROOT)}.")


def _speed(name: str) -> Callable[[Callable[[], float]], Figures]:
    def measured(clock: Callable[[], float]) -> Figures:
        from benchmarks import _transfer_speed

        _transfer_speed.clock = clock
        return getattr(_transfer_speed, f"{name}_figures")()

    return measured


_GROUPS = {name: _speed(name) for name in ("fit", "frame", "warp")}

if __name__ == "__main__":
    main()
