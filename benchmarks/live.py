"""What Live costs at a frame of playback, at a step of a drag, and when all frames were solved again.

``python benchmarks/live.py --json`` prints, as its last line, the machine and the medians. Needs the bpy module.
``--quick`` leaves out ten rigs and the memory of 10,000 frames.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
from pathlib import Path

# Before NumPy comes in: a second thread makes small solves wait for each other on a busy machine.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--quick", action="store_true", help="no ten rigs, no 10,000 frames")
    parser.add_argument("--cpu", action="store_true", help="time of the processor instead: for a busy machine")
    args = parser.parse_args()
    package = importlib.import_module("checkout").enable()
    from benchmarks import _adapt_speed, _live_scene, _live_speed

    if args.cpu:
        _live_speed.clock = time.process_time
    before = os.getloadavg()[0]
    stage = _live_scene.LiveScene(package)
    figures = _live_speed.measured(stage, args.quick)
    figures = {key: float(f"{value:.4g}") for key, value in figures.items()}
    for key, value in figures.items():
        print(f"{key:24} {value:10.4g}")
    if args.json:
        load = {"load_average_before_after": [round(before, 2), round(os.getloadavg()[0], 2)]}
        about = {"clock": "processor" if args.cpu else "wall"} | _live_speed.size(stage)
        machine = _adapt_speed.machine() | about | load
        print(json.dumps({"machine": machine, "figures": figures}))


if __name__ == "__main__":
    main()
