"""A body goes as far as the strokes of its feet ask for: at every tempo and rate, from a clip and live."""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from solvers.core.errors import InputError
from solvers.mapping.strokes import Strokes
from solvers.shapes.mesh_feet import find_feet
from tests.stepping_bodies import CYCLE, SPEED, STROKE, TRIANGLES, stepper


def frames(cycles, fps, tempo=1.0, **gait):
    times = np.arange(round(cycles * CYCLE * fps / tempo) + 1) / fps
    return stepper(times * tempo / CYCLE, **gait), times


@pytest.fixture(scope="module")
def learnt():
    """Feet, and the strokes learnt of two cycles at 24 frames a second."""
    vertices, times = frames(2, 24)
    feet = find_feet(vertices, TRIANGLES, 0.0)
    return feet, Strokes.learn(feet, vertices, times)


def way(strokes, feet, vertices, times):
    velocity = strokes.velocity(feet.soles(vertices), feet.centroids(vertices), times)
    return (velocity * np.diff(times)[:, None]).sum(axis=0)


def live_velocity(strokes, feet, vertices, times):
    stream = strokes.stream()
    moments = zip(feet.soles(vertices), feet.centroids(vertices), times, strict=True)
    return np.array([stream.step(*moment) for moment in moments])


@pytest.mark.parametrize("tempo", (1 / 3, 0.5, 1.0, 2.0))
@pytest.mark.parametrize("fps", (24, 30, 60))
def test_the_same_steps_cover_the_same_ground(learnt, fps, tempo):
    feet, strokes = learnt
    assert strokes.why_not is None
    vertices, times = frames(8, fps, tempo)
    ideal = np.array([0.0, -8 * CYCLE * SPEED])
    # With six frames a cycle, two of them are half stance and half swing.
    within = (0.1 if CYCLE * fps / tempo > 8 else 0.18) * abs(ideal[1])
    np.testing.assert_allclose(way(strokes, feet, vertices, times), ideal, atol=within)
    live = live_velocity(strokes, feet, vertices, times)[1:] * np.diff(times)[:, None]
    np.testing.assert_allclose(live.sum(axis=0), ideal, atol=within)


@pytest.mark.parametrize("duty", (0.3, 0.5, 0.65))
@pytest.mark.parametrize(("cycle", "fps"), ((8, 24), (16, 60), (25, 30)))
def test_steps_that_are_smoothed_go_as_far_and_shorter_ones_as_far_as_they_are(cycle, fps, duty):
    """By up to a tenth of a cycle: of what is left then, feet go as a sine."""
    times = np.arange(2 * cycle + 1) / fps
    vertices = stepper(np.arange(2 * cycle + 1) / cycle, duty=duty)
    feet = find_feet(vertices, TRIANGLES, 0.0)
    strokes = Strokes.learn(feet, vertices, times)
    middle = vertices.mean(axis=0)
    short = middle + (vertices - middle) * [1.0, 0.8, 1.0]
    own = way(strokes, feet, vertices, times)[1]
    assert way(strokes, feet, short, times)[1] == pytest.approx(0.8 * own, rel=0.02)
    for smoothed in (0.25, 0.5, 0.1 * cycle):
        for of, share in ((vertices, 1.0), (short, 0.8)):
            smooth = gaussian_filter1d(of, smoothed, axis=0, mode="nearest")
            assert way(strokes, feet, smooth, times)[1] == pytest.approx(share * own, rel=0.09), (smoothed, share)


def test_smoothed_steps_are_as_long_live(learnt):
    feet, strokes = learnt
    vertices, times = frames(16, 24)
    smooth = gaussian_filter1d(vertices, 1.0, axis=0, mode="wrap")
    later = (times[1:] > 2.0)[:, None] / 24
    live = (live_velocity(strokes, feet, smooth, times)[1:] * later).sum(axis=0)[1]
    assert live == pytest.approx(-SPEED * later.sum(), rel=0.1)


