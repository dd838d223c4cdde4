"""Bones that keep their source angles while the rest is solved."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.adapt.frame import FrameAdapter
from solvers.adapt.solve import AdaptOptions, adapt
from solvers.core.errors import InputError
from solvers.rotations import quaternions as quat
from tests.adapt_bound import gap

LEG = ("thigh", "knee", "foot", "toe", "shin", "ankle")


@pytest.fixture
def walk(made_walk):
    return made_walk


def above_the_legs(binding):
    """(J,) bool all but the root and the legs."""
    left = binding.track.skeleton.parents >= 0
    left[[joint for joint, name in enumerate(binding.track.skeleton.names) if name.startswith(LEG)]] = False
    return left


def between(binding, turns):
    """(F, J, 4) turns of joints against their parents'."""
    parents = np.maximum(binding.track.skeleton.parents, 0)
    turns = np.moveaxis(turns, 0, -1)
    return quat.mul(quat.conj(turns[parents]), turns)


def test_left_bones_keep_their_angles_and_bone_lengths_are_exact(walk):
    binding, after = walk.binding, walk.after
    left = above_the_legs(binding)
    free, kept = adapt(binding, after), adapt(binding, after, AdaptOptions(left=left))
    moved = np.abs(between(binding, free.turns)[left][:, 1:]).max()
    assert moved > 1e-3
    assert np.abs(between(binding, kept.turns)[left][:, 1:]).max() < 1e-9
    parents = binding.track.skeleton.parents
    child = np.flatnonzero(parents >= 0)
    lengths = [np.linalg.norm(p[:, child] - p[:, parents[child]], axis=2) for p in (kept.positions, free.positions)]
    assert gap(*lengths) < 1e-9


def test_nothing_changes_where_the_set_does_not_and_none_is_none(walk):
    binding = walk.binding
    every = np.ones(len(binding.track.skeleton.names), bool)
    here = adapt(binding, walk.meshes, AdaptOptions(left=every)).positions
    assert gap(here, binding.track.positions) < 1e-6
    none = AdaptOptions(left=~every)
    assert gap(adapt(binding, walk.after, none).positions, adapt(binding, walk.after).positions) < 1e-12


def test_a_frame_alone_is_the_frame_of_the_track(walk):
    binding, after = walk.binding, walk.after
    left = above_the_legs(binding)
    options = AdaptOptions(left=left)
    motion = adapt(binding, after, options)
    adapter = FrameAdapter(binding, options, motion.moves)
    adapter.update([mesh.state(0) for mesh in after])
    found = adapter.solve(7)
    assert gap(found.positions, motion.positions[7]) < 5e-3
    turns = np.moveaxis(found.turns[None], 0, -1)
    parents = np.maximum(binding.track.skeleton.parents, 0)
    assert np.abs(quat.mul(quat.conj(turns[parents]), turns)[left][:, 1:]).max() < 1e-9


def test_marks_of_another_body_are_refused(walk):
    with pytest.raises(InputError, match="joints are left alone or not"):
        adapt(walk.binding, walk.after, replace(AdaptOptions(), left=np.ones(3, bool)))
