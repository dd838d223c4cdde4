"""How far a posed rig is from what was solved."""

import numpy as np
import pytest

from solvers.controls.deviation import deviation
from solvers.rotations.channels import axis_angle_to_matrix


def poses(seed=0, frames=3, bones=4):
    rng = np.random.default_rng(seed)
    out = np.broadcast_to(np.eye(4), (frames, bones, 4, 4)).copy()
    axes = rng.normal(size=(frames, bones, 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    out[..., :3, :3] = axis_angle_to_matrix(np.concatenate((rng.normal(size=(frames, bones, 1)), axes), axis=-1))
    out[..., :3, 3] = rng.normal(size=(frames, bones, 3))
    return out


@pytest.mark.parametrize("angle", [1e-7, 0.01, 2.0, np.pi])
def test_what_was_moved_and_turned_is_found_where_it_is(angle):
    meant = poses()
    shown = meant.copy()
    shown[2, 3, :3, 3] += (0.0, 0.3, 0.4)
    shown[1, 1, :3, :3] = axis_angle_to_matrix(np.array([angle, 0.0, 0.6, 0.8])) @ meant[1, 1, :3, :3]
    found = deviation(meant, shown, np.array([1, 3]))
    assert found.farthest == (2, 1) and found.most_turned == (1, 0)
    np.testing.assert_allclose(found.away.max(), 0.5)
    np.testing.assert_allclose(found.turned.max(), angle, rtol=1e-6)
    assert np.count_nonzero(found.away > 1e-9) == 1 and np.count_nonzero(found.turned > 5e-8) == 1


def test_scale_does_not_count_and_one_motion_of_both_changes_nothing():
    meant, shown, other = poses(1), poses(2), poses(3, 1, 1)[0, 0]
    found = deviation(meant, shown, np.arange(4))
    longer = shown.copy()
    longer[..., :3, 1] *= 1.7
    np.testing.assert_allclose(deviation(meant, longer, np.arange(4)).turned, found.turned, atol=1e-9)
    moved = deviation(other @ meant, other @ shown, np.arange(4))
    np.testing.assert_allclose(moved.away, found.away)
    np.testing.assert_allclose(moved.turned, found.turned)
