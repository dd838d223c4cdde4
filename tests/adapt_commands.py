"""Commands of Adapt that must fail and leave no trace, and its work broken off on the way."""

from __future__ import annotations

import bpy
import numpy as np

from tests import commands
from tests.rig_scenes import fingerprint


def state():
    """All that must be as it was after a failure."""
    rig = bpy.data.objects["Rig"]
    data, settings = rig.animation_data, rig.motion_loom_adapt
    return (
        {action.name: (fingerprint(action), action.use_fake_user) for action in bpy.data.actions},
        data and data.action,
        sorted(block.name for held in (bpy.data.meshes, bpy.data.node_groups) for block in held),
        sorted(ob.name for ob in bpy.data.objects),
        (settings.binding, settings.summary),
        [(item.target, item.bound_name) for item in settings.surfaces],
        [np.array(bone.matrix_basis).tolist() for bone in rig.pose.bones],
        [(c.name, c.mute, c.influence) for bone in rig.pose.bones for c in bone.constraints],
        (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe),
    )


def refused(capsys, command, *words):
    """The reason why a command on Rig fails; it changes nothing."""
    bpy.context.view_layer.update()  # drivers are evaluated, whether the command gets as far or not
    before = state()
    reason = commands.refused(capsys, command, "--rig", "Rig", *words)
    assert state() == before
    return reason


def bind_refused(capsys, *words, environment=("Floor", "Step")):
    return refused(capsys, "bind", "--environment", *environment, *words)
