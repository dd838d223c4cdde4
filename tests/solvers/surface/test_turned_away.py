"""Faces that look away from the body, and those that are right as they are."""

import numpy as np
import pytest

from solvers.adapt.binding import fit
from solvers.core.errors import InputError
from solvers.core.types import JointTrack, MeshTrack, Skeleton
from solvers.surface.turned_away import turned_away

BOX = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6],
                [0, 6, 4], [1, 5, 7], [1, 7, 3]])  # fmt: skip


def box(name, low, high, flipped=False):
    corners = np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i, j, k in np.ndindex(2, 2, 2)])
    return MeshTrack(name, corners[None].astype(float), BOX[:, ::-1] if flipped else BOX)


def plane(name, flipped=False):
    corners = np.array([[-2.0, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    return MeshTrack(name, corners[None], triangles[:, ::-1] if flipped else triangles)


def bound(*environment):
    """A leg that stands at x = 0 on the ground, and sways a little."""
    heights = np.array([1.0, 0.5, 0.08])
    positions = np.zeros((12, 3, 3))
    positions[..., 2] = heights
    positions[..., 0] = 0.05 * np.sin(np.linspace(0, 3, 12))[:, None] * (heights - 0.08)
    track = JointTrack(Skeleton(("hip", "knee", "ankle"), np.array([-1, 0, 1])), positions, 24.0, np.arange(12))
    return fit(track, list(environment), np.array([False, False, True]), 1.8)


POST = box("Post", (0.3, -0.1, 0), (0.5, 0.1, 1))


@pytest.mark.parametrize(
    "mesh, expected",
    [
        (plane("Floor"), False),
        (box("Slab", (-2, -2, -1), (2, 2, 0)), False),
        (box("Room", (-2, -2, 0), (2, 2, 2.5), flipped=True), False),
        (box("Rock", (-0.2, -0.2, -0.5), (0.2, 0.2, 0.1)), False),
        (box("Wall", (-0.5, -0.1, 0), (-0.3, 0.1, 1), flipped=True), True),
    ],
)
def test_faces_that_look_away_from_the_body(mesh, expected):
    assert turned_away(bound(POST, mesh).distance).tolist() == [False, expected]


@pytest.mark.parametrize(
    "mesh",
    [
        plane("Floor", flipped=True),
        box("Floor", (-2, -2, -1), (2, 2, 0), flipped=True),
        box("Floor", (-2, -2, 0), (2, 2, 2.5)),  # a room around the body
    ],
)
def test_a_body_with_nothing_but_faces_that_look_away_is_told_so(mesh):
    with pytest.raises(InputError, match="faces of 'Floor' look away"):
        bound(mesh)
