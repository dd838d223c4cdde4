"""Where a body sits, kneels and leans, and that it goes with what it sits on."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import edits
from benchmarks.props import box, flat_ground
from benchmarks.scenes import sitting
from solvers.adapt.binding import fit
from solvers.adapt.measures import compare
from solvers.adapt.solve import AdaptOptions, adapt
from solvers.skeleton.solved_joints import effectors
from tests.adapt_bound import gap, moved
from tests.adapt_seats import ENDS, FPS, FRAMES, KNEE, NAMES, PELVIS, bound, seated, surroundings


def moved_along(track, metres_a_second):
    along = metres_a_second * np.arange(FRAMES)[:, None, None] / FPS * [1, 0, 0]
    return replace(track, positions=track.positions + along)


def test_a_pelvis_whose_distance_varies_rests_all_the_time():
    binding = bound(seated())
    assert np.ptp(binding.joint_distance[1, :, PELVIS]) > 0.05
    assert binding.rests[1, :, PELVIS].all() and binding.contact[1, :, PELVIS].min() > 0.99


def test_what_passes_a_seat_does_not_rest():
    track = moved_along(seated(), 0.6)
    long_seat = box("Seat", [-1, -0.3, 0.3], [3, 0.15, 0.5])
    assert not bound(track, [flat_ground(track.positions), long_seat]).rests.any()


def test_a_stop_of_a_moment_is_no_rest():
    track = seated(0.0)
    speed = np.full(FRAMES, 0.6)
    speed[30:34] = 0.0
    positions = track.positions + (np.cumsum(speed) / FPS)[:, None, None] * [1, 0, 0]
    long_seat = box("Seat", [-1, -0.3, 0.3], [3, 0.15, 0.5])
    assert not bound(replace(track, positions=positions), [flat_ground(positions), long_seat]).rests.any()


def test_feet_are_no_seats_and_a_knee_beside_nothing_does_not_rest():
    rests = bound(seated()).rests
    assert not rests[:, :, ENDS].any() and not rests[:, :, KNEE].any() and not rests[0].any()


def test_hips_rest_with_the_pelvis_that_they_hang_on():
    names = [NAMES.index("hip.L"), NAMES.index("hip.R")]
    assert bound(seated()).rests[1][:, names].all()
    track = moved_along(seated(), 0.6)
    assert not bound(track, [box("Seat", [-1, -0.3, 0.3], [3, 0.15, 0.5])]).rests.any()


def test_a_knee_that_is_put_on_a_box_rests_there():
    track = seated(0.0)
    meshes = [*surroundings(track), box("Box", [0, 0.3, 0.2], [0.3, 0.41, 0.49])]
    assert bound(track, meshes).rests[2, :, KNEE].all()


def posed(pelvis, knee, foot, toe):
    """A body at rest with both legs alike, and its trunk bent forward over them."""
    track = seated(0.0)
    leg = np.array([pelvis, knee, foot, toe], float) + [0.1, 0, 0]
    trunk = np.add(pelvis, [[0, 0, 0], [0, 0.3, 0.2], [0, 0.55, 0.3]])
    body = np.concatenate((trunk, leg, leg * [-1, 1, 1]))
    return replace(track, positions=np.repeat(body[None], FRAMES, axis=0))


@pytest.mark.parametrize(("height", "knee", "rests"), [(0.9, [0, 0.03, 0.5], False), (0.55, [0, 0.33, 0.45], True)])
def test_who_bends_over_a_bar_rests_on_it_with_bent_legs_alone(height, knee, rests):
    track = posed([0, 0, height], knee, [0, 0.05, 0.1], [0, 0.18, 0.04])
    bar = box("Bar", [-1, -0.05, height - 0.17], [1, 0.05, height - 0.11])
    found = bound(track, [flat_ground(track.positions), bar]).rests[1, :, PELVIS]
    assert found.all() if rests else not found.any()


def test_who_sits_on_the_floor_with_stretched_legs_rests_on_it():
    track = posed([0, 0, 0.1], [0, 0.45, 0.12], [0, 0.88, 0.1], [0, 0.94, 0.22])
    assert bound(track, [flat_ground(track.positions)]).rests[0, :, PELVIS].all()


def on_its_side():
    """A seated body that lies on its side at 0.3 m."""
    rest = seated(0.0).positions[:1]
    lying = np.stack((rest[..., 2], rest[..., 1], rest[..., 0] + 0.3), axis=-1)
    return replace(seated(0.0), positions=np.repeat(lying, FRAMES, axis=0))


@pytest.mark.parametrize("radius", [0.1, 0.3])
def test_a_trunk_rests_as_far_away_as_it_is_thick(radius):
    """On its side on a bed; the head hangs on the chest, which is an effector as well."""
    track = on_its_side()
    bed = box("Bed", [-1, -1, -0.5], [3, 2, 0.0])
    binding = fit(track, [bed], ENDS, 1.8, np.full(len(NAMES), radius))
    found = binding.rests[0][:, [PELVIS, NAMES.index("chest")]]
    assert found.all() if radius > 0.2 else not found.any()
    higher = compare(binding, track.positions + [0.0, 0.0, 0.2], moved([bed], np.eye(3), (0.0, 0.0, 0.2)), 1.0)
    assert (higher.contacts.kept == higher.contacts.counted).all() and higher.contacts.counted.any() == (radius > 0.2)


@pytest.mark.parametrize("size", [0.7, 1.3])
def test_a_thick_body_of_another_size_lies_as_high_in_proportion(size):
    """All that lies is as thick as it is high, the head too, on which nothing rests."""
    track, bed = on_its_side(), box("Bed", [-1, -1, -0.5], [3, 2, 0.0])
    binding = fit(track, [bed], ENDS, 1.8, np.full(len(NAMES), 0.3))
    lies = [PELVIS, NAMES.index("chest"), NAMES.index("head")]
    motion = adapt(binding, [bed], AdaptOptions(scale=size))
    assert np.abs(motion.positions[:, lies, 2] - size * track.positions[:, lies, 2]).max() < 0.03


@pytest.mark.parametrize("metres", [-0.1, 0.1, 0.2])
def test_a_body_goes_with_its_seat_and_its_feet_stay(metres):
    track = seated()
    binding, (ground, seat) = bound(track), surroundings(track)
    after = [ground, replace(seat, vertices=seat.vertices + [0, 0, metres])]
    motion = adapt(binding, after)
    shift = (motion.positions - track.positions)[:, :, 2]
    assert np.abs(shift[:, PELVIS] - metres).max() < 0.02
    assert np.abs(shift[:, [NAMES.index("toe.L"), NAMES.index("toe.R")]]).max() < 0.02
    assert compare(binding, motion.positions, after, 1.0).contacts.kept[:, PELVIS].all()


def test_nothing_moves_where_nothing_changes():
    track = seated()
    assert gap(adapt(bound(track), surroundings(track)).positions, track.positions) < 1e-6


def test_what_was_bound_before_knows_hands_and_feet_alone():
    binding = bound(seated())
    older = replace(binding, rests=None)
    assert not older.touched[:, :, PELVIS].any() and older.contact[:, :, PELVIS].max() == 0.0
    assert np.array_equal(older.contact[:, :, ENDS], binding.contact[:, :, ENDS])


def test_a_contact_reach_of_nothing_holds_no_seat():
    binding = bound(seated())
    assert binding.touching(0.0).max() == 0.0
    ground, seat = surroundings(binding.track)
    after = [ground, replace(seat, vertices=seat.vertices + [0, 0, 0.1])]
    held, free = (adapt(binding, after, AdaptOptions(contact_reach=reach)).positions for reach in (None, 0.0))
    assert gap(held, free) > 0.01


@pytest.mark.captures
def test_a_captured_body_rises_with_its_chair():
    scene = sitting()
    track = edits.sub_clip(scene.track, 0, 314, 4)
    meshes = list(scene.environment.values())
    binding = fit(track, meshes, effectors(track.skeleton.parents), scene.height)
    hips = track.skeleton.names.index("hips")
    rests = binding.rests[1, :, hips]
    assert 0.6 < rests.mean() < 0.9
    after = list(edits.applied(scene.environment, {"Chair": edits.lifted(0.2)}).values())
    shift = (adapt(binding, after).positions - track.positions)[rests, hips, 2]
    assert np.abs(shift - 0.2).max() < 0.02
