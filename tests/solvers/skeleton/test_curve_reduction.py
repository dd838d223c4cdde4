"""Keys left out of baked motion: the bound holds by forward kinematics, at frames and between them."""

from dataclasses import replace
from math import comb

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.skeleton import curve_reduction as reduction
from solvers.skeleton.bone_channels import channels_to_basis
from solvers.skeleton.kinematics import pose_matrices
from solvers.skeleton.rig import ROTATION_MODES
from tests.random_rigs import plain_rig

FRAMES = 120
MODES = ("QUATERNION", "XYZ", "AXIS_ANGLE", "ZYX")


def chain(count=6, modes=MODES, length=0.3):
    """Upright bones, each on the tail of the one before, and a side branch from the second."""
    rest = np.tile(np.eye(4), (count + 1, 1, 1))
    rest[:, :3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]
    rest[:count, 2, 3] = length * np.arange(count)
    rest[count, :3, 3] = (0.2, 0, 2 * length)
    return plain_rig([-1, *range(count - 1), 1], rest, length, tuple(np.resize(modes, count + 1)))


def swing(rig, frames=FRAMES, seed=0, size=0.1, rate=1.0):
    """Smooth channels: sums of a few waves, quaternions of any length."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, frames)[:, None, None]

    def run(components, height):
        out = np.zeros((frames, len(rig.names), components))
        for _ in range(3):
            turns, phase = rng.uniform(0.1, 1, (2, len(rig.names), components))
            out += height * np.sin(2 * np.pi * (rate * turns * t + phase))
        return out

    rotation = run(4, size)
    for bone, mode in enumerate(rig.rotation_modes):
        if mode == "QUATERNION":
            rotation[:, bone, 0] += 1.0 + 3 * size
        elif mode == "AXIS_ANGLE":
            rotation[:, bone, 2] += 1.0 + 3 * size
        else:
            rotation[:, bone, 3] = 0.0
    return run(3, 0.1), rotation, 1.0 + run(3, 0.05)


def reduced(rig, channels, error, unit=1.0, times=None, keyed=None):
    count = len(channels[0])
    times = np.arange(1.0, count + 1) if times is None else times
    keyed = np.ones((len(rig.names), 3), bool) if keyed is None else keyed
    return reduction.reduce_keys(rig, channels, times, np.full(count, unit), keyed, error), times


def assert_within(rig, channels, error, slack=1.0, **options):
    """At frames, and halfway between them where that is known; the keys that are left."""
    (keys, tangents), times = reduced(rig, channels, error, **options)
    assert worst(rig, channels, keys, tangents, times) <= slack * error
    return keys


def points(rig, channels):
    """(F, B, 4, 3) heads, and the ends of each bone's axes, as long as it is."""
    pose = pose_matrices(rig, channels_to_basis(rig, *channels))
    heads = pose[..., :3, 3]
    axes = np.swapaxes(pose[..., :3, :3], -1, -2) * rig.lengths[:, None, None]
    return np.concatenate((heads[:, :, None], heads[:, :, None] + axes), axis=2)


def curves(rows, keys, tangents, times, at):
    """Rows (F, B, c) as cubic curves through their keys (F, B) tell them at other times; straight without tangents."""
    out = np.empty((len(at), *rows.shape[1:]))
    for bone in range(rows.shape[1]):
        own = keys[:, bone]
        x, y = times[own], rows[own, bone]
        part = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
        span = (x[part + 1] - x[part])[:, None]
        u = (at - x[part])[:, None] / span
        rise = y[part + 1] - y[part]
        coming, leaving = (rise, rise)
        if tangents is not None:
            coming, leaving = span * tangents.coming[own, bone][part + 1], span * tangents.leaving[own, bone][part]
        # Bernstein polynomials, as the program reckons.
        handles = y[part], y[part] + leaving / 3, y[part + 1] - coming / 3, y[part + 1]
        out[:, bone] = sum(comb(3, k) * u**k * (1 - u) ** (3 - k) * handle for k, handle in enumerate(handles))
    return out


def apart(some, others):
    return np.linalg.norm(some - others, axis=-1).max(axis=-1)


