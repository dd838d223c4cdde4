"""Keys left out of baked motion: the bound holds by forward kinematics, at frames and between them."""

from dataclasses import replace

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


def swing(rig, frames=FRAMES, seed=0, size=0.1):
    """Smooth channels: sums of a few waves, quaternions of any length."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, frames)[:, None, None]

    def run(components, height):
        out = np.zeros((frames, len(rig.names), components))
        for _ in range(3):
            rate, phase = rng.uniform(0.1, 1, (2, len(rig.names), components))
            out += height * np.sin(2 * np.pi * (rate * t + phase))
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
    """At frames and halfway between them; the keys that are left."""
    keys, times = reduced(rig, channels, error, **options)
    assert worst(rig, channels, keys, times, samples=2) <= slack * error
    return keys


def points(rig, channels):
    """(F, B, 4, 3) heads, and the ends of each bone's axes, as long as it is."""
    pose = pose_matrices(rig, channels_to_basis(rig, *channels))
    heads = pose[..., :3, 3]
    axes = np.swapaxes(pose[..., :3, :3], -1, -2) * rig.lengths[:, None, None]
    return np.concatenate((heads[:, :, None], heads[:, :, None] + axes), axis=2)


def straight(rows, keys, times, at):
    """Rows (F, B, c) as curves through their keys (F, B) tell them at other times."""
    out = np.empty((len(at), *rows.shape[1:]))
    for bone, component in np.ndindex(rows.shape[1:]):
        chosen = keys[:, bone]
        out[:, bone, component] = np.interp(at, times[chosen], rows[chosen, bone, component])
    return out


def worst(rig, channels, keys, times, samples=8):
    """Largest distance of any point from its place, between frames too."""
    at = np.linspace(times[0], times[-1], samples * (len(times) - 1) + 1)
    dense = [straight(rows, np.ones_like(keys[..., 0]), times, at) for rows in channels]
    thin = [straight(rows, keys[..., k], times, at) for k, rows in enumerate(channels)]
    return np.linalg.norm(points(rig, dense) - points(rig, thin), axis=-1).max()


@pytest.mark.parametrize("error", [1e-4, 1e-3, 5e-3, 0.05])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_joint_is_off_by_more_than_the_error(seed, error):
    rig = chain()
    channels = swing(rig, seed=seed)
    keys, times = reduced(rig, channels, error)
    assert keys[0].all() and keys[-1].all()
    assert keys.mean() < 0.9
    # A few parts in a thousand between the half frames, where nothing is looked at.
    assert worst(rig, channels, keys, times) <= error * 1.005
    assert worst(rig, channels, keys, times, samples=2) <= error


def test_fewer_keys_the_larger_the_error():
    rig = chain()
    channels = swing(rig)
    counts = [reduced(rig, channels, error)[0].sum() for error in (1e-5, 1e-4, 1e-3, 1e-2, 0.1)]
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
    keys, _ = reduced(rig, ramps, 1e-5)
    assert (keys.sum(axis=0) == 2).all() and keys[0].all() and keys[-1].all()
    still = tuple(np.repeat(rows[:1], 50, axis=0) for rows in ramps)
    assert (reduced(rig, still, 0.0)[0].sum(axis=0) == 2).all()
    for frames in (1, 2):
        assert reduced(rig, swing(rig, frames), 1.0)[0].all()


def test_a_corner_keeps_its_key():
    rig = chain()
    channels = [np.repeat(rows[:1], 41, axis=0) for rows in swing(rig, 2)]
    channels[0][:, 2, 1] = np.abs(np.arange(41) - 17) * 0.01
    keys, _ = reduced(rig, channels, 1e-4)
    assert np.flatnonzero(keys[:, 2, reduction.LOCATION]).tolist() == [0, 17, 40]
    assert keys.sum() == 2 * keys[0].size + 1


def test_no_error_keeps_all_keys_that_are_not_on_a_line():
    rig = chain(3)
    channels = [np.repeat(rows[:1], 60, axis=0) for rows in swing(rig, 2)]
    channels[1][10:30, 1] += np.random.default_rng(0).normal(0, 0.1, (20, 4))
    keys, times = reduced(rig, channels, 0.0)
    assert np.flatnonzero(keys[:, 1, reduction.ROTATION]).tolist() == [0, *range(9, 31), 59]
    assert worst(rig, channels, keys, times, samples=2) < 1e-6


def test_times_need_not_be_even():
    rig = chain()
    times = np.sort(np.random.default_rng(3).uniform(1, 100, FRAMES))
    assert_within(rig, swing(rig), 2e-3, slack=1.05, times=times)


def test_scale_free():
    """A rig in centimetres under an object of a hundredth loses the same keys."""
    rig = chain()
    channels = swing(rig)
    keys, _ = reduced(rig, channels, 1e-3)
    rest = rig.rest.copy()
    rest[:, :3, 3] *= 100
    large = replace(rig, rest=rest, lengths=rig.lengths * 100)
    cm, _ = reduced(large, (channels[0] * 100, *channels[1:]), 1e-3, unit=0.01)
    assert abs(int(keys.sum()) - int(cm.sum())) < 0.01 * keys.sum()


def test_channels_without_keys_stay_without():
    rig = chain()
    keyed = np.ones((len(rig.names), 3), bool)
    keyed[2], keyed[:, reduction.SCALE] = False, False
    keys, times = reduced(rig, swing(rig), 5e-3, keyed=keyed)
    assert not keys[:, ~keyed].any() and keys[0, keyed].all()
    played = keys | ~keyed
    found = reduction.key_error(rig, swing(rig), times, np.ones(FRAMES), keys)
    assert found == pytest.approx(worst(rig, swing(rig), played, times, samples=2), abs=1e-6) and 0 < found <= 5e-3


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
    found = reduction.key_error(rig, channels, times, np.full(FRAMES, 2.0), keys)
    assert found == pytest.approx(2 * worst(rig, channels, keys, times, samples=2), rel=1e-9)


def test_smooth_curves_are_cubic_with_the_motion_s_own_slopes():
    """A parabola comes back exactly, a straight curve through the same keys is off by an eighth of its bend."""
    times = np.arange(13.0)
    rows = np.stack((0.5 * times**2 - times, np.full(13, 2.0)), axis=1)[:, None]
    keys = np.zeros((13, 1), bool)
    keys[::3] = True
    found = reduction.interpolated(rows, keys, times, smooth=True)
    inside = slice(3, 10)  # slopes at the ends are one-sided
    np.testing.assert_allclose(found[inside], rows[inside], atol=1e-12)
    np.testing.assert_allclose(found[keys[:, 0]], rows[keys[:, 0]], atol=1e-12)
    assert np.abs(reduction.interpolated(rows, keys, times) - rows).max() == pytest.approx(1.0)
