"""What Map costs, and with ``--full`` how well it does beside other ways to do the same.

``python benchmarks/map.py --json`` prints, as its last line, the machine and the figures, in a few minutes; it needs
the captures, and the bpy module for all but ``--only target source stream``.  ``--full`` writes
docs/manual/map_measures.md and its picture, in a quarter of an hour.
"""

from __future__ import annotations

import argparse
import importlib
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

TABLE = ROOT / "docs" / "manual" / "map_measures.md"
PICTURE = TABLE.parent / "images" / "map_compared.png"
SOLVERS, IN_BLENDER = ("target", "source", "stream"), ("frame", "bake", "memory", "mesh_source", "cracks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--only", nargs="+", choices=SOLVERS + IN_BLENDER, metavar="GROUP", help="only these figures")
    parser.add_argument("--full", action="store_true", help="compare with other ways, and write the manual's page")
    parser.add_argument("--cpu", action="store_true", help="time of the processor instead: for a busy machine")
    args = parser.parse_args()
    if args.cpu:
        _clocks.append(time.process_time)
    before = os.getloadavg()[0]
    figures = {}
    for group in args.only or SOLVERS + IN_BLENDER:
        for key, value in _GROUPS[group]().items():
            figures[key] = float(f"{value:.4g}")
            print(f"{key:40} {figures[key]:10.4g}", flush=True)
    from benchmarks import _adapt_speed

    load = {"load_average_before_after": [round(before, 2), round(os.getloadavg()[0], 2)]}
    machine = _adapt_speed.machine() | load | {"clock": "processor" if args.cpu else "wall"}
    if args.full:
        _full(figures, machine)
    if args.json:
        print(json.dumps({"machine": machine, "figures": figures}))


def _full(figures: dict[str, float], machine: dict) -> None:
    from benchmarks import _map_cases, _map_measures, _map_page, _map_picture

    halves = {name: _map_measures.midpoints(_map_cases.target(name)) for name in _map_measures.TARGETS}
    found = {}
    for case in _map_measures.cases():
        found[case.name] = _map_measures.measured(case)
        for way, row in found[case.name].items():
            print(f"{case.name:45} {way:22}", *(f"{key} {value:.3g}" for key, value in row.items()), flush=True)
    TABLE.write_text(_map_page.page(figures, halves, found, machine))
    _map_picture.draw(str(PICTURE))
    print(f"Wrote {TABLE.relative_to(ROOT)} and {PICTURE.relative_to(ROOT)}.")


def _target() -> dict[str, float]:
    from benchmarks import _map_target

    _set_clock(_map_target)
    figures = _map_target.target_figures()
    return {key: figures[key] for key in ("learn_target_s", "learn_step_s", "target_mb", "components")}


def _source() -> dict[str, float]:
    from benchmarks import _map_source

    _set_clock(_map_source)
    return _map_source.source_figures()


def _stream() -> dict[str, float]:
    from benchmarks import _map_stream

    _set_clock(_map_stream)
    return _map_stream.measured()


def _cracks() -> dict[str, float]:
    importlib.import_module("checkout").enable()
    from benchmarks import _map_cracks

    return _map_cracks.crack_figures()


def _set_clock(*modules) -> None:
    for module in modules:
        module.clock = _clocks[-1]


def _in_blender(mesh_source: bool, *names: str) -> Callable[[], dict[str, float]]:
    def measured() -> dict[str, float]:
        package = importlib.import_module("checkout").enable()
        from benchmarks import _map_frame, _map_scene

        _set_clock(_map_frame, _map_scene)
        stage = _map_scene.MapScene(package, mesh_source)
        figures = {"live_components": stage.components}
        for name in names:
            figures |= getattr(_map_frame, name)(stage)
        return figures

    return measured


_clocks = [time.perf_counter]
_GROUPS: dict[str, Callable[[], dict[str, float]]] = {
    "target": _target,
    "source": _source,
    "stream": _stream,
    "frame": _in_blender(False, "frame_figures", "change_figures", "stream_figures"),
    "bake": _in_blender(False, "bake_figures"),
    "memory": _in_blender(False, "memory_figures"),
    "mesh_source": _in_blender(True, "mesh_source_figures"),
    "cracks": _cracks,
}

if __name__ == "__main__":
    main()
