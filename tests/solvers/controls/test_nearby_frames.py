"""What frames take over from frames nearby: swings of limbs, shares of redundant controls, where to begin."""

import numpy as np
import pytest

from solvers.controls.channels import put, taken
from solvers.controls.clip import Clip
from solvers.controls.damped import UNSEEN
from solvers.controls.leftover import _begun_between, _evened_out
from solvers.controls.misfit import References
from solvers.controls.structure import measured_structure
from solvers.controls.swings import swung_as_nearby
from solvers.rotations import rotation_vectors as rotvec
from tests.control_toys import CARRIERS, CONTROLS, Toy

FRAMES = 40
ALL, SWITCH = np.arange(FRAMES), np.zeros(FRAMES)


def index(*names):
    return [list(CONTROLS).index(name) for name in names]


def begun(toy, source, wanted, locked=()):
    """A clip that was given the channels which are wanted of it, and its measured structure."""
    variables = toy.controls.free.copy()
    variables[index(*locked)] = False
    clip = Clip(toy.controls, toy.problem(source, wanted, SWITCH, variables))
    structure, _ = toy.run(measured_structure(clip, ALL, 0), SWITCH)
    given(toy, clip, wanted)
    return clip, structure


def given(toy, clip, channels):
    put(clip.channels, ALL, channels)
    toy.run(clip.refresh(ALL), SWITCH)


def missed(clip):
    """(F, 6 K) errors against the armature."""
    return clip.errors(ALL, References.to_armature(len(CARRIERS)))


def same(a, b):
    """(F, C) bool, whether controls have the same channels, up to rounding."""
    return (np.abs(np.concatenate((a.location - b.location, a.rotation - b.rotation), axis=-1)) < 1e-9).all(axis=-1)


@pytest.fixture
def legs():
    """Toy, clip in which all is in place, structure; IK swings the leg by one control alone."""
    toy = Toy.build()
    rng = np.random.default_rng(5)
    return toy, *begun(toy, toy.neutral(FRAMES), toy.moved(rng, FRAMES, 0.02, 0.2), ("pole",))


def test_a_knee_on_the_other_side_is_swung_as_at_the_frames_nearby(legs):
    toy, clip, structure = legs
    wrong = taken(clip.channels, ALL)
    swing, odd = index("swing")[0], [0, 14, 15, FRAMES - 1]
    wrong.rotation[odd, swing, 1] += np.pi
    given(toy, clip, wrong)
    assert np.linalg.norm(missed(clip)[odd], axis=1).min() > 0.05
    toy.run(swung_as_nearby(clip, ALL, 0, structure), SWITCH)
    toy.run(clip.refresh(ALL), SWITCH)
    shin = list(CARRIERS).index("o_shin")
    assert np.abs(missed(clip).reshape(FRAMES, -1, 6)[:, shin, :3]).max() < 1e-3
    assert np.delete(same(clip.channels, wrong), swing, axis=1).all()


def test_a_swing_never_costs(legs):
    toy, clip, structure = legs
    clip.targets[:, :, :3, 3] += np.random.default_rng(6).normal(0.0, 0.03, (FRAMES, len(CARRIERS), 3))
    weights = np.tile(np.repeat((1.0, 1e-3), 3), (len(CARRIERS), 1))
    weights[list(CARRIERS).index("o_foot"), :3] = 10.0
    before = np.linalg.norm(weights.ravel() * missed(clip), axis=1)
    toy.run(swung_as_nearby(clip, ALL, 0, structure), SWITCH)
    toy.run(clip.refresh(ALL), SWITCH)
    after = np.linalg.norm(weights.ravel() * missed(clip), axis=1)
    assert (after <= before + 1e-12).all()
    assert (after < 0.999 * before).any()


def shared_otherwise(toy, turns):
    """Channels at rest but for the torso, turned by turns (F, 3), and hips and chest, which take that back."""
    step = np.zeros((FRAMES, len(CONTROLS), 6))
    step[:, index("torso"), 3:] = turns[:, None]
    step[:, index("hips", "chest"), 3:] = -turns[:, None]
    channels = toy.stepper.step(toy.neutral(FRAMES), step)
    up = np.array([0.0, 0.0, 0.1])
    channels.location[:, index("torso")[0]] = up - rotvec.exp(turns) @ up
    return channels


