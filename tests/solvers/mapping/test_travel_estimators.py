"""Each estimator of a target's travel, all learnt at once; what is not there says why."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.mapping.travel_estimators import AUTO, BACKWARD, ESTIMATORS, SOURCE, TravelChoices, TravelEstimators
from tests.stepping_bodies import CYCLE, SPEED, TRIANGLES, stepper

FPS = 30.0
TIMES = np.arange(91) / FPS
PACE = 0.8


def hopper(travels=True):
    """A box whose feet lift in turn: coefficients (F, 2), ground motion (F, 2) and (F,), vertices (F, V, 3)."""
    phase = 2 * np.pi * TIMES
    poses = np.stack((np.sin(phase), np.cos(phase)), axis=1)
    box = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (0.0, 1.0)])
    vertices = box + np.where(box[:, 2:] > 0.5, 0.1 * poses[:, None, :1], 0.0) * [0.0, 1.0, 0.0]
    translation = np.stack((0 * TIMES, -PACE * TIMES), axis=1) if travels else np.zeros((91, 2))
    return poses, TIMES, translation, np.zeros(91), vertices, np.array([[0, 2, 4], [2, 4, 6]])


@pytest.fixture
def estimators():
    return TravelEstimators.learn(*hopper())


def end(estimators, choices, translation=None, yaw=None, poses=None):
    translation = np.zeros((91, 2)) if translation is None else translation
    yaw = np.zeros(91) if yaw is None else yaw
    positions, headings, _ = estimators.track(hopper()[0] if poses is None else poses, TIMES, translation, yaw, choices)
    np.testing.assert_array_equal(positions[0], 0.0)
    assert headings[0] == 0.0
    return positions[-1]


def test_what_it_was_seen_to_travel(estimators):
    assert estimators.auto == "translation" and "travels" in estimators.note
    np.testing.assert_allclose(end(estimators, TravelChoices("translation")), [0, -PACE * 3], atol=0.1)
    np.testing.assert_array_equal(end(estimators, TravelChoices(AUTO)), end(estimators, TravelChoices("translation")))


def test_a_pose_that_does_not_change_does_not_travel(estimators):
    for estimator in estimators.learnt:
        np.testing.assert_allclose(end(estimators, TravelChoices(estimator), poses=np.ones((91, 2))), 0.0, atol=1e-12)


def test_a_stride_is_as_long_as_it_is_said_to_be_and_a_source_is_followed_as_far_as_it_goes(estimators):
    for stride in (0.5, 2.0):
        np.testing.assert_allclose(end(estimators, TravelChoices("stride", stride=stride)), [0, -3 * stride], rtol=0.05)
    translation = np.stack((TIMES, 0.5 * TIMES), axis=1)
    found = end(estimators, TravelChoices(SOURCE), translation)
    np.testing.assert_allclose(found, translation[-1], atol=1e-9)
    np.testing.assert_allclose(end(estimators, TravelChoices(SOURCE, scale=3.0), translation), 3 * found)
    np.testing.assert_array_equal(end(estimators, TravelChoices("stays"), np.ones((91, 2)) * TIMES[:, None]), 0.0)


def test_the_source_round_a_bend(estimators):
    """With the turning the path is the source's, without it the target walks straight."""
    yaw = np.pi * TIMES / TIMES[-1]
    translation = np.stack((np.sin(yaw), 1.0 - np.cos(yaw)), axis=1)
    np.testing.assert_allclose(end(estimators, TravelChoices(SOURCE), translation, yaw), translation[-1], atol=1e-9)
    straight = end(estimators, TravelChoices(SOURCE, turn_ratio=0.0), translation, yaw)
    np.testing.assert_allclose(straight, [np.pi, 0.0], atol=1e-3)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_scale_and_turning(estimators, estimator):
    if estimator not in estimators.learnt and estimator not in (AUTO, SOURCE, "stays"):
        pytest.skip("the target does not tell it")
    translation, yaw = np.stack((TIMES, TIMES), axis=1), 0.4 * TIMES
    once = estimators.track(hopper()[0], TIMES, translation, yaw + 2.0, TravelChoices(estimator))
    twice = estimators.track(hopper()[0], TIMES, translation, yaw + 2.0, TravelChoices(estimator, scale=2.0))
    np.testing.assert_allclose(twice[0], 2 * once[0], atol=1e-12)
    for ratio in (0.0, 0.5, -2.0):
        choices = TravelChoices(estimator, turn_ratio=ratio)
        found = estimators.track(hopper()[0], TIMES, translation, yaw + 2.0, choices)[1]
        np.testing.assert_allclose(found, ratio * yaw, atol=1e-12)


