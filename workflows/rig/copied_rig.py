"""Whether a private copy, on which results are fitted and measured, moves as the rig itself does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...scene.held_as_bound import HELD_AS_BOUND
from ...scene.motion import BoneMotion
from ...solvers.controls.control_rig import ControlRig
from ...solvers.controls.deviation import deviation

# Metres of a body of 1.8 m, and degrees, from which on a copy is said to move otherwise.
_AWAY, _TURNED = 0.005, 2.0
_HEIGHT = 1.8


def copy_notes(controls: ControlRig, original: BoneMotion, pose: np.ndarray) -> Iterator[str]:
    """A sentence, without its full stop, of the bone that a copy puts farthest from where the scene has it.

    original: as the rig itself was read.  pose: (F, B, 4, 4) armature space, as the copy plays the same source.
    """
    if original.sampled_because == HELD_AS_BOUND:
        return  # the scene is another one by now
    found = deviation(original.pose, pose, controls.verified)
    shares = found.away / (_AWAY * controls.size / _HEIGHT), np.degrees(found.turned) / _TURNED
    worst = np.maximum(*shares)
    if not worst.size or worst.max() <= 1.0:
        return
    row, bone = np.unravel_index(worst.argmax(), worst.shape)
    off = 1000.0 * found.away[row, bone] * np.linalg.norm(original.object_world[row, :3, 0])
    yield (
        f"Bone '{original.rig.names[found.bones[bone]]}' comes out otherwise on the copy of the rig that results are "
        f"worked out on, by {off:.0f} mm and {np.degrees(found.turned[row, bone]):.0f} degrees at frame "
        f"{original.frames[row]:g}, so that the result will be as far from what is told here: something that moves it "
        "from outside of the rig could not be copied; Copy Deform Bones makes a rig without it"
    )
