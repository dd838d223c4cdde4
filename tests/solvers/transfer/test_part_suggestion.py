"""Limbs by shape alone: of a flat figure whose limbs are known, and of captured people and animals."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from solvers.core.errors import InputError
from solvers.transfer import part_suggestion
from solvers.transfer.body_parts import BodyParts
from solvers.transfer.part_suggestion import suggest_parts
from tests.standing import captured, split_faces

SPACING = 0.025
# Middles of the outer halves of the limbs of the figure, x and z.
LEGS, ARMS, HEAD = ((0.125, 0.2), (-0.125, 0.2)), ((0.65, 1.35), (-0.65, 1.35)), ((0.0, 1.75),)


def sheet(inside):
    """A mesh (V, 3), (T, 3) in the plane of x and z, with a border: the cells of a grid whose corners are inside."""
    x, z = np.meshgrid(np.arange(-40, 41) * SPACING, np.arange(0, 90) * SPACING, indexing="ij")
    number = np.arange(x.size).reshape(x.shape)
    corners = np.stack((number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])).reshape(4, -1)
    points = np.stack((x, 0.0 * x, z), axis=-1).reshape(-1, 3)
    kept = inside(points[:, 0], points[:, 2])[corners].all(axis=0)
    triangles = np.concatenate((corners[[0, 1, 2]].T, corners[[0, 2, 3]].T))[np.tile(kept, 2)]
    used, triangles = np.unique(triangles, return_inverse=True)
    return points[used], triangles.reshape(-1, 3)


def figure(x, z):
    """A person with arms spread, fingers and ears."""
    x = abs(x)
    torso = (x <= 0.2) & (z >= 0.79) & (z <= 1.41)
    legs = (x >= 0.05) & (x <= 0.2) & (z <= 0.81)
    arms = (x <= 0.85) & (abs(z - 1.35) <= 0.06)
    fingers = (x <= 0.95) & ((abs(z - 1.3) <= 0.013) | (abs(z - 1.4) <= 0.013)) & (x >= 0.8)
    head = (x <= 0.1) & (z >= 1.39) & (z <= 1.9)
    return torso | legs | arms | fingers | head


def waved(vertices):
    """Not flat, so that nothing is exactly as far as anything else."""
    vertices[:, 1] = 0.03 * np.sin(5.0 * vertices[:, 0] + 1.0) + 0.02 * np.cos(4.0 * vertices[:, 2])
    return vertices


@pytest.fixture(scope="module")
def person():
    vertices, triangles = sheet(figure)
    return waved(vertices), triangles


def owners(vertices, parts, places):
    """Which limb alone has the vertex nearest to each of some places."""
    nearest = [np.square(vertices[:, [0, 2]] - place).sum(axis=1).argmin() for place in places]
    return [int(parts[1:, vertex].argmax()) + 1 if not parts[0, vertex] else 0 for vertex in nearest]


def suggested(vertices, triangles, *count):
    """Parts that are valid."""
    parts = suggest_parts(vertices, triangles, *count)
    BodyParts.build(parts, tuple(f"Part {number}" for number in range(len(parts))), vertices, triangles)
    return parts


def test_legs_and_arms_and_then_the_head(person):
    vertices, triangles = person
    parts = suggested(vertices, triangles)
    assert parts.shape == (5, len(vertices)) and parts.dtype == bool
    assert sorted(owners(vertices, parts, LEGS + ARMS)) == [1, 2, 3, 4]
    assert owners(vertices, parts, HEAD + ((0.0, 1.1), (0.15, 1.0))) == [0, 0, 0]
    more = suggested(vertices, triangles, 6)
    assert owners(vertices, more, HEAD) == [5]
    two = suggest_parts(vertices, triangles, 3)
    assert len(set(owners(vertices, two, LEGS))) * len(set(owners(vertices, two, ARMS))) == 2
    assert sorted(owners(vertices, suggest_parts(vertices, triangles, 4), HEAD)) == [3]


def test_thin_horns_come_last():
    """They reach out farther than anything else."""
    vertices, triangles = sheet(lambda x, z: figure(x, z) | ((abs(x) <= 0.8) & (abs(z - 1.86) <= 0.02)))
    parts = suggested(waved(vertices), triangles)
    assert sorted(owners(vertices, parts, LEGS + ARMS)) == [1, 2, 3, 4]
    horns = owners(vertices, suggest_parts(vertices, triangles, 7), ((0.75, 1.86), (-0.75, 1.86)))
    assert sorted(horns) == [5, 6]


def test_limbs_end_where_they_join_and_overlap_there(person, monkeypatch):
    """An arm's band lies outside of the torso's side, a leg's below the hip."""
    vertices, triangles = person
    parts = suggest_parts(vertices, triangles)
    arm, leg = owners(vertices, parts, (ARMS[0], LEGS[0]))
    both = vertices[parts[arm] & parts[0]][:, 0]
    assert 0.1 < both.min() < 0.35 and 0.05 < np.ptp(both) < 0.3
    both = vertices[parts[leg] & parts[0]][:, 2]
    assert 0.6 < both.max() < 0.95 and 0.05 < np.ptp(both) < 0.3
    monkeypatch.setattr(part_suggestion, "_OVERLAP", 0.12)
    wide = suggest_parts(vertices, triangles)
    assert np.ptp(vertices[wide[leg] & wide[0]][:, 2]) > 1.5 * np.ptp(both)