def evened(toy, channels, weight):
    """Clip, its channels before, and the errors before and after controls were evened out, weighed.

    The neck is asked to be longer than it is, so that something is left.
    """
    clip, structure = begun(toy, toy.neutral(FRAMES), channels)
    clip.targets[:, list(CARRIERS).index("head"), 2, 3] += 0.02
    used = np.isin(np.arange(len(CONTROLS)), index("torso", "hips", "chest"))
    weights = np.full((FRAMES, 6 * len(CARRIERS)), weight)
    kept, before = taken(clip.channels, ALL), np.linalg.norm(weights * missed(clip), axis=1)
    toy.run(_evened_out(clip, ALL, structure.whole_blocks(used), weights, (2, 16)), SWITCH)
    toy.run(clip.refresh(ALL), SWITCH)
    return clip, kept, before, np.linalg.norm(weights * missed(clip), axis=1)


def test_what_controls_share_is_evened_out_over_frames():
    toy = Toy.build()
    turns = np.random.default_rng(7).normal(0.0, 0.1, (FRAMES, 3)) + np.array([0.3, 0.0, 0.0])
    clip, kept, before, after = evened(toy, shared_otherwise(toy, turns), 1.0)
    assert (after <= 1.2 * before + UNSEEN + 1e-9).all()
    torso = index("torso")[0]
    rough = [np.abs(np.diff(each.rotation[:, torso, 1:], axis=0)).mean() for each in (kept, clip.channels)]
    assert rough[1] < 0.5 * rough[0]
    # Drawn to the frames nearby, not back to where the source has them.
    turned = toy.stepper.between(clip.problem.source, clip.channels)[:, torso, 3]
    assert np.abs(turned.mean() - 0.3) < 0.05


def test_a_frame_for_which_evening_out_costs_is_taken_back():
    toy = Toy.build()
    asked = shared_otherwise(toy, np.random.default_rng(7).normal(0.0, 0.1, (FRAMES, 3)))
    jump = 8
    step = np.zeros((FRAMES, len(CONTROLS), 6))
    step[jump, index("torso"), 3:] = (0.0, 0.0, 1.0)
    clip, kept, before, after = evened(toy, toy.stepper.step(asked, step), 0.02)
    stays = same(clip.channels, kept).all(axis=1)
    assert stays[jump] and not stays[20:].any()
    assert (after <= 1.2 * before + UNSEEN + 1e-9).all()


def test_a_frame_begun_between_others_keeps_the_goal_of_its_leg():
    toy = Toy.build()
    wanted = toy.moved(np.random.default_rng(8), FRAMES, 0.02, 0.2)
    foot, odd = index("foot")[0], 17
    wanted.location[:, foot] += np.random.default_rng(9).normal(0.0, 0.03, (FRAMES, 3))  # no frame is between others
    clip, structure = begun(toy, toy.neutral(FRAMES), wanted, ("pole",))
    assert structure.goals[foot]
    lost, step = taken(clip.channels, ALL), np.zeros((FRAMES, len(CONTROLS), 6))
    step[odd, index("torso", "chest"), 3:] = (0.5, 0.8, 0.0)
    lost = toy.stepper.step(lost, step)
    given(toy, clip, lost)
    blocks, weights = structure.whole_blocks(~structure.goals), np.ones((FRAMES, 6 * len(CARRIERS)))
    before = np.linalg.norm(missed(clip), axis=1)
    toy.run(_begun_between(clip, ALL, blocks, weights, 1e-3, (2, 16), before), SWITCH)
    toy.run(clip.refresh(ALL), SWITCH)
    assert np.linalg.norm(missed(clip)[odd]) < 0.05 * before[odd]
    assert same(clip.channels, lost)[:, foot].all()
    assert np.delete(same(clip.channels, lost), odd, axis=0).all()
