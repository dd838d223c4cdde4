"""Meshes put together from parts: exact where they agree, free of shrinkage, and without seams where they do not."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.rotations.polar import polar
from solvers.surface.cotangent import face_neighbours, surface_operators
from solvers.transfer.body_parts import BodyParts
from solvers.transfer.stitching import Stitcher
from tests.standing import bands, split_faces, upright_tube

AROUND, ALONG = 16, 41
NAMES = ("Torso", "Top", "Bottom")
REACHES = np.array([(0.6, 1.4), (1.2, 2.0), (0.0, 0.8)])


def tube():
    """A bumpy one."""
    return upright_tube(ALONG, AROUND, lambda angle, height: 0.25 + 0.03 * np.sin(3 * angle + 2 * height))


def bent(vertices, top, bottom):
    """The tube with its ends curled by so much, radians, its middle as it is."""
    out = vertices.copy()
    for start, sign, angle in ((1.3, 1.0, top), (0.7, -1.0, bottom)):
        way = np.maximum(sign * (vertices[:, 2] - start), 0.0)
        turn = angle * np.clip(way / 0.4, 0.0, 1.0)
        # The centre line: an arc of 0.4, then straight.
        bow = np.where(abs(angle) > 1e-9, 0.4 / (angle or 1.0), 0.0)
        rest = np.maximum(way - 0.4, 0.0)
        x, z = bow * (1 - np.cos(turn)) + rest * np.sin(angle), bow * np.sin(turn) + rest * np.cos(angle)
        on = way > 0.0
        spot = np.stack((x + np.cos(turn) * vertices[:, 0], vertices[:, 1], start + sign * z), axis=1)
        spot[:, 2] -= sign * np.sin(turn) * vertices[:, 0]
        out[on] = spot[on]
    return out


@pytest.fixture(scope="module")
def body():
    vertices, triangles = tube()
    parts = BodyParts.build(bands(vertices, REACHES), NAMES, vertices, triangles)
    captured = np.stack([bent(vertices, top, low) for top in (0.1, 0.5, 0.9) for low in (0.1, -0.6)])
    return vertices, triangles, parts, captured, Stitcher.build(vertices, triangles, parts, captured)


def cut(parts, mesh):
    return [mesh[some] for some in parts.members]


def only(number, count=3):
    """Captured meshes and weights that are one mesh alone."""
    return np.full((count, 3), number), np.tile([1.0, 0.0, 0.0], (count, 1))


THREE = np.tile([0, 2, 4], (3, 1)), np.tile([0.5, 0.3, 0.2], (3, 1))


def edges(vertices, triangles):
    return np.linalg.norm(vertices[triangles] - vertices[np.roll(triangles, 1, axis=1)], axis=-1)


def dihedrals(vertices, triangles):
    """(N,) angles between neighbouring faces, and the pairs (2, N)."""
    corner = vertices[triangles]
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    pairs = face_neighbours(triangles.T)
    return np.arccos(np.clip((normal[pairs[0]] * normal[pairs[1]]).sum(axis=1), -1, 1)), pairs


@pytest.mark.parametrize("stitch", [True, False])
@pytest.mark.parametrize("correct", [True, False])
def test_a_captured_pose_comes_back(body, correct, stitch):
    _, _, parts, captured, stitcher = body
    for number, pose in enumerate(captured):
        found = stitcher.assemble(cut(parts, pose), *only(number), correct=correct, stitch=stitch)
        assert np.abs(found - pose).max() < 1e-5


def test_the_turn_is_that_of_a_polar_decomposition(body, rng):
    """Against maps in space between captured and predicted faces, with their normals."""
    vertices, triangles, parts, captured, stitcher = body
    pose = captured[1] + rng.normal(0, 0.02, vertices.shape)
    surface = surface_operators(vertices, triangles)
    nearest, weights = THREE
    corrected = np.zeros((len(surface.faces), 3, 2))

    def gradients(mesh):
        found = np.moveaxis(surface.gradients(mesh.T), -1, 0)
        normal = np.cross(found[..., 0], found[..., 1])
        return found, np.concatenate((found, normal[..., None] / np.linalg.norm(normal, axis=1)[:, None, None]), axis=2)

    predicted = gradients(pose)[1]
    for number, weight in zip(nearest[0], weights[0], strict=True):
        flat, full = gradients(captured[number])
        corrected += weight * polar(predicted @ np.linalg.inv(full))[0] @ flat
    divergence = surface.divergence @ np.moveaxis(corrected, -1, 0).reshape(-1, 3)
    places = (stitcher.blend @ np.concatenate(cut(parts, pose))).T
    expected = stitcher.whole.system.solve(divergence.T, places).T
    assert np.abs(stitcher.assemble(cut(parts, pose), nearest, weights) - expected).max() < 2e-6


@pytest.mark.parametrize("stitch", [True, False])
@pytest.mark.parametrize("correct", [True, False])
def test_turns_and_moves_with_its_parts(body, rng, correct, stitch):
    _, _, parts, captured, stitcher = body
    rows = [part + rng.normal(0, 0.01, part.shape) for part in cut(parts, captured[0])]
    turn, move = Rotation.random(random_state=3).as_matrix(), np.array([0.3, -0.2, 0.5])
    found = stitcher.assemble(rows, *THREE, correct=correct, stitch=stitch)
    moved = stitcher.assemble([part @ turn.T + move for part in rows], *THREE, correct=correct, stitch=stitch)
    assert np.abs(found @ turn.T + move - moved).max() < 1e-5


@pytest.mark.parametrize("stitch", [True, False])
def test_shrinkage_is_corrected(body, stitch):
    """A limb predicted at 85 % of its size has all of it again; uncorrected it has not."""
    _, triangles, parts, captured, stitcher = body
    rows = cut(parts, captured[0])
    rows[1] = (rows[1] - [0, 0, 1.2]) * 0.85 + [0, 0, 1.2]
    limb = triangles[(tube()[0][triangles, 2] > 1.45).all(axis=1)]
    true = edges(captured[0], limb)
    found = edges(stitcher.assemble(rows, *only(0), stitch=stitch), limb)
    bare = edges(stitcher.assemble(rows, *only(0), correct=False, stitch=stitch), limb)
    assert np.abs(found / true - 1.0).max() < 0.01
    assert np.abs(np.median(bare / true) - 0.85) < 0.02


def test_limbs_that_come_off_are_stitched_without_seams(body, rng):
    """Each limb is turned by 15 degrees and moved away: creases at the rims of the overlaps stay as in captures."""
    vertices, triangles, parts, captured, stitcher = body
    own, pairs = dihedrals(captured[0], triangles)
    middles = vertices[triangles].mean(axis=1)[:, 2]
    rims = np.unique(REACHES[1:, :])[1:-1].tolist() + [0.6, 1.4]
    at_rims = np.any([np.abs(middles[pairs].mean(axis=0) - rim) < 0.06 for rim in rims], axis=0)
    usual = np.abs(own[None] - [dihedrals(pose, triangles)[0] for pose in captured]).max(axis=0)
    rows = cut(parts, captured[0])
    for part, pivot in ((1, [0, 0, 1.3]), (2, [0, 0, 0.7])):
        turn = Rotation.from_rotvec(rng.normal(size=3)).as_rotvec()
        turn = Rotation.from_rotvec(np.radians(15) * turn / np.linalg.norm(turn)).as_matrix()
        rows[part] = (rows[part] - pivot) @ turn.T + pivot + rng.normal(0, 0.02, 3)
    excess = {}
    for stitch in (True, False):
        found = stitcher.assemble(rows, *only(0), stitch=stitch)
        excess[stitch] = np.abs(dihedrals(found, triangles)[0] - own)[at_rims]
    assert excess[True].max() < np.radians(4) and excess[True].max() < usual[at_rims].max()
    assert excess[True].max() < 0.6 * excess[False].max()


def test_faces_without_area_are_no_trouble(body):
    vertices, triangles, parts, captured, _ = body
    flat = captured.copy()
    flat[1][triangles[200]] = flat[1][triangles[200, 0]]
    flat[2][triangles[300, 1]] = flat[2][triangles[300, 0]]
    stitcher = Stitcher.build(vertices, triangles, parts, flat)
    for pose in flat[:3]:
        found = stitcher.assemble(cut(parts, pose), np.tile([0, 1, 2], (3, 1)), np.full((3, 3), 1 / 3))
        assert np.isfinite(found).all() and np.abs(found - pose).max() < 1.0
    found = stitcher.assemble([0.0 * part for part in cut(parts, flat[0])], *THREE)
    assert np.isfinite(found).all()
    with pytest.raises(InputError, match="no face with an area"):
        Stitcher.build(np.zeros_like(vertices), triangles, parts, captured)


def test_seams_of_the_mesh_stay_closed(body, rng):
    """Corners that are split in the file: what lies together in all captures does in the result."""
    vertices, triangles, parts, captured, stitcher = body
    twin, split = split_faces(triangles, np.arange(len(triangles)) % 3 == 0, len(vertices))
    memberships = np.array([np.isin(twin, some) for some in parts.members])
    of_split = BodyParts.build(memberships, NAMES, vertices[twin], split)
    twins = Stitcher.build(vertices[twin], split, of_split, captured[:, twin])
    pose = captured[2] + rng.normal(0, 0.02, vertices.shape)
    for stitch in (True, False):
        expected = stitcher.assemble(cut(parts, pose), *THREE, stitch=stitch)
        found = twins.assemble(cut(of_split, pose[twin]), *THREE, stitch=stitch)
        assert np.abs(found - expected[twin]).max() < 1e-2
        first = np.unique(twin, return_index=True)[1]
        assert np.abs(found - found[first][np.searchsorted(twin[first], twin)]).max() < 1e-6


def test_one_part_alone(body):
    vertices, triangles, _, captured, _ = body
    parts = BodyParts.build(np.ones((1, len(vertices)), bool), ("Body",), vertices, triangles)
    stitcher = Stitcher.build(vertices, triangles, parts, captured)
    found = stitcher.assemble([captured[3]], *only(3, 1))
    assert np.abs(found - captured[3]).max() < 1e-5
