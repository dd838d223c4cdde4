"""What covered places do to the joints that they hold."""

import numpy as np
import pytest
from scipy import sparse

from solvers.adapt.covered_joints import covered_joints, window
from solvers.adapt.covered_places import CoveredPlaces
from solvers.adapt.relationship import Relations

FRAMES, DT = 80, 1 / 60
UP = np.array([0.0, 0.0, 1.0])
# Two places on object 0, of which object 2 covers one, and one on object 1.
PLACES = CoveredPlaces(np.array([[0.2, 0.0, 0.0]]), np.array([[1.0, 0.0, 0.0]]), np.array([[2, -1, -1]]))
OBJECTS = np.array([0, 0, 1])
NORMALS = np.tile(UP, (1, 3, 1))


def joints(faced, part=slice(None), places=PLACES):
    """Of one joint that object 0 holds by 0.9, two thirds of it by the covered place; faced: (F, 3)."""
    weights = sparse.csr_matrix(np.tile([0.6, 0.3, 0.1], (FRAMES, 1)))
    relations = Relations(weights, FRAMES, 1).part(part)
    return covered_joints(places, relations, NORMALS, OBJECTS, 3, lambda number: faced[part][:, None], DT)


def test_a_joint_over_what_covers_its_places_goes_along_and_is_let_go():
    for faced in (np.tile(UP, (FRAMES, 1)), np.zeros((FRAMES, 3))):
        found = joints(faced)
        assert np.allclose(found.shift, 0.6 * 0.2 * UP)
        assert list(found.shares) == [2] and np.allclose(found.shares[2][:, 0, :].T, [2 / 3, 0, 0])


def test_a_joint_beside_it_stays_and_one_that_passes_its_edge_has_no_jump():
    beside = joints(np.tile([1.0, 0, 0], (FRAMES, 1)))
    assert not beside.shift.any() and not beside.shares[2].any()
    passing = joints(np.where(np.arange(FRAMES)[:, None] < 40, [1.0, 0, 0], UP))
    rise = passing.shift[:, 0, 2]
    assert rise[0] == 0 and rise[-1] == pytest.approx(0.12)
    assert (np.diff(rise) >= 0).all() and np.diff(rise).max() < 0.15 * 0.12


@pytest.mark.parametrize("row", [0, 33, 41, FRAMES - 1])
def test_a_frame_and_those_around_it_give_that_of_all(row):
    faced = np.where(np.arange(FRAMES)[:, None] < 40, [1.0, 0, 0], UP)
    around = window(slice(row, row + 1), FRAMES, DT)
    one = joints(faced, around).part(slice(row - around.start, row - around.start + 1))
    whole = joints(faced).part(slice(row, row + 1))
    assert np.abs(one.shift - whole.shift).max() < 1e-12
    assert np.abs(one.shares[2] - whole.shares[2]).max() < 1e-12
