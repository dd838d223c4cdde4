"""Messages in the style of the VMC protocol (Virtual Motion Capture) as joints, and joints as points of the world.

| address | arguments | meaning |
|---|---|---|
| /VMC/Ext/Bone/Pos | name, p x y z, q x y z w | a bone, relative to its parent |
| /VMC/Ext/Root/Pos | name, p x y z, q x y z w (then anything, up to 14 arguments) | where the whole figure stands |
| /VMC/Ext/T | seconds | the sender's clock; ends a frame |
| /VMC/Ext/OK | any | ends a frame |
| /motion_loom/point | name, x y z | a point of the world: metres, Z up, right-handed |

Every other address is ignored. Bones and root are in Unity's axes, left-handed with Y up: the figure looks along +Z and
its right hand is at +X. Here, right-handed with Z up, it looks along -Y with its right hand at -X, as Blender's do:
(x, y, z) becomes (-x, -z, y).

Parents are those of Unity's humanoid; a parent that is not sent is replaced by its own nearest sent one (UpperChest and
shoulders are optional there), and bones of other names are children of the root. Of the root its place and turn are
used, not the calibration size and offset of later versions.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple

import numpy as np

from .errors import PacketError, UnusableError
from .osc import Message

BONE, ROOT, TIME, OK = "/VMC/Ext/Bone/Pos", "/VMC/Ext/Root/Pos", "/VMC/Ext/T", "/VMC/Ext/OK"
POINT = "/motion_loom/point"
FARTHEST = 1e6  # metres; what is farther away is garbage
MAX_NAME = 63  # bytes, as many as Blender's names hold

_REAL = frozenset("ifdh")
_TO_Z_UP = np.array([[-1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


class Joint(NamedTuple):
    """kind: BONE, ROOT or POINT.  values: place and turn (7 numbers: p x y z, q x y z w), of a point its place (3)."""

    kind: str
    name: str
    values: tuple[float, ...]


class Mark(NamedTuple):
    """The end of a frame.  time: the sender's clock in seconds, or None."""

    time: float | None


def read(message: Message) -> Joint | Mark | None:
    """What a message says, None for addresses that are not ours.

    Raises PacketError for wrong arguments, UnusableError for numbers that are not finite, too large or no turn.
    """
    address, tags, arguments = message
    if address == BONE:
        return _joint(BONE, tags, arguments, 7)
    if address == POINT:
        return _joint(POINT, tags, arguments, 3)
    if address == ROOT:
        return _joint(ROOT, tags[:8], arguments[:8], 7)
    if address == TIME:
        if len(tags) != 1 or tags not in _REAL:
            raise PacketError(f"{TIME} takes one number")
        if not math.isfinite(arguments[0]):
            raise UnusableError(f"{TIME} is not finite")
        return Mark(float(arguments[0]))
    return Mark(None) if address == OK else None


def _joint(kind: str, tags: str, arguments: tuple, count: int) -> Joint:
    if not _fits(tags, count):
        raise PacketError(f"{kind} takes a name and {count} numbers")
    name, values = arguments[0], arguments[1:]
    if not _is_name(name):
        raise PacketError("a name that nothing can have")
    if not sum(map(abs, values)) <= FARTHEST:  # false for NaN, too
        raise UnusableError("numbers that are not finite, or too large")
    if count == 7 and max(map(abs, values[3:])) < 1e-6:
        raise UnusableError("a turn of length zero")
    return Joint(kind, name, values)


@functools.lru_cache(maxsize=64)
def _fits(tags: str, count: int) -> bool:
    """Whether these are a text and that many numbers."""
    return len(tags) == count + 1 and tags[0] == "s" and _REAL.issuperset(tags[1:])


@functools.lru_cache(maxsize=1024)
def _is_name(name: str) -> bool:
    return 0 < len(name.encode()) <= MAX_NAME and name.isprintable()


def world_points(names: tuple[str, ...], bones: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Places (J, 3) of bones in the world: metres, Z up, right-handed.

    names: of the bones, each once.  bones: (J, 7) place and turn relative to the parents, in Unity's axes; turns need
    not be of unit length.  root: (7,) the same of the root.
    """
    worlds = _matrices(np.vstack([bones, root]))
    for rows, parents in _levels(names):
        worlds[rows] = worlds[parents] @ worlds[rows]
    return worlds[:-1, :3, 3] @ _TO_Z_UP.T


def _matrices(transforms: np.ndarray) -> np.ndarray:
    """(J, 4, 4) of places and turns (J, 7), turns of any length but zero."""
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


@functools.lru_cache(maxsize=16)
def _levels(names: tuple[str, ...]) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Rows of the bones of each depth, and the rows of their parents; the root is the row after the last bone."""
    row = {name.lower(): k for k, name in enumerate(names)}
    parents, depths = [], []
    for name in names:
        above = [row[other] for other in _ancestors(name.lower()) if other in row]
        parents.append(above[0] if above else len(names))
        depths.append(len(above))
    parents, depths = np.array(parents, int), np.array(depths, int)
    rows_of = [np.nonzero(depths == depth)[0] for depth in range(depths.max(initial=-1) + 1)]
    return tuple((rows, parents[rows]) for rows in rows_of)


def _ancestors(name: str) -> list[str]:
    """Of a humanoid bone in lower case, the nearest first."""
    found = []
    while name in PARENTS:
        name = PARENTS[name]
        found.append(name)
    return found


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
