"""A foot on the seam of two objects of which one rises: it goes along with that one, not held between them."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.props import box
from solvers.adapt.measures import compare
from solvers.adapt.solve import adapt
from tests.adapt_bound import gap
from tests.adapt_seats import FRAMES, NAMES, bound, seated

TOE = NAMES.index("toe.L")
SEAM = 0.08


def standing():
    leg = np.array([[0.1, 0, 0.9], [0.1, 0.04, 0.5], [0.1, 0, 0.08], [0.1, 0.15, 0.03]])
    body = np.concatenate(([[0, 0, 0.95], [0, 0, 1.35], [0, 0, 1.7]], leg, leg * [-1, 1, 1]))
    return replace(seated(0.0), positions=np.repeat(body[None], FRAMES, axis=0))


def boxes():
    return [box("Left", [SEAM, -1, -0.5], [1, 1, 0]), box("Right", [-1, -1, -0.5], [SEAM, 1, 0])]


@pytest.mark.parametrize("metres", [0.05, 0.1, 0.2])
def test_a_foot_on_a_seam_goes_with_the_object_that_rises(metres):
    track, (left, right) = standing(), boxes()
    binding = bound(track, [left, right])
    assert binding.touched[:, :, TOE].all(), "it touches both"
    after = [replace(left, vertices=left.vertices + [0, 0, metres]), right]
    motion = adapt(binding, after)
    assert np.abs((motion.positions - track.positions)[:, TOE, 2] - metres).max() < 0.005
    found = compare(binding, motion.positions, after, 1.0)
    assert found.deeper.max() < 0.0015 and found.contacts.kept.sum() == found.contacts.counted.sum()


def test_boxes_that_stay_flush_hold_it_as_it_was():
    track = standing()
    assert gap(adapt(bound(track, boxes()), boxes()).positions, track.positions) < 1e-6