def test_another_gait_goes_as_far_as_it_pushes(learnt):
    """What stands for half as long is faster, and is not made longer."""
    feet, strokes = learnt
    fast, times = frames(6, 120, duty=0.2)
    np.testing.assert_allclose(way(strokes, feet, fast, times), [0.0, -6 * STROKE / 0.2], rtol=0.12, atol=1e-9)


def test_flight_goes_on(learnt):
    """All feet push together for a fifth of the cycle, and then fly: they cover ground all the time, at the speed of
    the stance and not at that of a foot that has half left the ground."""
    vertices, times = frames(6, 60, duty=0.2, offset=0.0)
    feet = find_feet(vertices, TRIANGLES, 0.0)
    found = way(Strokes.learn(feet, vertices, times), feet, vertices, times)
    np.testing.assert_allclose(found, [0.0, -6 * STROKE / 0.2], rtol=0.1, atol=1e-9)


def test_backwards_is_backwards_and_a_turned_larger_body_goes_its_own_way(learnt):
    feet, strokes = learnt
    vertices, times = frames(4, 24)
    back = Strokes.learn(feet, vertices[::-1], times)
    np.testing.assert_allclose(way(back, feet, vertices[::-1], times), -way(strokes, feet, vertices, times), rtol=0.05)
    cosine, sine = np.cos(0.7), np.sin(0.7)
    turn = np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
    moved = 3.0 * vertices @ turn.T + [5.0, 7.0, 11.0]
    there = find_feet(moved, TRIANGLES, 11.0)
    found = way(Strokes.learn(there, moved, times), there, moved, times)
    ours = way(Strokes.learn(feet, vertices, times), feet, vertices, times)
    np.testing.assert_allclose(found, 3.0 * turn[:2, :2] @ ours, rtol=1e-6)


@pytest.mark.parametrize("tempo", (0.5, 1.0))
@pytest.mark.parametrize(("gait", "live_within"), (({}, 0.02), ({"duty": 0.2, "offset": 0.1}, 0.05)))
def test_a_clip_played_backwards_goes_as_far_back(gait, live_within, tempo):
    """Learnt of steps forward alone; a foot that is low goes forward then, and is no swing."""
    own, own_times = frames(4, 48, **gait)
    feet = find_feet(own, TRIANGLES, 0.0)
    strokes = Strokes.learn(feet, own, own_times)
    vertices, times = frames(16 * tempo, 48, tempo, **gait)
    there = way(strokes, feet, vertices, times)
    assert there[1] < -0.8 * 16 * tempo * STROKE
    np.testing.assert_allclose(way(strokes, feet, vertices[::-1], times), -there, rtol=0.02, atol=1e-9)
    # Live, it is known after half a second, and the gait later; flight goes on at the other end of a stance.
    later = (times[1:] > 3.0)[:, None]
    ways = [(live_velocity(strokes, feet, of, times)[1:] * later / 48).sum(axis=0) for of in (vertices, vertices[::-1])]
    assert ways[0][1] < -STROKE
    np.testing.assert_allclose(ways[1], -ways[0], rtol=live_within, atol=1e-9)


def test_slow_steps_backward_are_no_trembling(learnt):
    """A run told of a walk at a third of its tempo: feet go as far, at a seventh of the speed."""
    feet, strokes = learnt
    vertices, times = frames(3, 24, 1 / 7)
    there = way(strokes, feet, vertices, times)
    assert there[1] < -0.9 * 3 * CYCLE * SPEED
    np.testing.assert_allclose(way(strokes, feet, vertices[::-1], times), -there, rtol=0.03, atol=1e-9)
    middle = vertices.mean(axis=0)
    trembling = middle + (vertices[::-1] - middle) * [1.0, 0.1, 1.0]
    assert way(strokes, feet, trembling, times)[1] <= 0.0