def test_free_of_place_size_and_the_file(person):
    vertices, triangles = person
    parts = suggest_parts(vertices, triangles)
    assert np.array_equal(parts, suggest_parts(vertices, triangles))
    turn = Rotation.random(random_state=4).as_matrix()
    assert (parts != suggest_parts(30.0 * vertices @ turn.T + 5.0, triangles)).mean() < 1e-3


def test_unwelded_seams(person):
    """Each face of one half with corners of its own."""
    vertices, triangles = person
    apart = vertices[triangles].mean(axis=1)[:, 0] > 0.1
    count, own = len(vertices), triangles[apart].reshape(-1)
    split = triangles.copy()
    split[apart] = count + np.arange(len(own)).reshape(-1, 3)
    used, split = np.unique(split, return_inverse=True)
    twin = np.concatenate((np.arange(count), own))[used]
    parts = suggested(vertices[twin], split.reshape(-1, 3))
    # Splitting changes which points distances are measured from, by a little.
    assert sorted(owners(vertices[twin], parts, LEGS + ARMS)) == [1, 2, 3, 4]
    assert owners(vertices[twin], parts, HEAD) == [0]
    for vertex in np.unique(own):
        assert (parts[:, twin == vertex] == parts[:, twin == vertex][:, :1]).all()


def test_loose_pieces_and_vertices_go_to_what_is_near(person):
    """A ring on an arm, a buckle, and a point beside a leg."""
    vertices, triangles = person
    small, faces = sheet(lambda x, z: (abs(x) <= 0.051) & (z <= 0.11))
    count = len(vertices)
    more = np.concatenate((vertices, small + [0.7, 0.05, 1.3], small + [0, 0.05, 1], [[0.13, 0.1, 0.1]]))
    all_faces = np.concatenate((triangles, faces + count, faces + count + len(small)))
    parts = suggested(more, all_faces)
    arm, leg = owners(more, parts, (ARMS[0], LEGS[0]))
    ring, buckle = (parts[:, count + k * len(small) : count + (k + 1) * len(small)] for k in range(2))
    assert ring[arm].all() and ring.sum() == len(small)
    assert buckle[0].all() and buckle.sum() == len(small)
    assert np.flatnonzero(parts[:, -1]).tolist() == [leg]


def test_a_body_of_loose_pieces(person):
    """Cut off where limbs join: ways lead from piece to piece."""
    vertices, triangles = person
    middle = np.abs(vertices[triangles].mean(axis=1))
    limb = (middle[:, 0] > 0.25) | (middle[:, 2] < 0.75) | (middle[:, 2] > 1.45)
    twin, apart = split_faces(triangles, limb, len(vertices))
    both = vertices[twin] + np.outer(np.arange(len(twin)) >= len(np.unique(triangles[~limb])), [0, 0.4 * SPACING, 0])
    parts = suggested(both, apart, 6)
    assert sorted(owners(both, parts, LEGS + ARMS)) == [1, 2, 3, 4] and owners(both, parts, HEAD) == [5]


