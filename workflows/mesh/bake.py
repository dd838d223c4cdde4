"""Bake a result on a mesh, whichever workflow made it, to a new object that plays it by itself, and what that takes."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from ...scene import live_mesh
from ...scene.frames import MET, frames_stepped, require_range
from ...scene.mesh_bakes import (
    CACHE_FOLDER,
    Baked,
    MeshResult,
    bake_absolute_keys,
    bake_pc2,
    bake_pca_keys,
    require_cache,
)
from ...scene.restored import restored_after_error
from ...scene.whole_file import removed_on_failure
from ...solvers.core.errors import InputError
from ...solvers.regression.gram_pca import GramPca, gram_pca_steps
from ..command_line.words import counted, millimetres
from ..core.base import relayed

PC2, PCA_KEYS, ABSOLUTE_KEYS = "PC2", "PCA_KEYS", "ABSOLUTE_KEYS"
_EXACT = 0.99999  # of the result's variance: more keys than that show nothing
_COORDINATE = 4  # bytes, single precision
_KEY = 72  # bytes of a key of a curve, as Blender keeps it
_MEGABYTE = 1e6


@dataclass(frozen=True)
class MeshBakeOptions:
    """kind: PC2, PCA_KEYS or ABSOLUTE_KEYS.  start, end: scene frames, the source's range where None.  step: frames.
    keys: weighted shape keys, at most.  folder: of the cache file.  name: of the new object, else made from the old."""

    kind: str = PC2
    start: float | None = None
    end: float | None = None
    step: int = 1
    keys: int = 24
    folder: str = CACHE_FOLDER
    name: str | None = None


def options_of(settings) -> MeshBakeOptions:
    """What ``MeshResultSettings`` are set to."""
    start, end = (settings.bake_start, settings.bake_end) if settings.use_bake_range else (None, None)
    return MeshBakeOptions(settings.bake_kind, start, end, settings.bake_step, settings.bake_keys, settings.bake_folder)


def why_no_bake(context, settings) -> str | None:
    """Why what is chosen cannot be written yet, or None."""
    if settings.bake_kind == PC2 and not context.blend_data.filepath:
        return "Save the file first: the cache lies beside it. Or bake to shape keys."
    return None


def bake_frames(known: np.ndarray, options: MeshBakeOptions) -> np.ndarray:
    """Scene frames (N,) to bake, by default from the first to the last of the source's (F,).

    Shape keys have the last one whatever the step; a cache file, whose samples are evenly spaced, what the step meets.
    Raises InputError for an empty range, an endless one, one in which the source does nothing or a step that is none.
    """
    start, end = _ends(known, options)
    if not options.step >= 1:
        raise InputError(f"The frame step must be 1 or more, not {options.step}.")
    require_range(start, end, "The range to bake", options.step)
    if not start <= end:
        raise InputError(
            f"The range {start:g} to {end:g} is empty; the source has frames {known[0]:g} to {known[-1]:g}."
        )
    if end < known[0] or start > known[-1]:
        raise InputError(
            f"Frames {start:g} to {end:g} are outside the source's, {known[0]:g} to {known[-1]:g}, where its pose is "
            "only held; choose some of those."
        )
    frames = frames_stepped(start, end, options.step)
    return np.append(frames, end) if options.kind != PC2 and _misses(frames, end, options) else frames


def _ends(known: np.ndarray, options: MeshBakeOptions) -> tuple[float, float]:
    return (
        float(known[0] if options.start is None else options.start),
        float(known[-1] if options.end is None else options.end),
    )


def _left_out(known: np.ndarray, frames: np.ndarray, options: MeshBakeOptions) -> float | None:
    """The last frame of the range, where the step does not meet it."""
    _, end = _ends(known, options)
    return end if _misses(frames, end, options) else None


def _misses(frames: np.ndarray, end: float, options: MeshBakeOptions) -> bool:
    return end - frames[-1] > MET * options.step


def require_space(options: MeshBakeOptions, vertex_count: int, frame_count: int) -> None:
    """Raises SceneError or OutputError where a cache file that is wanted cannot be written: before the work."""
    if options.kind == PC2:
        require_cache(options.folder, vertex_count, frame_count)


def result_steps(
    frames: np.ndarray, vertex_count: int, pose_of: Callable[[int], tuple[np.ndarray, np.ndarray]]
) -> Generator[float, None, MeshResult]:
    """The result at scene frames (N,); yields shares done.

    pose_of: number of a frame -> vertices (V, 3), own space, and world matrix (4, 4).
    """
    vertices, worlds = np.empty((len(frames), vertex_count, 3), np.float32), np.empty((len(frames), 4, 4))
    for number in range(len(frames)):
        vertices[number], worlds[number] = pose_of(number)
        yield number / len(frames)
    return MeshResult(vertices, worlds, frames)


def write_steps(
    context, ob, result: MeshResult, options: MeshBakeOptions, done: str, keep: Callable[[Baked], dict]
) -> Generator[tuple[float, str], None, dict]:
    """Write a result on a mesh object to a new one, which is made after the last step only.

    done: what was done to it, in a word; the new object is called "<name> (<done>)" unless the options name it.
    keep: notes what was written and returns the report; where it fails, nothing is left of the new object and file.
    Raises InputError for an unknown kind of bake, and as ``scene.mesh_bakes``.
    """
    modes = None
    if options.kind == PCA_KEYS:
        modes = yield from relayed(_modes_steps(result, options.keys), 0.0, 0.5, "Choosing shapes")
    yield 0.75, "Writing"
    with removed_on_failure(), restored_after_error(ob):
        # The copy is made of the original, which is hidden while live.
        with live_mesh.shown(context, ob):
            baked = _written(context, ob, result, modes, options, options.name or f"{ob.name} ({done})")
        return keep(baked)


def report_of(ob, known: np.ndarray, frames: np.ndarray, options: MeshBakeOptions, baked: Baked) -> dict:
    """What there is to say of any bake at scene frames (N,) of a source's (F,), for JSON."""
    return {
        "target": ob.name,
        "object": baked.ob.name,
        "kind": options.kind,
        "file": baked.path,
        "frames": len(frames),
        "start": float(frames[0]),
        "end": float(frames[-1]),
        "step": options.step,
        "left_out": _left_out(known, frames, options),
        "bytes": baked.byte_count,
        "error_max": baked.error[0],
        "error_rms": baked.error[1],
    }


