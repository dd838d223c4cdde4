"""The caterpillar of the examples is a fair target: a sound surface in all frames, on feet that do not slide."""

import numpy as np
import pytest

from examples.caterpillar import FRAMES, PARTS, PERIOD, STRIDE, make_caterpillar

CRAWLS = ("crawl", "crawl on")


@pytest.fixture(scope="module")
def made():
    return make_caterpillar()


@pytest.fixture(scope="module")
def vertices(made):
    return made.vertices.astype(float)


@pytest.fixture(scope="module")
def triangles(made):
    quads = made.quads
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]], made.triangles])


@pytest.fixture(scope="module")
def volumes(vertices, triangles):
    """(F,) enclosed, of all components."""
    a, b, c = np.moveaxis(vertices[:, triangles], 2, 0)
    return np.einsum("fti,fti->f", a, np.cross(b, c)) / 6.0


def test_size_and_nothing_is_under_the_floor(made):
    assert made.vertices.shape == (FRAMES, 1998, 3) and made.vertices.dtype == np.float32
    assert np.isfinite(made.vertices).all()
    assert len(made.colours) == len(made.quads) + len(made.triangles)
    assert 0.99 < np.ptp(made.vertices[0, :, 0]) < 1.05
    assert made.vertices[..., 2].min() > -1e-6


def test_closed_manifold(made, triangles):
    """Every directed edge once, with its opposite: closed, two faces an edge, all turned the same way."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    there = set(map(tuple, edges.tolist()))
    assert len(there) == len(edges)
    assert all((b, a) in there for a, b in there)
    assert set(np.unique(triangles)) == set(range(made.vertices.shape[1]))
    # Euler's number of three spheres: body and antennae.
    assert made.vertices.shape[1] - len(edges) // 2 + len(triangles) == 2 * 3


def test_no_face_is_flipped_or_flat(vertices, triangles, volumes):
    """Outside stays outside, and no edge is folded much more sharply than at rest."""
    assert (volumes > 0.0).all()
    a, b, c = np.moveaxis(vertices[:, triangles], 2, 0)
    normals = np.cross(b - a, c - a)
    sizes = np.linalg.norm(normals, axis=2)
    assert sizes.min() > 2e-5
    normals /= sizes[..., None]
    face_of = {}
    for face, (i, j, k) in enumerate(triangles.tolist()):
        face_of |= {(i, j): face, (j, k): face, (k, i): face}
    beside = np.array([(face, face_of[edge[::-1]]) for edge, face in face_of.items()])
    folds = np.einsum("fpi,fpi->fp", normals[:, beside[:, 0]], normals[:, beside[:, 1]])
    assert folds[0].min() > -0.61
    assert folds.min() > -0.7


def test_volume_is_kept_but_where_it_is_squashed(volumes):
    start, stop = PARTS["jump"]
    ratio = volumes / volumes[0]
    assert np.abs(np.delete(ratio, np.s_[start:stop]) - 1.0).max() < 0.01
    assert 0.7 < ratio[start:stop].min() < 0.85
    assert ratio[start:stop].max() < 1.1


def test_crawl_is_periodic(vertices):
    start, stop = PARTS["crawl"]
    steady = vertices[start + PERIOD : stop - 2 * PERIOD]
    np.testing.assert_allclose(steady[PERIOD:], steady[:-PERIOD] + [STRIDE, 0.0, 0.0], atol=1e-6)


def test_travels_forwards_while_it_crawls(made):
    for name, steps in zip(CRAWLS, (9, 2), strict=True):
        start, stop = PARTS[name]
        way = made.travel[start:stop]
        assert (np.diff(way[:, 0]) >= -1e-9).all()
        assert way[-1, 0] - way[0, 0] == pytest.approx(steps * STRIDE, abs=0.02)
        assert np.abs(way[:, 1:]).max() == 0.0


def test_feet_do_not_slide_in_contact(vertices):
    """Less than 2 mm a frame, of all vertices within a millimetre of the floor; and some always are, but in flight."""
    low = vertices[..., 2] < 1e-3
    planted = low[1:] & low[:-1]
    slides = np.linalg.norm(np.diff(vertices, axis=0), axis=2)
    assert slides[planted].max() < 2e-3
    start, stop = PARTS["jump"]
    assert (np.delete(planted.sum(axis=1), np.s_[start:stop]) > 5).all()
    assert planted[start:stop].any(axis=1).sum() > 50
    assert not planted[start:stop].any(axis=1).all()


def test_parts_cover_all_frames_and_do_what_they_are_named(made, vertices):
    edges = [edge for part in made.parts.values() for edge in part]
    assert edges[0] == 0 and edges[-1] == FRAMES
    assert edges[1:-1:2] == edges[2::2]
    assert all(start < stop for start, stop in made.parts.values())
    head, rest = vertices[:, 1920:1922].mean(axis=1), vertices[0, 1920:1922].mean(axis=0)
    moved = {name: head[start:stop] for name, (start, stop) in made.parts.items()}
    assert np.abs(moved["bend"][:, 1]).max() > 0.15
    assert moved["lift"][:, 2].max() > rest[2] + 0.15
    lowest = vertices[slice(*made.parts["jump"]), :, 2].min(axis=1)
    assert lowest.max() > 0.2


def test_moves_smoothly_from_part_to_part(vertices):
    """No vertex jerks from one frame to the next, take-off and landing aside."""
    start, stop = PARTS["jump"]
    jerks = np.linalg.norm(np.diff(vertices, n=2, axis=0), axis=2).max(axis=1)
    assert np.delete(jerks, np.s_[start - 2 : stop]).max() < 0.03
