"""Learnt targets: frames come back, poses blend well, the box is never left, bad input is named."""

import io
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.baselines import target_representations
from benchmarks.mesh_sequences import edge_lengths, mesh_sequence, volumes
from solvers.core.errors import InputError
from solvers.core.steps import result_of
from solvers.shapes.target_space import TargetSpace, learn_target_steps
from solvers.surface.cotangent import lumped_mass

SEQUENCES = ("horse_gallop", "horse_poses", "human_samba", "walking_cat", "chicken_crossing", "face_poses")
PAIRS = 24


def flap(frames=20):
    """A sheet that bends one way and the other, a second one that only travels, and a loose vertex."""
    x, y = (a.reshape(-1) for a in np.meshgrid(np.linspace(0, 2, 16), np.linspace(0, 1, 8), indexing="ij"))
    i, j = (a.reshape(-1) for a in np.meshgrid(np.arange(15), np.arange(7), indexing="ij"))
    corner = i * 8 + j
    triangles = np.concatenate(
        (np.stack((corner, corner + 8, corner + 9), 1), np.stack((corner, corner + 9, corner + 1), 1))
    )
    sheets = []
    for phase in np.linspace(0, 2 * np.pi, frames, endpoint=False):
        turn = 1.2 * np.sin(phase) + 1e-9
        bent = np.stack((np.sin(turn * x) / turn, y, (1 - np.cos(turn * x)) / turn), axis=1)
        flat = np.stack((x, y, 0 * x + 3 + np.cos(phase)), axis=1)
        sheets.append(np.concatenate((bent, flat, [[5.0, 5.0, np.sin(phase)]])))
    return np.array(sheets), np.concatenate((triangles, triangles + 128))


def learn_target(*arguments, **options):
    return result_of(learn_target_steps(*arguments, **options))


@pytest.fixture(scope="module")
def learnt():
    """Spaces of real sequences by name and representation, learnt once."""
    known = {}

    def space(name, representation="combined", **options):
        key = name, representation, *options.items()
        if key not in known:
            vertices, triangles = mesh_sequence(name)
            known[key] = target_representations.learn(representation, vertices, triangles, **options)
        return known[key]

    return space


def test_frames_and_loose_vertices_come_back():
    vertices, triangles = flap()
    space = learn_target(vertices, triangles, variance=1.0)
    assert np.abs(space.vertices_of(space.coefficients) - vertices).max() < 1e-4
    one = space.vertices_of(space.coefficients[3])
    assert one.shape == vertices.shape[1:] and np.array_equal(one, space.vertices_of(space.coefficients)[3])


def test_a_whole_turn_apart_is_not_the_same_pose():
    """A mesh that spins twice: its coefficients follow the spin."""
    rest, triangles = flap()
    angle = np.linspace(0, 4 * np.pi, 80)
    spun = np.array([rest[0] @ Rotation.from_rotvec([0, 0, a]).as_matrix().T + [0, 0, a] for a in angle])
    space = learn_target(spun, triangles, variance=1.0)
    between = space.vertices_of(0.5 * (space.coefficients[40] + space.coefficients[41]))
    assert np.abs(edge_lengths(between[None], triangles) / edge_lengths(rest[:1], triangles) - 1).max() < 1e-3


def test_far_from_the_origin():
    vertices, triangles = flap()
    near, far = (learn_target(vertices + away, triangles, variance=1.0) for away in (0.0, 1e5))
    assert np.abs(far.vertices_of(far.coefficients) - 1e5 - vertices).max() < 1e-4
    assert near.components == far.components


def test_bare_gradients_stay_in_place():
    vertices, triangles = flap()
    space = target_representations.learn("gradients", vertices, triangles, variance=1.0)
    found = space.vertices_of(space.coefficients)
    mass = space.shape.surface.mass[:128]
    assert np.abs((found[:, :128] - vertices[0, :128]).transpose(0, 2, 1) @ mass).max() < 1e-6
    assert np.abs(edge_lengths(found, triangles) - edge_lengths(vertices, triangles)).max() < 1e-3


def test_stored_as_arrays():
    vertices, triangles = flap()
    space = learn_target(vertices, triangles)
    space = replace(space, box=replace(space.box, edge="hard"))
    file = io.BytesIO()
    np.savez(file, **space.to_arrays())
    file.seek(0)
    with np.load(file, allow_pickle=False) as arrays:
        again = TargetSpace.from_arrays(dict(arrays))
    assert again.box.edge == "hard"
    assert np.array_equal(again.vertices_of(space.coefficients), space.vertices_of(space.coefficients))


