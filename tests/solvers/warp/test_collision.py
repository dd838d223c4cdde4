"""Half-spaces: never nearer than allowed, contacts held, and nothing missed by asking seldom."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import box, carried, height_field
from solvers.core.types import MeshTrack
from solvers.skeleton.joint_tree import JointTree
from solvers.surface.present import PresentSurfaces
from solvers.surface.track import SurfaceTrack
from solvers.surface.track_list import SurfaceTracks
from solvers.warp.collision import BETWEEN_SHARE, BodySamples, Colliders, DistanceGoals

FRAMES = 20
REACH = 0.3
WEIGHT, HOLD = 20.0, 7.0


@dataclass
class Counted:
    """A surface that counts the points it is asked about."""

    surface: SurfaceTrack
    asked: int = 0

    def query(self, points, frames, reach):
        self.asked += len(points)
        return self.surface.query(points, frames, reach)


def surfaces(rng, kinds):
    """Closed objects around the origin that stand still, swing or wobble, and a thick one to be deep inside."""
    swing = Rotation.from_rotvec(np.linspace(0, 1, FRAMES)[:, None] * [0.3, 0.8, 0.1]).as_matrix()
    shift = np.linspace(0, 0.3, FRAMES)[:, None] * [1, 0, 0]
    still = box("Still", [-1, -1, -0.5], [1, 1, -0.1])
    jelly = box("Jelly", [-0.8, -0.9, 0.2], [-0.2, 0.9, 0.5])
    found = {
        "still": still,
        "rigid": carried(box("Swing", [0.2, -0.4, -0.3], [0.5, 0.4, 0.6]), swing, shift),
        "deforming": MeshTrack("Jelly", jelly.vertices + 0.05 * rng.normal(size=(FRAMES, 8, 3)), jelly.triangles),
        "thick": box("Thick", [-0.7, -0.7, -0.7], [0.7, 0.7, 0.7]),
        "ground": height_field("Ground", np.arange(-3.0, 4), np.arange(-3.0, 4), np.full((7, 7), -0.2)),
    }
    return [Counted(SurfaceTrack(found[kind])) for kind in kinds]


@pytest.fixture
def body(rng, body_parents, problems):
    tree = JointTree.build(body_parents)
    joints = tree.from_track(problems["track"](rng, body_parents, FRAMES))
    joints -= joints.mean(axis=0)
    lengths = np.median(np.linalg.norm(tree.offsets(joints), axis=1), axis=-1)
    return tree, BodySamples.of(tree, lengths, 0.08), joints


def goals_for(rng, objects, samples, held_share=0.1):
    shape = (objects, len(samples.body), FRAMES)
    hold = np.where(rng.random(shape) < held_share, rng.random(shape), 0.0)
    side = np.full(shape, -1)
    return DistanceGoals(rng.uniform(-0.02, 0.05, shape), rng.uniform(0, 0.1, shape), hold, side)


def colliders(found, samples, goals, fresh=0.0):
    """Half-spaces of joints (J, 3, F); fresh = 0 asks every near sample at every call."""
    number = np.arange(len(found) * FRAMES).reshape(-1, FRAMES)
    return Asked(Colliders(SurfaceTracks(found, FRAMES), number, samples, goals, WEIGHT, HOLD, REACH, fresh))


@dataclass
class Asked:
    """Colliders that are called with the joints of a pose."""

    term: Colliders

    def __call__(self, joints):
        return self.term.residual(None, Joints(joints), None)

    def take(self, keep):
        return Asked(self.term.take(keep))


@dataclass
class Joints:
    """Of a pose what colliders look at."""

    joints: np.ndarray


def rows(h):
    """Half-spaces in an order of their own, one row each."""
    table = np.column_stack([h.frame, h.body, h.child, h.fraction, h.weight, h.shortfall, h.normal])
    return table[np.lexsort(table.T[::-1])]


def named(h):
    """Shortfalls by sample and frame."""
    return dict(zip(zip(h.child, h.fraction, h.frame, strict=True), h.shortfall, strict=True))


def walk(rng, joints, steps):
    """Poses that drift, rest and jump."""
    for step in range(steps):
        size = (0.003, 0.02, 0.1, 0.0, 0.5)[step % 5]
        per_frame = rng.random(FRAMES) < 0.8
        joints = joints + size * per_frame * rng.normal(size=joints.shape)
        yield joints


def test_samples_lie_on_the_bones_and_include_all_joints(body):
    tree, samples, joints = body
    at = samples.positions(joints)
    assert np.abs(at[samples.at_joints] - joints).max() < 1e-14
    assert ((samples.fraction > 0) == (samples.body != samples.child)).all() and samples.fraction.max() == 1
    bone = np.linalg.norm(joints[samples.child] - joints[samples.body], axis=1)
    along = np.linalg.norm(at - joints[samples.body], axis=1)
    assert np.abs(along - samples.fraction[:, None] * bone).max() < 1e-12
    for child in range(tree.roots, len(tree.parents)):
        assert (samples.body[samples.child == child] == tree.parents[child]).all()
        places = samples.fraction[samples.child == child]
        assert np.allclose(np.diff(places, prepend=0), 1 / len(places))
        length = np.median(bone[samples.child == child])
        assert length / len(places) <= 0.08 + 1e-6 and (len(places) == 1 or length / (len(places) - 1) > 0.08)


def test_bones_without_length_are_sampled_once():
    tree = JointTree.build(np.array([-1, 0, 1, -1]))
    samples = BodySamples.of(tree, np.array([9.0, 9.0, 0.0, 0.0]), 0.08)
    assert len(samples.body) == 4 and np.array_equal(samples.at_joints, [0, 1, 2, 3])


def test_halfspaces_are_the_shortfalls_of_the_distances(rng, body):
    _, samples, joints = body
    found = surfaces(rng, ("still", "rigid", "deforming"))
    goals = goals_for(rng, 3, samples)
    ours = rows(colliders(found, samples, goals)(joints))
    points = samples.positions(joints)
    expected = []
    for obj, counted in enumerate(found):
        for frame in range(FRAMES):
            hits = counted.surface.query(points[..., frame], np.full(len(points), frame), REACH)
            distance = hits.distance
            normal = (points[..., frame] - hits.closest) / distance[:, None]
            joint = np.isin(samples.fraction, (0.0, 1.0))
            within = np.abs(distance) <= np.where(joint, REACH, BETWEEN_SHARE * REACH)
            for p in np.flatnonzero(within):
                head = (frame, samples.body[p], samples.child[p], samples.fraction[p])
                short = goals.least[obj, p, frame] - distance[p]
                if short > 0:
                    expected.append((*head, WEIGHT, short, *normal[p]))
                if goals.hold[obj, p, frame] > 0:
                    weight = HOLD * goals.hold[obj, p, frame]
                    expected.append((*head, weight, goals.held[obj, p, frame] - distance[p], *normal[p]))
    expected = np.array(expected)
    assert len(ours) == len(expected) > 100
    assert np.abs(ours - expected[np.lexsort(expected.T[::-1])]).max() < 1e-12


@pytest.mark.parametrize("kinds", [("still", "rigid", "deforming"), ("thick",), ("ground", "still")])
def test_what_is_not_asked_again_would_not_have_answered(rng, body, kinds):
    """Along a path of poses the half-spaces are those of a query of all samples at every call."""
    _, samples, joints = body
    found = surfaces(rng, kinds)
    goals = goals_for(rng, len(kinds), samples)
    kept = colliders(found, samples, goals)
    asked = []
    for pose in walk(rng, joints, 25):
        before = sum(s.asked for s in found)
        ours = rows(kept(pose))
        asked.append(sum(s.asked for s in found) - before)
        fresh = rows(colliders([s.surface for s in found], samples, goals)(pose))
        assert ours.shape == fresh.shape
        assert np.abs(ours - fresh).max(initial=0.0) < 1e-12
    everything = len(kinds) * len(samples.body) * FRAMES
    assert asked[0] == everything


def test_a_kept_tangent_plane_is_nearly_the_surface(rng, body):
    """Samples near a surface are not asked again for 4 mm of way; what they answer is wrong by little."""
    _, samples, joints = body
    found = surfaces(rng, ("still", "rigid"))
    goals = goals_for(rng, 2, samples)
    goals = DistanceGoals(goals.least, goals.held, np.zeros_like(goals.hold), goals.side)
    kept = colliders(found, samples, goals, 0.004)
    first = kept(joints)
    shift = 0.0039 * rng.normal(size=3)
    shift *= min(1.0, 0.0039 / np.linalg.norm(shift))
    before = sum(s.asked for s in found)
    moved = kept(joints + shift[:, None])
    asked = sum(s.asked for s in found) - before
    exact = colliders([s.surface for s in found], samples, goals)(joints + shift[:, None])
    known = named(exact)
    error = [short - known.get(name, 0.0) for name, short in named(moved).items()]
    assert len(first.shortfall) > 50 and asked < 0.1 * before
    assert np.median(np.abs(error)) < 1e-6 and np.abs(error).max() < 0.004


def test_samples_far_from_everything_are_asked_once(rng, body):
    _, samples, joints = body
    found = surfaces(rng, ("still", "rigid", "deforming"))
    kept = colliders(found, samples, goals_for(rng, 3, samples, 0.0))
    kept(joints + 0.0)
    before = sum(s.asked for s in found)
    kept(joints + 1e-4)
    again = sum(s.asked for s in found) - before
    assert again < 0.6 * before


def test_frames_taken_keep_what_is_known_and_answer_the_same(rng, body):
    _, samples, joints = body
    found = surfaces(rng, ("still", "rigid", "deforming"))
    goals = goals_for(rng, 3, samples)
    whole = colliders(found, samples, goals)
    whole(joints)
    keep = np.array([17, 2, 9])
    part = whole.take(keep)
    before = sum(s.asked for s in found)
    ours = part(joints[..., keep])
    asked = sum(s.asked for s in found) - before
    assert asked < 0.7 * 3 * len(samples.body) * len(keep)
    expected = colliders(found, samples, goals)(joints).take(keep, FRAMES)
    assert np.abs(rows(ours) - rows(expected)).max() < 1e-12
    for pose in walk(rng, joints, 10):
        expected = colliders(found, samples, goals)(pose).take(keep, FRAMES)
        assert np.abs(rows(part(pose[..., keep])) - rows(expected)).max() < 1e-12


def test_what_is_lacking_is_the_largest_shortfall_of_a_frame(rng, body):
    _, samples, joints = body
    goals = goals_for(rng, 2, samples, held_share=0.0)
    goals.least[..., ::2] = -1.0
    term = colliders(surfaces(rng, ("still", "rigid")), samples, goals)
    found = term(joints)
    largest = np.zeros(FRAMES)
    np.maximum.at(largest, found.frame, found.shortfall)
    assert largest.max() > 0.02 and (largest == 0).any()
    assert np.array_equal(term.term.lacking(Joints(joints)), largest)


def test_what_slips_is_the_held_sample_that_is_off_by_most(rng, body):
    """Both ways: a contact that has come off counts like one that is pressed in."""
    _, samples, joints = body
    goals = goals_for(rng, 2, samples, held_share=0.5)
    term = colliders(surfaces(rng, ("still", "rigid")), samples, goals)
    found = term(joints)
    slipping = term.term.slipping(Joints(joints))
    held = goals_for(rng, 2, samples, held_share=0.0)
    loose = colliders(surfaces(rng, ("still", "rigid")), samples, held)
    assert slipping.max() > 0.01 and len(found.shortfall)
    assert (loose.term.slipping(Joints(joints)) == 0).all()


@pytest.mark.parametrize("kinds", [("still", "rigid", "deforming"), ("thick",)])
def test_one_frame_alone_is_the_frame_in_a_batch(rng, body, kinds):
    """Samples that were inside at bind by less than they are now included: bounds do not tell how deep they are."""
    _, samples, joints = body
    tracks = [counted.surface for counted in surfaces(rng, kinds)]
    goals = goals_for(rng, len(kinds), samples)
    goals = replace(goals, least=goals.least - np.where(rng.random(goals.least.shape) < 0.3, 0.1, 0.0))
    batch, found = colliders(tracks, samples, goals), 0
    present = [PresentSurfaces([track.mesh.state(f) for track in tracks], 2 * REACH) for f in range(FRAMES)]
    number = np.arange(len(kinds))[:, None]
    alone = [
        Asked(Colliders(now, number, samples, goals.take(slice(f, f + 1)), WEIGHT, HOLD, REACH, 0.0))
        for f, now in enumerate(present)
    ]
    for pose in walk(rng, joints, 10):
        whole = batch(pose)
        for f, one in enumerate(alone):
            ours, theirs = one(pose[..., f]), whole.take(np.array([f]), FRAMES)
            assert len(ours.body) == len(theirs.body)
            assert np.abs(rows(ours) - rows(theirs)).max(initial=0.0) < 1e-9
            found += len(ours.body)
    assert found > 100
