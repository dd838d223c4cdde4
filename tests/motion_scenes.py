"""A rig whose motion is read and written by tests."""

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene import actions, motion
from bl_ext.devrepo.motion_loom.scene.actions import HAS_SLOTS
from bl_ext.devrepo.motion_loom.scene.motion_writing import write_motion

from tests import rig_scenes as scenes
from tests.objects import key

FRAMES = np.arange(1.0, 13.0)
NAMES = ("hip", "chest", "arm.L", 'hand "L"', "back\\slash", "頭", "tail", "fin")


def read(ob, frames=FRAMES):
    return motion.read_motion(bpy.context, ob, frames)


def write(ob, name, what, assign=False, **options):
    """A new action of a motion, played by the rig where it is assigned."""
    _, slot = options.get("source") or motion.source_of(ob)
    action = write_motion(bpy.context, ob, name, what, **options)
    if assign:
        own = next(each for each in action.slots if slot is None or each.handle == slot.handle) if HAS_SLOTS else None
        actions.assign(ob, action, own)
        action.use_fake_user = False
    return action


def add_mover(scale=True, **chain):
    """A rig that is animated in every rotation mode and by object-level curves, and stands askew."""
    ob = scenes.add_chain(NAMES, **chain)
    scenes.animate_at_random(ob)
    if not scale:
        scenes.animate_at_random(ob, scale=False)
    ob.rotation_mode = "ZYX"
    ob.rotation_euler, ob.scale = (0.3, -0.5, 1.0), (0.5, 0.5, 0.5)
    key(ob, "location", {1: (0, 0, 0), 12: (3, 1, 2)})
    key(ob, "rotation_euler", {1: 1.0, 12: 1.0}, index=2)
    bpy.context.scene.frame_set(1)
    return ob


def remap_time():
    bpy.context.scene.render.frame_map_old, bpy.context.scene.render.frame_map_new = 100, 150


def strips_alone(ob):
    """The rig's action as a strip that starts at frame 4, and no action."""
    scenes.add_strip(ob, *actions.assigned(ob), 4)
    ob.animation_data.action = None
