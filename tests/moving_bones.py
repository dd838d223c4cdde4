"""Bones of a body that hang on nothing and move together."""

import numpy as np
from scipy.spatial.transform import Rotation

# Hips, spine, chest, head; thigh and shin on each side of the hips, feet ahead of the shins.
NAMES = ("hips", "spine", "chest", "head", "thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R")
TREE = np.array([-1, 0, 1, 2, 0, 4, 5, 0, 7, 8])
HEADS = np.array(
    [[0, 0, 1], [0, 0, 1.1], [0, 0, 1.3], [0, 0, 1.6], [0.1, 0, 0.95], [0.1, 0, 0.5], [0.1, 0, 0.1],
     [-0.1, 0, 0.95], [-0.1, 0, 0.5], [-0.1, 0, 0.1]]
)  # fmt: skip
TAILS = np.array(
    [[0, 0, 1.1], [0, 0, 1.3], [0, 0, 1.6], [0, 0, 1.8], [0.1, 0, 0.5], [0.1, 0, 0.1], [0.1, 0.2, 0],
     [-0.1, 0, 0.5], [-0.1, 0, 0.1], [-0.1, 0.2, 0]]
)  # fmt: skip


def moving(rng, still=(), stretch=0.0):
    """Pose (F, B, 4, 4), rest (B, 4, 4) and lengths (B,): all bones turn about their heads, but the ones named."""
    along = TAILS - HEADS
    lengths = np.linalg.norm(along, axis=1)
    rest = np.tile(np.eye(4), (len(TREE), 1, 1))
    rest[:, :3, :3] = [Rotation.align_vectors([a], [[0, 1, 0]])[0].as_matrix() for a in along]
    rest[:, :3, 3] = HEADS
    frames = 20
    pose = np.tile(rest, (frames, 1, 1, 1))
    for bone, parent in enumerate(TREE):
        own = Rotation.from_rotvec(rng.normal(0.0, 0.3, (frames, 3))).as_matrix()
        own[:, :3, 1:2] *= rng.uniform(1.0 - stretch, 1.0 + stretch, (frames, 1, 1))
        if NAMES[bone] in still:
            own[:] = np.eye(3)
        above = pose[:, parent] if parent >= 0 else np.eye(4)
        offset = np.linalg.inv(rest[parent]) @ rest[bone] if parent >= 0 else rest[bone]
        pose[:, bone] = above @ offset
        pose[:, bone, :3, :3] = pose[:, bone, :3, :3] @ own  # NumPy 1.24 has no @=.
    return pose, rest, lengths