@pytest.mark.parametrize(
    ("while_high", "while_low", "told"),
    ((-0.3, 0.3, -1), (-0.1, 0.7, -1), (-0.1, 0.3, 0), (0.1, 0.7, 0), (-0.5, -0.1, 0), (0.3, -0.3, 1), (0.1, -0.7, 1)),
)
def test_feet_step_backward_where_one_vote_is_sure_or_both_are_nearly(learnt, while_high, while_low, told):
    strokes = learnt[1]
    own = strokes.gaits[0]
    votes = np.repeat([[while_high], [while_low]], 4, axis=1)
    assert strokes._way(votes, own.to_and_fro, own.often) == told
    assert strokes._way(votes, 0.1 * own.to_and_fro, own.often) == 1


def test_steps_say_which_way_they_go_and_whether_they_are_of_their_own_gait(learnt):
    feet, strokes = learnt

    def told(vertices, times):
        steps = strokes.steps(feet.soles(vertices), feet.centroids(vertices), times)
        return steps.way, steps.own_gait

    vertices, times = frames(4, 24, 0.5)
    assert told(vertices, times) == (1, 1.0) and told(vertices[::-1], times)[0] == -1
    assert told(*frames(6, 120, duty=0.2)) == (1, 0.0)
    sliding = vertices.copy()
    sliding[:, 8:, 1] = vertices[0, 8:, 1] + 0.3 * np.sin(2 * np.pi * 5.3 * times)[:, None]
    assert told(sliding, times)[0] == 0


def test_live_steps_turn_round(learnt):
    """Forward, then backward, then forward again, each for longer than is remembered."""
    feet, strokes = learnt
    times = np.arange(14 * 48 + 1) / 48
    phase = np.where(times < 10.0, 4.0 - np.abs(times - 4.0), times - 12.0)
    velocity = live_velocity(strokes, feet, stepper(phase / CYCLE), times)[:, 1]
    for start, end, sign in ((1.0, 4.0, -1.0), (7.5, 10.0, 1.0), (11.5, 14.0, -1.0)):
        within = (times > start) & (times < end)
        assert (sign * velocity[within]).min() > 0.8 * SPEED


def test_a_body_that_stands_still_between_two_walks_stays_there(learnt):
    """Feet that stand push nothing: what was known last must not be held."""
    feet, strokes = learnt
    fps = 60
    times = np.arange(4 * fps + 1) / fps
    phase = np.clip(times, 0.0, 1.1) + np.clip(times - 3.0, 0.0, None)
    vertices = stepper(phase / CYCLE)
    stands = (times > 1.4) & (times < 2.8)
    batch = strokes.velocity(feet.soles(vertices), feet.centroids(vertices), times)
    assert np.abs(batch[stands[1:]]).max() < 0.01 * SPEED < 0.5 * SPEED < -batch[30, 1]
    later = (times > 1.7) & (times < 2.8)
    assert np.abs(live_velocity(strokes, feet, vertices, times)[later]).max() < 0.01 * SPEED


def test_a_pose_that_is_held_stays_whatever_it_is(learnt):
    """A clip begins on one leg, as the gallop that a standing dog is mapped to: it glided until it ran."""
    feet, strokes = learnt
    times = np.arange(121) / 30
    held = stepper(0.1 + np.clip(times - 2.0, 0.0, None) / CYCLE)
    velocity = strokes.velocity(feet.soles(held), feet.centroids(held), times)
    assert np.abs(velocity[:50]).max() < 0.01 * SPEED and velocity[90, 1] < -0.8 * SPEED


def test_a_stream_forgets_what_it_has_not_seen_and_time_that_stands(learnt):
    feet, strokes = learnt
    vertices, times = frames(4, 30)
    soles, centroids = feet.soles(vertices), feet.centroids(vertices)
    stream = strokes.stream()
    for moment in zip(soles, centroids, times, strict=True):
        found = stream.step(*moment)
    np.testing.assert_array_equal(stream.step(soles[3], centroids[3], times[-1]), found)
    assert np.linalg.norm(found) > 0.8 * SPEED
    np.testing.assert_array_equal(stream.step(soles[3], centroids[3], times[-1] + 2.0), 0.0)


