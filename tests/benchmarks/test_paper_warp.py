import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.baselines.paper_warp import Verlet, descriptor_weights, paper_adapt, paper_targets
from solvers.core.errors import InputError

HEIGHT = 1.8
PARENTS = np.array([-1, 0, 1, 1, 3, 0, 5, 0, 7])  # pelvis, chest, head, two arm joints, two legs
POSE = np.array(
    [
        [0, 0, 0.95], [0, 0, 1.4], [0, 0, 1.75], [0.25, 0, 1.4], [0.5, 0.1, 1.3],
        [0.1, 0, 0.5], [0.1, 0.05, 0.08], [-0.1, 0, 0.5], [-0.1, 0.05, 0.08],
    ]
)  # fmt: skip


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def ground_and_wall(rng, count=40):
    """Descriptors on the ground below the pose and on a wall at x = 0.8 facing it."""
    plane = rng.uniform(-0.6, 0.6, (count, 2))
    ground = np.column_stack([plane, np.zeros(count)])
    wall = np.column_stack([np.full(count, 0.8), plane[:, 0], plane[:, 1] + 1.0])
    up = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0.0]])  # columns n = z, t = x, b = y
    left = np.array([[-1, 0, 0], [0, 1, 0], [0, 0, -1.0]])
    axes = np.concatenate([np.broadcast_to(up, (count, 3, 3)), np.broadcast_to(left, (count, 3, 3))])
    return np.concatenate([ground, wall])[None], axes[None]


def walk(frames=60, speed=0.01):
    time = np.arange(frames)[:, None, None]
    return POSE + speed * time * np.array([0, 1.0, 0])


def carried(descriptors, rotation, shift, scale=1.0):
    return scale * descriptors[0] @ rotation.T + shift, rotation @ descriptors[1]


def bone_lengths(positions):
    child = np.flatnonzero(PARENTS >= 0)
    return np.linalg.norm(positions[:, child] - positions[:, PARENTS[child]], axis=2)


@pytest.mark.parametrize("clamp", [False, True])
def test_weights_targets_and_affinities_are_equations_2_to_8(rng, clamp):
    origins, axes = ground_and_wall(rng, 6)
    turn = Rotation.random(12, random_state=1).as_matrix()
    changed = origins + rng.normal(0, 0.1, origins.shape), turn @ axes
    weights = descriptor_weights(POSE[None], origins, axes, HEIGHT, clamp_cosine=clamp)
    targets, affinity = paper_targets(POSE[None], (origins, axes), changed, HEIGHT, clamp_cosine=clamp)
    sums = []
    for j, p in enumerate(POSE):
        distance = [np.linalg.norm(p - d) for d in origins[0]]
        r1 = min(distance)
        r2 = r1 + HEIGHT / 4
        expected, total, target = [], 0.0, np.zeros(3)
        for i, d in enumerate(origins[0]):
            cosine = axes[0, i, :, 0] @ (p - d) / distance[i]
            cosine = max(cosine, 0.0) if clamp else cosine
            fade = 0.0 if distance[i] >= r2 else 1 - (distance[i] - r1) / (r2 - r1)
            alpha = axes[0, i].T @ (p - d)
            expected.append(cosine * fade)
            total += expected[-1]
            target += expected[-1] * (changed[0][0, i] + changed[1][0, i] @ alpha)
        assert np.allclose(weights[0, j], expected, atol=1e-12)
        assert np.allclose(targets[0, j], target / total if total else p, rtol=1e-9)
        sums.append(total)
    assert np.allclose(affinity[0], np.maximum(np.array(sums) / sum(sums), 0))


def test_a_still_pose_stays_or_moves_with_a_rigidly_moved_environment(rng):
    descriptors, still = ground_and_wall(rng), np.repeat(POSE[None], 20, axis=0)
    out = paper_adapt(still, PARENTS, descriptors, descriptors, HEIGHT, clamp_cosine=True)
    assert np.abs(out - still).max() < 1e-9
    rotation, shift = Rotation.from_rotvec([0.1, 0.2, 0.5]).as_matrix(), np.array([0.1, 0.2, 0.3])
    changed = carried(descriptors, rotation, shift)
    out = paper_adapt(still[:5], PARENTS, descriptors, changed, HEIGHT, clamp_cosine=True)
    assert np.abs(out - (still[:5] @ rotation.T + shift)).max() < 1e-4


def test_a_moving_pose_lags_behind_even_when_nothing_changed(rng):
    descriptors = ground_and_wall(rng)
    motion = walk()
    out = paper_adapt(motion, PARENTS, descriptors, descriptors, HEIGHT, clamp_cosine=True)
    behind = (motion - out)[-1, :, 1] / 0.01
    assert (behind > 0.5).all() and (behind < 6).all()


