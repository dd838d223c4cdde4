"""From pairs to what a target does over a clip: its own poses come back, at any time and in any order."""


import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.core.steps import result_of
from solvers.mapping.source_motion import SourceModel, source_track
from solvers.mapping.track import MapTrack, MotionMap, lifted, map_track, placed
from solvers.mapping.travel_estimators import TravelChoices, TravelEstimators
from solvers.shapes.target_space import learn_target_steps

FPS, FRAMES = 24.0, 48
MET = 0.01  # of the distance of a pair's pose from the mean one


def worm(frames=FRAMES):
    """A tube of 8 rings of 6 vertices that bends and stretches on the spot: vertices (F, V, 3), triangles (T, 3)."""
    times = np.arange(frames) / FPS
    along, around = np.meshgrid(np.linspace(0, 1, 8), np.arange(6) * np.pi / 3, indexing="ij")
    along, around = along.ravel(), around.ravel()
    bend = 0.8 * np.sin(2 * np.pi * times)[:, None] * along**2
    side = 0.4 * np.sin(2 * np.pi * times + 1.0)[:, None] * np.sin(np.pi * along)
    shape = (frames, len(along))
    x = np.broadcast_to(0.1 * np.cos(around), shape) + side
    z = np.broadcast_to(0.1 * np.sin(around), shape) + bend + 0.2
    y = np.broadcast_to(along * (1 + 0.1 * np.sin(4 * np.pi * times)[:, None]), shape)
    ring = 6 * np.arange(7)[:, None] + np.arange(6)
    over = 6 * np.arange(7)[:, None] + (np.arange(6) + 1) % 6
    quads = np.stack((ring, over, over + 6, ring + 6), axis=-1).reshape(-1, 4)
    return np.stack((x, y, z), axis=-1), np.concatenate((quads[:, :3], quads[:, [0, 2, 3]])), times


@pytest.fixture(scope="module")
def onto_itself():
    """The worm driven by its own vertices, paired at every frame: target space, map, source."""
    vertices, triangles, times = worm()
    space = result_of(learn_target_steps(vertices, triangles))
    names = tuple(map(str, range(vertices.shape[1])))
    model = SourceModel.fit(names, vertices, times, "none", tracked=False)
    source = source_track(model, vertices, times, tracked=False)
    return space, MotionMap.learn(source.features, space.coefficients, space.box), source


def still(space):
    return TravelEstimators.none("not needed")


def test_a_target_driven_by_itself_gives_back_its_poses(onto_itself):
    """Those of the pairs at the edge of the box as well, where the soft edge slows down what is no pair."""
    space, mapping, source = onto_itself
    track = map_track(mapping, still(space), source, TravelChoices())
    assert np.linalg.norm(track.coefficients - space.coefficients, axis=1).max() < 0.01 * space.box.high[0]
    assert mapping.missed.shape == (FRAMES,) and mapping.missed.max() < MET


@pytest.mark.parametrize("edge", ("soft", "hard", "none"))
@pytest.mark.parametrize("every", (24, 12, 7, 3))
def test_pairs_are_met_whatever_the_edge(onto_itself, every, edge):
    """The pose that the box holds most, too; without that the map passes by it, as it does if pairs are noisy."""
    space, _, source = onto_itself
    rows, coefficients = source.features[::every], space.coefficients[::every]
    mapping = MotionMap.learn(rows, coefficients, space.box, edge)
    far = np.linalg.norm(coefficients, axis=1)
    missed = np.linalg.norm(mapping.coefficients(rows) - coefficients, axis=1) / far
    np.testing.assert_allclose(mapping.missed, missed, atol=1e-12)
    assert missed.max() < MET
    assert MotionMap.learn(rows, coefficients, space.box, edge, 0.0).missed.max() > 2 * MET


@pytest.mark.parametrize("edge", ("soft", "hard"))
def test_the_box_is_never_left(onto_itself, edge):
    space, _, source = onto_itself
    mapping = MotionMap.learn(source.features[::9], space.coefficients[::9], space.box, edge)
    wild = mapping.coefficients(source.features * np.append(np.full(source.features.shape[1] - 1, 5.0), 1.0))
    assert (wild >= space.box.low).all() and (wild <= space.box.high).all()
    assert (np.abs(wild - space.box.high) < 1e-3 * (space.box.high - space.box.low)).any()


