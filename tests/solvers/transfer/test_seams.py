"""Creases at the borders of overlaps are found where a mesh is torn there, and nowhere else."""

import numpy as np
import pytest

from benchmarks.seams import Seams
from solvers.core.errors import InputError
from tests import bendy_bodies


@pytest.fixture(scope="module")
def tube():
    vertices, triangles = bendy_bodies.tube(60, 24)
    angles = np.linspace(-0.8, 0.8, 12)
    captured = bendy_bodies.bent(vertices, np.stack((angles, angles[::-1]), axis=1))
    captured += np.random.default_rng(0).normal(0, 2e-4, captured.shape)
    memberships = bendy_bodies.memberships(vertices)
    return captured, memberships, Seams.of(captured, triangles, memberships)


def test_captured_meshes_are_what_is_measured_against(tube):
    captured, _, seams = tube
    assert seams.rim_excess(captured) == pytest.approx(1)
    assert 0.01 < seams.rim.mean() < 0.4


def test_a_tear_at_the_borders_shows_and_a_crease_elsewhere_does_not(tube):
    """The left end, moved by a fiftieth of the tube's girth without a transition."""
    captured, memberships, seams = tube

    def excess(chosen, step):
        torn = captured.copy()
        torn[:, chosen] += (0, step, 0)
        return seams.rim_excess(torn)

    found = [excess(memberships[1], step) for step in (0.002, 0.01, 0.04)]
    assert found[0] < found[1] < found[2] and found[1] > 1.1 and found[2] > 2
    assert excess(captured[0, :, 0] > 0.9, 0.04) < 1


def test_size_and_place_do_not_matter(tube):
    captured, _, seams = tube
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    assert seams.ratio(3.0 * captured[3] @ turn.T + 5.0) == pytest.approx(seams.ratio(captured[3]), rel=1e-6)


FIRST = np.arange(8)
SQUARES = np.concatenate(
    (np.stack((FIRST, FIRST + 1, FIRST + 9), axis=1), np.stack((FIRST + 1, FIRST + 10, FIRST + 9), axis=1))
)


def strip(bend):
    """A strip of eight squares, folded by an angle across its middle."""
    along = np.arange(9.0) - 4
    far = np.where(along > 0, along, 0)
    middle = np.column_stack((np.minimum(along, 0) + far * np.cos(bend), 0 * along, far * np.sin(bend)))
    return np.concatenate((middle, middle + (0, 1, 0)))


def test_a_roof_and_a_valley_are_apart_by_both_angles():
    memberships = np.stack((np.arange(18) % 9 < 2, np.arange(18) % 9 > 0))
    flat, roof, valley = (strip(bend) for bend in (0, -0.5, 0.5))
    wavy = [strip(0.01), strip(-0.01)]
    assert Seams.of(np.stack(wavy), SQUARES, memberships).creases(roof).max() == pytest.approx(0.5)
    of_roof = Seams.of(np.stack((roof, roof + 1e-4 * flat**2)), SQUARES, memberships)
    assert of_roof.creases(valley).max() == pytest.approx(1, abs=1e-2)


def test_parts_without_a_border_are_refused():
    with pytest.raises(InputError, match="border"):
        Seams.of(np.stack((strip(0.1), strip(0.2))), SQUARES, np.ones((1, 18), bool))
