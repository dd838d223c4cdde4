"""Pairs of objects that a body stands on at once, since faces of both lie in one plane: a step let into a floor."""

from __future__ import annotations

import itertools

import numpy as np

from ..core.subsampling import strided
from ..core.types import MeshTrack
from ..surface.track import SurfaceTrack
from .binding import Binding

# How much an effector touches what it stands on.
_TOUCHED = 0.5
# Metres at 1.8 m between surfaces that are one to a foot, and around its place that they are looked at.
_COINCIDENT, _AROUND = 0.003, 0.015
# Cosine between normals of one plane.
_ALIGNED = 0.99
# Contacts of a pair of objects looked at.
_LOOKED_AT = 64


def coincident_faces(binding: Binding, environment: list[MeshTrack]) -> list[tuple[int, int, np.ndarray]]:
    """Pairs of objects, by number, on faces of both of which effectors stand, and those joints.

    environment: the bound meshes.  Faces that lie side by side are no such pair.
    """
    touched = binding.contact > _TOUCHED
    out = []
    for one, other in itertools.combinations(np.flatnonzero(touched.any(axis=(1, 2))), 2):
        frame, joint = np.nonzero(touched[one] & touched[other])
        apart = np.ptp(binding.joint_distance[[one, other]][:, frame, joint], axis=0)
        near = np.flatnonzero(apart < _COINCIDENT * binding.scale)
        near = strided(near, _LOOKED_AT)
        frame, joint = frame[near], joint[near]
        if frame.size:
            surfaces = SurfaceTrack(environment[one]), SurfaceTrack(environment[other])
            both = _on_both(surfaces, binding.track.positions[frame, joint], frame, binding.scale)
            if both.any():
                out.append((int(one), int(other), np.unique(joint[both])))
    return out


def _on_both(surfaces: tuple[SurfaceTrack, SurfaceTrack], points, frames, scale) -> np.ndarray:
    """(M,) bool: whether all around the place of one surface that is nearest to points (M, 3) the other one lies."""
    one, other = surfaces
    hits = one.query(points, frames, np.inf)
    across = np.cross(hits.normal, np.eye(3)[np.abs(hits.normal).argmin(axis=1)])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    along = np.cross(hits.normal, across)
    out = np.ones(len(points), bool)
    for aside in (across, -across, along, -along):
        at = hits.closest + _AROUND * scale * aside
        for surface in surfaces:
            found = surface.query(at, frames, _AROUND * scale)
            out &= np.abs(found.distance) < _COINCIDENT * scale
            out &= np.einsum("mi,mi->m", found.normal, hits.normal) > _ALIGNED
    return out
