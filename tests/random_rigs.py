"""Rigs without Blender, and random rotations and motions for them."""

import numpy as np
from scipy.spatial.transform import Rotation

from solvers.skeleton.rig import Rig

FRAMES = 7
PARENTS = np.array([-1, 0, 1, 2, 1, 4, 0, -1, 7])


def random_rotations(rng, *shape):
    """(..., 3, 3)"""
    found = Rotation.random(int(np.prod(shape)), random_state=rng.integers(1 << 30)).as_matrix()
    return found.reshape(*shape, 3, 3)


def random_quaternions(rng, *shape):
    """(..., 4) of either sign."""
    q = rng.normal(size=(*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def random_matrices(rng, *shape, size=1.0):
    """(..., 4, 4) rigid motions."""
    out = np.zeros((*shape, 4, 4))
    out[..., :3, :3] = random_rotations(rng, *shape)
    out[..., :3, 3] = rng.normal(0, size, (*shape, 3))
    out[..., 3, 3] = 1.0
    return out


def plain_rig(parents, rest, lengths, modes=None, names=None, scale="FULL", rotation=True, local=True, connect=None):
    """All bones alike, none connected unless asked for."""
    bones = len(parents)
    return Rig(
        names=tuple(names or (f"bone.{b}" for b in range(bones))),
        parents=np.asarray(parents),
        rest=rest,
        lengths=np.broadcast_to(lengths, bones),
        use_connect=np.zeros(bones, bool) if connect is None else connect,
        inherit_rotation=np.full(bones, rotation),
        inherit_scale=(scale,) * bones,
        use_local_location=np.full(bones, local),
        rotation_modes=modes or ("QUATERNION",) * bones,
    )


def make_rig(rng, **options):
    """Two trees of bones at random places; options: see `plain_rig`."""
    return plain_rig(PARENTS, random_matrices(rng, len(PARENTS)), 1.0, **options)


def make_basis(rng, rig, scale=None):
    """(F, B, 4, 4), scaled evenly, unevenly, mirrored or not at all."""
    basis = random_matrices(rng, FRAMES, len(rig.names), size=0.3)
    if scale == "uniform":
        basis[..., :3, :3] *= rng.uniform(0.5, 2.0, (*basis.shape[:2], 1, 1))
    if scale == "non-uniform":
        basis[..., :3, :3] *= rng.uniform(0.5, 2.0, (*basis.shape[:2], 1, 3))
    basis[:, rig.use_connect, :3, 3] = 0.0
    return basis
