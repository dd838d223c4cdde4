"""BVH motion files as joint tracks: forward kinematics in NumPy, Z up, metres."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solvers.core.errors import InputError
from solvers.core.types import JointTrack, Skeleton


@dataclass(frozen=True)
class BvhMotion:
    """Joints (end sites as "<parent>/tail") with offsets (J, 3), positions and rotations over time.

    translations (F, J, 3), rotations (F, J, 3, 3): local to the parent, file's axes and units.
    """

    skeleton: Skeleton
    translations: np.ndarray
    rotations: np.ndarray
    fps: float

    def world(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions (F, J, 3) and rotations (F, J, 3, 3) in the file's axes and units."""
        positions, rotations = self.translations.copy(), self.rotations.copy()
        for joint, parent in enumerate(self.skeleton.parents):
            if parent >= 0:
                moved = np.einsum("fij,fj->fi", rotations[:, parent], self.translations[:, joint])
                positions[:, joint] = positions[:, parent] + moved
                rotations[:, joint] = rotations[:, parent] @ self.rotations[:, joint]
        return positions, rotations


Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])


def read_bvh_track(file: Path, metres: float = 0.01) -> JointTrack:
    """World positions of all joints and end sites; metres is the length of one unit of the file."""
    motion = read_bvh(file)
    positions = motion.world()[0] @ Z_UP.T * metres
    return JointTrack(motion.skeleton, positions, motion.fps, np.arange(len(positions)))


def read_bvh(file: Path) -> BvhMotion:
    """Parse a BVH file; InputError names what is wrong with it."""
    head, _, tail = Path(file).read_text().partition("MOTION")
    names, parents, offsets, channels = _hierarchy(head.split(), file)
    words = tail.split()
    frame_time = float(words[words.index("Time:") + 1])
    width = sum(map(len, channels))
    values = np.array(words[words.index("Time:") + 2 :], float)
    if not width or not values.size or values.size % width:
        raise InputError(f"'{Path(file).name}' holds {values.size} numbers for {width} channels a frame.")
    values = values.reshape(-1, width)
    translations = np.repeat(np.array(offsets)[None], len(values), axis=0)
    rotations = np.broadcast_to(np.eye(3), (len(values), len(names), 3, 3)).copy()
    column = 0
    for joint, names_of in enumerate(channels):
        for channel in names_of:
            axis = "XYZ".index(channel[0])
            if channel.endswith("position"):
                translations[:, joint, axis] = values[:, column]
            else:
                rotations[:, joint] = rotations[:, joint] @ _axis_rotation(
                    axis, np.radians(values[:, column])
                )
            column += 1
    return BvhMotion(Skeleton(tuple(names), np.array(parents)), translations, rotations, 1 / frame_time)


def _hierarchy(words, file):
    names, parents, offsets, channels, stack = [], [], [], [], []
    i = 0
    while i < len(words):
        word = words[i]
        if word in ("ROOT", "JOINT", "End"):
            parents.append(stack[-1] if stack else -1)
            names.append(f"{names[stack[-1]]}/tail" if word == "End" else words[i + 1])
            channels.append([])
            offsets.append(np.zeros(3))
        elif word == "{":
            stack.append(len(names) - 1)
        elif word == "}":
            stack.pop()
        elif word == "OFFSET":
            offsets[stack[-1]] = np.array(words[i + 1 : i + 4], float)
        elif word == "CHANNELS":
            channels[stack[-1]] = words[i + 2 : i + 2 + int(words[i + 1])]
        i += 1
    if not names or stack:
        raise InputError(f"'{Path(file).name}' is not a whole BVH file.")
    return names, parents, offsets, channels


def _axis_rotation(axis, angle):
    """Rotations (F, 3, 3) around a coordinate axis by angles (F,) in radians."""
    a, b = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((len(angle), 3, 3))
    matrix[:, axis, axis] = 1
    matrix[:, a, a] = matrix[:, b, b] = np.cos(angle)
    matrix[:, b, a] = np.sin(angle)
    matrix[:, a, b] = -matrix[:, b, a]
    return matrix