def test_too_few_limbs(person):
    disc = sheet(lambda x, z: x**2 + (z - 1.0) ** 2 <= 0.5)
    for mesh, count, words in (
        (person, (8,), "5 limbs were found and 7 asked for; ask for 6 parts"),
        (person, (1,), "at least two"),
        (disc, (), "No limb was found"),
        ((np.zeros((4, 3)), np.zeros((0, 3), int)), (), "no faces"),
    ):
        with pytest.raises(InputError, match=words):
            suggest_parts(*mesh, *count)


def captured_at(name, frame=0):
    vertices, triangles = captured(name)
    return vertices[frame], triangles


def require_the_same_limbs(some, others):
    """Up to where they end: room is made for more limbs."""
    assert np.all((some & others).sum(axis=1) > 0.6 * (some | others).sum(axis=1))


@pytest.mark.captures
@pytest.mark.parametrize("name, frame", [("human_samba", 0), ("human_samba", 20), ("human_crane", 0)])
def test_captured_people(name, frame):
    """Two parts end low, two at the sides; a sixth part is the head."""
    vertices, triangles = captured_at(name, frame)
    parts = suggested(vertices, triangles, 6)
    require_the_same_limbs(suggest_parts(vertices, triangles, 5)[1:], parts[1:5])
    low, high = vertices[:, 2].min(), vertices[:, 2].max()
    share = [(vertices[part, 2].mean() - low) / (high - low) for part in parts]
    legs, arms = np.argsort(share[1:5])[:2] + 1, np.argsort(share[1:5])[2:] + 1
    assert max(share[leg] for leg in legs) < 0.25 and 0.45 < min(share[arm] for arm in arms)
    assert max(share[arm] for arm in arms) < 0.8 and share[5] > 0.85
    across = [vertices[parts[arm], 1].mean() - vertices[parts[0], 1].mean() for arm in arms]
    assert across[0] * across[1] < 0 and min(np.abs(across)) > 0.15
    sizes = parts.sum(axis=1)
    assert 0.7 < sizes[arms[0]] / sizes[arms[1]] < 1.4 and 0.7 < sizes[legs[0]] / sizes[legs[1]] < 1.4


@pytest.mark.captures
def test_a_cow_with_long_horns():
    """Legs first, then the head that carries them."""
    vertices, triangles = captured_at("cow_skinned_poses")
    parts = suggested(vertices, triangles, 6)
    height = np.ptp(vertices[:, 2])
    above = [(vertices[part, 2].max() - vertices[:, 2].min()) / height for part in parts]
    assert max(above[1:5]) < 0.6 and above[5] > 0.8


@pytest.mark.captures
@pytest.mark.parametrize("name", ["horse_gallop", "cat_poses", "wolf_skinned_poses", "walking_cat"])
def test_the_head_comes_before_the_tail(name):
    """So that of one animal and another it is the same that is found."""
    vertices, triangles = captured_at(name)
    head = suggest_parts(vertices, triangles, 6)[5]
    assert vertices[head, 2].max() > vertices[:, 2].max() - 0.05 * np.ptp(vertices, axis=0).max()


@pytest.mark.captures
@pytest.mark.parametrize(
    "name, frame", [("horse_gallop", 0), ("horse_gallop", 40), ("cat_poses", 8), ("lion_poses", 0)]
)
def test_captured_animals(name, frame):
    """Four legs before the head and the tail, also where the tail reaches out farthest."""
    vertices, triangles = captured_at(name, frame)
    parts = suggested(vertices, triangles, 7)
    require_the_same_limbs(suggest_parts(vertices, triangles, 5)[1:], parts[1:5])
    # The same animal standing, to see where its parts are.
    standing = captured_at("horse_gallop")[0] if name.startswith("horse") else vertices
    if name.startswith("horse"):
        assert max(standing[part, 2].mean() for part in parts[1:5]) < 0.45
        head, tail = sorted(parts[5:], key=lambda part: standing[part, 1].mean())
        assert standing[head, 2].mean() > 0.9 and standing[tail, 1].mean() > 0.8
    sizes = parts[1:5].sum(axis=1)
    assert sizes.max() < 2.0 * sizes.min() and parts[0].sum() > 0.15 * parts.shape[1]
