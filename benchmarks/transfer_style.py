"""The manner in which the second subject of the scored set moves: what it makes of the first one's turns of joints."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from .retarget import PLACE

# Swing of the arms about hanging ones, and of the back about a straight one: angles a become a + GAIN sin(a).
ARM_GAIN, BACK_GAIN = 0.3, 0.25
# Elbows: flexion f becomes f + ELBOW (1 - f / pi)^2, radians.  Knees: f + KNEE sin(f).
ELBOW, KNEE = 0.45, 0.2
# Radians: of each of three joints of the back, forward.  Of each leg, outward, less the farther it swings.
LEAN, STANCE = 0.06, 0.12
# Of the head's and neck's turns, what is left.
HEAD = 0.7
# Radians that arms hang from the rest with arms out.
_HANGING = 1.31
# Axes of the clips' elbows and knees, which are hinges, on the left; x is to the left, y up, z forward.
_ELBOW, _KNEE = np.array((0.0, -0.866, 0.5)), np.array((0.94, 0.342, 0.0))
_X, _Z = np.eye(3)[0], np.eye(3)[2]


def styled(turns: np.ndarray) -> np.ndarray:
    """Turns (F, 38, 3, 3) of joints against their parents, in the second subject's manner.

    Arms swing farther, elbows are more bent, the back bends farther and leans, legs stand wider, knees come higher and
    the head follows less: smooth functions of the pose, each of joints of one body part.
    """
    out = turns.copy()
    for name in ("lowerback", "upperback", "thorax"):
        out[:, PLACE[name]] = _about(_X, LEAN) @ _swung(turns[:, PLACE[name]], np.eye(3), BACK_GAIN)
    for name in ("lowerneck", "upperneck", "head"):
        vectors = Rotation.from_matrix(turns[:, PLACE[name]]).as_rotvec()
        out[:, PLACE[name]] = Rotation.from_rotvec(HEAD * vectors).as_matrix()
    for side, sign in (("l", 1.0), ("r", -1.0)):
        _style_arm(out, turns, side, sign)
        _style_leg(out, turns, side, sign)
    return out


def _style_arm(out, turns, side, sign):
    humerus, radius = PLACE[f"{side}humerus"], PLACE[f"{side}radius"]
    out[:, humerus] = _swung(turns[:, humerus], _about(_Z, -sign * _HANGING), ARM_GAIN)
    flexion = _flexion(turns[:, radius], sign * _ELBOW)
    more = ELBOW * (1.0 - np.clip(flexion / np.pi, 0.0, 1.0)) ** 2
    out[:, radius] = _bent(turns[:, radius], sign * _ELBOW, more)


def _style_leg(out, turns, side, sign):
    femur, tibia, foot = (PLACE[f"{side}{name}"] for name in ("femur", "tibia", "foot"))
    axis = _KNEE * (1.0, sign, 1.0)
    out[:, tibia] = _bent(turns[:, tibia], axis, KNEE * np.sin(_flexion(turns[:, tibia], axis)))
    swing = np.linalg.norm(Rotation.from_matrix(turns[:, femur]).as_rotvec(), axis=1)
    wide = sign * STANCE * np.cos(0.5 * swing) ** 2
    out[:, femur] = Rotation.from_rotvec(wide[:, None] * _Z).as_matrix() @ turns[:, femur]
    out[:, foot] = Rotation.from_rotvec(-wide[:, None] * _Z).as_matrix() @ turns[:, foot]


def _swung(turns, centre, gain):
    """Turns (F, 3, 3) farther from a centre (3, 3)."""
    vectors = Rotation.from_matrix(centre.T @ turns).as_rotvec()
    angle = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return centre @ Rotation.from_rotvec(vectors * (1.0 + gain * np.sin(angle) / angle)).as_matrix()


def _flexion(turns, axis):
    return Rotation.from_matrix(turns).as_rotvec() @ axis


def _bent(turns, axis, more):
    return Rotation.from_rotvec(more[:, None] * axis).as_matrix() @ turns


def _about(axis, angle):
    return Rotation.from_rotvec(angle * axis).as_matrix()
