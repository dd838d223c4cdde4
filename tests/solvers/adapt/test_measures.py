"""What a result keeps of the bound motion's room."""

import numpy as np

from benchmarks.props import box
from solvers.adapt.binding import fit
from solvers.adapt.measures import compare
from tests.adapt_bound import moved
from tests.adapt_walk import walk


def test_room_is_lost_to_what_is_nearest():
    """A stage under the floor rises through it and takes the feet along: the floor, which is inside it, is no loss."""
    track = walk()
    ground = box("Floor", [-2, -2, -1.0], [2, 2, 0.0])
    stage = box("Stage", [-2, -2, -1.0], [2, 2, -0.3])
    effectors = np.isin(track.skeleton.names, ["toe.L", "toe.R"])
    binding = fit(track, [ground, stage], effectors, 1.8)
    (risen,) = moved([stage], np.eye(3), (0.0, 0.0, 0.5))
    raised = track.positions + [0.0, 0.0, 0.2]
    assert compare(binding, raised, [ground, risen], 1.0).figures()["clearance_lost_pct"] == 0.0
    sunk = compare(binding, raised - [0.0, 0.0, 0.03], [ground, risen], 1.0)
    assert sunk.figures()["clearance_lost_pct"] > 50.0
