"""What swings limbs that IK bends: the place of a knee or an elbow says how, limb by limb."""

from __future__ import annotations

import numpy as np

from ..skeleton.hierarchy import below
from .channels import put, taken
from .clip import Clip
from .descent import Descent, Steps
from .leftover import ALIKE, bent_by_ik, limb_ends_of
from .misfit import References
from .structure import Structure

# What turns count against places of joints, and how much more the places of hands and feet do.
_TURNED, _PLACED = 1e-3, 10.0
_ROUNDS = ((4, 8),)


def swung_as_nearby(clip: Clip, frames: np.ndarray, state: int, structure: Structure) -> Steps:
    """Swing limbs to where their joints belong, each by itself, first as at frames nearby where they are far better.

    A limb that is nearly straight may come to rest with its joint on the other side, and counts little beside the
    trunk.  Frames at which more is missed after it stay as they are.
    """
    moves, under = clip.controls.moves[state], below(clip.controls.carrier_parents)
    bent, ends = bent_by_ik(clip, state, structure, under), limb_ends_of(clip, state, structure, under)
    beyond = under[ends].any(axis=0)
    swings = moves[:, bent].any(axis=1) & ~moves[:, ~(bent | beyond)].any(axis=1) & ~structure.goals
    blocks = structure.whole_blocks(swings)
    if not blocks.blocks or not len(frames):
        return
    weights = np.tile(np.repeat((1.0, _TURNED), 3), (len(frames), len(bent), 1))
    weights[:, ends, :3] = _PLACED
    weights = weights.reshape(len(frames), -1)
    whole = References.to_armature(len(bent))
    kept, pose = taken(clip.channels, frames), clip.pose[frames]
    before = np.linalg.norm(weights * clip.errors(frames, whole), axis=1)
    descent = Descent(clip, frames, blocks, weights, home=ALIKE.home)
    yield from descent.follow_neighbours()
    yield from descent.run(_ROUNDS)
    yield from clip.refresh(frames)
    worse = np.linalg.norm(weights * clip.errors(frames, whole), axis=1) > before
    put(clip.channels, frames[worse], taken(kept, worse))
    clip.pose[frames[worse]] = pose[worse]
