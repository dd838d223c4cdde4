"""Subjects: what was captured is read and made again, moved worlds move the torso alone, bad input is named."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.transfer.subject import NEAREST, Subject, ground_of
from tests.bendy_bodies import NAMES, dance, performed, stiff_memberships, to_world
from tests.bendy_subject import CLIPS, MASKS, TRIANGLES, VERTICES, bendy_subject, learn


@pytest.fixture(scope="module")
def subject():
    return bendy_subject()


def world(subject, track, frame, **options):
    local = subject.assemble(tuple(rows[frame] for rows in track.rows), **options)
    return to_world(local, track.rotations[frame], track.translations[frame])


@pytest.mark.parametrize("correct", [True, False])
@pytest.mark.parametrize("stitch", [True, False])
def test_captured_frames_come_back(subject, correct, stitch):
    track = subject.read(CLIPS[0])
    for frame in (0, 17, 40):
        assert np.abs(world(subject, track, frame, correct=correct, stitch=stitch) - CLIPS[0][frame]).max() < 5e-3


def test_an_unseen_clip_of_the_same_body_comes_back(subject):
    clip = performed(VERTICES, dance(3))
    track = subject.read(clip)
    away = np.array([np.abs(world(subject, track, frame) - clip[frame]).max() for frame in range(0, 60, 6)])
    assert away.max() < 0.03


def test_each_frame_is_read_by_itself(subject):
    every, alone = subject.read(CLIPS[1]), subject.read(CLIPS[1][30:31])
    for one, two in zip(every.rows, alone.rows, strict=True):
        assert np.abs(one[30] - two[0]).max() < 1e-12
    assert np.abs(every.rotations[30] - alone.rotations[0]).max() < 1e-12
    assert np.abs(every.translations[30] - alone.translations[0]).max() < 1e-12


def test_a_moved_world_moves_the_torso_alone(subject):
    turn, shift = Rotation.from_rotvec((0.3, -0.2, 2.0)).as_matrix(), np.array((4.0, -3.0, 1.0))
    before, after = subject.read(CLIPS[0]), subject.read(CLIPS[0] @ turn.T + shift)
    for one, two in zip(before.rows, after.rows, strict=True):
        assert np.abs(one - two).max() < 1e-6
    assert np.abs(after.rotations - turn @ before.rotations).max() < 1e-6
    assert np.abs(after.translations - (before.translations @ turn.T + shift)).max() < 1e-6


def test_at_most_so_many_meshes_are_kept_and_none_twice():
    few = learn(captured=10)
    rows = np.concatenate(few.captured_rows, axis=1)
    assert few.captured.shape == (10, len(VERTICES), 3) and few.captured.dtype == np.float32
    apart = np.linalg.norm(rows[:, None] - rows, axis=2) + np.eye(10)
    every = np.concatenate(few.read(np.concatenate(CLIPS)).rows, axis=1)
    # Nothing captured is farther from what was kept than those are from each other.
    assert np.linalg.norm(every[:, None] - rows, axis=2).min(axis=1).max() <= apart.min() * (1 + 1e-5)
    still = learn([np.concatenate((clip, clip)) for clip in CLIPS], captured=500)
    assert len(still.captured) <= 120


def test_weights_of_the_nearest(subject):
    own = tuple(rows[5] for rows in subject.captured_rows)
    numbers, weights = subject.nearest(own)
    assert np.array_equal(numbers[:, 0], [5, 5, 5]) and np.allclose(weights, np.eye(1, NEAREST))
    numbers, weights = subject.nearest(tuple(rows + 0.01 for rows in own))
    assert np.allclose(weights.sum(axis=1), 1) and np.all(np.diff(weights, axis=1) <= 0)


def test_weights_do_not_jump_where_another_becomes_near(subject):
    """On a way between two captured poses that passes near others, the finer the steps the less they change."""
    start, end = ([rows[frame] for rows in subject.captured_rows] for frame in (0, 1))

    def largest(steps):
        found = np.zeros((steps, len(NAMES), len(subject.captured)))
        for total, way in zip(found, np.linspace(0, 1, steps), strict=True):
            numbers, weights = subject.nearest(tuple(a + way * (b - a) for a, b in zip(start, end, strict=True)))
            np.add.at(total, (np.arange(len(NAMES))[:, None], numbers), weights)
        return np.abs(np.diff(found, axis=0)).max()

    assert largest(8001) < 0.35 * largest(2001) < 0.1


def test_arrays_make_the_same_again(subject):
    again = Subject.from_arrays(subject.to_arrays())
    track, other = subject.read(CLIPS[1][:3]), again.read(CLIPS[1][:3])
    rows = tuple(part[1] for part in track.rows)
    assert all(np.array_equal(one, two) for one, two in zip(track.rows, other.rows, strict=True))
    assert np.abs(subject.assemble(rows) - again.assemble(rows)).max() < 1e-9
    assert again.names == NAMES and again.floor == subject.floor and again.size == subject.size


def test_a_body_of_one_part_and_few_captured_meshes_will_do():
    one = learn(masks=np.ones((1, len(VERTICES)), bool), names=("Body",))
    assert np.abs(world(one, one.read(CLIPS[0]), 20) - CLIPS[0][20]).max() < 5e-3
    for count in (1, 2, 3):
        few = learn(captured=count)
        assert np.isfinite(few.assemble(tuple(rows[0] for rows in few.captured_rows))).all()


def test_a_stiff_trunk():
    """It is known by where it is; a limb that never moves is named."""
    clips = [stiff(dance(seed)) for seed in (1, 2)]
    one = learn(clips, stiff_memberships(VERTICES))
    track = one.read(clips[0])
    assert [rows.shape[1] > 0 for rows in track.rows] == [False, True, True]
    for again in (one, Subject.from_arrays(one.to_arrays())):
        for frame in (0, 20, 45):
            for choice in (True, False):
                found = world(again, track, frame, correct=choice, stitch=choice)
                assert np.abs(found - clips[0][frame]).max() < 5e-3
    assert np.abs(one.lowest(track) - clips[0][..., 2].min(axis=1)).max() < 5e-3
    angles, *rest = dance(1)
    with pytest.raises(InputError, match="'Right' never moves.*add a clip"):
        learn([stiff((angles * (1, 0), *rest))], stiff_memberships(VERTICES))


def stiff(motion):
    angles, breath, *place = motion
    return performed(VERTICES, (angles, 0 * breath, *place))


def test_learning_can_be_dropped_halfway_and_tells_how_far_it_is():
    shares = list(Subject.learn_steps(CLIPS, TRIANGLES, MASKS, NAMES))
    assert len(shares) > 5 and np.all(np.diff(shares) >= 0) and 0 < shares[0] and shares[-1] <= 1
    steps = Subject.learn_steps(CLIPS, TRIANGLES, MASKS, NAMES)
    next(steps)
    steps.close()


def test_clips_are_left_as_they_are():
    clips = [clip.astype(np.float32) for clip in CLIPS]
    before = [clip.copy() for clip in clips]
    learn(clips)
    assert all(np.array_equal(one, two) for one, two in zip(clips, before, strict=True))


def test_bad_input_is_named(subject):
    broken, flat = CLIPS[1].copy(), CLIPS[0].copy()
    broken[7, 33], flat[0] = np.nan, flat[0, 0]
    angles, *rest = dance(1)
    still = performed(VERTICES, (0 * angles, 0 * rest[0], *rest[1:]))
    whole = {"masks": np.ones((1, len(VERTICES)), bool), "names": ("Body",)}
    for clips, options, words in (
        ([], {}, "no clips"),
        ([CLIPS[0], CLIPS[1][:1]], {}, "Clip 2 has 1 frame"),
        ([CLIPS[0], CLIPS[1][:, :-1]], {}, "Clip 2 has 481 vertices and the subject 482"),
        ([CLIPS[0], broken], {}, "Clip 2: vertex 33 is not a number at frame 7"),
        ([still], {}, "'Left' never moves"),
        ([still], whole, "'Body' never moves"),
        (CLIPS, {"masks": MASKS & (VERTICES[:, 0] < 0.9)}, "in no part"),
        ([flat, CLIPS[1]], {}, "no face with an area at its first frame; start that clip later"),
    ):
        with pytest.raises(InputError, match=words):
            learn(clips, **options)
    with pytest.raises(InputError, match="the subject 482"):
        subject.read(CLIPS[0][:, :-1])


def test_the_ground_is_where_most_clips_stand():
    """Not where one clip, or a few frames of another, sink."""
    rng = np.random.default_rng(0)
    clips = [rng.uniform(0.0, 2.0, (40, 200, 3)) for _ in range(3)]
    for clip in clips:
        clip[:, 0, 2] = 0.25 + rng.uniform(0.0, 0.01, 40)
        clip[:, 1:, 2] += 0.5
    clips[1][:3, :, 2] -= 1.0
    clips[2][..., 2] -= 0.7
    assert 0.25 <= ground_of(clips) <= 0.26


def test_a_vertex_in_no_face_steers_nothing(subject):
    """Five metres below, and it swings: turns, ways, rows, size and ground are those of the body without it."""
    for part in range(len(NAMES)):
        masks = np.concatenate((MASKS, np.arange(3)[:, None] == part), axis=1)
        clips = [with_stray(clip) for clip in CLIPS]
        other = learn(clips, masks)
        alone, track = subject.read(CLIPS[1]), other.read(clips[1])
        assert np.abs(track.rotations - alone.rotations).max() < 1e-9
        assert np.abs(track.translations - alone.translations).max() < 1e-9
        for one, two in zip(track.rows, alone.rows, strict=True):
            assert np.abs(one - two).max() < 1e-5
        assert abs(other.size - subject.size) < 1e-9
        assert np.abs(other.layout - subject.layout).max() < 1e-6
        assert other.floor == subject.floor
        assert np.abs(other.lowest(track) - subject.lowest(alone)).max() < 1e-4
        for frame in (0, 17, 40):
            whole = world(other, track, frame)
            assert np.abs(whole[:-1] - world(subject, alone, frame)).max() < 1e-4
            assert np.isfinite(whole).all()


def with_stray(clip):
    swing = 0.3 * np.sin(np.arange(len(clip)))[:, None, None] * (1, 0, 0)
    return np.concatenate((clip, clip.mean(axis=1, keepdims=True) + swing - (0, 0, 5)), axis=1)
