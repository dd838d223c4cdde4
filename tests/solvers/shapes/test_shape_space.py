"""Poses as turns, rotations, stretches and places: what each part sees, and how rotations are unwrapped."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.steps import result_of
from solvers.shapes.shape_space import ShapeSpace


def rod(length=24, around=8, radius=0.2):
    """A tube along x: vertices (V, 3), triangles (T, 3)."""
    x, angle = np.meshgrid(np.linspace(0, 3, length), np.arange(around) * 2 * np.pi / around, indexing="ij")
    vertices = np.stack((x, radius * np.cos(angle), radius * np.sin(angle)), axis=-1).reshape(-1, 3)
    i, j = (a.reshape(-1) for a in np.meshgrid(np.arange(length - 1), np.arange(around), indexing="ij"))
    left, right = i * around + j, i * around + (j + 1) % around
    corner = np.stack((left, right, right + around, left + around))
    return vertices, np.concatenate((corner[[0, 1, 2]].T, corner[[0, 2, 3]].T))


def curled(vertices, angle):
    """The rod bent into an arc that turns by ``angle`` from end to end."""
    bend = angle / 3.0
    turn = bend * vertices[:, 0]
    out = 1.0 / bend + vertices[:, 1] if bend else vertices[:, 1]
    x = np.sin(turn) * out if bend else vertices[:, 0]
    y = np.cos(turn) * out - 1.0 / bend if bend else vertices[:, 1]
    return np.stack((x, y, vertices[:, 2]), axis=1)


def poses_of(space, vertices):
    poses = result_of(space.poses_steps(vertices))
    return poses, result_of(space.unwrap_steps(poses))


def rebuilt(space, poses):
    """In-plane gradients (F, 3, 2, T) of poses, without their components' turns."""
    parts = space.parts(poses)
    return np.array([space.gradients(r, s) for r, s in zip(parts.rotations, parts.stretches, strict=True)])


def test_the_rest_is_nothing_and_a_turn_is_the_component_s_alone():
    vertices, triangles = rod()
    space = ShapeSpace.build(vertices, triangles)
    poses, _ = poses_of(space, vertices[None])
    parts = space.parts(poses[0])
    assert np.abs(parts.rotations).max() < 1e-6 and np.abs(parts.turns).max() < 1e-6
    assert np.abs(parts.stretches - np.array([[1], [0], [1]])).max() < 1e-6
    assert np.abs(parts.places.T * space.radius + space.centre - vertices).max() < 1e-6
    vector = np.array([0.4, -1.0, 2.0])
    poses, _ = poses_of(space, (vertices @ Rotation.from_rotvec(vector).as_matrix().T + 5.0)[None])
    parts = space.parts(poses[0])
    assert np.abs(parts.turns[:, 0] - vector).max() < 1e-6
    assert np.abs(parts.rotations).max() < 1e-5


def test_many_turns_are_followed(rng):
    """Two rods, each with its own spin; nothing else moves, so their faces' rotations stay zero."""
    vertices, triangles = rod()
    both = np.concatenate((vertices, vertices + [0, 3, 0]))
    space = ShapeSpace.build(both, np.concatenate((triangles, triangles + len(vertices))))
    angle = np.linspace(0, 15, 60)
    vectors = angle[:, None, None] * np.array([[0.0, 0.6, 0.8], [0.0, 0.0, -0.5]])
    turned = [np.concatenate([vertices @ Rotation.from_rotvec(v).as_matrix().T for v in pair]) for pair in vectors]
    poses, by_face = poses_of(space, np.array(turned))
    parts = space.parts(poses)
    assert np.abs(np.swapaxes(parts.turns, 1, 2) - vectors).max() < 1e-5
    assert np.abs(parts.rotations).max() < 1e-5 and not by_face.any()


def test_faces_are_unwrapped_where_that_mends_the_surface():
    """A rod whose end curls up by most of a turn: principal values tear it, values followed over time do not."""
    vertices, triangles = rod(240, radius=0.02)
    end = vertices[:, 0] > 2.0
    frames = np.repeat(vertices[None], 60, axis=0)
    for frame, angle in zip(frames, np.linspace(0, 16.5, 60), strict=True):
        frame[end] = curled(vertices[end] - [2, 0, 0], angle) + [2, 0, 0]
    space = ShapeSpace.build(vertices, triangles)
    poses, by_face = poses_of(space, frames)
    assert by_face.all()
    rotations = space.parts(poses).rotations[-1]
    first, second = space._neighbours
    assert np.linalg.norm(rotations[:, first] - rotations[:, second], axis=0).max() < 1.0
    assert np.linalg.norm(rotations, axis=0).max() > 5.0


def test_gradients_come_back_also_of_collapsed_and_inverted_faces(rng):
    """Flattened to a plane, to a line and to a point, and mirrored."""
    vertices, triangles = rod()
    space = ShapeSpace.build(vertices, triangles)
    curls = np.array([curled(vertices, angle) for angle in (0.0, 1.0, -4.0)])
    curls += rng.normal(0, 0.01, curls.shape)
    squashed = np.stack([vertices * scale for scale in ([1, 1, 0], [1, 0, 0], [0, 0, 0], [1, -1, 1])])
    for moved in (curls, squashed):
        poses, _ = poses_of(space, moved)
        assert np.isfinite(poses).all()
        turns = Rotation.from_rotvec(space.parts(poses).turns[:, :, 0]).as_matrix()
        found = np.einsum("fij,fjkt->fikt", turns, rebuilt(space, poses))
        assert np.abs(found - space.surface.gradients(np.swapaxes(moved, 1, 2))).max() < 1e-5


def test_divergence_is_that_of_the_vertices(rng):
    vertices, triangles = rod()
    both = np.concatenate((vertices, vertices + [0, 3, 0], [[8, 8, 8]]))
    space = ShapeSpace.build(both, np.concatenate((triangles, triangles + len(vertices))))
    moved = np.concatenate((curled(vertices, 2.0), curled(vertices, -3.0)[:, [1, 2, 0]], [[8, 8, 8]]))
    moved += rng.normal(0, 0.01, moved.shape)
    poses, _ = poses_of(space, moved[None])
    expected = (space.surface.laplacian @ moved).T
    assert np.abs(space.divergence(poses[0, : space.face_length]) - expected).max() < 1e-4


def test_weights_are_free_of_resolution_and_size():
    norms = []
    for length, scale in ((24, 1.0), (96, 1.0), (24, 50.0)):
        vertices, triangles = rod(length)
        space = ShapeSpace.build(scale * vertices, triangles)
        poses, _ = poses_of(space, scale * np.array([vertices, curled(vertices, 2.0) * [1, 1, 1.2]]))
        norms.append(np.linalg.norm((poses[1] - poses[0]) * space.weights))
    assert norms[1] == pytest.approx(norms[0], rel=0.03)
    assert norms[2] == pytest.approx(norms[0], rel=1e-4)
