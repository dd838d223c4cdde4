"""Whatever is raised on the way, nothing is left: MemoryError, Ctrl-C and bugs, at the calls that write and around."""

import shutil
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import discarding, restored, whole_file
from bl_ext.devrepo.motion_loom.solvers.core.errors import MotionLoomError
from bl_ext.devrepo.motion_loom.state import cache
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.adapt import run
from bl_ext.devrepo.motion_loom.workflows.bake import workflow as bake
from bl_ext.devrepo.motion_loom.workflows.core import base, registry
from bl_ext.devrepo.motion_loom.workflows.core.base import run_to_end
from bl_ext.devrepo.motion_loom.workflows.environment import bind as environment_bind
from bl_ext.devrepo.motion_loom.workflows.map import learn
from bl_ext.devrepo.motion_loom.workflows.map import run as map_run
from bl_ext.devrepo.motion_loom.workflows.mesh import bake as mesh_bake

from tests import adapt_scenes, map_play
from tests.rig_scenes import fingerprint

pytestmark = pytest.mark.versions

PACKAGE = Path(restored.__file__).parents[2]
KINDS = ("objects", "meshes", "node_groups", "shape_keys", "actions", "images", "collections")
ERRORS = (MemoryError, KeyboardInterrupt, RuntimeError)
APART = {module.__file__ for module in (restored, discarding, base, whole_file)}
POINTS = 6  # at which each operation is broken off


def state():
    """All that must be as it was."""
    scene, folder = bpy.context.scene, Path(bpy.data.filepath).parent
    blocks = [each for kind in KINDS for each in getattr(bpy.data, kind)]
    return {
        "datablocks": sorted((repr(each), each.use_fake_user) for each in blocks),
        "keys": {action.name: fingerprint(action) for action in bpy.data.actions},
        "objects": {ob.name: of_object(ob) for ob in bpy.data.objects},
        "frame": (scene.frame_current, scene.frame_subframe),
        "live": (sorted(live_runs.runs), live_runs.busy),
        "files": sorted(str(path) for path in folder.rglob("*")),
    }


def of_object(ob):
    data = ob.animation_data
    return (
        data and (data.action, getattr(data, "action_slot_handle", None), [track.name for track in data.nla_tracks]),
        (ob.hide_viewport, ob.hide_render, ob.select_get(), [(m.name, m.show_viewport) for m in ob.modifiers]),
        restored.Channels.now(ob).placed,
        [tuple(np.ravel(bone.matrix_basis)) for bone in (ob.pose.bones if ob.pose else ())],
        repr([restored._values(getattr(ob, name)) for name in restored._settings_of(ob)]),
    )


def broken_off(operation, at=None, error=None):
    """Run it, an error being raised at the call number at of the package's own functions; the calls until then."""
    calls = []

    def look(frame, event, _argument):
        code = frame.f_code
        # What is raised in a generator that nobody waits for any more is dropped by Python, as in a handler by Blender.
        if event != "call" or not code.co_filename.startswith(str(PACKAGE)) or code.co_name == "<genexpr>":
            return
        # What puts things back cannot be broken off itself, and what drives steps, or has put a file in its place, ends
        # after all is done.
        if code.co_filename in APART or _is_handled(frame):
            return
        calls.append((Path(code.co_filename).name, code.co_name))
        if len(calls) - 1 == at:
            sys.setprofile(None)
            raise error("broken off")

    cache.clear()  # the same calls each time
    sys.setprofile(look)
    try:
        operation()
    finally:
        sys.setprofile(None)
    return calls


def _is_handled(frame):
    while frame is not None:
        if frame.f_code.co_filename.endswith("handlers.py"):
            return True
        frame = frame.f_back
    return False


def rig():
    return bpy.data.objects["Rig"]


def worm():
    return bpy.data.objects["Worm"]


def bind():
    run_to_end(
        environment_bind.bind_steps(
            bpy.context, rig(), adapt_scenes.workflow(), [bpy.data.objects["Floor"], bpy.data.objects["Step"]]
        )
    )


def add_bound():
    adapt_scenes.add_scene()
    bind()
    map_play.activate(rig())


def live_on(workflow):
    return run_to_end(registry.by_id(workflow).live_on(bpy.context))


def add_live():
    add_bound()
    live_on("adapt")


def adapt(**options):
    return run.adapt_rig(bpy.context, rig(), adapt_scenes.workflow(), run.AdaptRigOptions(measure=False, **options))


def bake_mesh(kind):
    return run_to_end(map_run.bake_steps(bpy.context, worm(), mesh_bake.MeshBakeOptions(kind)))


OPERATIONS = {
    "bind again": (add_bound, bind),
    "adapt to a strip": (add_bound, lambda: adapt(strip=True)),
    "adapt live on": (add_bound, lambda: live_on("adapt")),
    "adapt what is live": (add_live, adapt),
    "bake to a strip": (
        adapt_scenes.add_scene, lambda: bake.bake_rig(bpy.context, rig(), bake.BakeOptions(assign=True, strip=True))
    ),
    "map learn": (map_play.add_ready, lambda: run_to_end(learn.learn_steps(bpy.context, worm()))),
    "map to a cache": (map_play.add_ready, lambda: bake_mesh("PC2")),
    "map live on": (map_play.add_ready, lambda: live_on("map")),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_nothing_is_left_of_what_is_broken_off(name, tmp_path):
    build, operation = OPERATIONS[name]
    build()
    path = tmp_path / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    calls = broken_off(operation)
    for made in set(tmp_path.iterdir()) - {path}:
        shutil.rmtree(made)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    # The last call of each function: most of what is written comes late.
    last = sorted({call: number for number, call in enumerate(calls)}.values())
    before = state()
    for number, share in enumerate(np.linspace(0.0, 1.0, POINTS)):
        at = last[int(share * (len(last) - 1))]
        with pytest.raises((*ERRORS, MotionLoomError)):
            broken_off(operation, at, ERRORS[number % len(ERRORS)])
        assert state() == before, calls[at]


def test_what_was_too_large_is_named_with_its_size(capsys, monkeypatch):
    adapt_scenes.add_scene()

    def fail(*_args):
        raise MemoryError("Unable to allocate 16 GiB")

    monkeypatch.setattr(environment_bind, "read_source", fail)
    assert jobs.main(["bind", "--rig", "Rig", "--environment", "Floor", "Step"]) == 1
    reason = capsys.readouterr().err
    vertices = [len(bpy.data.objects[name].data.vertices) for name in ("Floor", "Step")]
    assert f"binding 'Rig' ({len(rig().data.bones)} bones) and 'Floor' ({vertices[0]} vertices)" in reason
    assert "(Unable to allocate 16 GiB); shorten the range" in reason and "Traceback" not in reason
