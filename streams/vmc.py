"""Messages in the style of the VMC protocol (Virtual Motion Capture) as joints, and joints as points of the world.

| address | arguments | meaning |
|---|---|---|
| /VMC/Ext/Bone/Pos | name, p x y z, q x y z w | a bone, relative to its parent |
| /VMC/Ext/Root/Pos | name, p x y z, q x y z w | where the whole figure stands |
| /VMC/Ext/T | seconds | the sender's clock; ends a frame |
| /VMC/Ext/OK | any | ends a frame |
| /motion_loom/point | name, x y z | a point of the world: metres, Z up, right-handed |

Further arguments are ignored (version 2.1 of the protocol adds the calibration's size and offset to the root), as is
every other address. Bones and root are in Unity's axes, left-handed with Y up: the figure looks along +Z and its right
hand is at +X. Here, right-handed with Z up, it looks along -Y with its right hand at -X, as Blender's do: (x, y, z)
becomes (-x, -z, y).

Parents are those of Unity's humanoid, in any case of letters; a parent that is not sent is replaced by its own nearest
sent one (UpperChest and shoulders are optional there), and bones of other names are children of the root.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from .errors import PacketError
from .osc import Message

BONE, ROOT, TIME, OK = "/VMC/Ext/Bone/Pos", "/VMC/Ext/Root/Pos", "/VMC/Ext/T", "/VMC/Ext/OK"
POINT = "/motion_loom/point"
FARTHEST = 1e6  # metres; what is farther away is garbage
MAX_NAME = 63  # bytes, as many as Blender's names hold

ADDRESSES = frozenset((BONE, ROOT, TIME, OK, POINT))

_REAL = frozenset("ifdh")
_NO_ROTATION = (0.0, 0.0, 0.0, 1.0)
_TO_Z_UP = np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


class Joint(NamedTuple):
    """kind: BONE, ROOT or POINT.  values: position and rotation (7 numbers: p x y z, q x y z w), of a point its
    position (3).  is_untracked: it was sent with the quaternion 0 0 0 0, taken as no rotation."""

    kind: str
    name: str
    values: tuple[float, ...]
    is_untracked: bool = False


class Mark(NamedTuple):
    """The end of a frame.  time: the sender's clock in seconds, or None."""

    time: float | None


def read(message: Message) -> Joint | Mark | None:
    """What a message says, None for addresses that are not ours.

    Raises PacketError for wrong arguments and for numbers that are not finite or too large.
    """
    address, tags, arguments = message
    if address == BONE or address == ROOT:
        return _joint(address, tags, arguments, 7)
    if address == POINT:
        return _joint(POINT, tags, arguments, 3)
    if address == TIME:
        return _time(tags, arguments)
    return Mark(None) if address == OK else None


def _joint(kind: str, tags: str, arguments: tuple, count: int) -> Joint:
    if not _fits(tags, count):
        raise PacketError(f"a name and {count} numbers are needed, not '{tags}'")
    name, values = arguments[0], arguments[1 : count + 1]
    if not _is_name(name):
        raise PacketError("a name that nothing can have")
    if not sum(map(abs, values)) <= FARTHEST:  # false for NaN, too
        raise PacketError(f"'{name}' has numbers that are not finite, or too large")
    if count == 7 and abs(values[6]) < 1e-6 and max(map(abs, values[3:])) < 1e-6:
        return Joint(kind, name, values[:3] + _NO_ROTATION, True)
    return Joint(kind, name, values)


def _time(tags: str, arguments: tuple) -> Mark:
    if tags[:1] not in _REAL:
        raise PacketError(f"a number is needed, not '{tags}'")
    if not math.isfinite(arguments[0]):
        raise PacketError("a time that is not finite")
    return Mark(float(arguments[0]))


@functools.lru_cache(maxsize=64)
def _fits(tags: str, count: int) -> bool:
    """Whether these begin with a text and that many numbers."""
    return len(tags) > count and tags[0] == "s" and _REAL.issuperset(tags[1 : count + 1])


