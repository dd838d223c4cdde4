"""SOLVERS.md, section 5, "Prove": what holds of the whole way from a source's points to a target's vertices."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks._map_cases import from_clip, onto_itself, target
from benchmarks._map_measures import BAD, edge_excess
from benchmarks._map_source import clip
from benchmarks._map_ways import OPEN, OURS, WAYS, target_space
from benchmarks.mesh_sequences import edge_lengths
from solvers.core.steps import result_of
from solvers.mapping.global_motion import ALL
from solvers.mapping.source_motion import SourceModel, source_track
from solvers.mapping.track import MotionMap, map_track
from solvers.mapping.travel_estimators import TravelChoices, TravelEstimators
from solvers.regression.latent_box import LatentBox
from solvers.shapes.feet_readout import FeetReadout
from solvers.shapes.target_space import learn_target_steps

pytestmark = pytest.mark.captures
# Of its motion, or of the mesh's diagonal.
RATE, IDENTITY, SIX_PAIRS = 0.02, 1e-4, 0.016


@pytest.fixture(scope="module")
def horse():
    return target("horse_gallop")


@pytest.fixture(scope="module")
def itself(horse):
    return onto_itself(horse)


@pytest.fixture(scope="module")
def horse_space(horse):
    return target_space(horse.name, "combined", 50, horse)


def error(case, mapped):
    """Mean distance of vertices from the right ones over the diagonal, at all frames and at those that are no pair."""
    away = np.linalg.norm(mapped.vertices(case.known) - case.target.vertices[case.truth], axis=2).mean(axis=1)
    return np.array((away.mean(), away[~np.isin(case.truth, mapped.paired)].mean())) / case.target.diagonal


def test_six_integrated_picks_carry_the_horse_onto_itself(itself):
    """At all frames, and at those alone that no pair was made of."""
    ours, nearest = (error(itself, WAYS[name].learn(itself)) for name in (OURS, "nearest pair"))
    print("\nours", ours, "nearest", nearest)
    assert (ours <= SIX_PAIRS).all() and (ours <= 0.75 * nearest).all()


def own_features(case):
    """Features (N, P) of a case at the frames whose pose is known, all movement being pose."""
    points = case.places(case.learnt)
    names = tuple(map(str, range(points.shape[1])))
    model = SourceModel.fit(names, points, case.learnt, "none", tracked=False)
    times = np.unique(np.round(np.concatenate((case.learnt, case.known)), 9))
    track = source_track(model, case.places(times), times, tracked=False)
    return track.features[np.searchsorted(times, case.known - 1e-8)]


def test_a_source_is_its_own_target_when_all_poses_are_paired(itself, horse_space):
    """What no two pairs ask otherwise is met."""
    space = horse_space
    features = own_features(itself)
    mapping = MotionMap.learn(features, space.coefficients[itself.truth], space.box)
    found = space.vertices_of(mapping.coefficients(features))
    away = np.linalg.norm(found - itself.target.vertices[itself.truth], axis=2).mean() / itself.target.diagonal
    print("identity", away)
    assert away <= IDENTITY


def test_beyond_the_range_of_poses_the_box_keeps_edges_whole(itself):
    """The source swings twice as far as any pair: bad edges, longer or shorter by a quarter than they ever were."""
    case, mesh = itself.amplified(2.0), itself.target
    own = edge_lengths(mesh.vertices, mesh.triangles)
    bad = {}
    for name in (OURS, OPEN):
        shown = WAYS[name].learn(case).vertices(case.times[::3])
        bad[name] = (edge_excess(edge_lengths(shown, mesh.triangles), own) > BAD).mean()
    print("bad edges", bad)
    assert bad[OURS] <= 0.35 * bad[OPEN] and bad[OPEN] > 0.005


@pytest.fixture(scope="module")
def dog_map(horse, horse_space):
    """Points over time of a dog that walks, the model of them at 60 fps, and a map of six poses to the horse."""
    points, times = clip("dog", "walk00")
    names = tuple(map(str, range(points.shape[1])))
    model = SourceModel.fit(names, points, times, ALL)
    features = source_track(model, points, times).features
    mapped = WAYS[OURS].learn(from_clip("dog", "walk00", horse))
    picks = np.linspace(60, len(times) - 1, len(mapped.paired)).astype(int)
    mapping = MotionMap.learn(features[picks], horse_space.coefficients[mapped.paired], horse_space.box)
    return points, times, model, mapping


@pytest.mark.parametrize(
    ("fps", "pose", "travel_share"), [(30, RATE, RATE), (20, RATE, 0.065), (25, 0.03, 0.1), (24, 0.03, 0.1)]
)
def test_a_map_learnt_at_60_runs_at_other_rates(dog_map, horse, horse_space, fps, pose, travel_share):
    """From the points to the vertices and the travel. SOLVERS.md asks for 30; frames of 25 and 24 fall between those of
    the clip, so that the points themselves are others, and the phase of a stride shakes."""
    points, times, model, mapping = dog_map
    at = np.arange(0.0, times[-1], 1.0 / fps)
    rows = np.interp(at, times, np.arange(len(times)))
    before = np.minimum(rows.astype(int), len(times) - 2)
    part = (rows - before)[:, None, None]
    slow = (1.0 - part) * points[before] + part * points[before + 1]
    still = np.zeros((24, 2)), np.zeros(24)
    travel = TravelEstimators.learn(horse_space.coefficients, horse.times, *still, horse.vertices, horse.triangles)
    feet_at = FeetReadout.build(horse_space, travel.strokes.feet, np.eye(4)).of
    choices = TravelChoices("stride")
    whole = map_track(mapping, travel, source_track(model, points, times), choices, feet_at)
    track = map_track(mapping, travel, source_track(model, slow, at), choices, feet_at)
    wanted, place, heading = whole.sampled(at)
    change = np.linalg.norm(track.coefficients - wanted) / np.linalg.norm(wanted - wanted.mean(axis=0))
    few = slice(None, None, 10)
    shown, right = (horse_space.vertices_of(rows[few]) for rows in (track.coefficients, wanted))
    shift = np.linalg.norm(shown - right) / np.linalg.norm(right - right.mean(axis=0))
    gone = np.linalg.norm(track.positions - place) / np.linalg.norm(place - place.mean(axis=0))
    print(fps, "coefficients", change, "vertices", shift, "travel", gone)
    assert max(change, shift) <= pose and gone <= travel_share
    assert np.abs(track.headings - heading).max() < 0.02


def test_where_source_and_target_are_and_how_large_does_not_count(horse, itself, horse_space):
    """A target that is moved, turned and scaled moves likewise; a source that is, drives it the same."""
    turn, scale, shift = Rotation.from_rotvec([0.3, -0.5, 1.1]), 7.0, np.array([20.0, -3.0, 5.0])
    moved = scale * turn.apply(horse.vertices.reshape(-1, 3)).reshape(horse.vertices.shape) + shift
    space = result_of(learn_target_steps(moved, horse.triangles))
    frames = [0, 5, 9, 14, 20]
    yaw = Rotation.from_rotvec([0, 0, 0.9])
    found = []
    for target_space_, places in (
        (horse_space, itself.places),
        (space, lambda times: 3.0 * yaw.apply(itself.places(times).reshape(-1, 3)).reshape(len(times), -1, 3) + shift),
    ):
        case = replace(itself, places=places)
        features = own_features(case)
        box = LatentBox.around(target_space_.coefficients)
        mapping = MotionMap.learn(features[frames], target_space_.coefficients[itself.truth[frames]], box)
        found.append(target_space_.vertices_of(mapping.coefficients(features[::6])))
    plain = scale * turn.apply(found[0].reshape(-1, 3)).reshape(found[0].shape) + shift
    away = np.abs(found[1] - plain).max() / (scale * horse.diagonal)
    print("equivariance", away)
    assert away <= 1e-6
