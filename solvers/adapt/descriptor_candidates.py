"""Places on objects that a motion comes near to: of these its descriptors are chosen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..surface.descriptor_frames import DescriptorPoints
from ..surface.occlusion import covered
from ..surface.track import SurfaceTrack
from .descriptor_sampling import environment_proximity, thin_track

# Joints farther than this from a surface (metres at 1.8 m) place no descriptor on it.
SAMPLING_REACH = 0.9
# Eq. 7: descriptors are as dense as half the distance of the joint that places them, or half of this (at 1.8 m).
RADIUS = 0.03
# Metres at 1.8 m over a surface: where one of them is inside another object the surface is covered, by a rug or a
# stone, and carries no descriptor.
LIFTS = (0.0, 0.002, 0.01, 0.03)
# Metres at 1.8 m by which objects that merely touch may overlap.
TOUCH = 2e-4
# Samples of a joint closer than this share of the radius to the last one place the same descriptors.
THINNING = 1 / 6


def candidates(
    joints: np.ndarray, surfaces: Sequence[SurfaceTrack], scale: float
) -> tuple[DescriptorPoints, np.ndarray]:
    """Proximity points of joints (F, J, 3), world, on every object, in frame order, and their distances, metres.

    scale: body height / 1.8 m.  Al-Ashqar, Komura and Choi 2013, section 4.
    """
    found = []
    for index, surface in enumerate(surfaces):
        frame, joint = np.nonzero(thin_track(_seen_from(surface, joints), THINNING * RADIUS * scale))
        at = joints[frame, joint]
        if surface.is_deforming:
            states = [(at[frame == f], frame[frame == f], surface.mesh.state(f)) for f in np.unique(frame)]
        else:
            states = [(surface.to_first_state(at, frame), frame, surface.mesh.state(0))]
        for points, frames, mesh in states:
            row, places, distance = environment_proximity(points, [mesh], SAMPLING_REACH * scale, RADIUS * scale)
            others = [other for k, other in enumerate(surfaces) if k != index]
            lifted = (_lifted(surface, places, frames[row], lift * scale) for lift in LIFTS)
            open_ = ~np.any([covered(at_height, frames[row], others, TOUCH * scale) for at_height in lifted], axis=0)
            parts = (np.full(len(places), index), places.triangle, places.barycentric, distance)
            found.append([part[open_] for part in parts])
    *places, distance = (np.concatenate(part) for part in zip(*found, strict=True))
    return DescriptorPoints(*places), distance


def _seen_from(surface, joints):
    """Joints (F, J, 3) as an object that moves sees them: one that rests may come along all of it."""
    if surface.mesh.is_static:
        return joints
    if surface.is_deforming:
        return joints - surface.mesh.vertices.mean(axis=1, keepdims=True)
    frames = np.repeat(np.arange(len(joints)), joints.shape[1])
    return surface.to_first_state(joints.reshape(-1, 3), frames).reshape(joints.shape)


def _lifted(surface, places, frames, height):
    """Places on a surface at frames (P,), raised along its normals: (P, 3)."""
    state = np.zeros_like(frames) if surface.mesh.is_static else frames
    corner = surface.mesh.vertices[state[:, None], surface.mesh.triangles[places.triangle]]
    at = np.einsum("pk,pkc->pc", places.barycentric, corner)
    return at + height * surface.face_normals(places.triangle, frames)
