"""Single rows against the whole adapted motion."""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.solvers.skeleton.pose_blend import blend_motion
from bl_ext.devrepo.motion_loom.workflows.rig.choose_joints import read_source
from bl_ext.devrepo.motion_loom.workflows.rig.frame_channels import JointChannels
from bl_ext.devrepo.motion_loom.workflows.rig.write_back import adapted_motion
from scipy.spatial.transform import Rotation

from tests import adapt_scenes as adapt
from tests import rig_scenes as rigs

FRAMES = np.arange(1.0, 13.0)
# The object's matrix is orthogonal in single precision only; tests/solvers/skeleton/test_frame_pose.py has exact ones.
_CLOSE = 5e-7


def add_walker():
    return adapt.add_scene()


def add_walker_with_controls():
    ob = adapt.add_scene()
    adapt.add_controls(ob)
    return ob


def add_askew():
    """Every rotation mode, and an object that moves, is turned and scaled."""
    ob = rigs.add_chain([f"bone.{k}" for k in range(9)])
    rigs.animate_at_random(ob, scale=False)
    ob.rotation_euler, ob.scale, ob.location = (0.3, -0.5, 1.0), (0.5, 0.5, 0.5), (1.0, 2.0, 3.0)
    return ob


def solved(source, seed=1):
    """Turns and places of a bent, displaced character, smooth over time, and turns of its object."""
    rng = np.random.default_rng(seed)
    time = np.linspace(0.0, 1.0, len(FRAMES))[:, None, None]

    def path(count, size):
        return size * (rng.normal(size=(1, count, 3)) + rng.normal(size=(1, count, 3)) * time)

    def turned(vectors):
        return Rotation.from_rotvec(vectors.reshape(-1, 3)).as_quat()[:, [3, 0, 1, 2]].reshape(*vectors.shape[:2], 4)

    joints = len(source.bones)
    positions = source.track.positions + path(joints, 0.1)
    return positions, turned(path(joints, 0.4)), np.tile(Rotation.random(random_state=seed).as_matrix(), (12, 1, 1))


@pytest.mark.parametrize("influence", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("make", [add_walker, add_walker_with_controls, add_askew])
def test_rows_are_those_of_the_whole_motion(make, influence):
    ob = make()
    source = read_source(bpy.context, ob, FRAMES)
    positions, turns, object_turns = solved(source)
    whole = adapted_motion(source, positions, turns, object_turns)
    share, tree, placed = np.full(len(FRAMES), influence), source.motion_parents, source.placed
    blended = blend_motion(whole.rig, source.motion.basis, whole.basis, share, tree, placed)
    whole = replace(whole, basis=blended)
    expected = whole.channels()
    rows, before = JointChannels(source, object_turns), source.motion.rotation_start
    for row in range(len(FRAMES)):
        found = rows.channels(row, positions[row], turns[row], influence, before)
        for part, all_rows in zip(found, expected, strict=True):
            np.testing.assert_allclose(part, all_rows[row], atol=_CLOSE)
        before = found[1]


@pytest.mark.parametrize("make", [add_walker, add_askew])
def test_a_row_by_itself_is_near_the_original(make):
    """It cannot know how often a bone has turned round before; the pose is the same."""
    source = read_source(bpy.context, make(), FRAMES)
    positions, turns, object_turns = solved(source)
    whole = adapted_motion(source, positions, turns, object_turns)
    near = replace(whole, basis=whole.basis[5:6], rotation_start=source.motion.channels()[1][5]).channels()
    found = JointChannels(source, object_turns).channels(5, positions[5], turns[5], 1.0)
    for part, expected in zip(found, near, strict=True):
        np.testing.assert_allclose(part, expected[0], atol=_CLOSE)
