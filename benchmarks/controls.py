"""How well, and how fast, a motion comes back onto the controls that an animator keys.

``python benchmarks/controls.py --json`` prints a line a case and, as its last line, the machine and all figures.
``--full`` takes all captures for the walks, and writes docs/manual/controls_measures.md.  ``--only WORD`` looks at the
cases with that word in their names.  Needs the bpy module with the Rigify add-on, and the captures.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

PAGE = ROOT / "docs" / "manual" / "controls_measures.md"
Figures = dict[str, dict[str, float | str]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--full", action="store_true", help="all captures, and the manual's page")
    parser.add_argument("--only", default="", metavar="WORD", help="only the cases with that word in their names")
    parser.add_argument("--wall", action="store_true", help="wall time instead of the processor's: for a quiet machine")
    args = parser.parse_args()
    package = importlib.import_module("checkout").enable()
    from benchmarks import _adapt_speed, _control_recovery

    if args.wall:
        _control_recovery.clock = time.perf_counter
    found: Figures = {}
    with tempfile.TemporaryDirectory(prefix="control_rigs_") as folder:
        for name, figures in _measured(package, Path(folder), args.full, args.only):
            found[name] = {key: _short(value) for key, value in figures.items()}
            print(f"{name:44}", *(f"{key} {value}" for key, value in found[name].items()), flush=True)
    machine = _adapt_speed.machine() | {"clock": "wall" if args.wall else "processor"}
    if args.full and not args.only:
        from benchmarks import _control_page

        PAGE.write_text(_control_page.page(found, machine))
        print(f"Wrote {PAGE.relative_to(ROOT)}.")
    if args.json:
        print(json.dumps({"machine": machine, "figures": found}))


def _measured(package: str, folder: Path, full: bool, word: str) -> Iterator[tuple[str, dict]]:
    from benchmarks import _control_recovery, _control_speed, _control_walks
    from benchmarks.control_rigs import CASES, FRAMES

    for case, details in CASES.items():
        for mode in details.modes:
            if word in f"recovery {case} {mode}":
                found = _control_recovery.recover(package, case, mode, folder, FRAMES)
                yield f"recovery {case} {mode}", found.figures | {"worst": found.worst}
    for capture in list(_control_walks.CAPTURES)[: None if full else 1]:
        for mode, trunk, stretch in _control_walks.WAYS:
            name = f"walk {capture} {mode} {trunk}{'' if stretch is None else ' without stretch'}"
            if word in name:
                yield name, _control_walks.walked(package, capture, mode, trunk, folder, stretch)
    if word in "speed":
        yield "speed", _control_speed.figures(package, folder)


def _short(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(f"{value:.3g}")


if __name__ == "__main__":
    main()
