"""The buttons of Adapt, as a user presses them, and live with what it says and shows."""

from __future__ import annotations

import contextlib
import time

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes
from tests.mesh_steps import activate

SAME = 1e-6
STEP = 0.12


def press(rig, button="live"):
    activate(rig)
    assert getattr(bpy.ops.motion_loom, button)(workflow="adapt") == {"FINISHED"}


def refused(rig, button="live"):
    """What is said when a button does nothing."""
    activate(rig)
    with pytest.raises(RuntimeError) as caught:
        getattr(bpy.ops.motion_loom, button)(workflow="adapt")
    return str(caught.value)


def play_source(rig):
    activate(rig)
    assert bpy.ops.motion_loom.adapt_play_source() == {"FINISHED"}


def bind(rig, environment=("Floor", "Step")):
    """Bind to these objects, beside those that are in the list."""
    listed = {item.target for item in rig.motion_loom_adapt.surfaces}
    for name in environment:
        target = bpy.context.scene.objects[name]
        if target not in listed:
            rig.motion_loom_adapt.surfaces.add().target = target
    press(rig, "fit")
    return rig


def slot_of(action):
    """The only slot of an action, None before there were slots."""
    return action.slots[0] if actions.HAS_SLOTS else None


def influences(rig):
    """Of all constraints of bones."""
    return [constraint.influence for bone in rig.pose.bones for constraint in bone.constraints]


def kept_data():
    """What the extension keeps in the file: bindings and sampled motions."""
    return [group for group in bpy.data.node_groups if group.name.startswith(".motion_loom")]


def save(path):
    """Its path as text."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return str(path)


def reopen(path, name="Rig"):
    """Save, open again; the object of that name in the scene, not the linked one that it overrides."""
    bpy.ops.wm.open_mainfile(filepath=save(path))
    return next(ob for ob in bpy.context.scene.objects if ob.name == name and ob.library is None)


def brought(path, *names, link=False):
    """Objects of a file appended to an empty scene, or linked into it."""
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(path), link=link) as (_, there):
        there.objects = list(names)
    for ob in there.objects:
        bpy.context.scene.collection.objects.link(ob)
    bpy.context.scene.render.fps = 24
    bpy.context.view_layer.update()
    return there.objects


# ---------------------------------------------------------------------------------------------------------- live


def status(rig):
    return live.status(rig, "adapt")


def settle():
    """Evaluate, follow, and solve what the timer would."""
    layer = bpy.context.view_layer
    layer.update()
    for _ in range(5000):
        if live._tick() is None:
            break
        for run in live_runs.runs.values():
            if run.job is not None:
                run.job.wait()
        time.sleep(0.001)  # what waits for a pause is due later
        layer.update()
    else:
        pytest.fail("the timer never ends")
    layer.update()


@contextlib.contextmanager
def interactive(at_once=False):
    """Single frames in handlers, tracks by the timer; or as without a window, all at once in handlers."""
    live_runs.at_once = at_once
    try:
        yield
    finally:
        live_runs.at_once = None


def at(frame):
    bpy.context.scene.frame_set(frame)
    settle()


def lift(height=STEP, name="Step"):
    bpy.context.scene.objects[name].location.z += height
    settle()


def is_ready(rig):
    found = status(rig)
    return found.problem is None and found.track == "READY"


def needs_refresh(rig):
    return (status(rig).track, status(rig).remedy, status(rig).problem) == ("SWEEP", "REFRESH", None)


def assert_ready(rig):
    settle()
    assert is_ready(rig), status(rig)


def ready_at_all_frames(rig):
    for frame in (1, 7, 12, 24, 30):
        at(frame)
        assert is_ready(rig), (frame, status(rig))


def live_is_bake(rig, tolerance=SAME, frames=scenes.FRAMES):
    """All frames are up to date, and Bake finds the same; the rig plays the result then, and is live no more."""
    settle()
    followed = scenes.joints_of(rig, frames)
    assert is_ready(rig), status(rig)
    press(rig, "bake")
    assert not rig.motion_loom_adapt.live and rig.motion_loom_adapt.live_sampled is None
    np.testing.assert_allclose(scenes.joints_of(rig, frames), followed, atol=tolerance)
    return followed
