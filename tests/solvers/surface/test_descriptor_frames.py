import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.core.types import MeshTrack, TriangleMesh
from solvers.surface.descriptor_frames import DescriptorPoints, descriptor_frames, smooth_vertex_normals

BOX_QUADS = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])


def box(name="Box", size=(1.0, 1.0, 1.0)):
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float) * size
    return TriangleMesh(name, corners, np.concatenate([BOX_QUADS[:, [0, 1, 2]], BOX_QUADS[:, [0, 2, 3]]]))


def blob(rng, name="Blob"):
    """A rough closed mesh with triangles of all shapes."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(rng.normal(size=(60, 3)))
    vertices, triangles = hull.points, hull.simplices.copy()
    normal = np.cross(*(vertices[triangles[:, k]] - vertices[triangles[:, 0]] for k in (1, 2)))
    inward = np.einsum("tc,tc->t", normal, vertices[triangles[:, 0]]) < 0
    triangles[inward] = triangles[inward][:, [0, 2, 1]]
    return TriangleMesh(name, vertices, triangles)


def scatter(rng, meshes, count):
    index = rng.integers(len(meshes), size=count)
    triangle = np.array([rng.integers(len(meshes[i].triangles)) for i in index])
    return DescriptorPoints(index, triangle, rng.dirichlet(np.ones(3), count))


def moved(mesh, rotation, shift, scale=1.0):
    return TriangleMesh(mesh.name, scale * mesh.vertices @ rotation.T + shift, mesh.triangles)


def one_point(triangle=0, weights=(1 / 3, 1 / 3, 1 / 3), on=0):
    return DescriptorPoints(np.array([on]), np.array([triangle]), np.array([weights]))


@pytest.fixture
def rng():
    return np.random.default_rng(4)


def test_right_handed_and_orthonormal(rng):
    meshes = [box(), blob(rng)]
    _, axes = descriptor_frames(scatter(rng, meshes, 300), meshes)
    assert np.abs(np.swapaxes(axes, -1, -2) @ axes - np.eye(3)).max() < 1e-12
    assert np.abs(np.linalg.det(axes) - 1).max() < 1e-12


def test_sliver_stays_orthonormal():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0.3, 1e-7, 1e-7]])
    _, axes = descriptor_frames(one_point(), [TriangleMesh("Sliver", corners, np.array([[0, 1, 2]]))])
    assert np.abs(axes[0, 0].T @ axes[0, 0] - np.eye(3)).max() < 1e-12


def test_rigid_motion_and_scale_carry_the_frames(rng):
    meshes = [box(), blob(rng)]
    points = scatter(rng, meshes, 200)
    rotation, shift = Rotation.random(random_state=3).as_matrix(), np.array([2.0, -7.0, 0.5])
    origins, axes = descriptor_frames(points, meshes)
    origins2, axes2 = descriptor_frames(points, [moved(m, rotation, shift, 2.5) for m in meshes])
    assert np.allclose(origins2, 2.5 * origins @ rotation.T + shift, atol=1e-12)
    assert np.allclose(axes2, rotation @ axes, atol=1e-10)


def test_flat_frame_of_a_known_face_and_no_points():
    origins, axes = descriptor_frames(one_point(1, (0.5, 0.25, 0.25)), [box()])
    assert np.allclose(origins, [[[0.5, 0.25, 1.0]]])
    assert np.allclose(axes[0, 0], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    origins, axes = descriptor_frames(DescriptorPoints.empty(), [box()])
    assert origins.shape == (1, 0, 3) and axes.shape == (1, 0, 3, 3)


def test_smooth_normals_of_a_box_point_out_of_its_corners_however_quads_are_split():
    mesh = box()
    other = np.concatenate([BOX_QUADS[:, [1, 2, 3]], BOX_QUADS[:, [1, 3, 0]]])
    diagonal = (mesh.vertices - 0.5) / np.sqrt(0.75)
    assert np.allclose(smooth_vertex_normals(mesh.vertices, mesh.triangles), diagonal)
    assert np.allclose(smooth_vertex_normals(mesh.vertices, other), diagonal)


def test_frames_follow_a_deforming_mesh_beside_a_static_one(rng):
    still, start = box(), blob(rng)
    bend = np.stack([start.vertices + 0.1 * s * np.sin(start.vertices[:, [1, 2, 0]]) for s in range(5)])
    meshes = [still, MeshTrack("Bending", bend, start.triangles)]
    points = scatter(rng, meshes, 60)
    origins, axes = descriptor_frames(points, meshes)
    assert origins.shape == (5, 60, 3) and axes.shape == (5, 60, 3, 3)
    on_still = points.object_index == 0
    assert (origins[:, on_still] == origins[:1, on_still]).all()
    for s in range(5):
        alone = descriptor_frames(points, [still, meshes[1].state(s)])
        assert np.array_equal(alone[0][0], origins[s])
        assert np.allclose(alone[1][0], axes[s], atol=1e-14)


def test_unused_degenerate_triangle_is_no_obstacle():
    mesh = box()
    mesh = TriangleMesh("Box", mesh.vertices, np.concatenate([mesh.triangles, [[0, 0, 1]]]))
    assert np.isfinite(descriptor_frames(one_point(), [mesh])[1]).all()


def test_degenerate_triangles_changed_topology_and_mixed_states_are_refused():
    flat = TriangleMesh("Broken slab", np.array([[0, 0, 0], [1, 0, 0], [2.0, 0, 0]]), np.array([[0, 1, 2]]))
    tracks = [MeshTrack(n, np.stack([box().vertices] * s), box().triangles) for n, s in (("A", 2), ("B", 3))]
    for points, meshes, words in (
        (one_point(), [flat], "Triangle 0 of 'Broken slab' has no area"),
        (one_point(50), [box()], "triangle 50 of 'Box'.*bind again"),
        (one_point(on=3), [box()], "object 3"),
        (DescriptorPoints.empty(), tracks, "'A' 2, 'B' 3"),
    ):
        with pytest.raises(InputError, match=words):
            descriptor_frames(points, meshes)