def test_frames_do_not_depend_on_each_other_nor_maps_on_the_order_of_pairs(onto_itself):
    space, mapping, source = onto_itself
    order = np.random.default_rng(0).permutation(FRAMES)
    whole = mapping.coefficients(source.features)
    np.testing.assert_allclose(mapping.coefficients(source.features[order]), whole[order], atol=1e-12)
    np.testing.assert_allclose(mapping.coefficients(source.features[7]), whole[7], atol=1e-12)
    picks = np.array([3, 11, 25, 40])
    one, other = (MotionMap.learn(source.features[p], space.coefficients[p], space.box) for p in (picks, picks[::-1]))
    np.testing.assert_allclose(one.coefficients(source.features), other.coefficients(source.features), atol=1e-10)
    with pytest.raises(InputError, match="at least two pairs"):
        MotionMap.learn(source.features[:1], space.coefficients[:1], space.box)


def straight():
    rng = np.random.default_rng(1)
    times = np.arange(10) / FPS
    return MapTrack(times, rng.normal(size=(10, 3)), rng.normal(size=(10, 2)), rng.normal(size=10))


def test_sampled_at_frames_between_and_beyond_in_any_order_and_number():
    track = straight()
    parts = track.coefficients, track.positions, track.headings
    for times, wanted in (
        (track.times, parts),
        (np.array([3.25 / FPS]), [0.75 * of[3:4] + 0.25 * of[4:5] for of in parts]),
        (np.array([-5.0, 99.0]), [of[[0, -1]] for of in parts]),
    ):
        for found, of in zip(track.sampled(times), wanted, strict=True):
            np.testing.assert_allclose(found, of, atol=1e-9)
    times = np.random.default_rng(2).uniform(-0.1, 0.5, 60)
    whole = track.sampled(times)
    for number, time in enumerate(times):
        for found, of in zip(track.sampled(np.array([time])), whole, strict=True):
            assert np.array_equal(found[0], of[number])


def test_placed_turns_about_the_pivot_at_many_as_at_each():
    place = np.eye(4)
    place[:3, :3] = [[0.0, -2.0, 0.0], [1.0, 0.0, 0.0], [0.3, 0.0, -1.0]]
    place[:3, 3] = 5.0, 6.0, 7.0
    pivot = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(placed(place, pivot, np.zeros(2), np.array(0.0)), place, atol=1e-12)
    moved = placed(place, pivot, np.array([10.0, 20.0]), np.array(np.pi / 2))
    mark = np.linalg.solve(place, np.append(pivot, 1.0))  # what lies at the pivot only travels
    np.testing.assert_allclose((moved @ mark)[:3], pivot + [10.0, 20.0, 0.0], atol=1e-12)
    beside = np.linalg.solve(place, np.append(pivot + [1.0, 0.0, 0.5], 1.0))
    np.testing.assert_allclose((moved @ beside)[:3], pivot + [10.0, 21.0, 0.5], atol=1e-12)
    rng = np.random.default_rng(3)
    positions, headings = rng.normal(size=(5, 2)), rng.normal(size=5)
    for k, many in enumerate(placed(place, pivot, positions, headings)):
        np.testing.assert_allclose(placed(place, pivot, positions[k], headings[k]), many, atol=1e-12)


def test_what_would_sink_is_lifted_and_nothing_else(rng):
    vertices, world = rng.normal(size=(50, 3)), np.eye(4)
    world[:3, :3], world[:3, 3] = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3)
    heights = (vertices @ world[:3, :3].T + world[:3, 3])[:, 2]
    assert lifted(vertices, world, heights.min() - 1e-9) is world
    raised = lifted(vertices, world, heights.min() + 0.25)
    np.testing.assert_allclose(raised[:3, 3] - world[:3, 3], [0.0, 0.0, 0.25], atol=1e-12)
    np.testing.assert_array_equal(raised[:3, :3], world[:3, :3])