def test_progress_rises_to_one():
    vertices, triangles = flap()
    shares = list(learn_target_steps(vertices, triangles))
    assert shares == sorted(shares) and 0 < shares[0] and shares[-1] <= 1 and len(shares) > 3


def test_degenerate_meshes_are_learnt(rng):
    """Flipped faces, faces without area, slivers, many components and loose vertices; a face that closes at times."""
    vertices, triangles = flap()
    flipped = triangles.copy()
    flipped[::3] = flipped[::3, ::-1]
    extra = [[0, 0, 5], [7, 7, 7], [0, 8, 16], [256, 256, 0]]
    space = learn_target(vertices, np.concatenate((flipped, extra)), variance=1.0)
    assert np.abs(space.vertices_of(space.coefficients) - vertices).max() < 1e-4
    vertices[5:9, 1] = vertices[5:9, 0]
    vertices[12, :128] = vertices[12, :1]
    space = learn_target(vertices, triangles, variance=1.0)
    assert np.abs(space.vertices_of(space.coefficients) - vertices).max() < 1e-3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda v, t: (v[:1], t), "1 frame; choose"),
        (lambda v, t: (np.repeat(v[:1], 5, axis=0), t), "does not move"),
        (lambda v, t: (v + np.where(np.arange(v.size).reshape(v.shape) == 3000, np.nan, 0), t), "Vertex 229.*frame 3"),
        (lambda v, t: (v, t[:0]), "no faces"),
        (lambda v, t: (v, t + 30), "names vertex"),
        (lambda v, t: (v[:, :, :2], t), "shape"),
        (lambda v, t: (v * [1, 0, 0], t), "no face with an area"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(InputError, match=message):
        learn_target(*change(*flap()))


def test_the_box_is_never_left(rng):
    space = learn_target(*flap())
    kept = space.box.keep(space.coefficients[rng.integers(20, size=500)] * rng.normal(0, 5, (500, 1)))
    assert (kept >= space.coefficients.min(axis=0)).all() and (kept <= space.coefficients.max(axis=0)).all()


@pytest.mark.captures
@pytest.mark.slow
@pytest.mark.parametrize("name", SEQUENCES)
def test_learnt_frames_come_back(learnt, name):
    """To what the kept variance leaves; exactly with all of it."""
    vertices, _ = mesh_sequence(name)
    size = np.linalg.norm(np.ptp(vertices.reshape(-1, 3), axis=0))
    for variance, mean, most in ((0.999, 5e-3, 0.05), (1.0, 3e-4, 5e-3)):
        space = learnt(name, variance=variance)
        error = np.linalg.norm(space.vertices_of(space.coefficients) - vertices, axis=2) / size
        assert error.mean() < mean and error.max() < most


def midpoints(space, vertices, pairs):
    """Poses (N, V, 3) half-way between pairs (2, N) of frames, and their errors against the mean of both."""
    triangles, mass = space.triangles, lumped_mass(vertices[0], space.triangles)
    mass /= mass.sum()
    first, second = vertices[pairs[0]], vertices[pairs[1]]
    found = space.vertices_of(0.5 * (space.coefficients[pairs[0]] + space.coefficients[pairs[1]]))
    length = 0.5 * (edge_lengths(first, triangles) + edge_lengths(second, triangles))
    volume = 0.5 * (volumes(first, triangles) + volumes(second, triangles))
    return {
        "edges": np.abs(edge_lengths(found, triangles) - length).sum() / length.sum(),
        "volume": np.abs(volumes(found, triangles) / volume - 1).mean(),
        "volume_most": np.abs(volumes(found, triangles) / volume - 1).max(),
        "centroid": np.linalg.norm(mass @ found - 0.5 * mass @ (first + second), axis=1).mean(),
    }


@pytest.mark.captures
@pytest.mark.slow
@pytest.mark.parametrize(("name", "share", "unique"), [("horse_gallop", 0.25, 24), ("horse_poses", 0.35, 10)])
def test_midpoints_of_poses(learnt, rng, name, share, unique):
    """Section by section what the combined space is for: edges and volume keep, and the place is not lost."""
    vertices, _ = mesh_sequence(name)
    pairs = np.array([rng.choice(unique, 2, replace=False) for _ in range(PAIRS)]).T
    found = {kind: midpoints(learnt(name, kind), vertices, pairs) for kind in ("combined", "points", "gradients")}
    for kind, figures in found.items():
        print(name, kind, {key: float(f"{value:.3g}") for key, value in figures.items()})
    assert found["combined"]["edges"] <= share * found["points"]["edges"]
    assert found["combined"]["volume"] <= 0.01
    assert found["combined"]["centroid"] <= 0.1 * found["gradients"]["centroid"]