def worst(rig, channels, keys, tangents, times):
    """Largest distance of any point from its place, at frames, and half way as far as it is known there."""
    keys, every = keys | ~keys.any(axis=0), np.ones(keys.shape, bool)
    own = reduction.key_tangents(channels, times, every)
    halves = 0.5 * (times[1:] + times[:-1])

    def played(at, keys, tangents):
        return points(rig, [curves(r, keys[..., k], tangents[k], times, at) for k, r in enumerate(channels)])

    at_frames = apart(played(times, keys, tangents), points(rig, channels))
    smooth = played(halves, every, own)
    half_way = apart(played(halves, keys, tangents), smooth) - apart(played(halves, every, [None] * 3), smooth)
    return max(at_frames.max(), half_way.max())


@pytest.mark.parametrize("error", [1e-4, 1e-3, 5e-3, 0.05])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_joint_is_off_by_more_than_the_error(seed, error):
    rig = chain()
    channels = swing(rig, seed=seed)
    keys = assert_within(rig, channels, error)
    assert keys[0].all() and keys[-1].all()
    assert keys.mean() < 0.9


def test_fewer_keys_the_larger_the_error():
    rig = chain()
    channels = swing(rig)
    counts = [reduced(rig, channels, error)[0][0].sum() for error in (1e-5, 1e-4, 1e-3, 1e-2, 0.1)]
    assert counts == sorted(counts, reverse=True) and counts[-1] < 0.2 * counts[0]


@pytest.mark.parametrize("mode", ROTATION_MODES)
def test_every_rotation_mode(mode):
    rig = chain(3, (mode,))
    assert assert_within(rig, swing(rig), 1e-3).mean() < 0.7


def test_a_leaf_keeps_its_direction_and_its_twist():
    """Nothing hangs on the last bone, and its twist moves no joint at all."""
    rig = chain(2, ("XYZ",))
    for axis in (0, 1, 2):  # y is the bone's length
        turned = np.zeros((200, 3, 4))
        turned[:, 1, axis] = 0.5 * np.sin(np.linspace(0, 5, 200))
        keys = assert_within(rig, (np.zeros((200, 3, 3)), turned, np.ones((200, 3, 3))), 1e-3)
        assert 5 < keys[:, 1, reduction.ROTATION].sum() < 80


def test_errors_of_a_long_chain_that_add_up_are_seen():
    """Twenty bones that all bend alike: each may be off by little only."""
    rows = np.zeros((100, 21, 4))
    rows[:, :, 0] = 0.1 * np.sin(np.linspace(0, 7, 100))[:, None]
    assert_within(chain(20, ("XYZ",), 0.1), (np.zeros((100, 21, 3)), rows, np.ones((100, 21, 3))), 2e-3)


def test_what_is_straight_takes_two_keys_and_one_frame_or_two_all():
    rig = chain()
    share = np.linspace(0, 1, 50)[:, None, None]
    ramps = tuple(rows[:1] + share * (rows[1:] - rows[:1]) for rows in swing(rig, 2))
    (keys, _), _ = reduced(rig, ramps, 1e-5)
    assert (keys.sum(axis=0) == 2).all() and keys[0].all() and keys[-1].all()
    still = tuple(np.repeat(rows[:1], 50, axis=0) for rows in ramps)
    assert (reduced(rig, still, 0.0)[0][0].sum(axis=0) == 2).all()
    for frames in (1, 2):
        assert reduced(rig, swing(rig, frames), 1.0)[0][0].all()


def test_a_corner_keeps_its_key():
    rig = chain()
    channels = [np.repeat(rows[:1], 41, axis=0) for rows in swing(rig, 2)]
    channels[0][:, 2, 1] = np.abs(np.arange(41) - 17) * 0.01
    (keys, _), _ = reduced(rig, channels, 1e-4)
    assert np.flatnonzero(keys[:, 2, reduction.LOCATION]).tolist() == [0, 17, 40]
    assert keys.sum() == 2 * keys[0].size + 1


