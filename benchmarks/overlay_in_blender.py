"""What the overlays cost: to be run inside the real program, with a window.

``blender --factory-startup --python benchmarks/overlay_in_blender.py`` binds the demo's walk, changes its course,
adapts it, and times 100 redraws with everything shown, each at a frame of its own, and 100 more at one frame. Prints
JSON, ms:

compute: making the arrays of a new frame.  draw_new: the whole callback then, arrays and GPU buffers included.
draw_same: the callback where nothing has changed, as while the view turns.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import bpy

ROOT = Path(__file__).resolve().parents[1]
REDRAWS = 100


def figures() -> dict:
    """Medians and 95th percentiles, ms."""
    package = _enable()
    rig = _scene(package)
    for name in ("ghost", "points", "relations", "contacts"):
        setattr(rig.motion_loom_adapt, f"show_{name}", True)
    drawing = importlib.import_module(f"{package}.panels.overlays")
    spent = {"compute": [], "draw": []}
    workflow = importlib.import_module(f"{package}.workflows.core.registry").by_id("adapt")
    bpy.types.SpaceView3D.draw_handler_remove(drawing.session.handles[0], "WINDOW")
    workflow.overlay = _timed(workflow.overlay, spent["compute"])
    timed = _timed(drawing._draw, spent["draw"])
    handle = bpy.types.SpaceView3D.draw_handler_add(timed, (), "WINDOW", "POST_VIEW")
    drawing.session.handles = handle, *drawing.session.handles[1:]

    scene, area = bpy.context.scene, _viewport()
    with bpy.context.temp_override(window=bpy.context.window_manager.windows[0], area=area, region=_canvas(area)):
        bpy.ops.object.mode_set(mode="POSE")
        rig.data.bones.active = rig.data.bones["hand.L"]
        _redraw()
        spent["compute"].clear(), spent["draw"].clear()
        for number in range(REDRAWS):
            scene.frame_set(scene.frame_start + number)
            _redraw()
        compute, new = list(spent["compute"]), list(spent["draw"])
        spent["compute"].clear(), spent["draw"].clear()
        _redraw(REDRAWS)
    if len(compute) < REDRAWS or spent["compute"]:
        raise RuntimeError(f"{len(compute)} overlays were made for {REDRAWS} frames, {len(spent['compute'])} for none.")
    report = {"compute": compute, "draw_new": new, "draw_same": spent["draw"]}
    return {"blender": bpy.app.version_string, "scene": _size(package, rig)} | {k: _ms(v) for k, v in report.items()}


def _adapt(package):
    return importlib.import_module(f"{package}.workflows.core.registry").by_id("adapt")


def _size(package, rig) -> str:
    model = importlib.import_module(f"{package}.workflows.environment.model")
    binding = model.stored_of(rig, _adapt(package)).binding
    joints, points, objects = len(binding.track.skeleton.names), len(binding.points), len(binding.objects)
    return f"{joints} joints, {points} descriptors, {objects} objects"


def _ms(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    share = {"median": 0.5, "p95": 0.95}
    return {name: round(1000 * ordered[int(at * (len(ordered) - 1))], 3) for name, at in share.items()}


def _timed(call, spent: list[float]):
    def timed(*args):
        start = time.perf_counter()
        try:
            return call(*args)
        finally:
            spent.append(time.perf_counter() - start)

    return timed


def _redraw(times: int = 1) -> None:
    bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=times)


def _viewport():
    areas = (area for window in bpy.context.window_manager.windows for area in window.screen.areas)
    return next(area for area in areas if area.type == "VIEW_3D")


def _canvas(area):
    return next(region for region in area.regions if region.type == "WINDOW")


def _enable() -> str:
    """This checkout as an extension of the running program; nothing of it is saved."""
    folder = Path(tempfile.mkdtemp(prefix="motion_loom_"))
    os.symlink(ROOT, folder / "motion_loom", target_is_directory=True)
    bpy.context.preferences.extensions.repos.new(
        name="devrepo", module="devrepo", custom_directory=str(folder), remote_url="", source="USER"
    )
    importlib.import_module("addon_utils").enable("bl_ext.devrepo.motion_loom")
    return "bl_ext.devrepo.motion_loom"


def _scene(package):
    """The demo's walker, adapted to its changed course, as the active object."""
    sys.path.insert(0, str(ROOT / "examples"))
    walker = importlib.import_module("walker")
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    rig, course = walker.make_walker(), walker.make_course()
    importlib.import_module(f"{package}.workflows.environment.bind").bind_rig(bpy.context, rig, _adapt(package), course)
    walker.change_course(course)
    bpy.context.view_layer.update()
    importlib.import_module(f"{package}.workflows.adapt.run").adapt_rig(bpy.context, rig, _adapt(package))
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    return rig


def _run() -> None:
    print(json.dumps(figures()))
    if "--stay" not in sys.argv:
        bpy.ops.wm.quit_blender()


if __name__ == "__main__":
    # A window must have been drawn once before it can be drawn again.
    bpy.app.timers.register(_run, first_interval=1.0)
