"""Which whole frames a range holds, and how a scene is put to one."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene.frames import (
    frame_now,
    frames_around,
    frames_inside,
    frames_stepped,
    show_frame,
)

# What a key at a whole frame may come back as: the next number in single precision, or what a stretch of time leaves.
NEARLY = [0.0, 1.2e-7, -1.2e-7, 1e-4, -1e-4]


@pytest.mark.parametrize("off", NEARLY)
def test_keys_that_are_nearly_at_a_frame_are_at_it(off):
    assert frames_around(1.0 + off, 100.0 + off) == (1, 100)
    assert frames_inside(1.0 + off, 100.0 + off) == (1, 100)


def test_ends_between_frames():
    assert frames_around(1.4, 9.6) == (1, 10)
    assert frames_inside(1.4, 9.6) == (2, 9)
    first, last = frames_inside(1.4, 1.6)
    assert last < first


@pytest.mark.parametrize("step", [0.1, 0.3, 1.0, 2.5])
def test_a_step_in_single_precision_meets_the_end(step):
    """As the panel holds it: the difference to the step that is meant adds up."""
    count = 3331
    end = float(np.float32(1.0 + count * step))
    frames = frames_stepped(1.0, end, float(np.float32(step)))
    assert len(frames) == count + 1 and abs(frames[-1] - end) < 1e-3 * step


def test_a_step_that_does_not_meet_the_end_stops_before_it():
    np.testing.assert_allclose(frames_stepped(1.0, 10.0, 4.0), [1.0, 5.0, 9.0])
    np.testing.assert_allclose(frames_stepped(3.0, 3.0, 1.0), [3.0])


@pytest.mark.parametrize("frame", [3.0, 2.9999999, 3.25, -0.5])
def test_a_frame_is_shown(frame):
    scene = bpy.context.scene
    show_frame(scene, frame)
    assert frame_now(scene) == pytest.approx(frame, abs=1e-6)


def test_a_whole_frame_is_shown_as_one_after_rounding():
    scene = bpy.context.scene
    show_frame(scene, 2.9999999)
    assert scene.frame_current == 3 and scene.frame_subframe == 0.0
