"""Deformation transfer: exact onto the same mesh, affine changes carried over, faces guessed by what is near."""

import numpy as np
import pytest

from benchmarks.baselines.deformation_transfer import DeformationTransfer, fitted_to, nearest_faces
from tests.bendy_bodies import tube


@pytest.fixture
def body():
    return tube(20, 10)


def built(source, target):
    answer, near = nearest_faces(source, target)
    return DeformationTransfer.build(source, target, answer, near, 1.0)


def test_the_same_mesh_does_the_same(body, rng):
    vertices, triangles = body
    transfer = built(body, body)
    np.testing.assert_allclose(transfer.vertices(vertices), vertices, atol=1e-9)
    bent = vertices + 0.2 * np.sin(3.0 * vertices[:, [1, 2, 0]] + 1.0)
    np.testing.assert_allclose(transfer.vertices(bent), bent, atol=1e-8)


def test_an_affine_change_is_carried_over_to_another_shape(body, rng):
    vertices, triangles = body
    rest = vertices * [1.0, 2.0, 0.5] + 0.1 * np.sin(5.0 * vertices)
    change = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    change *= np.sign(np.linalg.det(change))
    found = built(body, (rest, triangles)).vertices(vertices @ change.T)
    away = found - rest @ change.T
    np.testing.assert_allclose(away - away.mean(axis=0), 0.0, atol=5e-3)


def test_boxes_are_fitted(body):
    vertices, triangles = body
    other = vertices * [3.0, 0.2, 7.0] - 4.0
    np.testing.assert_allclose(fitted_to(other, vertices), vertices, atol=1e-12)
    answer, near = nearest_faces((other, triangles), body)
    np.testing.assert_array_equal(answer, np.arange(len(triangles)))
    np.testing.assert_array_equal(near, np.arange(len(vertices)))