def test_what_an_earlier_version_learnt_goes_as_it_went(learnt):
    """It did not know how fast standing feet are, and made strokes as long as its own were for their way."""
    feet, strokes = learnt
    arrays = strokes.to_arrays()
    assert Strokes.from_arrays(arrays).asked == strokes.asked > 0.0
    arrays.pop("gaits")
    between = Strokes.from_arrays(arrays)
    assert between.gaits[0].sharp == 0.0 and between.asked == strokes.asked
    old = Strokes.from_arrays(arrays | {"told": arrays["told"][:6]})
    assert old.asked == 0.0 and old.gaits[0][:3] == strokes.gaits[0][:3]
    vertices, times = frames(6, 60)
    smooth = gaussian_filter1d(vertices, 2.0, axis=0, mode="wrap")
    ways = [
        way(old, feet, of, times)[1] / np.abs(np.diff(feet.soles(of)[..., 1], axis=0)).sum()
        for of in (vertices, smooth)
    ]
    assert ways[0] == pytest.approx(ways[1], rel=0.005)


def test_a_clip_that_ends_between_two_frames_asks_for_as_much(learnt):
    """12 frames a cycle; 13.5 and 11.4 of them, as of an action whose end is no frame."""
    _, strokes = learnt
    for fps in (27.0, 22.8):
        times = np.arange(int(np.ceil(CYCLE * fps)) + 1) / fps
        vertices = stepper(times / CYCLE)
        other = Strokes.learn(find_feet(vertices, TRIANGLES, 0.0), vertices, times)
        assert other.asked == pytest.approx(strokes.asked, rel=0.06)
        assert other.gaits[0].to_and_fro == pytest.approx(strokes.gaits[0].to_and_fro, rel=0.06)


def test_feet_that_are_high_behind_make_strokes_as_well(learnt):
    """As in a run: they come up behind while they still go back, and are low as they come forward."""
    feet, _ = learnt
    vertices, times = frames(4, 48)
    phase = times / CYCLE
    kicked = stepper(phase)
    for number in range(4):
        turn = (phase + 0.25 * number) % 1.0
        behind = 0.5 * np.exp(-(((turn - 0.36) / 0.11) ** 2))
        kicked[:, 8 * number + 8 : 8 * number + 16, 2] += behind[:, None]
    strokes = Strokes.learn(find_feet(kicked, TRIANGLES, 0.0), kicked, times)
    assert strokes.agreed < 0.45 and strokes.why_not is None
    assert strokes.forward @ [0.0, -1.0] > 0.99


def test_slow_steps_are_as_long_live_as_in_a_whole_clip():
    """A gallop of three seconds a cycle, smoothed as by a map: what is remembered must not go with a flight."""
    gallop = {"duty": 0.2, "offset": 0.1}
    own, own_times = frames(4, 48, **gallop)
    feet = find_feet(own, TRIANGLES, 0.0)
    strokes = Strokes.learn(feet, own, own_times)
    vertices, times = frames(8, 48, 1 / 6, **gallop)
    smooth = gaussian_filter1d(vertices, 9.0, axis=0, mode="wrap")
    live = live_velocity(strokes, feet, smooth, times)[1:] * np.diff(times)[:, None]
    assert live.sum(axis=0)[1] == pytest.approx(way(strokes, feet, smooth, times)[1], rel=0.1)


def test_feet_that_make_no_strokes_say_so(learnt, rng):
    feet, _ = learnt
    vertices, times = frames(4, 24)
    assert "do not move" in Strokes.learn(feet, np.repeat(vertices[:1], len(times), axis=0), times).why_not
    aside = vertices.copy()
    aside[:, 8:, 0] += 0.25 * np.sin(2 * np.pi * 2.7 * times)[:, None]
    assert "to all sides" in Strokes.learn(feet, aside, times).why_not
    shuffled = vertices.copy()
    shuffled[:, 8:, 1] = vertices[0, 8:, 1] + 0.3 * np.sin(2 * np.pi * 5.3 * times)[:, None]
    assert "one way while high" in Strokes.learn(feet, shuffled, times).why_not
    with pytest.raises(InputError, match="steps on the ground"):
        Strokes.learn(find_feet(vertices, TRIANGLES, -3.0), vertices, times)
