"""Overlapping parts of a body: what is refused and named, and weights that lead from one part to the other."""

import numpy as np
import pytest

from solvers.core.errors import InputError
from solvers.transfer.body_parts import BodyParts

AROUND, ALONG = 12, 41


def tube(along=ALONG, around=AROUND):
    """An open tube along z, from 0 to 2: vertices (V, 3), triangles (T, 3)."""
    angle, height = np.meshgrid(np.arange(around) * 2 * np.pi / around, np.linspace(0, 2, along), indexing="ij")
    vertices = np.stack((0.3 * np.cos(angle), 0.3 * np.sin(angle), height), axis=-1).reshape(-1, 3)
    i, j = (a.reshape(-1) for a in np.meshgrid(np.arange(around), np.arange(along - 1), indexing="ij"))
    left, right = i * along + j, (i + 1) % around * along + j
    corner = np.stack((left, right, right + 1, left + 1))
    return vertices, np.concatenate((corner[[0, 1, 2]].T, corner[[0, 2, 3]].T))


def bands(vertices, *reaches):
    """Memberships by height: of each part from where to where."""
    height = vertices[:, 2]
    return np.array([(height > low - 1e-9) & (height < high + 1e-9) for low, high in reaches])


# A torso in the middle, an upper and a lower limb.
REACHES = (0.4, 1.6), (1.2, 2.0), (0.0, 0.8)
NAMES = ("Torso", "Top", "Bottom")


@pytest.fixture
def case():
    vertices, triangles = tube()
    return bands(vertices, *REACHES), NAMES, vertices, triangles


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


def test_free_of_size_and_place(case):
    memberships, names, vertices, triangles = case
    found = BodyParts.build(memberships, names, 100.0 * vertices[:, [1, 2, 0]] + 7.0, triangles)
    for mine, others in zip(BodyParts.build(*case).face_weights, found.face_weights, strict=True):
        assert np.abs(mine - others).max() < 1e-9


def test_one_part_is_the_whole(case):
    _, _, vertices, triangles = case
    parts = BodyParts.build(np.ones((1, len(vertices)), bool), ("Body",), vertices, triangles)
    assert (parts.face_weights[0] == 1.0).all() and len(parts.faces[0]) == len(triangles)


def test_unwelded_seams_do_not_stop_the_way(case):
    """Every other row of faces with corners of its own."""
    memberships, names, vertices, triangles = case
    doubled = np.concatenate((vertices, vertices))
    split = triangles + len(vertices) * (np.arange(len(triangles)) % 3 == 0)[:, None]
    used = np.unique(split)
    number = np.zeros(len(doubled), int)
    number[used] = np.arange(len(used))
    found = BodyParts.build(np.tile(memberships, 2)[:, used], names, doubled[used], number[split])
    for mine, others in zip(BodyParts.build(*case).face_weights, found.face_weights, strict=True):
        assert np.abs(mine - others).max() < 1e-3


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


def refused(case, words, **changes):
    memberships, names, vertices, triangles = case
    with pytest.raises(InputError, match=words) as error:
        BodyParts.build(changes.get("memberships", memberships), names, vertices, changes.get("triangles", triangles))
    return str(error.value)


def test_bad_parts_are_named(case):
    memberships, names, vertices, triangles = case
    less = memberships.copy()
    less[:, [17, 30]] = False
    assert "first of them 17" in refused(case, "2 vertices are in no part", memberships=less)
    reaches = {
        "'Top' does not overlap 'Torso'": ((0.4, 1.6), (1.65, 2.0), (0.0, 0.8)),
        "'Top' and 'Bottom' overlap in 36 vertices": ((0.4, 1.6), (0.7, 2.0), (0.0, 0.8)),
        "'Top' has all of 'Torso'": ((0.8, 1.6), (0.8, 2.0), (0.0, 0.8)),
        "'Bottom' lies wholly in 'Torso'": ((0.0, 1.6), (1.2, 2.0), (0.0, 0.8)),
        "'Bottom' has no vertex": ((0.0, 1.6), (1.2, 2.0), (7.0, 8.0)),
    }
    for words, parts in reaches.items():
        refused(case, words, memberships=bands(vertices, *parts))
    refused(case, "fit 3 names", memberships=memberships[:2])


def test_a_part_without_a_whole_face(case):
    _, _, vertices, _ = case
    less = bands(vertices, *REACHES)
    less[0] |= vertices[:, 2] < 0.5
    less[2] = False
    less[2, [0, ALONG * 3]] = True
    less[0, 0] = False
    refused(case, "'Bottom' has no whole face", memberships=less)


def test_a_face_between_parts(case):
    _, _, vertices, _ = case
    less = bands(vertices, (0.4, 1.6), (1.6, 2.0), (0.0, 0.8))
    less[1, np.flatnonzero(np.abs(vertices[:, 2] - 1.6) < 1e-9)[:4]] = False
    assert "between 'Torso' and 'Top'" in refused(case, "faces are in no part as a whole", memberships=less)


def test_a_limb_in_pieces_is_named(case):
    memberships, _, vertices, _ = case
    more = memberships.copy()
    more[1, [ALONG * 2 + 18, ALONG * 2 + 19]] = True
    assert "2 vertices around vertex 100" in refused(case, "'Top' is in 2 pieces", memberships=more)
