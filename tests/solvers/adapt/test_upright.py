"""Upright: what is away from tilted surfaces keeps its tilt, and what is close turns with them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import flat_ground
from solvers.adapt.binding import fit
from solvers.adapt.frame import FrameAdapter
from solvers.adapt.solve import AdaptOptions, adapt
from solvers.adapt.upright import closeness, headings
from solvers.core.errors import InputError
from solvers.core.types import MeshTrack
from tests.adapt_bound import gap, moved
from tests.adapt_walk import walk

GRAVITY = np.array([0.0, 0.0, -1.0])


@pytest.fixture(scope="module")
def flat():
    """A walk over flat ground, bound."""
    track = walk(np.arange(90), 60.0)
    ground = flat_ground(track.positions, track.positions[..., 2].min() - 0.02, 2.0, 0.1)
    names = track.skeleton.names
    effectors = np.isin(names, ("toe.L", "toe.R", "ankle.L", "ankle.R"))
    return fit(track, [ground], effectors, 1.7), ground


def sloped(ground, degrees, direction):
    rise = np.tan(np.radians(degrees)) * (ground.vertices[..., :2] @ np.asarray(direction, float))
    return [MeshTrack(ground.name, ground.vertices + rise[..., None] * [0, 0, 1], ground.triangles)]


def lean(binding, motion):
    """(F,) degrees of the trunk against that of the source."""
    names = binding.track.skeleton.names
    hips, neck = names.index("hips"), names.index("neck")
    trunks = [p[:, neck] - p[:, hips] for p in (motion.positions, binding.track.positions)]
    one, other = (t / np.linalg.norm(t, axis=1, keepdims=True) for t in trunks)
    return np.degrees(np.arccos(np.clip((one * other).sum(axis=1), -1.0, 1.0)))


def test_a_heading_is_the_twist_of_the_swing_twist_decomposition():
    turns = Rotation.random(500, random_state=4)
    x, y, z, w = turns.as_quat().T
    twist = Rotation.from_quat(np.stack((0 * x, 0 * y, z, w), axis=1)).as_matrix()
    whole = turns.as_matrix()
    upright = whole[:, 2, 2] > -0.5
    found = headings(whole, GRAVITY)
    assert upright.sum() > 300 and gap(found[upright], twist[upright]) < 1e-12
    beyond = whole[:, 2, 2] < -0.9
    assert beyond.any() and gap(found[beyond], whole[beyond]) < 1e-12


def test_headings_go_along_with_gravity():
    turns, about = Rotation.random(50, random_state=5), Rotation.random(random_state=6).as_matrix()
    here = headings(turns.as_matrix(), GRAVITY)
    there = headings(about @ turns.as_matrix() @ about.T, about @ GRAVITY)
    assert gap(there, about @ here @ about.T) < 1e-12


def test_closeness_falls_smoothly_with_distance():
    distance = np.repeat(np.array([[-0.1, 0.1, 0.3, 0.7, np.inf]]), 40, axis=0)
    near = closeness(distance, 1.0, 1 / 60)
    assert gap(near[:, [0, 1, 3, 4]], [1, 1, 0, 0]) < 1e-12 and 0.1 < near[0, 2] < 0.9
    step = np.where(np.arange(120)[:, None] < 60, 0.0, np.inf)
    assert np.abs(np.diff(closeness(step, 1.0, 1 / 60), axis=0)).max() < 0.06


@pytest.mark.parametrize("direction", [(0, 1), (0, -1), (1, 0)], ids=["up", "down", "across"])
@pytest.mark.parametrize("degrees", [10, 20])
def test_a_walk_on_a_slope_stays_upright(flat, degrees, direction):
    """It once leant by the slope's own angle."""
    binding, ground = flat
    after = sloped(ground, degrees, direction)
    motion = adapt(binding, after)
    assert lean(binding, motion).mean() < (3 if degrees <= 15 else 6)
    assert lean(binding, adapt(binding, after, AdaptOptions(upright=0.0))).mean() > 0.9 * degrees
    half = lean(binding, adapt(binding, after, AdaptOptions(upright=0.5))).mean()
    assert lean(binding, motion).mean() < half < degrees


