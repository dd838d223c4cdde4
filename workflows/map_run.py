"""Bake: what the target does over a range, as a new object that plays it by itself."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ..scene import live_mesh
from ..scene.mesh_bakes import CACHE_FOLDER, Baked, MeshResult, bake_absolute_keys, bake_pc2, bake_pca_keys
from ..solvers.errors import InputError
from ..solvers.gram_pca import GramPca, gram_pca_steps
from .base import relayed, run_to_end, within
from .map_live import pose_of, read_again_steps, result_at, store_clip
from .map_model import clip_of, confidence_of, map_of, require_learnt_mesh, target_of
from .map_pairs import contradicting
from .map_store import SourceClip

PC2, PCA_KEYS, ABSOLUTE_KEYS = "PC2", "PCA_KEYS", "ABSOLUTE_KEYS"
_EXACT = 0.99999  # of the result's variance: more keys than that show nothing
_MOST_FRAMES = 100_000


@dataclass(frozen=True)
class MapBakeOptions:
    """kind: PC2, PCA_KEYS or ABSOLUTE_KEYS.  start, end: scene frames, the source's range where None.  step: frames.
    keys: weighted shape keys, at most.  folder: of the cache file.  name: of the new object, else made from the old."""

    kind: str = PC2
    start: float | None = None
    end: float | None = None
    step: int = 1
    keys: int = 24
    folder: str = CACHE_FOLDER
    name: str | None = None


def bake_target(context, ob, options: MapBakeOptions) -> dict:
    """Bake one target; returns a report that JSON can hold."""
    return run_to_end(bake_steps(context, ob, options))


def bake_steps(context, ob, options: MapBakeOptions) -> Generator[tuple[float, str], None, dict]:
    """Bake, with progress; the new object is made after the last step only. Returns the report."""
    began = time.perf_counter()
    require_learnt_mesh(ob)
    map_of(ob)
    frames = bake_frames(ob, options)
    clip = None
    if not ob.motion_loom_map.live_input:
        clip = yield from within(read_again_steps(context, ob), 0.0, 0.2)
    result = yield from relayed(_result_steps(ob, frames, clip), 0.2, 0.8, "Mapping")
    modes = None
    if options.kind == PCA_KEYS:
        modes = yield from relayed(_modes_steps(result, options.keys), 0.8, 0.9, "Choosing shapes")
    yield 0.95, "Writing"
    baked = _write(context, ob, result, modes, options)
    ob.motion_loom_map.result = baked.ob
    store_clip(ob, clip)  # not before: a bake that is cancelled or fails leaves all as it was
    return {
        "target": ob.name,
        "object": baked.ob.name,
        "kind": options.kind,
        "file": baked.path,
        "frames": len(frames),
        "start": float(frames[0]),
        "end": float(frames[-1]),
        "pairs": sum(pair.use for pair in ob.motion_loom_map.pairs),
        "contradiction": contradicting(ob),
        "components": target_of(ob).space.components,
        "bytes": baked.byte_count,
        "error_max": baked.error[0],
        "error_rms": baked.error[1],
        "confidence_mean": float(confidence_of(ob).mean()),
        "travel_m": float(np.linalg.norm(np.diff(result_at(ob, frames)[1], axis=0), axis=1).sum()),
        "seconds": time.perf_counter() - began,
    }


def bake_frames(ob, options: MapBakeOptions) -> np.ndarray:
    """Scene frames (F,) to bake; InputError for an empty range, an endless one or a step that is none."""
    known = clip_of(ob).frames
    start = known[0] if options.start is None else options.start
    end = known[-1] if options.end is None else options.end
    if not options.step >= 1:
        raise InputError(f"The frame step must be 1 or more, not {options.step}.")
    if not start <= end:
        raise InputError(
            f"The range {start:g} to {end:g} is empty; the source has frames {known[0]:g} to {known[-1]:g}."
        )
    if end - start > _MOST_FRAMES * options.step:
        raise InputError(f"Frames {start:g} to {end:g} are too many; raise the step or bake a part.")
    return np.arange(start, end + 1e-6, options.step, dtype=float)


def _result_steps(ob, frames: np.ndarray, clip: SourceClip | None) -> Generator[float, None, MeshResult]:
    coefficients, positions, headings = result_at(ob, frames, clip)
    vertices = np.empty((len(frames), *target_of(ob).space.rest.shape), np.float32)
    worlds = np.empty((len(frames), 4, 4))
    for number in range(len(frames)):
        vertices[number], worlds[number] = pose_of(ob, coefficients[number], positions[number], headings[number])
        yield number / len(frames)
    return MeshResult(vertices, worlds, frames)


def _modes_steps(result: MeshResult, keys: int) -> Generator[float, None, GramPca]:
    shapes = result.vertices.reshape(len(result.frames), -1)
    if (shapes == shapes[0]).all():  # nothing varies: one shape says all
        return GramPca(shapes[0], np.empty((0, shapes.shape[1]), np.float32), np.empty((len(shapes), 0)), 1.0)
    return (yield from gram_pca_steps(shapes.copy(), keys, _EXACT))


def _write(context, ob, result: MeshResult, modes: GramPca | None, options: MapBakeOptions) -> Baked:
    # The copy is made of the original, which is hidden while live.
    with live_mesh.shown(context, ob):
        if options.kind == PC2:
            return bake_pc2(context, ob, result, options.name, options.folder)
        if options.kind == ABSOLUTE_KEYS:
            return bake_absolute_keys(context, ob, result, options.name)
        if modes is None:
            raise InputError(f"'{options.kind}' is no kind of bake; use {PC2}, {PCA_KEYS} or {ABSOLUTE_KEYS}.")
        shape = result.vertices.shape[1:]
        mean, basis = modes.mean.reshape(shape), modes.basis.reshape(-1, *shape)
        return bake_pca_keys(context, ob, result, mean, basis, modes.coefficients, options.name)
