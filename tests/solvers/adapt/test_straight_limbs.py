"""Straight limbs bend to their own side where they become shorter."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import flat_ground
from solvers.adapt.binding import fit
from solvers.adapt.frame import FrameAdapter
from solvers.adapt.leg_reach import Legs
from solvers.adapt.solve import AdaptOptions, adapt
from solvers.adapt.straight_limbs import StraightLimbs
from solvers.core.types import MeshTrack
from solvers.rotations import quaternions as quat
from solvers.skeleton.joint_tree import JointTree, TreePose
from tests.adapt_bound import gap
from tests.adapt_walk import walk

FPS, LOCKED, USUAL = 30.0, slice(2, 6), 10


@pytest.fixture(scope="module")
def stiff():
    """A walk whose left knee is straight, and 3 mm behind the line, at some frames while the leg stands: captures have
    such knees."""
    return locked(LOCKED)


def locked(frames):
    track = walk(np.arange(45), FPS)
    positions = track.positions.copy()
    hip, ankle = (positions[frames, track.skeleton.names.index(f"{n}.L")] for n in ("thigh", "ankle"))
    places = hip + 0.5 * (ankle - hip) + [0.0, -0.003, 0.0]
    positions[frames, track.skeleton.names.index("knee.L")] = places
    return replace(track, positions=positions)


def limbs_of(track):
    tree = JointTree.build(track.skeleton.parents)
    legs = Legs.of(tree, track.positions, np.isin(track.skeleton.names, ("toe.L", "toe.R")))
    return tree, StraightLimbs.of(legs, tree, track.positions, 1 / FPS)


def bends(track, positions):
    """(F, 3) cross products of thigh and shin: along the body's left to right axis as the left knee bends forward."""
    hip, knee, ankle = (positions[:, track.skeleton.names.index(f"{n}.L")] for n in ("thigh", "knee", "ankle"))
    return np.cross(knee - hip, ankle - knee)


def is_forward(track, positions):
    """(n,) of the frames whose knee is locked, whether it bends as it does a little later."""
    return bends(track, positions)[LOCKED] @ bends(track, track.positions)[USUAL] > 0.0


def test_limbs_bend_as_around_the_frame_and_to_the_length_that_is_asked(stiff):
    """However the body is turned; no other joint bends."""
    tree, limbs = limbs_of(stiff)
    names, positions = stiff.skeleton.names, tree.from_track(stiff.positions)
    hip, knee, ankle = (tree.rank[names.index(f"{n}.L")] for n in ("thigh", "knee", "ankle"))
    targets = positions.copy()
    targets[ankle] = targets[hip] + 0.8 * (targets[ankle] - targets[hip])
    still = quat.identity(tree.bodies - tree.roots, positions.shape[-1])
    between = limbs.bent(slice(None), still, targets, tree.roots)
    others = np.arange(tree.roots, tree.bodies) != knee
    assert np.array_equal(between[others], still[others])
    turn = Rotation.from_rotvec([0.3, -0.8, 0.5])
    rotations = quat.identity(tree.bodies, positions.shape[-1])
    rotations[knee:] = between[knee - tree.roots]
    rotations = quat.mul(np.roll(turn.as_quat(), 1)[:, None] + 0 * rotations, rotations)
    joints = TreePose.forward(tree, tree.offsets(positions), rotations, positions[: tree.roots]).joints
    reach = [np.linalg.norm(places[ankle] - places[hip], axis=0)[LOCKED] for places in (joints, targets)]
    # What the knee is bent backward by stays with it.
    assert np.abs(np.subtract(*reach)).max() < 0.015 * reach[1].min()
    assert is_forward(stiff, tree.to_track(joints) @ turn.as_matrix()).all()


def test_limbs_that_keep_their_length_or_stretch_stay_as_they_are(stiff):
    tree, limbs = limbs_of(stiff)
    assert limbs.share[:, LOCKED].max() == 1.0
    still = quat.identity(tree.bodies - tree.roots, len(stiff.positions))
    for factor in (1.0, 1.2):
        assert limbs.bent(slice(None), still, factor * tree.from_track(stiff.positions), tree.roots) is still


def on_slope(track, degrees):
    """A binding to flat ground, and the ground sloped."""
    ground = flat_ground(track.positions, track.positions[..., 2].min() - 0.02, 2.0, 0.1)
    effectors = np.isin(track.skeleton.names, ("toe.L", "toe.R", "ankle.L", "ankle.R"))
    rise = np.tan(np.radians(degrees)) * ground.vertices[..., 1:2]
    slope = MeshTrack(ground.name, ground.vertices + rise * [0, 0, 1], ground.triangles)
    return fit(track, [ground], effectors, 1.7), slope


def test_a_straight_knee_that_has_to_stretch_does_not_bend_backward():
    """It was pulled through by its shin, by up to 12 degrees in walks of rigs."""
    frames = slice(14, 24)
    track = locked(frames)
    binding, slope = on_slope(track, 20)
    positions = adapt(binding, [slope], AdaptOptions(upright=1.0)).positions
    source, result = ((bends(track, p)[frames] @ [-1.0, 0.0, 0.0]) for p in (track.positions, positions))
    assert result.min() > source.min() - 0.002


def test_a_straight_knee_does_not_bend_backward_on_a_slope(stiff):
    """It did, by 36 degrees, and popped there; a frame by itself gives the same."""
    binding, slope = on_slope(stiff, 20)
    options = AdaptOptions(upright=1.0)
    motion = adapt(binding, [slope], options)
    assert is_forward(stiff, motion.positions).all()
    adapter = FrameAdapter(binding, options, motion.moves)
    adapter.update([slope.state(0)])
    assert gap(adapter.solve(3).positions, motion.positions[3]) < 1e-4