def test_legs_do_not_twist_the_pelvis(flat):
    """It once rolled by 13 degrees, with all that rides on it."""
    binding, ground = flat
    motion = adapt(binding, sloped(ground, 20, (0, 1)))
    turns = motion.turns[:, binding.track.skeleton.names.index("hips")]
    assert np.degrees(2 * np.arccos(np.minimum(np.abs(turns[:, 0]), 1.0))).max() < 1.5


def test_feet_turn_with_their_slope(flat):
    binding, ground = flat
    motion = adapt(binding, sloped(ground, 15, (1, 0)))
    toe = binding.track.skeleton.names.index("toe.L")
    touching = binding.contact[0, :, toe] == 1.0
    turned = Rotation.from_quat(np.roll(motion.turns[touching][:, toe], -1, axis=-1)).magnitude()
    assert touching.any() and abs(np.degrees(turned).mean() - 15) < 2


def test_turns_about_gravity_and_shifts_take_an_upright_motion_along(flat):
    binding, ground = flat
    turn, shift = Rotation.from_rotvec([0, 0, 2.0]).as_matrix(), np.array([3.0, -1.0, 0.4])
    after = sloped(ground, 15, (0, 1))
    here, there = adapt(binding, after), adapt(binding, moved(after, turn, shift))
    assert gap(there.positions, here.positions @ turn.T + shift) < 1e-6


def test_upright_over_the_frames(flat):
    """Each frame is as upright as its own value asks for, keyed or not."""
    binding, ground = flat
    after = sloped(ground, 15, (0, 1))
    upright = np.linspace(1.0, 0.0, len(binding.track.positions))
    found = lean(binding, adapt(binding, after, AdaptOptions(upright=upright)))
    assert found[:5].max() < 5 and found[-5:].min() > 12
    constant = np.full(len(upright), 0.5)
    assert (
        gap(
            adapt(binding, after, AdaptOptions(upright=constant)).positions,
            adapt(binding, after, AdaptOptions(upright=0.5)).positions,
        )
        == 0
    )


def test_a_frame_by_itself_is_as_upright(flat):
    binding, ground = flat
    options = AdaptOptions(upright=np.linspace(1.0, 0.2, len(binding.track.positions)))
    after = sloped(ground, 20, (0, 1))
    motion = adapt(binding, after, options)
    adapter = FrameAdapter(binding, options, motion.moves)
    adapter.update([mesh.state(0) for mesh in after])
    for row in (0, 30, 60, 89):
        assert gap(adapter.solve(row).positions, motion.positions[row]) < 1e-4


def test_rear_knees_do_not_go_straight_uphill(flat):
    """Hips sink with the rear leg, as when walking uphill."""
    binding, ground = flat
    names = binding.track.skeleton.names

    def straight(positions):
        share = np.zeros(len(positions), bool)
        for side in "LR":
            hip, knee, ankle = (positions[:, names.index(f"{n}.{side}")] for n in ("thigh", "knee", "ankle"))
            u, v = hip - knee, ankle - knee
            cosine = (u * v).sum(axis=1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)
            share |= np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))) > 172
        return share.mean()

    source = straight(binding.track.positions)
    assert straight(adapt(binding, sloped(ground, 20, (0, 1))).positions) <= source + 0.1


@pytest.mark.parametrize(
    "options", [AdaptOptions(upright=1.5), AdaptOptions(upright=np.ones(3)), AdaptOptions(gravity=(0, 0, -2))]
)
def test_bad_options_are_refused(flat, options):
    binding, ground = flat
    with pytest.raises(InputError, match="Upright|gravity"):
        adapt(replace(binding), [ground], options)