@functools.lru_cache(maxsize=1024)
def _is_name(name: str) -> bool:
    return 0 < len(name.encode()) <= MAX_NAME and name.isprintable()


def world_points(names: tuple[str, ...], bones: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Positions (J, 3) of bones in the world: metres, Z up, right-handed.

    names: of the bones, each once.  bones: (J, 7) position and rotation relative to the parents, in Unity's axes;
    quaternions need not be of unit length.  root: (7,) the same of the root.
    """
    worlds = _matrices(np.vstack([bones, root]))
    for children, parents in hierarchy(names).levels:
        worlds[children] = worlds[parents] @ worlds[children]
    return worlds[:-1, :3, 3] @ _TO_Z_UP.T


def _matrices(transforms: np.ndarray) -> np.ndarray:
    """(J, 4, 4) of positions and rotations (J, 7), quaternions of any length but zero."""
    x, y, z, w = (transforms[:, 3:] / np.linalg.norm(transforms[:, 3:], axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    out = np.zeros((len(transforms), 4, 4))
    out[:, :3, :3] = np.array(rows).transpose(2, 0, 1)
    out[:, :3, 3] = transforms[:, :3]
    out[:, 3, 3] = 1.0
    return out


class Hierarchy(NamedTuple):
    """parents: (J,) index of the parent of each bone, J for the root.  levels: of each depth, the indices of the bones
    and those of their parents."""

    parents: np.ndarray
    levels: tuple[tuple[np.ndarray, np.ndarray], ...]


@functools.lru_cache(maxsize=16)
def hierarchy(names: tuple[str, ...]) -> Hierarchy:
    """The hierarchy of bones, each on its nearest ancestor among them."""
    index = {name.lower(): k for k, name in enumerate(names)}
    parents, depths = [], []
    for name in names:
        above = [index[other] for other in ancestors(name) if other in index]
        parents.append(above[0] if above else len(names))
        depths.append(len(above))
    parents, depths = np.array(parents, int), np.array(depths, int)
    levels = [np.nonzero(depths == depth)[0] for depth in range(depths.max(initial=-1) + 1)]
    return Hierarchy(parents, tuple((children, parents[children]) for children in levels))


@functools.lru_cache(maxsize=1024)
def ancestors(name: str) -> tuple[str, ...]:
    """Of a humanoid bone, in lower case, the nearest first; none of other names."""
    found, name = [], name.lower()
    while name in PARENTS:
        name = PARENTS[name]
        found.append(name)
    return tuple(found)


def _humanoid() -> dict[str, str]:
    """Bone to parent, in lower case: versions of the format differ in the case of the first letter."""
    chains = ["hips spine chest upperchest neck head jaw"]
    for side in ("left", "right"):
        chains += [
            f"hips {side}upperleg {side}lowerleg {side}foot {side}toes",
            f"upperchest {side}shoulder {side}upperarm {side}lowerarm {side}hand",
            f"head {side}eye",
            f"{side}hand {side}thumbmetacarpal {side}thumbproximal {side}thumbintermediate {side}thumbdistal",
        ]
        for finger in ("index", "middle", "ring", "little"):
            bones = (f"{side}{finger}{part}" for part in ("proximal", "intermediate", "distal"))
            chains.append(" ".join([f"{side}hand", *bones]))
    pairs = (zip(chain.split()[1:], chain.split(), strict=False) for chain in chains)
    return {bone: parent for chain in pairs for bone, parent in chain}


PARENTS = _humanoid()

# The bones that every humanoid of VRM has, and that others hang on, with the names that senders use.
REQUIRED = {name.lower(): name for name in ("Hips", "Spine", "Head")} | {
    f"{side}{part}".lower(): f"{side}{part}"
    for side in ("Left", "Right")
    for part in ("UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot")
}
