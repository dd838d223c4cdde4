"""Travel goes as fast as what it was learnt from, whatever the rate, and says what that was."""

import numpy as np
import pytest

from benchmarks.datasets import data_file
from solvers.core.errors import InputError
from solvers.core.lag import rates
from solvers.mapping.global_motion import GlobalMotion
from solvers.mapping.travel import (
    LAG,
    STANCE,
    STAYS,
    STRIDE,
    TRANSLATION,
    Path,
    cycle_seconds,
    integrated,
    learn_travel,
)
from solvers.regression.history import History
from solvers.rotations.rigid import turned

TIMES = np.arange(180) / 60
SPEED = 1.2


def track(travel, coefficients, times, heading):
    """Positions (F, 2) on the ground from the origin."""
    return integrated(travel.velocity(rates(coefficients, times, LAG)), heading, times)


def walker(times):
    """Vertices (F, V, 3) of a box on two feet that walk on the spot towards -Y at 1.2 m/s, one stride a second."""
    legs = []
    for phase in (0.0, 0.5):
        turn = (times + phase) % 1.0
        stands = turn < 0.6
        along = np.where(stands, 0.36 - SPEED * turn, -0.36 + 0.72 * (turn - 0.6) / 0.4)
        up = np.where(stands, 0.0, 0.25 * np.sin(np.pi * (turn - 0.6) / 0.4))
        legs.append(np.stack((np.full_like(times, phase - 0.25), -along, up), axis=1))
    sole = np.array([[x, y, 0.0] for x in (-0.04, 0.04) for y in (-0.1, 0.0, 0.1)])
    body = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (0.8, 1.6)])
    feet = np.concatenate([leg[:, None] + sole for leg in legs], axis=1)
    return np.concatenate((feet, np.repeat(body[None], len(times), axis=0)), axis=1)


def coefficients(vertices, axes=None):
    """(F, D) main components and what is needed to project others."""
    flat = vertices.reshape(len(vertices), -1)
    mean, directions = axes if axes else (flat.mean(axis=0), None)
    if directions is None:
        _, size, vt = np.linalg.svd(flat - mean, full_matrices=False)
        directions = vt[: max(int((size > 0.02 * size[0]).sum()), 1)]
    return (flat - mean) @ directions.T, (mean, directions)


def on_the_spot(vertices):
    return np.zeros((len(vertices), 2)), np.zeros(len(vertices))


def learnt_on_the_spot(vertices, **options):
    """The travel learnt from vertices that stay, their poses and what projects others."""
    poses, axes = coefficients(vertices)
    return learn_travel(poses, TIMES, *on_the_spot(vertices), vertices, **options), poses, axes


def test_standing_feet_tell_the_speed_and_a_walk_backwards_goes_backwards():
    travel, poses, _ = learnt_on_the_spot(walker(TIMES))
    assert travel.learnt_from == STANCE and "m/s" in travel.note
    path = track(travel, poses, TIMES, np.zeros(180))
    np.testing.assert_allclose(path[-1], [0.0, -SPEED * TIMES[-1]], atol=0.1 * SPEED * TIMES[-1])
    travel, poses, _ = learnt_on_the_spot(walker(TIMES)[::-1])
    assert track(travel, poses, TIMES, np.zeros(180))[-1, 1] > 3.0


def test_a_target_that_travels_is_learnt_from_its_travel():
    """In its own heading, which turns by half a turn on the way."""
    vertices = walker(TIMES)
    poses, _ = coefficients(vertices)
    yaw = np.pi * TIMES / TIMES[-1]
    translation = integrated(np.tile([0.1, -SPEED], (180, 1)), yaw, TIMES)
    travel = learn_travel(poses, TIMES, translation, yaw, vertices)
    assert travel.learnt_from == TRANSLATION
    error = np.linalg.norm(track(travel, poses, TIMES, yaw) - translation, axis=1)
    assert error.max() < 0.15 * SPEED * TIMES[-1]


def test_a_stride_is_travelled_in_a_cycle():
    travel, poses, _ = learnt_on_the_spot(walker(TIMES), stride=2.0, learn_from=STRIDE)
    assert cycle_seconds(poses, TIMES) == pytest.approx(1.0, abs=0.02)
    np.testing.assert_allclose(track(travel, poses, TIMES, np.zeros(180))[-1], [0.0, -2.0 * TIMES[-1]], atol=0.6)


def test_what_stands_still_or_sways_stays():
    vertices = walker(TIMES)
    vertices[:, :12] = vertices[:1, :12]
    vertices[:, 12:, 0] += 0.1 * np.sin(3 * TIMES)[:, None]
    travel, poses, _ = learnt_on_the_spot(vertices)
    assert travel.learnt_from == STAYS and not track(travel, poses, TIMES, np.zeros(180)).any()
    with_stride, poses, _ = learnt_on_the_spot(vertices, stride=1.0)
    assert with_stride.learnt_from == STRIDE
    assert not with_stride.velocity(np.zeros(poses.shape[1])).any()


def test_faster_goes_further():
    travel, poses, _ = learnt_on_the_spot(walker(TIMES))
    once, twice = (travel.velocity(rates(poses, TIMES / k, LAG / k)) for k in (1, 2))
    np.testing.assert_allclose(twice, 2 * once)


def test_the_path_is_the_same_step_by_step(rng):
    velocity, times = rng.normal(size=(50, 2)), np.cumsum(rng.uniform(0.01, 0.1, 50))
    heading, path = np.cumsum(rng.normal(0, 0.2, 50)), Path()
    live = [path.step(*at) for at in zip(velocity, heading, times, strict=True)]
    np.testing.assert_allclose(live, integrated(velocity, heading, times), atol=1e-12)
    where = path.position
    np.testing.assert_array_equal(path.step(velocity[0], 0.0, times[-1]), where)


