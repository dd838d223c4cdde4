"""Each way of telling a target's travel, all learnt at once; what is not there says why."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.mapping.travel_ways import AUTO, SOURCE, WAYS, TravelChoices, TravelWays

FPS = 30.0
TIMES = np.arange(91) / FPS
SPEED = 0.8


def hopper(travels=True):
    """A box whose feet lift in turn: coefficients (F, 2), ground motion (F, 2) and (F,), vertices (F, V, 3)."""
    phase = 2 * np.pi * TIMES
    poses = np.stack((np.sin(phase), np.cos(phase)), axis=1)
    box = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (0.0, 1.0)])
    vertices = box + np.where(box[:, 2:] > 0.5, 0.1 * poses[:, None, :1], 0.0) * [0.0, 1.0, 0.0]
    translation = np.stack((0 * TIMES, -SPEED * TIMES), axis=1) if travels else np.zeros((91, 2))
    return poses, TIMES, translation, np.zeros(91), vertices


@pytest.fixture
def ways():
    return TravelWays.learn(*hopper())


def end(ways, choices, translation=None, yaw=None, poses=None):
    translation = np.zeros((91, 2)) if translation is None else translation
    yaw = np.zeros(91) if yaw is None else yaw
    positions, headings = ways.track(hopper()[0] if poses is None else poses, TIMES, translation, yaw, choices)
    np.testing.assert_array_equal(positions[0], 0.0)
    assert headings[0] == 0.0
    return positions[-1]


def test_what_it_was_seen_to_travel(ways):
    assert ways.auto == "translation" and "travels" in ways.note
    np.testing.assert_allclose(end(ways, TravelChoices("translation")), [0, -SPEED * 3], atol=0.1)
    np.testing.assert_array_equal(end(ways, TravelChoices(AUTO)), end(ways, TravelChoices("translation")))


def test_a_pose_that_does_not_change_does_not_travel(ways):
    for way in ways.ways:
        np.testing.assert_allclose(end(ways, TravelChoices(way), poses=np.ones((91, 2))), 0.0, atol=1e-12)


def test_a_stride_is_as_long_as_it_is_said_to_be(ways):
    for stride in (0.5, 2.0):
        np.testing.assert_allclose(end(ways, TravelChoices("stride", stride=stride)), [0, -3 * stride], rtol=0.05)


def test_as_far_as_the_source_goes(ways):
    translation = np.stack((TIMES, 0.5 * TIMES), axis=1)
    found = end(ways, TravelChoices(SOURCE), translation)
    np.testing.assert_allclose(found, translation[-1], atol=1e-9)
    np.testing.assert_allclose(end(ways, TravelChoices(SOURCE, scale=3.0), translation), 3 * found)


def test_the_source_round_a_bend(ways):
    """With the turning the path is the source's, without it the target walks straight."""
    yaw = np.pi * TIMES / TIMES[-1]
    translation = np.stack((np.sin(yaw), 1.0 - np.cos(yaw)), axis=1)
    np.testing.assert_allclose(end(ways, TravelChoices(SOURCE), translation, yaw), translation[-1], atol=1e-9)
    straight = end(ways, TravelChoices(SOURCE, turn_ratio=0.0), translation, yaw)
    np.testing.assert_allclose(straight, [np.pi, 0.0], atol=1e-3)


def test_stays(ways):
    np.testing.assert_array_equal(end(ways, TravelChoices("stays"), np.ones((91, 2)) * TIMES[:, None]), 0.0)


@pytest.mark.parametrize("way", WAYS)
def test_scale_and_turning(ways, way):
    if way not in ways.ways and way not in (AUTO, SOURCE, "stays"):
        pytest.skip("the target does not tell it")
    translation, yaw = np.stack((TIMES, TIMES), axis=1), 0.4 * TIMES
    once = ways.track(hopper()[0], TIMES, translation, yaw + 2.0, TravelChoices(way))
    twice = ways.track(hopper()[0], TIMES, translation, yaw + 2.0, TravelChoices(way, scale=2.0))
    np.testing.assert_allclose(twice[0], 2 * once[0], atol=1e-12)
    for ratio in (0.0, 0.5, -2.0):
        found = ways.track(hopper()[0], TIMES, translation, yaw + 2.0, TravelChoices(way, turn_ratio=ratio))[1]
        np.testing.assert_allclose(found, ratio * yaw, atol=1e-12)


def test_velocity_is_what_is_integrated(ways):
    rates = np.random.default_rng(0).normal(size=(5, 2))
    for way in (*ways.ways, AUTO, "stays", SOURCE):
        choices = TravelChoices(way, scale=1.5, stride=2.0)
        found = ways.velocity(rates, choices)
        assert found.shape == (5, 2)
        np.testing.assert_allclose(ways.velocity(rates[3], choices), found[3], atol=1e-12)
    assert not ways.velocity(rates, TravelChoices(SOURCE)).any()


def test_a_way_that_is_not_there_says_why():
    poses, times, translation, yaw, vertices = hopper(travels=False)
    vertices = vertices + np.array([0.0, 0.0, 1.0]) * np.linspace(0, 9, 91)[:, None, None]  # it flies
    ways = TravelWays.learn(poses, times, translation, yaw, vertices)
    assert ways.auto == "stays"
    for way, why in ways.missing.items():
        with pytest.raises(InputError, match="cannot travel that way") as error:
            ways.track(poses, times, translation, yaw, TravelChoices(way))
        assert why in str(error.value)
    none = TravelWays.none("its poses are in no order")
    for way in ("translation", "stance", "stride"):
        with pytest.raises(InputError, match="in no order"):
            none.track(poses, times, translation, yaw, TravelChoices(way))
    np.testing.assert_array_equal(none.track(poses, times, translation, yaw, TravelChoices())[0], 0.0)


def test_a_way_that_does_not_exist(ways):
    with pytest.raises(InputError, match="no way 'fly'.*stride"):
        ways.velocity(np.zeros(2), TravelChoices("fly"))


@pytest.mark.parametrize("made", ("learnt", "none"))
def test_stored_and_rebuilt_is_the_same(ways, made):
    ways = ways if made == "learnt" else TravelWays.none("no order")
    again = TravelWays.from_arrays(ways.to_arrays())
    assert (again.auto, again.note, again.missing) == (ways.auto, ways.note, ways.missing)
    assert again.ways.keys() == ways.ways.keys()
    for way, travel in ways.ways.items():
        np.testing.assert_array_equal(again.ways[way].weights, travel.weights)
        assert again.ways[way].note == travel.note


def test_a_turned_target_travels_turned():
    """A quarter turn of the target's own world turns its travel as well."""
    poses, times, translation, yaw, vertices = hopper()
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    one = TravelWays.learn(poses, times, translation, yaw, vertices)
    other = TravelWays.learn(poses, times, translation @ quarter[:2, :2].T, yaw, vertices @ quarter.T)
    for way in ("translation",):
        np.testing.assert_allclose(
            end(other, TravelChoices(way)), end(one, TravelChoices(way)) @ quarter[:2, :2].T, atol=1e-9
        )
