"""Overlapping parts of a body: what is refused and named, and weights that lead from one part to the other."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.transfer.body_parts import BodyParts
from tests.standing import bands, split_faces, upright_tube

AROUND, ALONG = 12, 41


def tube(along=ALONG, around=AROUND):
    return upright_tube(along, around, lambda angle, height: 0.3)


# A torso in the middle, an upper and a lower limb.
REACHES = (0.4, 1.6), (1.2, 2.0), (0.0, 0.8)
NAMES = ("Torso", "Top", "Bottom")


@pytest.fixture
def case():
    vertices, triangles = tube()
    return bands(vertices, REACHES), NAMES, vertices, triangles


def dense(numbers, weights, count):
    out = np.zeros((len(numbers), count))
    for row, some, values in zip(out, numbers, weights, strict=True):
        row[some] = values
    return out


def test_weights_add_up_and_cross_the_band(case):
    memberships, _, vertices, triangles = case
    parts = BodyParts.build(*case)
    assert len(parts) == 3 and parts.names == NAMES
    of_vertices = dense(parts.members, parts.vertex_weights, len(vertices))
    of_faces = dense(parts.faces, parts.face_weights, len(triangles))
    for weights in (of_vertices, of_faces):
        assert np.abs(weights.sum(axis=0) - 1.0).max() < 1e-12 and weights.min() >= 0.0
    assert all(np.array_equal(some, np.flatnonzero(row)) for some, row in zip(parts.members, memberships, strict=True))
    whole = memberships[:, triangles].all(axis=2)
    assert not of_faces[~whole].any()
    assert (of_faces[:, whole.sum(axis=0) == 1].max(axis=0) == 1.0).all()
    middle = np.abs(vertices[:, 2] - 1.4) < 1e-9
    assert np.abs(of_vertices[1, middle] - 0.5).max() < 1e-6
    line = vertices[:, 2][:ALONG]
    assert np.all(np.diff(of_vertices[1, :ALONG]) >= 0.0) and np.all(np.diff(of_vertices[2, :ALONG]) <= 0.0)
    share = np.clip((line - 1.15) / 0.5, 0, 1)
    assert np.abs(of_vertices[1, :ALONG] - share**2 * (3 - 2 * share)).max() < 1e-6


def test_free_of_size_and_place_and_of_unwelded_seams(case):
    """Every other row of faces with corners of its own."""
    memberships, names, vertices, triangles = case
    twin, split = split_faces(triangles, np.arange(len(triangles)) % 3 == 0, len(vertices))
    for (masks, *mesh), tolerance in (
        ((memberships, 100.0 * vertices[:, [1, 2, 0]] + 7.0, triangles), 1e-9),
        ((memberships[:, twin], vertices[twin], split), 1e-3),
    ):
        found = BodyParts.build(masks, names, *mesh)
        for mine, others in zip(BodyParts.build(*case).face_weights, found.face_weights, strict=True):
            assert np.abs(mine - others).max() < tolerance


def test_one_part_is_the_whole(case):
    _, _, vertices, triangles = case
    parts = BodyParts.build(np.ones((1, len(vertices)), bool), ("Body",), vertices, triangles)
    assert (parts.face_weights[0] == 1.0).all() and len(parts.faces[0]) == len(triangles)


def test_loose_pieces(case):
    """In a limb, in the torso, and one that is in both from end to end, of which each says half."""
    memberships, names, vertices, triangles = case
    count = len(vertices)
    small, faces = tube(4, 5)
    all_vertices = np.concatenate([vertices, *(0.1 * small + [1.0 + k, 0, 1] for k in range(3))])
    all_faces = np.concatenate([triangles, *(faces + count + k * len(small) for k in range(3))])
    owners = np.repeat(np.array([[0, 1, 1], [1, 0, 1], [0, 0, 0]], bool), len(small), axis=1)
    parts = BodyParts.build(np.concatenate((memberships, owners), axis=1), names, all_vertices, all_faces)
    weights = dense(parts.members, parts.vertex_weights, len(all_vertices))[:, count:].reshape(3, 3, -1)
    assert np.array_equal(weights[:, :, 0], [[0, 1, 0.5], [1, 0, 0.5], [0, 0, 0]])
    assert (weights == weights[:, :, :1]).all()


def test_a_limb_may_be_loose_from_the_torso(case):
    memberships, names, vertices, triangles = case
    small, faces = tube(4, 5)
    owners = np.repeat([[False], [False], [False], [True]], len(small), axis=1)
    more = np.concatenate((np.concatenate((memberships, np.zeros((1, len(vertices)), bool))), owners), axis=1)
    both = np.concatenate((vertices, small + [2, 0, 0])), np.concatenate((triangles, faces + len(vertices)))
    parts = BodyParts.build(more, (*names, "Feather"), *both)
    assert (parts.vertex_weights[3] == 1.0).all()


def test_bad_parts_are_named(case):
    memberships, names, vertices, triangles = case
    nowhere = memberships.copy()
    nowhere[:, [17, 30]] = False
    faceless = bands(vertices, REACHES)
    faceless[0] |= vertices[:, 2] < 0.5
    faceless[2] = False
    faceless[2, [0, ALONG * 3]] = True
    faceless[0, 0] = False
    between = bands(vertices, ((0.4, 1.6), (1.6, 2.0), (0.0, 0.8)))
    between[1, np.flatnonzero(np.abs(vertices[:, 2] - 1.6) < 1e-9)[:4]] = False
    pieces = memberships.copy()
    pieces[1, [ALONG * 2 + 18, ALONG * 2 + 19]] = True
    for words, masks in (
        ("2 vertices are in no part.*first of them 17", nowhere),
        ("'Top' does not overlap 'Torso'", bands(vertices, ((0.4, 1.6), (1.65, 2.0), (0.0, 0.8)))),
        ("'Top' and 'Bottom' overlap in 36 vertices", bands(vertices, ((0.4, 1.6), (0.7, 2.0), (0.0, 0.8)))),
        ("'Top' has all of 'Torso'", bands(vertices, ((0.8, 1.6), (0.8, 2.0), (0.0, 0.8)))),
        ("'Bottom' lies wholly in 'Torso'", bands(vertices, ((0.0, 1.6), (1.2, 2.0), (0.0, 0.8)))),
        ("'Bottom' has no vertex", bands(vertices, ((0.0, 1.6), (1.2, 2.0), (7.0, 8.0)))),
        ("fit 3 names", memberships[:2]),
        ("'Bottom' has no whole face", faceless),
        ("faces are in no part as a whole.*between 'Torso' and 'Top'", between),
        ("'Top' is in 2 pieces.*2 vertices around vertex 100", pieces),
    ):
        with pytest.raises(InputError, match=words):
            BodyParts.build(masks, names, vertices, triangles)
