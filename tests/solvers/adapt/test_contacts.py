"""Which contacts are counted, and for what they count."""

import numpy as np
import pytest

from solvers.adapt.contacts import count_contacts, touched

# A toe that rests at 4 cm on a floor, then on the foot of a ramp that lies 10 cm over it; a wrist that never rests.
FRAMES = 40
ON_RAMP = np.arange(FRAMES) >= 25
TOE = np.stack((np.where(ON_RAMP, 0.14, 0.04), np.where(ON_RAMP, 0.04, 0.3)))
BEFORE = np.stack((TOE, np.full_like(TOE, 0.6)), axis=-1)
SLOW = np.ones(BEFORE.shape, bool)
NONE = np.zeros(BEFORE.shape, bool)
BOTH = np.ones(2, bool)


def counted(after, covered=NONE, size=1.0, scale=1.0):
    touching = touched(BEFORE * scale, SLOW, NONE, BOTH, scale)
    return count_contacts(BEFORE * scale, after * scale, touching, covered, size, scale)


@pytest.mark.parametrize("scale", [1.0, 0.4])
def test_a_joint_touches_what_is_nearest_at_one_offset(scale):
    touching = touched(BEFORE * scale, SLOW, NONE, BOTH, scale)
    assert np.array_equal(touching[..., 0], np.stack((~ON_RAMP, ON_RAMP))) and not touching[..., 1].any()


def test_what_is_fast_hidden_or_no_effector_does_not_touch():
    hidden = NONE.copy()
    hidden[1] = True
    assert touched(BEFORE, SLOW, hidden, BOTH, 1.0)[1].sum() == 0
    assert not touched(BEFORE, NONE, NONE, BOTH, 1.0).any()
    assert not touched(BEFORE, SLOW, NONE, ~BOTH, 1.0).any()


def test_a_ramp_that_leaves_the_floor_takes_its_contacts_along():
    """With an offset for each object the toe on the ramp's foot counted as touching the floor 10 cm below."""
    after = BEFORE + np.array([0.3, 0.0])[:, None, None] * ON_RAMP[:, None]
    found = counted(after)
    assert found.counted[:, 0].all() and found.kept[:, 0].all() and not found.covered.any()


@pytest.mark.parametrize(
    "shift, kept", [(0.019, True), (-0.019, True), (0.021, False), (-0.021, False), (np.inf, False)]
)
def test_a_contact_is_kept_within_two_centimetres_both_ways(shift, kept):
    assert (counted(BEFORE + shift).kept[:, 0] == kept).all()


def test_another_size_keeps_contacts_in_proportion():
    assert counted(2.0 * BEFORE, size=2.0).kept[:, 0].all()
    assert not counted(BEFORE + 0.03, size=1.0).kept.any()


def test_covered_places_are_neither_kept_nor_lost():
    covered = NONE.copy()
    covered[0, :5] = True
    found = counted(BEFORE + 0.5, covered)
    assert found.covered[:5, 0].all() and found.covered.sum() == 5
    assert not found.counted[:5, 0].any() and found.given_up[:, 0].all()
    assert not found.counted[:5].any() and found.counted[5:, 0].all()


def test_of_coincident_objects_the_one_counts_that_is_not_covered():
    """A stage flush with the floor rises: the foot stood on both, and the stage is what it stands on now."""
    before = np.full((2, FRAMES, 1), 0.04)
    after = before + np.array([0.15, 0.0])[:, None, None]
    slow, none = np.ones(before.shape, bool), np.zeros(before.shape, bool)
    touching = touched(before, slow, none, np.ones(1, bool), 1.0)
    assert touching.all()
    covered = none.copy()
    covered[0] = True
    for order in ([0, 1], [1, 0]):
        found = count_contacts(before[order], after[order], touching[order], covered[order], 1.0, 1.0)
        assert found.kept.all() and not found.covered.any()


def test_each_contact_is_with_the_nearest_object_that_is_not_covered():
    assert np.array_equal(counted(BEFORE).partner[:, 0], ON_RAMP.astype(int)) and not counted(BEFORE).given_up.any()
    assert (counted(BEFORE).partner[:, 1] == -1).all()
    both = np.stack((TOE[0], TOE[0] + 0.001))[..., None] * np.ones(2)
    touching = np.zeros(both.shape, bool)
    touching[:, :, 0] = True
    covered = np.zeros(both.shape, bool)
    covered[0, 3], covered[:, 4] = True, True
    found = count_contacts(both, both + 0.5, touching, covered, 1.0, 1.0)
    assert found.partner[3, 0] == 1 and (np.delete(found.partner[:, 0], 3) == 0).all()
    assert found.given_up[:, 0].all() and not found.given_up[:, 1].any() and found.covered.sum() == 1