def written_text(report: dict) -> str:
    """Where it lies and how large it is, in words, of a report."""
    text = f"{_size(report['bytes'])} in {report['file'] or 'the .blend'}"
    if report["left_out"] is None:
        return text
    last = f"ends at frame {report['end']:g}, as steps of {report['step']} do not meet frame {report['left_out']:g}"
    return f"{text}, {last}"


def accuracy_text(report: dict) -> str | None:
    """How near shape keys came, of a report; None for what is exact."""
    if report["kind"] != PCA_KEYS:
        return None
    where = " at the stored frames" if report["step"] > 1 else ""
    return f"shape keys within {_length(report['error_max'])}{where}"


def costs_of(vertex_count: int, frame_count: int, keys: int) -> dict[str, str]:
    """What each kind of bake takes, in words, by kind, before it is done; keys: weighted ones, at most."""
    shape = 3 * _COORDINATE * vertex_count
    keys = min(keys, frame_count)
    return {
        PC2: f"{_size(shape * frame_count)} in a file, {counted(frame_count, 'frame')}",
        PCA_KEYS: f"at most {_size(shape * (keys + 1) + _KEY * keys * frame_count)} in the .blend",
        ABSOLUTE_KEYS: f"{_size((shape + _KEY) * frame_count)} in the .blend, {counted(frame_count, 'key')}",
    }


def _length(metres: float) -> str:
    """Rounded to two digits, a micrometre at least."""
    if metres >= 1.0:
        return f"{metres:.2f} m"
    return millimetres(max(1e3 * metres, 1e-3))


def _size(count: float) -> str:
    return f"{count / _MEGABYTE:.1f} MB"


def _modes_steps(result: MeshResult, keys: int) -> Generator[float, None, GramPca]:
    shapes = result.vertices.reshape(len(result.frames), -1)
    if (shapes == shapes[0]).all():  # nothing varies: one shape says all
        none = np.empty((0, shapes.shape[1]), np.float32), np.empty((len(shapes), 0))
        return GramPca(shapes[0], *none, 1.0, np.zeros(len(shapes)))
    return (yield from gram_pca_steps(shapes.copy(), keys, _EXACT))


def _written(context, ob, result: MeshResult, modes: GramPca | None, options: MeshBakeOptions, name: str) -> Baked:
    if options.kind == PC2:
        return bake_pc2(context, ob, result, name, options.folder)
    if options.kind == ABSOLUTE_KEYS:
        return bake_absolute_keys(context, ob, result, name)
    if modes is None:
        raise InputError(f"'{options.kind}' is no kind of bake; use {PC2}, {PCA_KEYS} or {ABSOLUTE_KEYS}.")
    shape = result.vertices.shape[1:]
    mean, basis = modes.mean.reshape(shape), modes.basis.reshape(-1, *shape)
    return bake_pca_keys(context, ob, result, mean, basis, modes.coefficients, name)
