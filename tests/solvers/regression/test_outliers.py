"""Jumps of a tracker are found and mended; clean captures are left alone."""

import numpy as np
import pytest

from benchmarks.bvh import read_bvh_track
from benchmarks.datasets import data_file
from solvers.core.errors import InputError
from solvers.regression.outliers import find_outliers, outlier_frames, repaired

TIMES = np.arange(200) / 60

CLEAN = [
    *(f"dog/dog_{name}" for name in ("walk00", "turn00", "trot", "pace")),
    *(f"misc/{name}" for name in ("02_01", "05_02", "contorsion", "pirouette")),
    *(f"cmu/{name}_30fps" for name in ("02_03_run_jog", "02_06_bend_scoop_up", "03_03_uneven_terrain")),
    *(f"bandai/dataset-1_{name}" for name in ("walk_giant_001", "walk-left_normal_001", "run_normal_001")),
    *(f"bandai/dataset-1_{name}_normal_001" for name in ("kick", "slash", "bow", "guide")),
    "pfnn/LocomotionFlat09_000",
]


@pytest.fixture
def clip(rng):
    return rng.normal(size=(8, 3)) + 0.4 * np.sin(8 * TIMES[:, None, None] + rng.uniform(0, 6, (8, 3)))


def test_a_clean_clip_is_left_alone_and_a_sudden_start_or_stop_is_no_jump(clip):
    assert not find_outliers(clip, TIMES).any()
    moving = clip.copy()
    moving[100:, 2, 0] += 6.0 * (TIMES[100:] - TIMES[99])
    moving[150:, 2] = moving[150, 2]
    assert not find_outliers(moving, TIMES).any()


@pytest.mark.parametrize("length", [1, 2, 5, 15])
def test_a_jump_and_back_is_found_and_mended(clip, length):
    jumped = clip.copy()
    jumped[80 : 80 + length, 3] += [0.5, -0.6, 0.3]
    found = find_outliers(jumped, TIMES)
    want = np.zeros_like(found)
    want[80 : 80 + length, 3] = True
    np.testing.assert_array_equal(found, want)
    mended = repaired(jumped, TIMES, found)
    assert np.abs(mended - clip).max() < (0.05 if length < 6 else 0.5)
    np.testing.assert_array_equal(mended[~found], jumped[~found])


def test_a_jump_of_the_whole_body_is_found_and_one_that_stays_flags_one_frame(clip):
    jumped = clip.copy()
    jumped[50:53] += [2.0, 0.0, 0.0]
    assert find_outliers(jumped, TIMES)[50:53].all() and outlier_frames(find_outliers(jumped, TIMES)).sum() == 3
    jumped = clip.copy()
    jumped[50:, 1] += 1.0
    np.testing.assert_array_equal(np.argwhere(find_outliers(jumped, TIMES)), [[50, 1]])


def test_numbers_that_are_missing_are_flagged_alone(clip):
    gappy = clip.copy()
    gappy[20:24, 2], gappy[60, 5, 1], gappy[:, 7] = np.nan, np.inf, np.nan
    found = find_outliers(gappy, TIMES)
    np.testing.assert_array_equal(found, ~np.isfinite(gappy).all(axis=2))
    assert outlier_frames(found).sum() == 5
    assert np.abs(repaired(gappy, TIMES, found) - clip)[:, :7].max() < 0.05


def test_unit_place_and_turn_do_not_matter(clip, rng):
    jumped = clip.copy()
    jumped[rng.integers(10, 190, 9), rng.integers(0, 8, 9)] += 0.8
    turn = np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1]])
    found = find_outliers(jumped, TIMES)
    np.testing.assert_array_equal(found, find_outliers(70 * jumped @ turn.T + [5, -9, 2], TIMES))
    assert found.sum() >= 9


def test_short_and_empty_input(clip):
    assert not find_outliers(clip[:5], TIMES[:5]).any()
    assert find_outliers(np.full((9, 2, 3), np.nan), TIMES[:9]).all()
    with pytest.raises(InputError, match="no frames"):
        find_outliers(clip[:0], TIMES[:0])
    with pytest.raises(InputError, match="shape"):
        find_outliers(clip[..., :2], TIMES)


def capture(name):
    if name.startswith("dog"):
        raw = np.loadtxt(data_file(f"point_seq/{name}_joint_pos.txt"), delimiter=",")
        return raw.reshape(len(raw), -1, 3)[..., [0, 2, 1]] * [1, -1, 1], np.arange(len(raw)) / 60
    track = read_bvh_track(data_file(f"mocap_bvh/{name}.bvh"))
    # The first frame of some is a T-pose.
    return track.positions[2:], track.frames[2:] / track.fps


@pytest.mark.captures
@pytest.mark.parametrize("name", CLEAN)
def test_captures_keep_their_frames_and_lose_their_glitches(name, rng):
    """At most 0.5 % of clean frames go; of jumps by 0.3 to 0.9 of the body's radius at least 95 % are found."""
    points, times = capture(name)
    assert outlier_frames(find_outliers(points, times)).mean() <= 0.005
    radius = np.sqrt(((points - points.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).mean())
    jumped, jumps = points.copy(), np.zeros(points.shape[:2], bool)
    for _ in range(max(3, len(points) // 50)):
        length, joint = rng.integers(1, 5), rng.integers(points.shape[1])
        start = rng.integers(3, len(points) - length - 3)
        if jumps[max(start - 4, 0) : start + length + 4, joint].any():
            continue
        away = rng.normal(size=3)
        away *= rng.uniform(0.3, 0.9) * radius / np.linalg.norm(away)
        jumped[start : start + length, joint] += away
        jumps[start : start + length, joint] = True
    found = find_outliers(jumped, times)
    assert found[jumps].mean() >= 0.95
    assert outlier_frames(found & ~jumps).mean() <= 0.005


@pytest.mark.captures
def test_a_thumb_that_pops_in_a_capture_is_found():
    track = read_bvh_track(data_file("mocap_bvh/misc/06_04.bvh"))
    found = find_outliers(track.positions[2:], track.frames[2:] / track.fps)
    assert track.skeleton.names[int(found.sum(axis=0).argmax())] == "LThumb/tail"
