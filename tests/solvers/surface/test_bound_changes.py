"""How far surfaces are from where they were at bind."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import box
from solvers.core.types import MeshTrack
from solvers.surface.bound_changes import change_of_faces, change_of_points

LOW, HIGH = np.array([0.0, 0.0, 0.0]), np.array([1.0, 2.0, 0.5])


@pytest.fixture
def table():
    return box("Table", LOW, HIGH)


def subdivided(mesh):
    """Each triangle in three, the surface as it was."""
    corners = mesh.vertices[0][mesh.triangles]
    centre = len(mesh.vertices[0]) + np.arange(len(mesh.triangles))
    a, b, c = mesh.triangles.T
    triangles = np.concatenate([np.stack(t, axis=1) for t in ((a, b, centre), (b, c, centre), (c, a, centre))])
    return MeshTrack(mesh.name, np.concatenate((mesh.vertices, corners.mean(axis=1)[None]), axis=1), triangles)


def test_moves_turns_and_dents_are_told_by_their_farthest_point(table):
    """A dent alone is a change of shape."""
    turn = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    dented = table.vertices.copy()
    dented[0, 3, 2] -= 0.03
    for later, distance, is_rigid in (
        (table.vertices.copy(), 0.0, True),
        (table.vertices + [0.0, 0.09, 0.12], 0.15, True),
        (table.vertices @ turn.T, np.sqrt(2) * np.hypot(*HIGH[:2]), True),
        (dented, 0.03, False),
    ):
        change = change_of_points(table.vertices, later)
        assert change.distance == pytest.approx(distance) and change.is_rigid == is_rigid
        assert change.counts(1.0) == (distance > 0)


def test_one_frame_of_many_is_enough(table):
    later = np.tile(table.vertices, (5, 1, 1))
    later[3] += [0, 0, 0.2]
    assert change_of_points(table.vertices, later).distance == pytest.approx(0.2)
    assert change_of_points(later, later).distance == 0


def test_finer_faces_on_the_same_surface_are_no_change(table):
    change = change_of_faces(table, subdivided(table))
    assert change.is_edited and change.distance < 1e-12


@pytest.mark.parametrize("swapped", [False, True])
def test_what_was_added_to_a_surface_tells_how_far_it_reaches(table, swapped):
    raised = subdivided(table)
    peak = raised.vertices[0, 8:, 2].argmax() + 8  # the middle of a triangle of the top
    raised.vertices[0, peak, 2] += 0.25
    pair = (raised, table) if swapped else (table, raised)
    assert change_of_faces(*pair).distance == pytest.approx(0.25)
