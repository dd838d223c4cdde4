"""The frame that a body's torso carries through its clips: poses are relative to it, travel and turns its motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.subsampling import strided
from ..rotations.rigid import procrustes

_ROUNDS = 5
# Frames, evenly spaced, that the mean shape is of.
_MOST_FRAMES = 100
# Frames worked on at a time, in double precision.
_CHUNK = 64


@dataclass(frozen=True)
class TorsoFrame:
    """vertices (N,): numbers.  reference (N, 3): its mean shape, metres, centred.  weights (N,): shares of its area."""

    vertices: np.ndarray
    reference: np.ndarray
    weights: np.ndarray

    @classmethod
    def learn(cls, vertices: np.ndarray, torso: np.ndarray, mass: np.ndarray) -> TorsoFrame:
        """Of frames (F, V, 3), world, metres; torso (V,) bool; mass (V,) area around each vertex.

        Generalised Procrustes mean (Gower 1975), weighted by area so that resolution does not matter, turned as the
        torso stands in the world at the first frame: upright when that is, whatever it does later.
        Raises InputError where the torso has fewer than three vertices, or lies on one line.
        """
        numbers = np.flatnonzero(torso)
        if len(numbers) < 3:
            raise InputError(f"The torso has {len(numbers)} vertices; give the first part at least three.")
        weights = mass[numbers] / mass[numbers].sum()
        vertices = strided(vertices, _MOST_FRAMES)
        shapes = np.stack([_centred(frame[numbers].astype(float), weights) for frame in vertices])
        _require_breadth(shapes[0], weights)
        mean = shapes[0]
        for _ in range(_ROUNDS):
            rotations, _ = procrustes(shapes, mean, weights)
            mean = np.einsum("fnj,fji->ni", shapes, rotations, optimize=True) / len(shapes)
        upright, _ = procrustes(shapes[0], mean, weights)
        return cls(numbers, mean @ upright.T, weights)

    def of(self, vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotations (F, 3, 3) and translations (F, 3) of the torso in vertices (F, V, 3), world, metres."""
        return torso_frames(vertices[:, self.vertices], self.reference, self.weights)


def torso_frames(torso: np.ndarray, reference: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotations (F, 3, 3) and translations (F, 3) that carry a reference (N, 3) onto torso vertices (F, N, 3).

    weights: (N,).  Each frame by itself: v_world = R v_local + t.
    """
    rotations, translations = np.empty((len(torso), 3, 3)), np.empty((len(torso), 3))
    for start in range(0, len(torso), _CHUNK):
        rows = slice(start, start + _CHUNK)
        rotations[rows], translations[rows] = procrustes(torso[rows], reference, weights)
    return rotations, translations


def to_local(vertices: np.ndarray, rotations: np.ndarray, translations: np.ndarray) -> np.ndarray:
    """Vertices (..., N, 3) of the world in frames (..., 3, 3), (..., 3)."""
    return (vertices - translations[..., None, :]) @ rotations


def _centred(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return points - weights @ points


def _require_breadth(points: np.ndarray, weights: np.ndarray) -> None:
    """On a line, a turn about that line is undetermined."""
    spread = np.linalg.svd(points * np.sqrt(weights)[:, None], compute_uv=False)
    if not spread[1] > 1e-6 * spread[0]:
        raise InputError("The torso's vertices lie on one line, so its turns are unknown; give it more of the body.")