def test_live_rates_give_the_same_path():
    travel, poses, _ = learnt_on_the_spot(walker(TIMES))
    history, path, live = History(LAG), Path(), []
    for pose, time in zip(poses, TIMES, strict=True):
        history.push(pose, time)
        before, elapsed = history.lagged()
        rate = (pose - before) / elapsed if elapsed else np.zeros_like(pose)
        live.append(path.step(travel.velocity(rate), 0.3, time))
    np.testing.assert_allclose(live, track(travel, poses, TIMES, np.full(180, 0.3)), atol=1e-9)


@pytest.mark.parametrize("fps", [30, 24])
def test_the_frame_rate_does_not_matter(fps):
    travel, poses, axes = learnt_on_the_spot(walker(TIMES))
    times = np.arange(0, 2.9, 1 / fps)
    slow = track(travel, coefficients(walker(times), axes)[0], times, 0.5 * times)
    fast = track(travel, poses, TIMES, 0.5 * TIMES)
    there = np.array([np.interp(times, TIMES, fast[:, k]) for k in (0, 1)]).T
    assert np.linalg.norm(slow - there, axis=1).max() < 0.03 * np.linalg.norm(np.diff(fast, axis=0), axis=1).sum()


def test_a_circle_closes():
    times = np.linspace(0, 2 * np.pi, 200)
    path = integrated(np.tile([0.0, -1.0], (200, 1)), times, times)
    np.testing.assert_allclose(path[-1], 0.0, atol=1e-9)
    np.testing.assert_allclose(np.ptp(path, axis=0), 2.0, rtol=1e-2)


def test_bad_requests_are_named():
    vertices = walker(TIMES)
    poses, _ = coefficients(vertices)
    still = on_the_spot(vertices)
    for request, words in (("wings", "'wings'"), (STRIDE, "longer than zero")):
        with pytest.raises(InputError, match=words):
            learn_travel(poses, TIMES, *still, vertices, learn_from=request)
    with pytest.raises(InputError, match="does not move"):
        learn_travel(np.ones_like(poses), TIMES, *still, vertices, learn_from=TRANSLATION)


def dog(name):
    raw = np.loadtxt(data_file(f"point_seq/dog/dog_{name}_joint_pos.txt"), delimiter=",")
    return raw.reshape(len(raw), -1, 3)[..., [0, 2, 1]] * [1, -1, 1], np.arange(len(raw)) / 60


def mesh(name):
    vertices = np.load(data_file(f"mesh_seq/{name}.npz"))["verts"][..., [0, 2, 1]] * [1, -1, 1]
    return vertices.astype(float), np.arange(len(vertices)) / 24


def length(path):
    return np.linalg.norm(np.diff(path[::6], axis=0), axis=1).sum()


@pytest.mark.captures
@pytest.mark.parametrize(("learnt", "other"), [("walk00", "walk00"), ("walk00", "pace"), ("pace", "walk00")])
def test_another_walk_travels_within_a_fifth(learnt, other):
    points, times = dog(learnt)
    motion = GlobalMotion(points[0])
    found = motion.track(points)
    poses, axes = coefficients(found.points)
    travel = learn_travel(poses, times, found.translation, found.yaw, found.points)
    assert travel.learnt_from == TRANSLATION
    points, times = dog(other)
    found = motion.track(points)
    path = track(travel, coefficients(found.points, axes)[0], times, found.yaw)
    assert length(path) == pytest.approx(length(found.translation), rel=0.2)


@pytest.mark.captures
@pytest.mark.parametrize(
    ("name", "expected"),
    [("chicken_crossing", TRANSLATION), ("walking_cat", STANCE), ("horse_gallop", STANCE), ("horse_collapse", STAYS)],
)
def test_real_targets_are_told_apart(name, expected):
    vertices, times = mesh(name)
    found = GlobalMotion(vertices[0]).track(vertices)
    poses, _ = coefficients(found.points[:, ::10])
    travel = learn_travel(poses, times, found.translation, found.yaw, found.points)
    assert travel.learnt_from == expected


@pytest.mark.captures
def test_the_gallop_goes_the_way_the_horse_looks():
    """Y up and nose along +Z in the file: -Y here. About eight body radii a second."""
    vertices, times = mesh("horse_gallop")
    found = GlobalMotion(vertices[0]).track(vertices)
    poses, _ = coefficients(found.points[:, ::10])
    assert cycle_seconds(poses, times) in (pytest.approx(0.5, abs=0.05), pytest.approx(1.0, abs=0.05))
    travel = learn_travel(poses, times, found.translation, found.yaw, found.points)
    velocity = travel.velocity(rates(poses, times, LAG))[3:].mean(axis=0)
    assert velocity[1] < -3.0 and abs(velocity[0]) < 0.1 * -velocity[1]


@pytest.mark.captures
def test_a_captured_person_on_the_spot_walks_as_fast_as_captured():
    vertices, times = mesh("human_crane")
    found = GlobalMotion(vertices[0]).track(vertices)
    poses, _ = coefficients(found.points[:, ::10])
    travel = learn_travel(poses, times, found.translation, found.yaw, found.points, learn_from=STANCE)
    captured = turned(rates(found.translation, times, LAG), -found.yaw)[3:].mean(axis=0)
    travelled = travel.velocity(rates(poses, times, LAG))[3:].mean(axis=0)
    assert np.linalg.norm(travelled - captured) < 0.25 * np.linalg.norm(captured)
