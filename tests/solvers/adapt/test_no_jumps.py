"""No round of clearance makes a body jump that did not: it is taken back there, and the frames are named."""

import numpy as np
import pytest

from solvers.adapt import keep_clear, no_jumps
from solvers.adapt.no_jumps import NoJumps, kept_share
from solvers.adapt.solve import adapt
from solvers.adapt.worst_events import jumps
from solvers.skeleton.joint_tree import TreePose

DT = 1.0 / 30.0


def pose(joints, degrees=None):
    """Of joints (J, 3, F) and one body that turns about z."""
    half = np.radians(np.zeros(joints.shape[-1]) if degrees is None else degrees) / 2.0
    turn = np.stack((np.cos(half), 0 * half, 0 * half, np.sin(half)))[None]
    return TreePose(turn, joints[:1], joints, np.zeros_like(joints))


def test_a_step_counts_that_a_pass_has_made_too_long_and_no_other():
    source = np.zeros((2, 3, 8))
    source[0, 0] = 0.1 * np.arange(8)  # walks by 10 cm a frame
    limits = NoJumps(source, 1.0, 1.0)
    still, moved = source.copy(), source.copy()
    moved[1, 2, 4:] += 0.05
    assert not limits.broken(pose(still), pose(still)).any()
    assert np.flatnonzero(limits.broken(pose(still), pose(moved))).tolist() == [3, 4]
    # It has jumped before, or the pass makes it jump less.
    assert not limits.broken(pose(moved), pose(moved)).any() and not limits.broken(pose(moved), pose(still)).any()
    turned = pose(source, 20.0 * (np.arange(8) > 5))
    assert np.flatnonzero(limits.broken(pose(still), turned)).tolist() == [5, 6]
    small = NoJumps(source, 1.0, 2.0)
    assert not small.broken(pose(still), pose(moved)).any()


def test_nothing_of_a_pass_is_kept_where_it_is_broken_and_all_of_it_far_away():
    broken = np.arange(90) == 45
    share = kept_share(broken, DT)
    assert share[45] == 0.0 and share[44:47].max() < 0.01 and share[[0, 89]].min() == 1.0
    assert np.abs(np.diff(share)).max() < 0.35
    assert kept_share(np.zeros(9, bool), DT).min() == 1.0


@pytest.mark.parametrize("edit", ["lifted", "tilted"])
def test_rounds_make_no_step_longer_than_is_allowed(made_walk, monkeypatch, edit):
    """Allowed is next to nothing here, so that a round of this walk is refused at all."""
    bound = made_walk
    after = bound.changed(edit)
    monkeypatch.setattr(keep_clear, "NEARLY", 1e-5)
    monkeypatch.setattr(no_jumps, "MORE", 1e-4)
    with monkeypatch.context() as patch:
        patch.setattr(keep_clear, "ROUNDS", 0)
        without = jumps(bound.track.positions, adapt(bound.binding, after).positions)
    allowed = float(np.quantile(without.max(axis=1), 0.5))
    monkeypatch.setattr(no_jumps, "JUMP", allowed)
    motion = adapt(bound.binding, after)
    found = jumps(bound.track.positions, motion.positions)
    assert motion.unclear.any() and motion.unclear.shape == motion.converged.shape
    # Three rounds may each add what nobody sees.
    assert (found <= np.maximum(allowed, without) + 3.5e-4).all()