def test_rigid_motion_and_scale_of_everything_carry_the_result(rng):
    descriptors, motion = ground_and_wall(rng), walk(12)
    raised = descriptors[0] + np.where(descriptors[0][..., 2:] == 0, [0, 0, 0.2], 0.0), descriptors[1]
    rotation, shift, scale = Rotation.random(random_state=2).as_matrix(), np.array([3.0, -4, 1]), 2.0
    out = paper_adapt(motion, PARENTS, descriptors, raised, HEIGHT, clamp_cosine=True)
    moved = paper_adapt(
        scale * motion @ rotation.T + shift,
        PARENTS,
        carried(descriptors, rotation, shift, scale),
        carried(raised, rotation, shift, scale),
        scale * HEIGHT,
        clamp_cosine=True,
    )
    assert np.abs(moved - (scale * out @ rotation.T + shift)).max() < 1e-9


def test_bones_keep_their_length_given_enough_iterations(rng):
    descriptors, motion = ground_and_wall(rng), walk(3)
    raised = descriptors[0] + np.where(descriptors[0][..., 2:] == 0, [0, 0, 0.2], 0.0), descriptors[1]
    errors = []
    for iterations in (3, 60):
        verlet = Verlet(constraint_iterations=iterations)
        out = paper_adapt(motion, PARENTS, descriptors, raised, HEIGHT, clamp_cosine=True, verlet=verlet)
        errors.append(np.abs(bone_lengths(out) / bone_lengths(motion) - 1).max())
    assert errors[1] < 1e-4 < errors[0]


def test_of_two_joints_the_one_with_more_affinity_moves_less():
    """One bone, stretched by its targets; the correction is shared as in eq. 11 with the mended sign."""
    pose = np.array([[[0, 0, 0.1], [0, 0, 0.3]]])
    ground = np.zeros((1, 1, 3)), np.array([[[[0, 1, 0], [0, 0, 1], [1, 0, 0.0]]]])
    tall = pose * [1, 1, 2.0]
    out = paper_adapt(pose, np.array([-1, 0]), ground, ground, 1.8, resized=tall)
    assert np.allclose(np.diff(out[0], axis=0), [[0, 0, 0.4]], atol=1e-6)
    moved = np.abs(out - pose)[0, :, 2]
    assert moved[0] < moved[1]


def test_joints_out_of_reach_share_the_correction_in_halves():
    pose = np.array([[[0, 0, -1.0], [0, 0, -1.2]]])  # behind the only descriptor
    ground = np.zeros((1, 1, 3)), np.array([[[[0, 1, 0], [0, 0, 1], [1, 0, 0.0]]]])
    lifted = ground[0] + [0, 0, 0.5], ground[1]
    out = paper_adapt(pose, np.array([-1, 0]), ground, lifted, 1.8, clamp_cosine=True, resized=pose * 1.5)
    assert np.allclose(out.mean(axis=1), pose.mean(axis=1), atol=1e-6)
    assert np.allclose(out[0, 0] - out[0, 1], [0, 0, 0.3], atol=1e-6)


def test_an_animated_environment_is_bound_frame_by_frame(rng):
    still = np.repeat(POSE[None], 30, axis=0)
    origins, axes = ground_and_wall(rng)
    sway = np.zeros((30, 1, 3))
    sway[:, 0, 1] = 0.001 * np.arange(30)
    moving = origins + sway, np.repeat(axes, 30, axis=0)
    out = paper_adapt(still + sway, PARENTS, moving, (origins, axes), HEIGHT, clamp_cosine=True)
    assert np.abs(out - POSE).max() < 1e-9


def test_braces_keep_distances_that_no_bone_keeps(rng):
    descriptors = ground_and_wall(rng)
    spread = descriptors[0] * [1.4, 1, 1], descriptors[1]
    still, hips = np.repeat(POSE[None], 2, axis=0), np.array([[5, 7]])
    verlet = Verlet(constraint_iterations=30)
    common = dict(clamp_cosine=True, verlet=verlet)
    free = paper_adapt(still, PARENTS, descriptors, spread, HEIGHT, **common)
    braced = paper_adapt(still, PARENTS, descriptors, spread, HEIGHT, braces=hips, **common)
    width = [np.linalg.norm(out[-1, 5] - out[-1, 7]) for out in (free, braced)]
    assert abs(width[1] - 0.2) < 1e-4 < 1e-3 < abs(width[0] - 0.2)


def test_bad_input_is_named(rng):
    descriptors = ground_and_wall(rng)
    motion = walk(4)

    def refuse(pattern, positions=motion, bind=descriptors, changed=descriptors, height=HEIGHT):
        with pytest.raises(InputError, match=pattern):
            paper_adapt(positions, PARENTS, bind, changed, height)

    broken = motion.copy()
    broken[2, 3, 0] = np.nan
    refuse("Joint 3 .* frame 2", positions=broken)
    refuse("no descriptors", bind=(np.empty((1, 0, 3)), np.empty((1, 0, 3, 3))))
    refuse("2 states for 4 frames", changed=tuple(np.repeat(a, 2, axis=0) for a in descriptors))
    refuse("bind again", changed=tuple(a[:, :-1] for a in descriptors))
    refuse("height", height=0.0)
    refuse("shape", positions=motion[0])
