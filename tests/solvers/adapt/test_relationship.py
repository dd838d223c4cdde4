"""Weights of descriptors over joints, and the targets they give."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.transform import Rotation

from solvers.adapt.relationship import (
    NEGLIGIBLE_WEIGHT,
    Relations,
    carries,
    displaced,
    normalised_over_time,
    relate,
    window_weights,
)

FRAMES, JOINTS, DT, HEIGHT = 60, 5, 1 / 120, 1.8


def carry_of(bind, changed):
    """Of descriptors from their frames at bind to those now, origins and axes each."""
    return carries(bind[0], changed[0], changed[1] @ np.swapaxes(bind[1], -1, -2))


@dataclass
class Case:
    joints: np.ndarray
    origins: np.ndarray
    axes: np.ndarray

    @property
    def bind(self):
        return self.origins, self.axes

    def relations(self):
        return relate(self.joints, self.origins, self.axes[..., 0], DT, HEIGHT)


@pytest.fixture
def case(rng):
    """Joints that stroll over a ground of 30 descriptors with a wall of 20; the last joint is behind both."""
    time = np.linspace(0, 1, FRAMES)[:, None]
    joints = np.stack([time + 0.2 * np.arange(JOINTS), 0.1 * np.sin(9 * time) + 0 * np.arange(JOINTS)], axis=-1)
    joints = np.concatenate([joints, np.broadcast_to(0.1 + 0.3 * np.arange(JOINTS), (FRAMES, JOINTS))[..., None]], 2)
    joints[:, -1] = [0.5, 1.0, -2.0]
    ground = np.column_stack([rng.uniform(-0.5, 2.5, (30, 1)), rng.uniform(-0.5, 0.5, (30, 1)), np.zeros(30)])
    wall = np.column_stack([rng.uniform(-0.5, 2.5, (20, 1)), np.full(20, 0.6), rng.uniform(0, 2, (20, 1))])
    normals = np.repeat([[0.0, 0, 1], [0, -1, 0]], [30, 20], axis=0)
    tangents = np.tile([1.0, 0, 0], (50, 1))
    axes = np.stack([normals, tangents, np.cross(normals, tangents)], axis=-1)
    return Case(joints, np.concatenate([ground, wall])[None], axes[None])


def sums(relations):
    return np.asarray(relations.weights.sum(axis=1)).reshape(relations.frames, relations.joints)


def moved(case, seed=0):
    """The descriptors carried by one rigid motion, and that motion."""
    turn = Rotation.random(random_state=seed)
    shift = np.random.default_rng(seed).normal(0, 3, 3)
    origins = turn.apply(case.origins[0])[None] + shift
    return (origins, turn.as_matrix() @ case.axes), turn, shift


def animated(case, rng, amount=0.1):
    """Every descriptor on its own way, a state a frame."""
    turns = Rotation.from_rotvec(amount * rng.normal(size=(FRAMES * 50, 3))).as_matrix().reshape(FRAMES, 50, 3, 3)
    return case.origins + amount * rng.normal(size=(FRAMES, 50, 3)), turns @ case.axes


def test_window_is_the_papers_with_a_clamped_cosine(rng):
    """Equations 3 to 5 pair by pair."""
    points, origins = rng.normal(size=(6, 3)), rng.normal(size=(1, 40, 3))
    normals = rng.normal(size=(1, 40, 3))
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    found = window_weights(points, origins, normals, 0.1, 0.45)
    for frame, point in enumerate(points):
        away = point - origins[0]
        distance = np.linalg.norm(away, axis=1)
        cosine = np.maximum((away * normals[0]).sum(axis=1) / distance, 0)
        near = distance[cosine > 0].min()
        width = min(max(near, 0.1), 0.45)
        expected = cosine * np.clip((near + width - distance) / width, 0, 1)
        assert np.abs(found[frame] - expected).max() < 1e-12
        assert found[frame].argmax() >= 0 and found[frame].max() > 0


def test_moving_descriptors_have_the_weights_of_their_frame_and_what_faces_away_has_none(case, rng):
    origins, axes = animated(case, rng)
    whole = window_weights(case.joints[:, 1], origins, axes[..., 0], 0.1, 0.45)
    for frame in (0, 7, 59):
        one = window_weights(case.joints[[frame], 1], origins[[frame]], axes[[frame]][..., 0], 0.1, 0.45)
        assert np.array_equal(whole[frame], one[0])
    origins, normals = np.array([[[0.0, 0, 0], [0, 0, 1]]]), np.array([[[0.0, 0, 1], [0, 0, 1]]])
    assert window_weights(np.array([[0, 0, 0.5]]), origins, normals, 0.1, 0.4)[0, 1] == 0
    assert not window_weights(np.array([[0, 0, -0.5]]), origins, normals, 0.1, 0.4).any()


def test_smoothing_keeps_sums_and_constants(rng):
    weights = rng.random((FRAMES, 8)) * (rng.random(8) < 0.7)
    found = normalised_over_time(weights, DT)
    assert np.abs(found.sum(axis=1) - 1).max() < 1e-12 and found.min() >= 0
    still = np.tile(rng.random(8), (FRAMES, 1))
    assert np.abs(normalised_over_time(still, DT) - still / still.sum(axis=1, keepdims=True)).max() < 1e-14


def test_smoothing_lasts_as_long_at_any_rate():
    """A weight that moves from one descriptor to another takes the same time at 60 and at 120 frames a second."""

    def crossing(fps):
        time = np.arange(fps) / fps
        step = np.column_stack([time < 0.5, time >= 0.5]).astype(float)
        return time, normalised_over_time(step, 1 / fps)[:, 1]

    coarse, fine = crossing(60), crossing(240)
    assert np.abs(np.interp(coarse[0], *fine) - coarse[1]).max() < 0.06


def test_weights_sum_to_one_or_to_nothing(case):
    total = sums(case.relations())
    assert np.abs(total[:, :-1] - 1).max() < 1e-12
    assert not total[:, -1].any()
    data = case.relations().weights.data
    assert data.min() >= NEGLIGIBLE_WEIGHT and data.max() <= 1 + 1e-12


def test_a_joint_that_loses_sight_of_everything_for_a_while_is_not_torn_away(case):
    """It keeps the relation of the frame before or after, whichever is nearer; sums never lie between 0 and 1."""
    joints = case.joints.copy()
    joints[20:40, 1] = [0.5, 1.0, -2.0]
    relations = relate(joints, case.origins, case.axes[..., 0], DT, HEIGHT)
    assert np.abs(sums(relations)[:, :-1] - 1).max() < 1e-12
    raw = window_weights(joints[:, 1], case.origins, case.axes[..., 0], 0.1, 0.45)
    assert not raw[20:40].any() and raw[:20].any(axis=1).all()
    filled = normalised_over_time(raw, 1e6)  # frames so far apart that nothing is smoothed
    assert np.array_equal(filled[25], filled[19]) and np.array_equal(filled[35], filled[40])
    changed, turn, shift = moved(case)
    displacement, _ = displaced(joints, relations.blended(carry_of(case.bind, changed)))
    carried = turn.apply(joints[:, 1]) + shift
    assert np.abs(joints[:, 1] + displacement[:, 1] - carried).max() < 1e-12


def test_surroundings_moved_as_one_carry_their_joints_rigidly(case):
    """And where nothing changed they stay."""
    still = displaced(case.joints, case.relations().blended(carry_of(case.bind, case.bind)))
    assert max(np.abs(part).max() for part in still) < 1e-12
    changed, turn, shift = moved(case)
    displacement, blended = displaced(case.joints, case.relations().blended(carry_of(case.bind, changed)))
    carried = turn.apply(case.joints.reshape(-1, 3)).reshape(case.joints.shape) + shift
    error = case.joints + displacement - carried
    assert np.abs(error[:, :-1]).max() < 1e-12
    assert np.abs(blended[:, :-1] + np.eye(3) - turn.as_matrix()).max() < 1e-12
    assert not displacement[:, -1].any() and not blended[:, -1].any()


def test_targets_are_the_weighted_sum_of_carried_places(case, rng):
    changed, *_ = moved(case)
    changed = changed[0] + 0.2 * rng.normal(size=changed[0].shape), changed[1]
    relations = case.relations()
    shift, _ = displaced(case.joints, relations.blended(carry_of(case.bind, changed)))
    weights = relations.weights.toarray().reshape(FRAMES, JOINTS, -1)
    turns = changed[1][0] @ np.swapaxes(case.axes[0], -1, -2)
    for frame, joint in ((0, 0), (30, 2), (59, 3)):
        p = case.joints[frame, joint]
        places = changed[0][0] + np.einsum("nab,nb->na", turns, p - case.origins[0])
        expected = weights[frame, joint] @ places
        assert np.abs(p + shift[frame, joint] - expected).max() < 1e-12


def test_an_environment_that_moves_is_solved_frame_by_frame(case, rng):
    """S = F states give what each frame gives with its own state alone."""
    bind, changed = animated(case, rng), animated(case, rng, 0.3)
    relations = relate(case.joints, bind[0], bind[1][..., 0], DT, HEIGHT)
    shift, turn = displaced(case.joints, relations.blended(carry_of(bind, changed)))
    for frame in range(0, FRAMES, 9):
        rows = relations.weights[frame * JOINTS : (frame + 1) * JOINTS]
        one = Relations(rows, 1, JOINTS)
        states = [tuple(part[[frame]] for part in side) for side in (bind, changed)]
        own_shift, own_turn = displaced(case.joints[[frame]], one.blended(carry_of(*states)))
        assert np.abs(own_shift[0] - shift[frame]).max() < 1e-12
        assert np.abs(own_turn[0] - turn[frame]).max() < 1e-12
        own, whole = one.mean_normals(states[1][1][..., 0]), relations.mean_normals(changed[1][..., 0])
        assert np.abs(own[0] - whole[frame]).max() < 1e-12


@pytest.mark.parametrize("moves", ["before", "after"])
def test_one_side_may_stand_still(case, rng, moves):
    side, still = animated(case, rng), case.bind
    repeated = tuple(np.repeat(part, FRAMES, axis=0) for part in still)
    relations = case.relations()
    pairs = ((side, still), (side, repeated)) if moves == "before" else ((still, side), (repeated, side))
    ours, theirs = (displaced(case.joints, relations.blended(carry_of(*pair))) for pair in pairs)
    for a, b in zip(ours, theirs, strict=True):
        assert np.abs(a - b).max() < 1e-12


def test_carry_is_the_rigid_motion_of_each_descriptor(case, rng):
    changed, *_ = moved(case)
    carry = carry_of(case.bind, changed)
    p = rng.normal(size=3)
    turns = changed[1][0] @ np.swapaxes(case.axes[0], -1, -2)
    expected = changed[0][0] + np.einsum("nab,nb->na", turns, p - case.origins[0])
    found = p + carry[0, :, :3] + carry[0, :, 3:].reshape(-1, 3, 3) @ p
    assert np.abs(found - expected).max() < 1e-12


def test_influence_is_shared_out(case, rng):
    """A row keeps sum(w i^2) / sum(w i): the mean influence of what is left. Full influence changes nothing."""
    relations, influence = case.relations(), rng.uniform(0, 1, 50)
    assert relations.weighted(np.ones(50)) is relations
    before = relations.weights.toarray()
    after = relations.weighted(influence).weights.toarray()
    left = before @ influence
    expected = before * influence * np.divide(before @ influence**2, left**2, where=left > 0, out=0 * left)[:, None]
    assert np.abs(after - expected).max() < 1e-12
    uniform = relations.weighted(np.full(50, 0.3)).weights.toarray()
    assert np.abs(uniform - 0.3 * before).max() < 1e-12
    assert np.abs(relations.masked(influence).weights.toarray() - before * influence).max() < 1e-15


def test_what_one_object_loses_goes_to_the_others(case):
    influence = np.where(np.arange(50) < 30, 1.0, 0.0)
    relations = case.relations()
    before, after = relations.weights.toarray(), relations.weighted(influence).weights.toarray()
    assert not after[:, 30:].any()
    kept = before[:, :30].sum(axis=1) > 0
    assert np.abs(after[kept].sum(axis=1) - 1).max() < 1e-12 and not after[~kept].any()
    ratio = after[:, :30] * before[:, :30].sum(axis=1, keepdims=True)
    assert np.abs(ratio - before[:, :30]).max() < 1e-12


def test_mean_normals_are_unit_or_nothing(case):
    normals = case.relations().mean_normals(case.bind[1][..., 0])
    length = np.linalg.norm(normals, axis=-1)
    assert np.abs(length[:, :-1] - 1).max() < 1e-12 and not normals[:, -1].any()
    assert np.abs(normals[:, 0] - [0, 0, 1]).max() < 1


@pytest.mark.parametrize("size", [0.01, 30.0])
def test_weights_do_not_depend_on_place_turn_and_size(case, size):
    turn = Rotation.random(random_state=5)

    def carried(points):
        return size * turn.apply(points.reshape(-1, 3)).reshape(points.shape) + 7

    normals = turn.apply(case.axes[0, :, :, 0])[None]
    other = relate(carried(case.joints), carried(case.origins), normals, DT, size * HEIGHT)
    assert np.abs((other.weights - case.relations().weights).toarray()).max() < 1e-9


def test_one_frame_and_two(case):
    for frames in (1, 2):
        relations = relate(case.joints[:frames], case.origins, case.axes[..., 0], DT, HEIGHT)
        assert np.abs(sums(relations)[:, :-1] - 1).max() < 1e-12


def test_shares_of_objects_keep_sums_and_what_would_lose_everything_stays():
    weights = sparse.csr_matrix([[0.5, 0.3, 0.2], [0.4, 0.2, 0.0], [0.0, 0.0, 1.0], [0.2, 0.2, 0.6]])
    share = np.array([[[1.0, 0.5], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]])
    found = Relations(weights, 2, 2).claimed(share, np.array([0, 0, 1])).weights.toarray()
    assert np.allclose(found, [[0.625, 0.375, 0.0], [0.4, 0.2, 0.0], [0.0, 0.0, 1.0], [0.2, 0.2, 0.6]])
