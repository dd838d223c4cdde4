"""Hands that rest on the body itself are found, and what only hangs beside it is not."""

import numpy as np
import pytest

from solvers.adapt.self_contacts import SLOW, as_rows, limb_ends, self_contacts
from solvers.core.types import JointTrack, Skeleton
from tests import self_touching as body

TRUNK = np.isin(body.NAMES, ("pelvis", "chest", "neck"))
FREE = np.full((body.FRAMES, len(body.NAMES)), np.inf)


def found(track, touched=FREE, scale=1.0, radii=None):
    """{(joint, part's head): (first, last)} by name."""
    radii = np.zeros(len(body.NAMES)) if radii is None else radii
    contacts = self_contacts(track, body.ENDS, radii, TRUNK, touched, scale)
    names = body.NAMES
    return {(names[c.end.joint], names[body.PARENTS[c.part]]): (c.first, c.last) for c in contacts}


def test_a_hand_on_the_hip_and_clasped_hands_are_found_for_as_long_as_they_rest():
    contacts = found(body.standing())
    first, last = contacts["hand.L", "pelvis"]
    assert abs(first - body.ON_HIP.start) <= 8 and abs(last - body.ON_HIP.stop + 1) <= 8
    later = {pair: rows for pair, rows in contacts.items() if rows[0] > 80}
    assert {pair[0] for pair in later} == {"hand.L", "hand.R"}
    assert any(pair[1].startswith(("elbow", "hand")) for pair in later)
    assert all(abs(first - 105) <= 4 and abs(last - 139) <= 4 for first, last in later.values())
    assert len(contacts) == 3


def test_arms_that_hang_rest_on_nothing():
    assert not found(body.standing(hands=False))


def test_hands_that_pass_by_rest_on_nothing():
    track = body.standing()
    fast = JointTrack(track.skeleton, track.positions, 20.0 * track.fps, track.frames)
    assert not found(fast)  # what lasted 1.3 s is over in 0.07
    swung = track.positions.copy()
    hand = np.isin(body.NAMES, ("hand.L", "palm.L"))
    swung[:, hand] += 0.1 * np.sin(np.arange(body.FRAMES))[:, None, None] * [0.0, 0.0, 1.0]
    assert 0.1 * track.fps > 4 * SLOW
    assert not [pair for pair in found(JointTrack(track.skeleton, swung, track.fps, track.frames)) if "hip" in pair]


def test_a_hand_that_touches_something_else_does_not_rest_on_the_body():
    touched = FREE.copy()
    touched[:90, body.NAMES.index("palm.L")] = 0.03
    assert all(rows[0] > 80 for rows in found(body.standing(), touched).values())
    # What is farther than the body, as a seat under a thigh, holds no hand that lies on that.
    touched[:90, body.NAMES.index("palm.L")] = 0.12
    assert found(body.standing(), touched) == found(body.standing())


def test_thick_bodies_are_touched_farther_from_their_bones():
    track = body.standing()
    away = track.positions.copy()
    away[:, np.isin(body.NAMES, ("hand.L", "palm.L"))] += [0.1, 0.0, 0.0]
    moved = JointTrack(track.skeleton, away, track.fps, track.frames)
    radii = np.where(np.isin(body.NAMES, ("thigh.L", "chest")), 0.2, 0.05)
    assert ("hand.L", "pelvis") not in found(moved) and ("hand.L", "pelvis") in found(moved, radii=radii)


@pytest.mark.parametrize("size", [0.5, 3.0])
def test_size_place_and_turn_change_nothing(size):
    track = body.standing()
    cosine, sine = np.cos(0.7), np.sin(0.7)
    turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    positions = size * track.positions @ turn.T + [3.0, -2.0, 1.0]
    assert found(JointTrack(track.skeleton, positions, track.fps, track.frames), scale=size) == found(track)


def test_limbs_come_in_pairs_and_end_below_elbows_and_knees():
    track = body.standing()
    lengths = np.linalg.norm(track.positions[0] - track.positions[0, np.maximum(body.PARENTS, 0)], axis=1)
    ends = limb_ends(body.PARENTS, lengths, body.ENDS, TRUNK, 1.0)
    assert {body.NAMES[end.joint] for end in ends} == {"hand.L", "hand.R", "foot.L", "foot.R"}
    assert all(body.NAMES[end.bent[-1]][:-2] in ("elbow", "shin") for end in ends)
    one_arm = limb_ends(body.PARENTS, lengths * ~np.isin(body.NAMES, ("elbow.R", "hand.R")), body.ENDS, TRUNK, 1.0)
    assert {body.NAMES[end.joint] for end in one_arm} == {"foot.L", "foot.R"}


def test_a_single_frame_and_a_body_without_limbs_have_none():
    track = body.standing()
    still = JointTrack(track.skeleton, track.positions[50:51], track.fps, track.frames[:1])
    assert not found(still, FREE[:1])
    track = JointTrack(Skeleton(("a", "b"), np.array([-1, 0])), np.zeros((5, 2, 3)), 30.0, np.arange(5))
    none = np.zeros(2, bool)
    assert as_rows(self_contacts(track, ~none, np.zeros(2), none, np.full((5, 2), np.inf), 1.0)).shape == (0, 4)
