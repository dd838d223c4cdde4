"""What is kept of a surface gives it back."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.props import box
from solvers.core.types import MeshTrack
from solvers.surface.bound_surface import BoundSurface

FRAMES = 12


def track(vertices):
    return MeshTrack("Table", vertices, box("Table", [0, 0, 0], [1, 2, 0.7]).triangles)


@pytest.fixture
def still():
    return box("Table", [3, 1, 0], [4, 2, 0.7]).vertices


@pytest.fixture
def carried(still):
    angles = np.linspace(0, 2, FRAMES)
    turns = Rotation.from_rotvec(np.column_stack((0.3 * angles, 0 * angles, angles))).as_matrix()
    return still @ np.swapaxes(turns, 1, 2) + np.column_stack((angles, 2 * angles, 0 * angles))[:, None]


@pytest.fixture
def bent(still, rng):
    return still + rng.normal(0, 0.05, (FRAMES, *still.shape[1:]))


@pytest.mark.parametrize(("kind", "states", "tolerance"), [("still", 1, 0.0), ("carried", 1, 1e-7), ("bent", 12, 1e-6)])
def test_the_surface_comes_back(request, kind, states, tolerance):
    mesh = track(request.getfixturevalue(kind))
    kept = BoundSurface.of(mesh)
    assert len(kept.vertices) == states
    back = kept.track("Desk", mesh.triangles)
    assert back.name == "Desk" and back.vertices.dtype == float
    np.testing.assert_allclose(back.vertices, mesh.vertices, rtol=0, atol=tolerance)


def test_its_size_is_that_of_what_is_stored(still, carried, bent):
    assert BoundSurface.of(track(still)).size == still.nbytes
    assert BoundSurface.of(track(carried)).size == still.nbytes + FRAMES * 12 * 8
    assert BoundSurface.of(track(bent)).size == bent.nbytes // 2
