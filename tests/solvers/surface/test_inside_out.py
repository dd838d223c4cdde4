"""Closed pieces whose faces look inward."""

import numpy as np
import pytest

from benchmarks.props import box
from solvers.core.types import TriangleMesh
from solvers.surface.inside_out import inside_out

FAR = np.array([[0.0, 0.0, 9.0]])


def joined(*boxes):
    """Boxes and whether each is turned, as one mesh."""
    vertices, triangles = [], []
    for number, (low, turned) in enumerate(boxes):
        each = box("Box", low, np.asarray(low) + 1.0).state(0)
        vertices.append(each.vertices)
        triangles.append((each.triangles[:, ::-1] if turned else each.triangles) + 8 * number)
    return TriangleMesh("Boxes", np.concatenate(vertices), np.concatenate(triangles))


def split(mesh):
    """With corners of its own for every face."""
    corners = mesh.vertices[mesh.triangles]
    return TriangleMesh(mesh.name, corners.reshape(-1, 3), np.arange(3 * len(corners)).reshape(-1, 3))


@pytest.mark.parametrize("make", [lambda mesh: mesh, split])
@pytest.mark.parametrize("away", [0.0, 1e3])
def test_boxes_are_counted(make, away):
    mesh = joined(([away, 0, 0], False), ([away + 3, 0, 0], True), ([away, 4, 0], True))
    assert inside_out(make(mesh), FAR) == (2, 3)


def test_what_is_open_is_no_piece():
    mesh = joined(([0, 0, 0], True))
    assert inside_out(TriangleMesh("Open", mesh.vertices, mesh.triangles[2:]), FAR) == (0, 0)


def test_a_room_looks_at_the_body_in_it():
    mesh = joined(([0, 0, 0], True))
    assert inside_out(mesh, np.array([[0.5, 0.5, 0.5], [0.6, 0.5, 0.4]])) == (0, 1)
    assert inside_out(mesh, np.array([[0.5, 0.5, 0.5], [0.6, 0.5, 1.4]])) == (1, 1)
