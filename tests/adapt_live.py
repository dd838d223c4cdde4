"""A live walker and what must hold of it: it follows, stands still with a reason, and ends without a trace."""

from __future__ import annotations

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes
from tests.adapt_play import activate, bind, press, status
from tests.adapt_play import settle as follow
from tests.objects import handled
from tests.rig_scenes import fingerprint

STEP = 0.1


class Before:
    """What there was before Live on."""

    def __init__(self, rig):
        self.source = rig.animation_data and rig.animation_data.action
        self.keys = self.source and fingerprint(self.source)
        self.actions = set(bpy.data.actions.keys())
        self.stores = _stores()
        self.joints = scenes.joints_of(rig)


before: dict[str, Before] = {}


def _stores():
    """Node groups in use: what is bound, and whatever else is kept in one."""
    return {group.name for group in bpy.data.node_groups if group.users}


def go_live(rig):
    before[rig.name] = Before(rig)
    press(rig)
    settle()
    assert status(rig).problem is None
    return rig


def add_bound(name="Rig", environment=("Floor", "Step")):
    """Another walker, bound and live."""
    rig = scenes.add_walker(name)
    bpy.context.view_layer.update()
    return go_live(bind(rig, environment))


def step():
    return bpy.data.objects["Step"]


def live_action(rig):
    return rig.motion_loom_adapt.live_action


def settle():
    """Evaluate, follow and solve; then nothing may go on by itself."""
    follow()
    layer = bpy.context.view_layer
    for _ in range(2):
        layer.update()
    assert updates_of(layer.update) == 0, "an endless loop of updates"


def updates_of(call) -> int:
    """How many datablocks are evaluated meanwhile."""
    seen = []

    def count(_scene, depsgraph):
        seen.extend(update.id.name for update in depsgraph.updates)

    with handled(count, "depsgraph_update_post"):
        call()
    return len(seen)


def joints(rig, frames=scenes.FRAMES):
    """World heads (F, B, 3); the scene stays where it is."""
    settle()
    now = bpy.context.scene.frame_current
    found = scenes.joints_of(rig, frames)
    bpy.context.scene.frame_set(now)
    settle()
    return found


def lift(height=STEP):
    step().location.z += height
    settle()


def has_risen(rig, low):
    """Whether it goes up with the step from where it was."""
    return status(rig).problem is None and np.abs(joints(rig) - low).max() > 0.6 * STEP


def follows(rig):
    """The rig goes up with the step, and down again."""
    settle()
    assert status(rig).problem is None, status(rig).problem
    low = joints(rig)
    lift()
    assert status(rig).problem is None and status(rig).track == "READY", status(rig)
    assert has_risen(rig, low)
    lift(-STEP)
    assert np.abs(joints(rig) - low).max() < 1e-4


def is_no_bug(rig):
    """What is said, if anything, is meant for the user."""
    found = status(rig)
    return "Internal" not in (found and found.problem or "")


def stands_still(rig, *words, remedy=...):
    """The problem has these words, at any frame, and does not go away by itself."""
    for frame in (3, 20):
        bpy.context.scene.frame_set(frame)
        settle()
        found = status(rig)
        assert found is not None and found.problem is not None, "no problem is reported"
        for word in words:
            assert word in found.problem
        assert is_no_bug(rig)
        assert remedy is ... or found.remedy == remedy


def ends_clean(rig, joints_too=True, new_actions=()):
    """Live off restores all."""
    was = before.pop(rig.name, None) or before.popitem()[1]
    press(rig)
    settle()
    assert not rig.motion_loom_adapt.live and status(rig) is None
    data = rig.animation_data
    assert (data and data.action) == was.source
    if was.source is not None:
        assert fingerprint(was.source) == was.keys
    assert set(bpy.data.actions.keys()) == was.actions | set(new_actions)
    assert _stores() <= was.stores
    if joints_too:
        assert np.array_equal(scenes.joints_of(rig), was.joints)


def edit_mesh(ob, call):
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    call()
    settle()
    bpy.ops.object.mode_set(mode="OBJECT")


def pending_edit():
    """An edit whose track is being solved, or waits for it."""
    step().location.z += STEP
    bpy.context.view_layer.update()
    live._tick()
