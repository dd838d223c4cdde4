"""What each bone of a rig with controls goes with."""

import numpy as np

from solvers.controls.control_rig import ControlRig
from solvers.skeleton.rig import Rig


def measured():
    """Carriers 1 and 2, a chain upwards; 0 is a root, 3 rides on 1, 4 twists between them, 5 rides on nothing."""
    heads = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 1], [0, 0, 1.6], [3, 0, 0]], float)
    rest = np.broadcast_to(np.eye(4), (6, 4, 4)).copy()
    rest[:, :3, 1], rest[:, :3, 2] = (0, 0, 1), (0, -1, 0)  # bones point up
    rest[:, :3, 3] = heads
    lengths = np.array([1.0, 1.0, 1.0, 1.0, 0.3, 1.0])
    yes = np.ones(6, bool)
    parents, modes = np.array([-1, 0, 0, 0, 3, 0]), ("XYZ",) * 6
    rig = Rig(tuple("abcdef"), parents, rest, lengths, ~yes, yes, ("FULL",) * 6, yes, modes)
    none = np.zeros((1, 0))
    return ControlRig(
        rig, np.array([0]), np.ones((1, 6), bool), np.array([1, 2]), np.array([-1, 0]), np.array([-1, 0, 1, 0, -1, -1]),
        (), none, np.array([[-1]]), np.ones((1, 1, 2), bool), np.array([3, 4]),
    )  # fmt: skip


def test_what_rides_on_nothing_goes_with_the_carrier_that_it_lies_at_if_it_deforms():
    found = measured()
    assert found.owners.tolist() == [-1, 0, 1, 0, 0, -1]
    assert found.motion_tree.tolist() == [-1, -1, 1, 1, 1, 0]


def test_only_carriers_of_what_deforms_are_the_body():
    assert np.flatnonzero(measured().deforming).tolist() == [1]
