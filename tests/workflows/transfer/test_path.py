"""Pairs in the picture of the path: grabbed, dragged, added, removed; time goes on in both clips whatever is done."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.transfer import path
from bl_ext.devrepo.motion_loom.workflows.transfer.overlay import PLACE

from tests import transfer_play as play
from tests.transfer_play import PAIRS


@pytest.fixture
def bob():
    return play.add_read()[1]


def frames(bob):
    return [(pair.source_frame, pair.target_frame) for pair in bob.motion_loom_transfer.clips[0].pairs]


def place(source, target):
    """Of frames 1 to 40 of both clips, in shares of the picture."""
    return (source - 1) / 39, (target - 1) / 39


def test_a_place_of_the_region_is_one_of_the_picture():
    left, bottom, width, height = PLACE
    assert path.in_picture(left, bottom) == pytest.approx((0, 0))
    assert path.in_picture(left + width, bottom + height) == pytest.approx((1, 1))
    assert path.in_picture(left + 0.5 * width, bottom + 0.25 * height) == pytest.approx((0.5, 0.25))
    assert path.is_in_picture((1.02, -0.02))
    assert not path.is_in_picture((1.2, 0.5)) and not path.is_in_picture((0.5, -0.1))


def test_a_pair_is_dragged_as_far_as_time_goes_on(bob):
    number = path.grab(bpy.context, place(18.2, 17.3))
    assert number == 2 and bob.motion_loom_transfer.clips[0].active_pair == 2
    path.drag(bpy.context, number, place(20, 22))
    assert frames(bob) == [*PAIRS[:2], (20.0, 22.0), *PAIRS[3:]]
    (first, below), (last, above) = PAIRS[1], PAIRS[3]
    for there, where in (
        ((30, 22), (last - 1, 22)), ((20, 39), (20, above - 1)), ((2, 2), (first + 1, below + 1)),
        ((99, 99), (last - 1, above - 1)),
    ):  # fmt: skip
        path.drag(bpy.context, number, place(*there))
        assert frames(bob) == [*PAIRS[:2], where, *PAIRS[3:]]


def test_a_pair_without_room_stays(bob):
    pairs = bob.motion_loom_transfer.clips[0].pairs
    pairs[1].source_frame, pairs[3].source_frame = 17.5, 18.5
    for there in ((10, 20), (30, 20)):
        path.drag(bpy.context, 2, place(*there))
        assert frames(bob)[2][0] == 18.0
    pairs[3].source_frame = 18.0
    before = frames(bob)
    path.drag(bpy.context, 2, place(30, 20))
    assert frames(bob) == before


def test_a_pair_is_added_where_the_path_is_grabbed(bob):
    number = path.grab(bpy.context, place(13, 12))
    assert frames(bob) == [*PAIRS[:2], (13.0, 12.0), *PAIRS[2:]] and number == 2
    assert path.grab(bpy.context, place(13, 35)) is None  # time would turn back
    assert len(frames(bob)) == len(PAIRS) + 1


def test_a_pair_is_removed_and_two_stay(bob):
    path.remove_at(bpy.context, place(9, 7))
    assert frames(bob) == [PAIRS[0], *PAIRS[2:]]
    path.remove_at(bpy.context, place(13, 30))  # nothing is there
    for source, target in PAIRS:
        path.remove_at(bpy.context, place(source, target))
    assert len(frames(bob)) == 2


def test_all_is_put_back(bob):
    before = path.pairs_now(bpy.context)
    path.remove_at(bpy.context, place(9, 7))
    path.grab(bpy.context, place(13, 12))
    path.put_pairs(bpy.context, before)
    assert frames(bob) == list(PAIRS) == before


def test_why_there_is_no_path(bob, settings):
    assert path.why_no_path(bpy.context) is None
    settings.clips[0].use = False
    assert "switched off" in path.why_no_path(bpy.context)
    settings.clips[0].use = True
    settings.clips[0].pairs.clear()
    assert "two pairs" in path.why_no_path(bpy.context)
    settings.clips[0].source_end = 30
    assert "Read Clips" in path.why_no_path(bpy.context)
    settings.clips.clear()
    assert "no clips" in path.why_no_path(bpy.context)


def test_whole_frames_come_out_wherever_the_mouse_is(bob):
    number = path.grab(bpy.context, place(18, 17))
    for share in np.random.default_rng(0).uniform(-0.03, 1.03, (50, 2)):
        path.drag(bpy.context, number, tuple(share))
        assert all(value == round(value) for pair in frames(bob) for value in pair)
        assert (np.diff(frames(bob), axis=0) > 0).all()