def test_velocity_is_what_is_integrated(estimators):
    rates = np.random.default_rng(0).normal(size=(5, 2))
    for estimator in (*estimators.learnt, AUTO, "stays", SOURCE):
        choices = TravelChoices(estimator, scale=1.5, stride=2.0)
        found = estimators.velocity(rates, choices)
        assert found.shape == (5, 2)
        np.testing.assert_allclose(estimators.velocity(rates[3], choices), found[3], atol=1e-12)
    assert not estimators.velocity(rates, TravelChoices(SOURCE)).any()


def test_a_way_that_is_not_there_says_why():
    poses, times, translation, yaw, vertices, triangles = hopper(travels=False)
    vertices = vertices + np.array([0.0, 0.0, 1.0]) * np.linspace(0, 9, 91)[:, None, None]  # it flies
    estimators = TravelEstimators.learn(poses, times, translation, yaw, vertices, triangles)
    assert estimators.auto == "stays"
    for estimator, why in estimators.missing.items():
        with pytest.raises(InputError, match="cannot travel that way") as error:
            estimators.track(poses, times, translation, yaw, TravelChoices(estimator))
        assert why in str(error.value)
    none = TravelEstimators.none("its poses are in no order")
    for estimator in ("translation", "stance", "stride"):
        with pytest.raises(InputError, match="in no order"):
            none.track(poses, times, translation, yaw, TravelChoices(estimator))
    np.testing.assert_array_equal(none.track(poses, times, translation, yaw, TravelChoices())[0], 0.0)
    with pytest.raises(InputError, match="no way 'fly'.*stride"):
        estimators.velocity(np.zeros(2), TravelChoices("fly"))


@pytest.mark.parametrize("made", ("learnt", "none"))
def test_stored_and_rebuilt_is_the_same(estimators, made):
    estimators = estimators if made == "learnt" else TravelEstimators.none("no order")
    again = TravelEstimators.from_arrays(estimators.to_arrays())
    assert (again.auto, again.note, again.missing) == (estimators.auto, estimators.note, estimators.missing)
    assert again.learnt.keys() == estimators.learnt.keys()
    for estimator, travel in estimators.learnt.items():
        np.testing.assert_array_equal(again.learnt[estimator].weights, travel.weights)
        assert again.learnt[estimator].note == travel.note


def test_a_turned_target_travels_turned():
    """A quarter turn of the target's own world turns its travel as well."""
    poses, times, translation, yaw, vertices, triangles = hopper()
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    one = TravelEstimators.learn(poses, times, translation, yaw, vertices, triangles)
    turned = translation @ quarter[:2, :2].T, yaw, vertices @ quarter.T, triangles
    other = TravelEstimators.learn(poses, times, *turned)
    found, straight = (end(learnt, TravelChoices("translation")) for learnt in (other, one))
    np.testing.assert_allclose(found, straight @ quarter[:2, :2].T, atol=1e-9)


def stepping(times, aside=0.0):
    """Coefficients (F, D), times, no ground motion, vertices and faces of a body that steps on the spot."""
    vertices = stepper(times / CYCLE)
    vertices[:, 8:, 0] += aside * np.sin(2 * np.pi * 2.7 * times)[:, None]
    flat = (vertices - vertices[0]).reshape(len(times), -1)
    poses = flat @ np.linalg.svd(flat, full_matrices=False)[2][:6].T
    return poses, times, np.zeros((len(times), 2)), np.zeros(len(times)), vertices, TRIANGLES


def test_a_body_that_steps_on_the_spot_goes_by_its_strokes():
    """At every tempo, turning with its source; and a stride is as long as it is said to be."""
    times = np.arange(25) / 24
    estimators = TravelEstimators.learn(*stepping(times))
    assert estimators.auto == "stance" and estimators.cycle == pytest.approx(CYCLE * SPEED, rel=0.08)
    assert "strokes of its 4 feet" in estimators.note_of(TravelChoices())
    feet = estimators.strokes.feet
    on_one = replace(estimators, strokes=replace(estimators.strokes, feet=replace(feet, feet=feet.feet[:1])))
    assert "strokes of its one foot" in on_one.note_of(TravelChoices())

    def feet_at(_):
        vertices = stepper(times / CYCLE)
        return feet.soles(vertices), feet.centroids(vertices)

    still = np.zeros((25, 2)), np.zeros(25)
    for tempo in (1 / 3, 1.0):
        for choices, cycle in (
            (TravelChoices(), CYCLE * SPEED), (TravelChoices(scale=2.0), 2 * CYCLE * SPEED),
            (TravelChoices("stride", stride=3.0), 3.0),
        ):  # fmt: skip
            position, *_ = estimators.track(stepping(times)[0], times / tempo, *still, choices, feet_at)
            np.testing.assert_allclose(position[-1], [0.0, -2 * cycle], atol=0.08 * 2 * cycle)
    assert estimators.track(stepping(times)[0], times, *still, TravelChoices(), feet_at)[2] == ()
    back = [of[::-1] for of in feet_at(None)]
    turned = estimators.track(stepping(times)[0], times, *still, TravelChoices(), lambda _: back)
    assert turned[0][-1, 1] == pytest.approx(2 * CYCLE * SPEED, rel=0.08) and turned[2] == (BACKWARD,)
    yaw = np.linspace(0.0, 2 * np.pi, 25)
    position, *_ = estimators.track(stepping(times)[0], times, still[0], yaw, TravelChoices(), feet_at)
    assert np.linalg.norm(position[-1]) < 0.15 * CYCLE * SPEED


