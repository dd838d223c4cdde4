"""The scored set: what it says of itself holds, and its makings are right on a body small enough to see."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.transform import Rotation

from benchmarks import transfer_set as scored
from benchmarks.mesh_sequences import volumes
from benchmarks.retarget import JOINTS, PLACE
from benchmarks.skinned_body import SkinnedBody
from benchmarks.transfer_style import styled
from solvers.surface.edges import unique_edges
from solvers.transfer.body_parts import BodyParts


@pytest.fixture(scope="module")
def found():
    return scored.transfer_set()


def two_bones():
    """A strip of two triangles, the far half of which hangs on a second joint at (1, 0, 0)."""
    vertices = np.array([[0.0, 0, 0], [1, 1, 0], [2, 0, 0], [1, -1, 0]])
    weights = csr_matrix(np.array([[1.0, 0], [0.5, 0.5], [0, 1], [0.5, 0.5]]))
    places = np.array([[0.0, 0, 0], [1, 0, 0]])
    triangles = np.array([[0, 3, 1], [3, 2, 1]])
    return SkinnedBody(vertices, triangles, weights, ("a", "b"), np.array([-1, 0]), places)


def test_joints_carry_what_hangs_on_them():
    body, quarter = two_bones(), Rotation.from_euler("z", 90, degrees=True).as_matrix()
    turns = np.stack((np.stack((np.eye(3), quarter)), np.stack((quarter, quarter))))
    bent, turned = body.posed(turns, np.array([[0.0, 0, 0], [0, 0, 5]]))
    assert np.allclose(bent[[0, 2]], [[0, 0, 0], [1, 1, 0]], atol=1e-6)
    assert np.allclose(bent[1], (np.array([1, 1, 0]) + [0, 0, 0]) / 2, atol=1e-6)
    assert np.allclose(turned, body.vertices @ quarter.T + [0, 0, 5], atol=1e-6)


def test_split_keeps_shape_and_skin():
    body = two_bones()
    four = body.split()
    assert len(four.triangles) == 8 and len(four.vertices) == 9
    turns = Rotation.random(2, random_state=0).as_matrix()[None]
    small, large = body.posed(turns, np.zeros((1, 3)))[0], four.posed(turns, np.zeros((1, 3)))[0]
    assert np.allclose(large[:4], small) and np.allclose(four.weights.sum(axis=1), 1)
    ends = unique_edges(body.triangles)[0].T
    assert np.allclose(four.vertices[4:], body.vertices[ends].mean(axis=0))


def test_manner_bends_and_swings():
    """Straight elbows bend, hanging arms stay where they hang, arms that swing swing farther."""
    turns = np.tile(np.eye(3), (2, len(JOINTS), 1, 1))
    hanging = Rotation.from_euler("z", -1.31).as_matrix()
    turns[:, PLACE["lhumerus"]] = hanging
    turns[1, PLACE["lhumerus"]] = Rotation.from_euler("x", -0.5).as_matrix() @ hanging
    out = Rotation.from_matrix(styled(turns)[:, PLACE["lhumerus"]] @ hanging.T).magnitude()
    assert out == pytest.approx([0, 0.5 + 0.3 * np.sin(0.5)])
    elbow = Rotation.from_matrix(styled(turns)[0, PLACE["lradius"]]).magnitude()
    assert elbow == pytest.approx(0.45, abs=1e-3)


def test_warps_go_forward_and_back():
    rng = np.random.default_rng(3)
    for frames, count in ((60, 72), (100, 85)):
        at_source, truth = scored.warp(count, frames, rng)
        assert at_source[0] == truth[0] == 0 and at_source[-1] == pytest.approx(frames - 1)
        assert truth[-1] == pytest.approx(count - 1)
        speed = np.diff(at_source) * count / frames
        assert speed.min() > 0.4 and speed.max() < 1.7 and np.ptp(speed) > 0.2
        assert np.interp(truth, np.arange(count), at_source) == pytest.approx(np.arange(frames), abs=0.02)


@pytest.mark.captures
def test_bodies_differ_and_are_closed(found):
    assert len(found.source.vertices) != len(found.target.vertices)
    for subject in (found.source, found.target):
        assert 5_000 <= len(subject.triangles) <= 20_000
        sides = np.sort(subject.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        assert (np.unique(sides, axis=0, return_counts=True)[1] == 2).all()
        assert volumes(subject.vertices[None], subject.triangles)[0] > 0.03


@pytest.mark.captures
def test_parts_overlap_and_cover(found):
    for subject in (found.source, found.target):
        parts = BodyParts.build(subject.memberships, scored.PART_NAMES, subject.vertices, subject.triangles)
        bands = (subject.memberships[0] & subject.memberships[1:]).sum(axis=1)
        assert len(parts) == 5 and (bands > 100).all() and (bands < 500).all()


@pytest.mark.captures
def test_training_is_what_is_told(found):
    assert len(found.training) == 5 and 330 <= sum(len(clip.truth) for clip in found.training) <= 370
    for clip in found.training:
        assert 60 <= len(clip.source) <= 100 and clip.pairs.shape == (5, 2)
        assert (np.diff(clip.pairs, axis=0) > 0).all() and (clip.pairs >= 0).all()
        assert (clip.pairs[-1] < (len(clip.source), len(clip.target))).all()
        off = np.abs(clip.pairs[:, 1] - clip.truth[clip.pairs[:, 0]])
        assert off.max() <= scored.KEY_ERROR + 0.5


@pytest.mark.captures
def test_unseen_clips_are_kept_apart(found):
    files = {clip.file for clip in scored.TRAINING}
    assert len(found.unseen) >= 3 and not files & {clip.file for clip in scored.UNSEEN}
    assert all(not len(clip.pairs) for clip in found.unseen)


@pytest.mark.captures
def test_truth_is_consistent(found):
    """Captured target frames around the true moment are, but for noise and the line between frames, the answer."""
    for clip in found.training + found.unseen:
        assert clip.answers.shape == (len(clip.source), len(found.target.vertices), 3)
        assert clip.truth[0] == 0 and clip.truth[-1] == pytest.approx(len(clip.target) - 1)
        before = np.minimum(clip.truth.astype(int), len(clip.target) - 2)
        share = (clip.truth - before)[:, None, None]
        captured = (1 - share) * clip.target[before] + share * clip.target[before + 1]
        away = np.linalg.norm(captured - clip.answers, axis=2)
        assert 0.001 < away.mean() < 0.008
        assert 0.001 < np.linalg.norm(clip.source - clip.shown, axis=2).mean() < 0.006
        shifted = np.linalg.norm(captured[2:] - clip.answers[:-2], axis=2)
        assert shifted.mean() > away.mean()


@pytest.mark.captures
def test_it_is_the_same_every_time(found):
    again = scored.transfer_set.__wrapped__()
    for one, other in zip(found.training + found.unseen, again.training + again.unseen, strict=True):
        for key in ("source", "target", "truth", "shown", "answers", "pairs"):
            assert np.array_equal(getattr(one, key), getattr(other, key))
