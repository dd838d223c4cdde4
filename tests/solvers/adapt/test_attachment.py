"""What joints are attached to, blended by objects where these have moved rigidly."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.transform import Rotation

from solvers.adapt.attachment import Attachment
from solvers.adapt.relationship import Relations, carries
from solvers.adapt.solve import AdaptOptions, SurfaceUse, adapt
from solvers.adapt.upright import headings
from solvers.core.errors import InputError
from tests.adapt_bound import gap

FRAMES, JOINTS, OBJECTS, POINTS = 12, 4, 3, 30
DOWN = np.array([0.0, 0.0, -1.0])


@pytest.fixture
def case(rng):
    """Descriptors of three objects in no order, each turned and shifted by its own motion."""
    dense = rng.uniform(size=(FRAMES * JOINTS, POINTS)) * (rng.uniform(size=(FRAMES * JOINTS, POINTS)) < 0.3)
    relations = Relations(sparse.csr_matrix(dense), FRAMES, JOINTS)
    objects, origins = rng.integers(0, OBJECTS, POINTS) * 2, rng.normal(size=(1, POINTS, 3))
    turn = Rotation.random(OBJECTS, rng=1).as_matrix()[objects // 2]
    turn[objects == 0] = np.eye(3)
    moved = np.einsum("nab,nb->na", turn, origins[0]) + rng.normal(size=(OBJECTS, 3))[objects // 2]
    return SimpleNamespace(relations=relations, objects=objects, origins=origins, turn=turn[None], moved=moved[None])


def carry_of(case, with_headings):
    whole = carries(case.origins, case.moved, case.turn)
    if not with_headings:
        return whole
    return np.concatenate((whole, carries(case.origins, case.moved, headings(case.turn, DOWN))), axis=-1)


@pytest.mark.parametrize("with_headings", [False, True])
@pytest.mark.parametrize("deformed", [False, True])
def test_blends_are_sums_over_descriptors(case, rng, with_headings, deformed):
    """Whether or not the objects count as wholes; a deformed object counts by its descriptors."""
    if deformed:
        case.moved = case.moved + 1e-6 * rng.normal(size=case.moved.shape)
    carry = carry_of(case, with_headings)
    attachment = Attachment(case.relations, case.objects, case.origins)
    assert (attachment._rigid(carry) is None) == deformed
    for rows in (slice(None), slice(2, 12), slice(5, 6)):
        expected = case.relations.part(rows).blended(carry)
        assert np.abs(attachment.blended(rows, carry) - expected).max() < 1e-12


def test_states_of_a_moving_environment_are_blended_frame_by_frame(case):
    carry = np.repeat(carry_of(case, True), FRAMES, axis=0) * np.linspace(0, 1, FRAMES)[:, None, None]
    blended = Attachment(case.relations, case.objects, case.origins).blended(slice(None), carry)
    assert np.array_equal(blended, case.relations.blended(carry))


def test_an_influence_of_frames_is_at_each_frame_that_number(made_walk):
    binding, frames = made_walk.binding, made_walk.frames
    uses = [SurfaceUse(influence=1.0)] * len(binding.objects)
    for value in (0.3, 1.0):
        several = [SurfaceUse(influence=np.full(frames, value)), *uses[1:]]
        alike = [SurfaceUse(influence=value), *uses[1:]]
        options = [AdaptOptions(surfaces=tuple(each)) for each in (several, alike)]
        assert gap(*(adapt(binding, made_walk.after, each).positions for each in options)) < 1e-9


def test_an_influence_of_another_length_is_refused(made_walk):
    uses = [SurfaceUse(influence=np.ones(3)), *[SurfaceUse()] * (len(made_walk.binding.objects) - 1)]
    with pytest.raises(InputError, match="The influence of 'Ground' is one number, or one for each"):
        adapt(made_walk.binding, made_walk.after, AdaptOptions(surfaces=tuple(uses)))
