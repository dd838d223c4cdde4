"""Pairs of captured bodies are pairs of what was captured, and the camel gallops as the horse does."""

import numpy as np
import pytest

from benchmarks.mesh_sequences import edge_lengths
from tests import transfer_pairs as pairs_of

pytestmark = pytest.mark.captures


@pytest.mark.parametrize("name, side", [("human_samba", 0), ("human_crane", 1)])
def test_marked_frames_are_there_and_in_order(name, side):
    vertices, triangles = pairs_of.person(name)
    assert triangles.max() == vertices.shape[1] - 1
    for pairs in (pairs_of.SAMBA_CRANE_STANDING, pairs_of.SAMBA_CRANE_STEPPING):
        assert (np.diff(pairs[:, side]) > 0).all() and pairs[:, side].max() < len(vertices)
        assert np.ptp(vertices[0, :, 2]) > 1.5


def test_standing_is_standing_and_stepping_moves():
    for name, side in (("human_samba", 0), ("human_crane", 1)):
        vertices, _ = pairs_of.person(name)
        still, moving = (
            np.linalg.norm(vertices[pairs[-1, side]] - vertices[pairs[0, side]], axis=1).mean()
            for pairs in (pairs_of.SAMBA_CRANE_STANDING, pairs_of.SAMBA_CRANE_STEPPING)
        )
        assert still < 0.03 and moving > 0.1


def test_cat_and_lion_have_markers_on_both():
    (cat, _), (lion, _), pairs, markers = pairs_of.cat_and_lion()
    assert len(cat) == len(lion) == len(pairs) == 9 and len(markers) == 55
    assert (markers.max(axis=0) < (cat.shape[1], lion.shape[1])).all() and (markers >= 0).all()


def test_camel_gallops():
    """As one cycle, with the horse's stride in proportion, and without tearing."""
    (horse, _), (camel, triangles), pairs, markers = pairs_of.horse_and_camel()
    assert len(camel) == len(horse) == len(pairs) and np.isfinite(camel).all()
    gait, answer = (
        body[:, marks] - body[:, marks].mean(axis=0) for body, marks in ((horse, markers[:, 0]), (camel, markers[:, 1]))
    )
    sizes = [np.linalg.norm(np.ptp(body[0], axis=0)) for body in (horse, camel)]
    cosine = np.sum(gait * answer) / np.linalg.norm(gait) / np.linalg.norm(answer)
    ratio = (np.linalg.norm(answer) / sizes[1]) / (np.linalg.norm(gait) / sizes[0])
    assert cosine > 0.9 and 0.6 < ratio < 1.4
    lengths = edge_lengths(camel, triangles)
    assert np.mean(lengths.max(axis=0) > 2.0 * lengths.min(axis=0)) < 0.05
    closing = np.linalg.norm(camel[0] - camel[-1], axis=1).mean()
    assert closing < 1.5 * np.linalg.norm(np.diff(camel, axis=0), axis=2).mean()
