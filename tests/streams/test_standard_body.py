"""The standard body: the joints of a person, on which rotations without positions are laid."""

import numpy as np
import pytest

from streams import vmc
from streams.standard_body import HEIGHT, HIPS_HEIGHT, REST, lay

NAMES = ("Hips", "Spine", "LeftUpperArm", "leftLowerArm", "LeftHand", "Tail")


def unmoved(names=NAMES):
    return np.tile([0.0, 0, 0, 0, 0, 0, 1], (len(names), 1))


def test_has_every_bone_of_the_humanoid_in_the_order_of_a_body():
    assert set(REST) == set(vmc.PARENTS) | {"hips"}
    for name, position in REST.items():
        assert 0.0 < position[1] < HEIGHT
        if name.startswith("left"):
            np.testing.assert_allclose(REST[name.replace("left", "right", 1)], position * [-1, 1, 1])
            assert position[0] < 0.0
        if name in vmc.PARENTS:
            assert 0.001 < np.linalg.norm(position - REST[vmc.PARENTS[name]]) < 0.5


@pytest.mark.parametrize("left_out", [(), ("Spine",), ("leftLowerArm", "Spine"), ("Hips",)])
def test_every_bone_is_where_the_body_has_it_whatever_is_left_out(left_out):
    names = tuple(name for name in NAMES if name not in left_out)
    bones = unmoved(names)
    np.testing.assert_array_equal(lay(names, bones, False), [name != "Tail" for name in names])
    positions = vmc.world_points(names, bones, unmoved(("root",))[0])
    for name, position in zip(names, positions, strict=True):
        side, up, front = REST.get(name.lower(), np.zeros(3))
        np.testing.assert_allclose(position, [-side, -front, up], atol=1e-12)


def test_a_body_of_another_size_is_completed_at_its_size():
    whole = unmoved()
    lay(NAMES, whole, False)
    small = 0.5 * whole
    expected = small.copy()
    small[[0, 4], :3] = 0.0
    np.testing.assert_array_equal(lay(NAMES, small, False), [True, False, False, False, True, False])
    np.testing.assert_allclose(small[:, :3], expected[:, :3])


def test_hips_are_not_raised_where_the_root_is_and_sent_positions_are_left_as_they_are():
    bones = unmoved()
    assert not lay(NAMES, bones, True)[0]
    np.testing.assert_allclose(bones[0, :3], 0.0)
    assert HIPS_HEIGHT == pytest.approx(REST["hips"][1])
    bones = np.random.default_rng(0).normal(size=(len(NAMES), 7))
    before = bones.copy()
    assert not lay(NAMES, bones, False).any()
    np.testing.assert_array_equal(bones, before)
    assert lay((), np.zeros((0, 7)), False).shape == (0,)
