"""What a result cannot be right for: places too far off, frames that did not settle, sizes that nobody means."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...solvers.adapt.binding import Binding
from ...solvers.adapt.solve import AdaptedMotion
from ...solvers.core.errors import InputError
from ...solvers.core.types import MeshTrack
from ...solvers.surface.descriptor_frames import descriptor_frames

# Blender's places are single precision: this many body heights from the origin they are exact to 5 cm at a 1.8 m body.
_REACH = 0.05 / 1.8 * 2**24
_RUNS = 6  # stretches of frames that are named
_SANE = 10.0  # times as large, or as small, as at bind; more is said


def require_in_reach(what: str, places: np.ndarray, frames: np.ndarray, height: float) -> None:
    """Raises InputError for places (S, N, 3), world space, so far off that they are too coarse for the body.

    what: has them, as in "A vertex of 'Floor'".  frames: (F,) of the states where S is not 1.  height: of the body,
    metres.
    """
    farthest = _REACH * height
    if not places.size or max(places.max(), -places.min()) <= farthest:
        return
    far = np.abs(places).max(axis=-1)
    state, point = np.unravel_index(far.argmax(), far.shape)
    when = f" at frame {frames[state]:g}" if len(places) > 1 else ""
    place = ", ".join(f"{value:.3g}" for value in places[state, point])
    raise InputError(
        f"{what} is out of range{when}: it lies at ({place}). Bring it within {farthest:.2g} m of the world's origin, "
        "beyond which Blender's numbers are too coarse for this body."
    )


def require_set_in_reach(environment: Sequence[MeshTrack], frames: np.ndarray, height: float) -> None:
    """``require_in_reach`` of each object."""
    for mesh in environment:
        require_in_reach(f"A vertex of '{mesh.name}'", mesh.vertices, frames, height)


def roughest_frame(adapted: AdaptedMotion, frames: np.ndarray) -> float | None:
    """Which of the frames (F,) that did not converge jumps most; None where all did."""
    unsettled = np.flatnonzero(~adapted.converged)
    if not len(unsettled):
        return None
    around = np.pad(adapted.positions, ((1, 1), (0, 0), (0, 0)), mode="edge")
    jumps = np.linalg.norm(np.diff(around, 2, axis=0), axis=-1).max(axis=1)
    return float(frames[unsettled[jumps[unsettled].argmax()]])


def unsettled_note(adapted: AdaptedMotion, frames: np.ndarray) -> str | None:
    """How many frames (F,) did not converge, which, and the roughest of them; None where all did."""
    worst, unsettled = roughest_frame(adapted, frames), np.flatnonzero(~adapted.converged)
    if worst is None:
        return None
    did = f"{len(unsettled)} of {len(frames)} frames did" if len(frames) > 1 else "The frame did"
    return (
        f"{did} not settle ({_runs(frames, unsettled)}), the roughest is frame {worst:g}: look at them, and where they "
        "are wrong change the set or the size less, or set objects to Ignore"
    )


def refused_notes(adapted: AdaptedMotion, frames: np.ndarray) -> list[str]:
    """What is left undone at some of the frames (F,), as the body would jump; a sentence each."""
    words = (
        (adapted.unclear, "stays nearer to its surroundings than it could", "change what is around it there by less"),
        (adapted.let_go, "does not hold a hand or foot to itself", "switch the contact off, or change the set by less"),
    )
    return [
        f"The body {left} at frames {_runs(frames, np.flatnonzero(refused))}, as it would jump there: {way_out}"
        for refused, left, way_out in words
        if refused.any()
    ]


def _runs(frames: np.ndarray, rows: np.ndarray) -> str:
    """Frames at rows (N,) in words, as in "3 to 8, 12"; the first few runs of them."""
    runs = np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1)
    texts = [f"{frames[run[0]]:g}" + (f" to {frames[run[-1]]:g}" if len(run) > 1 else "") for run in runs]
    more = len(texts) - _RUNS
    return ", ".join(texts[:_RUNS] + ([f"{more} more stretches"] if more > 0 else []))


def size_notes(rig: str, scale: float, binding: Binding, environment: Sequence[MeshTrack | None]) -> list[str]:
    """A sentence of a character, and of each object, that is much larger or smaller than at bind.

    scale: of the character against bind.  environment: None for what is replaced, which has no size to compare with.
    """
    sizes = [(rig, scale)]
    for number, mesh in enumerate(environment):
        if mesh is None:
            continue
        one = binding.among(np.array([number]))
        now = descriptor_frames(one.points, [MeshTrack(mesh.name, mesh.vertices[:1], mesh.triangles)])[0]
        before, after = _spread(one.origins[0]), _spread(now[0])
        if before > 0.0:
            sizes.append((mesh.name, after / before))
    return [
        f"'{name}' is {float(f'{size:.3g}'):,.10g} times as large as it was when it was bound"
        for name, size in sizes
        if not 1.0 / _SANE <= size <= _SANE
    ]


def _spread(points: np.ndarray) -> float:
    """Root mean square distance of points (N, 3) from their mean, 0 for none."""
    return float(np.sqrt(points.var(axis=0).sum())) if len(points) else 0.0
