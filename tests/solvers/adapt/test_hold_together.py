"""Hands that rest on the body keep their places on it, whatever moves the body; nothing else is changed by it."""

import numpy as np
import pytest

from benchmarks import edits
from benchmarks._self_contact_cases import sitter
from benchmarks.props import box, flat_ground
from solvers.adapt import no_jumps
from solvers.adapt.binding import fit
from solvers.adapt.frame import FrameAdapter
from solvers.adapt.hold_together import RAMP
from solvers.adapt.options import AdaptOptions, Pin
from solvers.adapt.solve import adapt
from tests import self_touching as body

HAND, PELVIS = body.NAMES.index("hand.L"), body.NAMES.index("pelvis")
PUSHED = {"Shelf": edits.moved((-0.17, 0.0, 0.0))}


@pytest.fixture(scope="module")
def bound():
    track = body.standing()
    return fit(track, [flat_ground(track.positions, 0.0)], body.ENDS, 1.8)


@pytest.fixture(scope="module")
def beside():
    """As ``bound``, with a shelf beside the elbow."""
    track = body.standing()
    meshes = [flat_ground(track.positions, 0.0), box("Shelf", [0.5, -0.5, 1.0], [1.0, 0.5, 1.4])]
    return fit(track, meshes, body.ENDS, 1.8), meshes


def pushed(meshes):
    return list(edits.applied({each.name: each for each in meshes}, PUSHED).values())


def without(binding):
    """The same, with no contact with itself held."""
    return binding.edited((), np.zeros((0, 4), int))


def off(binding, motion):
    """(F,) metres by which the left hand has left its place on the body, as the pelvis' children carry it."""
    source, frame = binding.track.positions, [PELVIS, *np.flatnonzero(body.PARENTS == PELVIS)]

    def place(positions):
        origin, axes = positions[:, PELVIS], positions[:, frame[1:]] - positions[:, PELVIS, None]
        return np.einsum("fij,fj->fi", np.linalg.pinv(axes.transpose(0, 2, 1)), positions[:, HAND] - origin)

    change = place(motion.positions) - place(source)
    axes = source[:, frame[1:]] - source[:, PELVIS, None]
    return np.linalg.norm(np.einsum("fij,fi->fj", axes, change), axis=1)


def test_an_arm_that_is_pushed_leaves_its_hand_on_the_hip(beside):
    binding, meshes = beside
    hip = np.arange(body.ON_HIP.start, body.ON_HIP.stop)
    loose, held = (adapt(each, pushed(meshes)) for each in (without(binding), binding))
    assert off(binding, loose)[hip].max() > 0.015
    assert off(binding, held)[hip].max() < 0.005 and held.converged.all()
    ends = held.positions, binding.track.positions
    bones = [np.linalg.norm(each[:, 1:] - each[:, body.PARENTS[1:]], axis=2) for each in ends]
    assert np.abs(bones[0] - bones[1]).max() < 1e-9


def test_frames_away_from_contacts_and_bodies_without_any_are_the_same_to_the_bit(beside):
    binding, meshes = beside
    loose, held = (adapt(each, pushed(meshes)) for each in (without(binding), binding))
    changed = (loose.positions != held.positions).any(axis=(1, 2))
    near = np.zeros(body.FRAMES, bool)
    for contact in binding.own_contacts:
        near[max(contact.first - round(RAMP * body.FPS), 0) : contact.last + round(RAMP * body.FPS) + 1] = True
    assert changed.any() and not changed[~near].any() and not near.all()
    track = body.standing(hands=False)
    none = fit(track, meshes, body.ENDS, 1.8)
    assert none.own.shape == (0, 4) and not none.own_contacts
    np.testing.assert_array_equal(*(adapt(each, pushed(meshes)).positions for each in (none, without(none))))


def test_unchanged_surroundings_change_nothing(beside):
    binding, meshes = beside
    assert np.abs(adapt(binding, meshes).positions - binding.track.positions).max() < 1e-9


def test_with_and_without_collision_a_frame_alone_is_the_tracks(beside):
    binding, meshes = beside
    for options in (AdaptOptions(), AdaptOptions(collision=False)):
        motion = adapt(binding, pushed(meshes), options)
        frame = FrameAdapter(binding, options, motion.moves)
        frame.update([mesh.state(0) for mesh in pushed(meshes)])
        for row in (50, 10, 120):
            assert np.abs(frame.solve(row).positions - motion.positions[row]).max() < 1e-4


def test_a_pinned_hand_stays_where_it_is_pinned(beside):
    binding, meshes = beside
    place = binding.track.positions[:, HAND] + [0.0, 0.0, 0.3]
    pin = Pin(HAND, place, np.ones(body.FRAMES))
    motion = adapt(binding, pushed(meshes), AdaptOptions(pins=(pin,)))
    alike = adapt(without(binding), pushed(meshes), AdaptOptions(pins=(pin,)))
    np.testing.assert_allclose(motion.positions[:, HAND], alike.positions[:, HAND], atol=1e-3)


def test_arms_that_are_left_alone_are_not_moved(beside):
    binding, meshes = beside
    left = np.isin(body.NAMES, ("shoulder.L", "elbow.L", "hand.L"))
    options = AdaptOptions(left=left)
    motions = [adapt(each, pushed(meshes), options).positions[:90] for each in (binding, without(binding))]
    np.testing.assert_array_equal(*motions)


def test_a_hand_that_would_jump_is_let_go_and_its_frames_are_named(beside, monkeypatch):
    binding, meshes = beside
    monkeypatch.setattr(no_jumps, "JUMP", 0.0)
    monkeypatch.setattr(no_jumps, "MORE", 0.0)
    loose, held = (adapt(each, pushed(meshes)) for each in (without(binding), binding))
    assert held.let_go.any() and not loose.let_go.any()
    np.testing.assert_allclose(held.positions[held.let_go], loose.positions[held.let_go], atol=2e-3)


def test_a_larger_body_holds_its_hand_as_far_away_as_it_is_large(bound):
    options = AdaptOptions(scale=1.3)
    motion = adapt(bound, [flat_ground(bound.track.positions, 0.0)], options)
    gaps = [np.linalg.norm(p[:, HAND] - p[:, PELVIS], axis=1) for p in (motion.positions, bound.track.positions)]
    assert np.abs(gaps[0] / gaps[1] / 1.3 - 1.0)[body.ON_HIP].max() < 0.02


def test_a_hand_that_rests_on_the_body_touches_nothing_that_is_farther():
    """A hand on a knee was held to the seat beside it as well, 13 cm away, and left the knee when that rose."""
    scene = sitter()
    names = scene.track.skeleton.names
    ends = np.isin(names, [joint for group in scene.effectors.values() for joint in group])
    binding = fit(scene.track, list(scene.environment.values()), ends, scene.height)
    palm, seat = names.index("palm.L"), 1
    assert without(binding).touched[seat, :, palm].all() and not binding.touched[seat, :, palm].any()
    assert binding.contact[seat, :, palm].max() < 1e-3 < without(binding).contact[seat, :, palm].min()
    moved = adapt(binding, list(scene.changed("raised_10").values())).positions
    knee = names.index("shin.L")
    gaps = [np.linalg.norm(each[:, palm] - each[:, knee], axis=1) for each in (moved, scene.track.positions)]
    assert np.abs(gaps[0] - gaps[1]).max() < 0.01
