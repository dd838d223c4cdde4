"""What a body wears and holds changes nothing of where its limbs are found, and goes along with one of them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.transfer.body_parts import BodyParts
from solvers.transfer.part_suggestion import suggestion
from tests.standing import captured, split_faces


def tube(along, radius, around=8):
    """A ring about Z: (V, 3) and triangles; radius: of the ring, and of what it is bent of."""
    angle = np.arange(along) * 2 * np.pi / along
    turn = np.arange(around) * 2 * np.pi / around
    away = radius[0] + radius[1] * np.cos(turn)
    points = np.stack(
        (np.outer(np.cos(angle), away), np.outer(np.sin(angle), away), np.tile(radius[1] * np.sin(turn), (along, 1))),
        axis=-1,
    ).reshape(-1, 3)
    i, j = (part.reshape(-1) for part in np.meshgrid(np.arange(along), np.arange(around), indexing="ij"))
    corner = [(i + a) % along * around + (j + b) % around for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    return points, np.concatenate((np.stack(corner[:3], axis=1), np.stack((corner[0], *corner[2:]), axis=1)))


def block(size, cells=(1, 1, 1)):
    """The surface of a box of some size about the origin, of so many cells along each axis."""
    points, faces, count = [], [], 0
    for axis in range(3):
        one, other = (axis + 1) % 3, (axis + 2) % 3
        u, v = np.meshgrid(*(np.linspace(-0.5, 0.5, cells[k] + 1) for k in (one, other)), indexing="ij")
        number = np.arange(u.size).reshape(u.shape)
        corner = [part.reshape(-1) for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])]
        for side in (-0.5, 0.5):
            place = np.zeros((u.size, 3))
            place[:, axis], place[:, one], place[:, other] = side, u.reshape(-1), v.reshape(-1)
            points.append(place * size)
            faces += [np.stack(corner[:3], axis=1) + count, np.stack((corner[0], *corner[2:]), axis=1) + count]
            count += u.size
    return np.concatenate(points), np.concatenate(faces)


def moved(mesh, place):
    return mesh[0] + place, mesh[1]


def joined(*meshes):
    """One mesh of several."""
    starts = np.cumsum([0, *(len(points) for points, _ in meshes)])
    faces = [triangles + start for (_, triangles), start in zip(meshes, starts, strict=False)]
    return np.concatenate([points for points, _ in meshes]), np.concatenate(faces)


def capsule(ends, radius, along=14, around=12):
    """A closed limb between two points."""
    start, end = np.asarray(ends, float)
    axis = (end - start) / np.linalg.norm(end - start)
    turn = Rotation.align_vectors(axis[None], [[0.0, 0.0, 1.0]])[0]
    share = np.linspace(0.0, 1.0, along)
    wide = radius * np.sqrt(np.clip(1.0 - (2.0 * share - 1.0) ** 6, 0.0, None)) + 1e-3 * radius
    angle = np.arange(around) * 2 * np.pi / around
    length = np.linalg.norm(end - start) * share
    flat = np.outer(wide, np.cos(angle)), np.outer(wide, np.sin(angle)), np.tile(length[:, None], around)
    i, j = (part.reshape(-1) for part in np.meshgrid(np.arange(along - 1), np.arange(around), indexing="ij"))
    corner = [(i + a) * around + (j + b) % around for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
    faces = np.concatenate((np.stack(corner[:3], axis=1), np.stack((corner[0], *corner[2:]), axis=1)))
    return turn.apply(np.stack(flat, axis=-1).reshape(-1, 3)) + start, faces


def robot():
    """A man 1.8 m tall of eight closed pieces that are sunk into each other: trunk, head, arms of two, legs."""
    pieces = [capsule(((0, 0, 0.8), (0, 0, 1.5)), 0.19), capsule(((0, 0, 1.45), (0, 0, 1.8)), 0.12)]
    for side in (-1, 1):
        pieces.append(capsule(((0.1 * side, 0, 0.9), (0.16 * side, 0, 0.0)), 0.09))
        pieces.append(capsule(((0.12 * side, 0, 1.38), (0.5 * side, 0, 1.36)), 0.06))
        pieces.append(capsule(((0.46 * side, 0, 1.36), (0.85 * side, 0.03, 1.35)), 0.05))
    points, faces = joined(*pieces)
    # Not quite like its mirror image, so that nothing is exactly as far as anything else.
    return points + 0.004 * np.sin(7.0 * points[:, [1, 2, 0]] + 1.0), faces


WORN = {
    "a box over a hat": moved(block((0.1, 0.1, 0.1)), (0.0, 0.0, 1.88)),
    "a halo": moved(tube(24, (0.15, 0.02)), (0.0, 0.0, 1.95)),
    "a sword": moved(block((0.05, 0.02, 1.1), (1, 1, 20)), (0.86, 0.02, 1.8)),
    "glasses": joined(*(moved(block((0.05, 0.01, 0.04)), (x, -0.12, 1.66)) for x in (-0.05, 0.05))),
    "eyes": joined(*(moved(tube(10, (0.012, 0.01)), (x, -0.1, 1.68)) for x in (-0.04, 0.04))),
}
# By what these touch: the head, or an arm.
HELD = {name: (0.86, 1.35) if name == "a sword" else (0.0, 1.79) for name in WORN}


@pytest.mark.parametrize("first", [False, True])
def test_what_is_worn_or_held_changes_nothing(first):
    """One after the other and all together, before or behind the body in the file."""
    vertices, triangles = robot()
    alone = suggestion(vertices, triangles, 6)
    assert alone.body.all() and alone.carried == 0
    for names in (*([name] for name in WORN), list(WORN)):
        worn = joined(*(WORN[name] for name in names))
        more = joined(worn, (vertices, triangles)) if first else joined((vertices, triangles), worn)
        found = suggestion(*more, 6)
        body = np.arange(len(more[0])) >= len(worn[0]) if first else np.arange(len(more[0])) < len(vertices)
        assert np.array_equal(found.body, body) and found.carried == len(np.unique(found.pieces[~body]))
        assert np.array_equal(found.parts[:, body], alone.parts)
        BodyParts.build(found.parts, tuple("abcdef"), *more)
        own = found.parts[:, ~body]
        assert (own.sum(axis=0) == 1).all()
        for name in names:
            x, z = HELD[name]
            near = np.square(vertices[:, [0, 2]] - (x, z)).sum(axis=1).argmin()
            inside = (more[0][~body][:, None] == WORN[name][0]).all(axis=2).any(axis=1)
            assert (own[:, inside] == alone.parts[:, near, None]).all(), name


def test_a_body_of_pieces_is_found_with_all_of_them():
    """Also where its limbs come in more and smaller ones."""
    vertices, triangles = robot()
    middle = np.abs(vertices[triangles].mean(axis=1))
    twin, apart = split_faces(triangles, (middle[:, 2] < 0.45) | (middle[:, 0] > 0.7), len(vertices))
    gap = np.where(np.isin(np.arange(len(twin)), np.unique(apart[(middle[:, 2] < 0.45)])), -0.01, 0.0)
    found = suggestion(vertices[twin] + np.outer(gap, [0.0, 0.0, 1.0]), apart, 5)
    assert found.body.all()
    low = vertices[twin][found.parts[1:].any(axis=0), 2]
    assert low.min() < 0.05 and sorted(found.parts[1:].sum(axis=1) > 20) == [True] * 4


@pytest.mark.parametrize("turns", [True, False])
def test_a_piece_goes_with_what_it_moves_with(turns):
    """A sword that leans against a leg is in the hand that it moves with, where poses show that."""
    vertices, triangles = robot()
    sword = moved(block((0.02, 0.02, 0.9), (1, 1, 16)), (0.27, 0.0, 0.5))
    more, faces = joined((vertices, triangles), sword)
    found = suggestion(more, faces, 6)
    (owner,) = np.unique(found.parts[:, ~found.body].argmax(axis=0))
    leg, arm = (
        int(found.parts[:, np.square(vertices[:, [0, 2]] - place).sum(axis=1).argmin()].argmax())
        for place in ((0.16, 0.1), (0.8, 1.35))
    )
    assert owner == leg
    poses = []
    for angle in (0.3, 0.8, 1.2):
        pose, shoulder = more.copy(), np.array((0.2, 0.0, 1.38))
        with_arm = found.parts[arm] | ~found.body
        pose[with_arm] = Rotation.from_rotvec((angle, 0.0, 0.4 * angle)).apply(pose[with_arm] - shoulder) + shoulder
        if not turns:
            hand = int(np.flatnonzero(found.body)[vertices[:, 0].argmax()])
            pose[~found.body] = more[~found.body] + pose[hand] - more[hand]
        poses.append(pose)
    assert found.moving_along(more, np.stack(poses)).parts[arm, ~found.body].all()
    still = found.moving_along(more, np.stack((more, more + 0.1)))
    assert np.array_equal(still.parts, found.parts)


@pytest.mark.captures
def test_a_captured_person_with_a_halo_and_a_sword():
    vertices, triangles = captured("human_samba")
    vertices = vertices[0]
    alone = suggestion(vertices, triangles, 6)
    top, hand = vertices[vertices[:, 2].argmax()], vertices[vertices[:, 1].argmax()]
    halo = moved(tube(24, (0.15, 0.02)), top + [0.0, 0.0, 0.06])
    sword = moved(block((0.05, 0.02, 1.1), (1, 1, 20)), hand + [0.0, 0.0, 0.5])
    found = suggestion(*joined((vertices, triangles), halo, sword), 6)
    assert np.array_equal(found.parts[:, : len(vertices)], alone.parts)
    assert (found.parts[:, len(vertices) :].sum(axis=0) == 1).all()
