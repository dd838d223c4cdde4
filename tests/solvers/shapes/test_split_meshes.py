"""Meshes whose vertices are split at seams and hard edges, as files of game assets have them, do not come apart."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.steps import result_of
from solvers.shapes.target_space import TargetSpace, learn_target_steps

# Of the mesh's diagonal.
SAME = 1e-6


def tube(frames=16, rings=14, around=8):
    """A tube that bends, swings and stretches: vertices (F, V, 3), triangles (T, 3)."""
    along, angle = (part.ravel() for part in np.meshgrid(np.linspace(0, 3, rings), range(around), indexing="ij"))
    angle = angle * 2 * np.pi / around
    out = []
    for phase in np.linspace(0, 2 * np.pi, frames, endpoint=False):
        turns = Rotation.from_euler("zy", np.stack((0.5 * np.sin(phase) * along, 0.4 * np.cos(phase) * along), 1))
        radius = 0.25 + 0.05 * np.sin(2 * phase) * along
        spine = np.stack((along, 0.3 * np.sin(phase) * along**2, 0.2 * np.cos(phase) * along), axis=1)
        out.append(spine + turns.apply(np.stack((0 * along, radius * np.cos(angle), radius * np.sin(angle)), axis=1)))
    i, j = (part.ravel() for part in np.meshgrid(range(rings - 1), range(around), indexing="ij"))
    left, right = i * around + j, i * around + (j + 1) % around
    corner = np.stack((left, right, right + around, left + around))
    return np.array(out, np.float32), np.concatenate((corner[[0, 1, 2]].T, corner[[0, 2, 3]].T))


def split(vertices, triangles, rows=slice(None)):
    """A vertex of its own for each corner of some faces, in another order; and (V,) where each of them comes from."""
    count = vertices.shape[1]
    source = np.concatenate((triangles[rows].ravel(), np.arange(count)))
    faces = triangles + triangles[rows].size
    faces[rows] = np.arange(triangles[rows].size).reshape(-1, 3)
    used, numbers = np.unique(faces, return_inverse=True)
    order = np.random.default_rng(0).permutation(len(used))
    return vertices[:, source[used[order]]], np.argsort(order)[numbers].reshape(-1, 3), source[used[order]]


def learn(vertices, triangles, **options):
    return result_of(learn_target_steps(vertices, triangles, **options))


def crack(vertices, source):
    """The widest gap between vertices (F, V, 3) that come from one, over the diagonal."""
    first = np.unique(source, return_index=True)[1][np.unique(source, return_inverse=True)[1]]
    size = np.linalg.norm(np.ptp(vertices[0], axis=0))
    return np.linalg.norm(vertices - vertices[:, first], axis=2).max() / size


def exaggerated(space):
    """Coefficients that are no frame's: mixtures, and poses twice as far out."""
    return np.concatenate((0.5 * (space.coefficients[1:] + space.coefficients[:-1]), 2.0 * space.coefficients))


@pytest.mark.parametrize("rows", [slice(None), slice(0, None, 3)], ids=["each corner", "a third of the faces"])
def test_a_split_mesh_moves_as_its_welded_twin(rows):
    vertices, triangles = tube()
    whole, (torn, faces, source) = learn(vertices, triangles, variance=0.999), split(vertices, triangles, rows)
    space = learn(torn, faces, variance=0.999)
    assert space.shape.surface.components == whole.shape.surface.components == 1
    assert space.components == whole.components
    assert space.rest.shape == torn.shape[1:] and np.array_equal(space.triangles, faces)
    rows = exaggerated(whole)
    # Components are the same up to their signs.
    signs = np.sign((space.coefficients * whole.coefficients).sum(axis=0))
    found, expected = space.vertices_of(rows * signs), whole.vertices_of(rows)
    size = np.linalg.norm(np.ptp(vertices[0], axis=0))
    print("from the twin", np.abs(found - expected[:, source]).max() / size)
    assert np.abs(found - expected[:, source]).max() < SAME * size
    assert crack(found, source) == 0.0


def test_each_vertex_by_itself_would_tear():
    """What the crack of the tests above is without classes."""
    torn, faces, source = split(*tube())
    space = learn(torn, faces)
    apart = TargetSpace.from_arrays(without_same(learn_apart(torn, faces)))
    assert crack(apart.vertices_of(exaggerated(apart)), source) > 0.005
    assert crack(space.vertices_of(exaggerated(space)), source) == 0.0


def learn_apart(vertices, triangles):
    """As before there were classes: a shape a little away from itself in one frame keeps all vertices apart."""
    nudged = vertices.astype(float)
    nudged[-1] += 1e-3 * np.random.default_rng(0).normal(size=nudged.shape[1:])
    return learn(nudged, triangles)


def without_same(space):
    return {name: value for name, value in space.to_arrays().items() if name != "same"}


def test_files_from_before_move_as_they_did():
    torn, faces, _ = split(*tube())
    space = learn_apart(torn, faces)
    assert (space.same == np.arange(len(space.rest))).all()
    again = TargetSpace.from_arrays(without_same(space))
    np.testing.assert_array_equal(again.vertices_of(space.coefficients), space.vertices_of(space.coefficients))
    with pytest.raises(ValueError, match="reshape|broadcast"):
        TargetSpace.from_arrays(without_same(learn(torn, faces)))


def test_stored_and_read_again():
    torn, faces, _ = split(*tube())
    space = learn(torn, faces)
    again = TargetSpace.from_arrays(space.to_arrays())
    np.testing.assert_array_equal(again.vertices_of(space.coefficients), space.vertices_of(space.coefficients))


def test_pieces_that_touch_at_times_are_two():
    """A second tube whose first ring lies on the last one of the first in half of the frames."""
    vertices, triangles = tube()
    other = vertices - vertices[:, :1] + vertices[:, -8:-7]
    other[::2] += [0.0, 0.0, 0.7]
    both = np.concatenate((vertices, other), axis=1)
    faces = np.concatenate((triangles, triangles + vertices.shape[1]))
    space = learn(both, faces, variance=1.0)
    assert space.shape.surface.components == 2 and (space.same == np.arange(both.shape[1])).all()
    assert np.abs(space.vertices_of(space.coefficients) - both).max() < 1e-3


def test_back_faces_loose_vertices_and_faces_that_become_a_line():
    """The same tube once more, turned inside out, a loose vertex on one of its own, one elsewhere, faces of twins."""
    vertices, triangles = tube()
    count = vertices.shape[1]
    away = np.full((len(vertices), 1, 3), 9.0, np.float32) + np.arange(len(vertices), dtype=np.float32)[:, None, None]
    both = np.concatenate((vertices, vertices, vertices[:, 5:6], away), axis=1)
    lines = [[3, 3 + count, 4], [6, 6 + count, 2 * count + 1], [5, 2 * count, 5 + count]]
    space = learn(both, np.concatenate((triangles, triangles[:, ::-1] + count, lines)), variance=1.0)
    found = space.vertices_of(exaggerated(space))
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(found[:, :count], found[:, count : 2 * count])
    np.testing.assert_array_equal(found[:, 5], found[:, 2 * count])
    assert np.abs(space.vertices_of(space.coefficients) - both).max() < 1e-3