@pytest.mark.parametrize("slower", [0.3, 1.0, 12.0, 40.0])
def test_what_a_target_travels_by_does_not_depend_on_its_tempo(slower):
    """Of two cycles and of one; and a body whose feet come back to where they were stays."""
    for frames in (25, 13):
        poses, times, *still, vertices, triangles = stepping(np.arange(frames) / 24)
        estimators = TravelEstimators.learn(poses, slower * times, *still, vertices, triangles)
        assert estimators.auto == "stance"
        assert estimators.cycle == pytest.approx(CYCLE * SPEED, rel=0.2)
    poses, times, translation, yaw, vertices, triangles = hopper(travels=False)
    assert TravelEstimators.learn(poses, slower * times, translation, yaw, vertices, triangles).auto == "stays"


def test_a_body_that_travels_goes_by_its_strokes_as_far_as_it_went():
    """A tenth less than its feet ask for, at every tempo; one that is carried ten times as far does not."""
    times = np.arange(25) / 24
    poses, _, still, yaw, vertices, triangles = stepping(times)
    gone = np.stack((0.0 * times, -0.9 * SPEED * times), axis=1)
    estimators = TravelEstimators.learn(poses, times, gone, yaw, vertices, triangles)
    choices, feet = TravelChoices("translation"), estimators.strokes.feet
    assert "own travel" in estimators.note_of(choices) and "strokes of its 4 feet" in estimators.note_of(choices)

    def feet_at(_):
        return feet.soles(vertices), feet.centroids(vertices)

    for tempo in (1 / 3, 1.0, 2.0):
        position, *_ = estimators.track(poses, times / tempo, still, yaw, choices, feet_at)
        np.testing.assert_allclose(position[-1], gone[-1], atol=0.03 * abs(gone[-1, 1]))
    carried = TravelEstimators.learn(poses, times, 10.0 * gone, yaw, vertices, triangles)
    assert carried.strokes_of(choices) is None and "how fast its pose changes" in carried.note_of(choices)
    assert TravelEstimators.learn(poses, times, -gone, yaw, vertices, triangles).strokes_of(choices) is None


def test_a_body_that_goes_itself_but_not_as_its_feet_ask_for_is_no_walker_on_the_spot():
    """A captured dance went half of what its steps would have covered, and was sent off by them."""
    times = np.arange(13) / 24
    poses, _, still, yaw, vertices, triangles = stepping(times)
    gone = np.stack((0.0 * times, -SPEED * times), axis=1)
    for share, auto in ((0.0, "stance"), (0.1, "stance"), (0.5, "stays"), (0.8, "translation")):
        found = TravelEstimators.learn(poses, times, share * gone, yaw, vertices, triangles)
        assert found.auto == auto, share


def test_feet_that_make_no_strokes_are_told_and_what_stands_goes_on_as_before():
    estimators = TravelEstimators.learn(*stepping(np.arange(25) / 24, aside=0.3))
    assert estimators.strokes is None
    note = estimators.note_of(TravelChoices("stance"))
    assert "lowest vertices" in note and estimators.no_strokes in note and "to all sides" in note
    assert estimators.strokes_of(TravelChoices("stance")) is None


def test_strokes_are_stored_and_what_was_stored_without_them_goes_as_it_went():
    estimators = TravelEstimators.learn(*stepping(np.arange(25) / 24))
    arrays = estimators.to_arrays()
    again = TravelEstimators.from_arrays(arrays)
    assert again.note_of(TravelChoices()) == estimators.note_of(TravelChoices()) and again.cycle == estimators.cycle
    np.testing.assert_array_equal(again.strokes.forward, estimators.strokes.forward)
    earlier = TravelEstimators.from_arrays(arrays | {"strokes told": arrays["strokes told"][:6]})
    later = TravelEstimators.from_arrays({name: of for name, of in arrays.items() if name != "strokes gaits"})
    told = [of.note_of(TravelChoices("stance")) for of in (earlier, later, estimators)]
    assert "how fast they stand" in told[0] and "how sharply they turn" in told[1] and "Learn Again" not in told[2]
    before = {name: array for name, array in arrays.items() if "strokes" not in name and name != "cycle"}
    old = TravelEstimators.from_arrays(before)
    assert "earlier version" in old.note_of(TravelChoices("stance")) and old.strokes_of(TravelChoices("stride")) is None
    np.testing.assert_array_equal(old.learnt["stance"].weights, estimators.learnt["stance"].weights)