def test_no_error_keeps_all_keys_that_are_not_on_a_line():
    rig = chain(3)
    channels = [np.repeat(rows[:1], 60, axis=0) for rows in swing(rig, 2)]
    channels[1][10:30, 1] += np.random.default_rng(0).normal(0, 0.1, (20, 4))
    (keys, tangents), times = reduced(rig, channels, 0.0)
    found = np.flatnonzero(keys[:, 1, reduction.ROTATION])
    assert {0, *range(9, 31), 59} <= {*found} and len(found) < 40
    assert worst(rig, channels, keys, tangents, times) < 1e-6


def test_times_need_not_be_even():
    rig = chain()
    times = np.sort(np.random.default_rng(3).uniform(1, 100, FRAMES))
    assert_within(rig, swing(rig), 2e-3, slack=1.05, times=times)


def test_scale_free():
    """A rig in centimetres under an object of a hundredth loses the same keys."""
    rig = chain()
    channels = swing(rig)
    (keys, _), _ = reduced(rig, channels, 1e-3)
    rest = rig.rest.copy()
    rest[:, :3, 3] *= 100
    large = replace(rig, rest=rest, lengths=rig.lengths * 100)
    (cm, _), _ = reduced(large, (channels[0] * 100, *channels[1:]), 1e-3, unit=0.01)
    assert abs(int(keys.sum()) - int(cm.sum())) < 0.01 * keys.sum()


def test_channels_without_keys_stay_without():
    rig = chain()
    keyed = np.ones((len(rig.names), 3), bool)
    keyed[2], keyed[:, reduction.SCALE] = False, False
    (keys, tangents), times = reduced(rig, swing(rig), 5e-3, keyed=keyed)
    assert not keys[:, ~keyed].any() and keys[0, keyed].all()
    found = reduction.key_error(rig, swing(rig), times, np.ones(FRAMES), keys, tangents)
    assert found == pytest.approx(worst(rig, swing(rig), keys, tangents, times), abs=1e-6) and 0 < found <= 5e-3


def test_bad_input_is_refused():
    rig = chain()
    for error in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="error"):
            reduced(rig, swing(rig), error)
    with pytest.raises(InputError, match="rise"):
        reduced(rig, swing(rig), 1e-3, times=np.zeros(FRAMES))


def test_every_nth_frame_has_the_error_that_is_said():
    rig = chain()
    channels = swing(rig)
    keys = np.zeros((FRAMES, len(rig.names), 3), bool)
    keys[::7], keys[-1] = True, True
    times = np.arange(FRAMES)
    tangents = reduction.key_tangents(channels, times, keys)
    found = reduction.key_error(rig, channels, times, np.full(FRAMES, 2.0), keys, tangents)
    assert found == pytest.approx(2 * worst(rig, channels, keys, tangents, times), abs=1e-6)


def test_what_is_cubic_takes_two_keys_and_a_step_four():
    """Either is played as it was, also by a rig that hangs together."""
    rig = chain(modes=("XYZ",))
    times = np.linspace(-1.0, 1.0, 40)[:, None, None]
    cubic = tuple(rows[0] + 0.1 * (times**3 - times**2 + rows[1] * times) for rows in swing(rig, 2))
    cubic[1][..., 3] = 0.0
    assert assert_within(rig, cubic, 1e-5).sum() == 2 * 3 * len(rig.names)
    step = [np.repeat(rows[:1], 40, axis=0) for rows in swing(rig, 2)]
    step[0][17:, 2, 1] += 0.5
    keys = assert_within(rig, step, 1e-4)
    assert np.flatnonzero(keys[:, 2, reduction.LOCATION]).tolist() == [0, 16, 17, 39]


def test_smooth_motion_stays_smooth():
    """Straight curves between the keys of a walk jerked 2.4 times as much as it does."""
    rig = chain()
    channels = swing(rig, rate=6.0)
    (keys, tangents), times = reduced(rig, channels, 5e-3)
    for number, (coming, leaving) in enumerate(tangents):
        np.testing.assert_array_equal(coming[keys[..., number]], leaving[keys[..., number]])
    dense, thin = (points(rig, rows) for rows in (channels, reduction.played(channels, times, keys, tangents)))
    jerks = [np.linalg.norm(np.diff(rows, 3, axis=0), axis=-1).mean() for rows in (dense, thin)]
    assert jerks[1] < 1.1 * jerks[0] and keys.mean() < 0.2
