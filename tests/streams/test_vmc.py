"""Messages as joints, and bones as points of the world."""

import math

import numpy as np
import pytest

from streams import vmc
from streams.errors import PacketError
from streams.osc import Message

STANDING = np.array([0, 0, 0, 0, 0, 0, 1.0])
HALF = math.sqrt(0.5)


def bone(name, *values):
    return Message(vmc.BONE, "s" + "f" * len(values), (name, *values))


def points(bones: dict, root=STANDING):
    """Name to world place, of bones given as name to (p, q)."""
    values = np.array([[*place, *turn] for place, turn in bones.values()], float)
    return dict(zip(bones, vmc.world_points(tuple(bones), values, np.array(root, float)), strict=True))


def test_reads_what_it_knows():
    values = (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0)
    assert vmc.read(bone("Hips", *values)) == vmc.Joint(vmc.BONE, "Hips", values)
    root = Message(vmc.ROOT, "s" + "f" * 13, ("root", *values, *[9.0] * 6))
    assert vmc.read(root) == vmc.Joint(vmc.ROOT, "root", values)
    assert vmc.read(Message(vmc.POINT, "sidh", ("toe", 1, 2.0, 3))) == vmc.Joint(vmc.POINT, "toe", (1, 2.0, 3))
    assert vmc.read(Message(vmc.TIME, "f", (1.7e9,))) == vmc.Mark(1.7e9)
    assert vmc.read(Message(vmc.OK, "iii", (1, 3, 0))) == vmc.Mark(None)
    assert vmc.read(Message("/VMC/Ext/Blend/Val", "sf", ("A", 1.0))) is None


@pytest.mark.parametrize(
    "message",
    [
        bone("Hips", 1.0, 2.0, 3.0),
        bone("", *STANDING),
        bone("x" * 64, *STANDING),
        bone("a\nb", *STANDING),
        Message(vmc.BONE, "f" * 8, tuple(range(8))),
        Message(vmc.BONE, "sTffffff", ("Hips", True, *STANDING[1:])),
        Message(vmc.POINT, "ssss", ("a", "b", "c", "d")),
        Message(vmc.TIME, "s", ("now",)),
        Message(vmc.TIME, "", ()),
        Message(vmc.ROOT, "", ()),
        Message(vmc.TIME, "f", (math.nan,)),
    ],
)
def test_refuses_wrong_arguments(message):
    with pytest.raises(PacketError):
        vmc.read(message)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e7])
@pytest.mark.parametrize("place", range(7))
def test_refuses_numbers_that_are_none(value, place):
    values = STANDING.tolist()
    values[place] = value
    with pytest.raises(PacketError, match="'Hips' has numbers"):
        vmc.read(bone("Hips", *values))


def test_the_quaternion_0_0_0_0_is_no_rotation():
    for sent in ((0.0, 0.0, 0.0, 0.0), (0, 0, 0, 0), (1e-200, 0.0, 0.0, -1e-200)):
        joint = vmc.read(Message(vmc.BONE, "sfff" + "d" * 4, ("Hips", 1.0, 2.0, 3.0, *sent)))
        assert joint == vmc.Joint(vmc.BONE, "Hips", (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0), True)
    assert not vmc.read(bone("Hips", 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)).is_untracked


def test_whole_numbers_and_further_arguments():
    assert vmc.read(Message(vmc.BONE, "siiiiiii", ("Hips", 1, 2, 3, 0, 0, 0, 1))).values == (1, 2, 3, 0, 0, 0, 1)
    assert vmc.read(Message(vmc.BONE, "sfffffffsT", ("Hips", *STANDING, "x", True))).values == tuple(STANDING)
    assert vmc.read(Message(vmc.TIME, "is", (7, "x"))) == vmc.Mark(7.0)


def test_axes_are_blenders():
    """Unity's figure looks along +Z, its right at +X; Blender's looks along -Y, its right at -X."""
    unmoved = (0, 0, 0, 1)
    found = points({"up": ((0, 1, 0), unmoved), "front": ((0, 0, 1), unmoved), "right": ((1, 0, 0), unmoved)})
    np.testing.assert_allclose(found["up"], [0, 0, 1])
    np.testing.assert_allclose(found["front"], [0, -1, 0])
    np.testing.assert_allclose(found["right"], [-1, 0, 0])


def test_a_turn_is_unitys_and_need_not_be_of_unit_length():
    """There, a positive turn about Y goes from the front to the right."""
    for size, other in ((1, 1), (3, 0.1)):
        turned = (0, size * HALF, 0, size * HALF)
        found = points({"Hips": ((0, 1, 0), turned), "Spine": ((0, 0, 1), (0, 0, 0, other))})
        np.testing.assert_allclose(found["Spine"], [-1, 0, 1], atol=1e-12)


def test_parents_left_out_are_passed_over_and_strangers_hang_on_the_root():
    root = [5.0, 0, 0, 0, HALF, 0, HALF]
    unmoved = (0, 0, 0, 1)
    up = ((0, 1, 0), unmoved)
    found = points({"Neck": up, "Hips": up, "Chest": up, "Tail": ((0, 0, 1), unmoved), "Spine": up}, root)
    heights = {name: place[2] for name, place in found.items()}
    assert heights == pytest.approx({"Hips": 1, "Spine": 2, "Chest": 3, "Neck": 4, "Tail": 0})
    np.testing.assert_allclose(found["Tail"], [-6, 0, 0], atol=1e-12)
    assert vmc.world_points((), np.zeros((0, 7)), STANDING).shape == (0, 3)


def test_equals_a_chain_of_matrices():
    """Against 4x4 matrices multiplied bone by bone, all bones of the humanoid, in any order and case."""
    rng = np.random.default_rng(1)
    names = [*vmc.PARENTS, "hips"]
    rng.shuffle(names)
    values = rng.normal(size=(len(names), 7))
    root = rng.normal(size=7)
    worlds = {}

    def local(numbers):
        x, y, z, w = numbers[3:] / np.linalg.norm(numbers[3:])
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        out = np.eye(4)
        out[:3, :3] = np.eye(3) + 2 * w * cross + 2 * cross @ cross
        out[:3, 3] = numbers[:3]
        return out

    def world(name):
        if name not in worlds:
            above = world(vmc.PARENTS[name]) if name in vmc.PARENTS else local(root)
            worlds[name] = above @ local(values[names.index(name)])
        return worlds[name]

    found = vmc.world_points(tuple(name.upper() for name in names), values, root)
    expected = np.array([world(name)[:3, 3] for name in names])
    np.testing.assert_allclose(found, np.stack([-expected[:, 0], -expected[:, 2], expected[:, 1]], axis=1), atol=1e-9)
