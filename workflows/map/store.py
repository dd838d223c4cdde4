"""What Map has learnt of a target and read of a source, as arrays and a header that the .blend can hold, and back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...scene.point_source import JOINTS, OBJECTS, VERTICES, PointSource
from ...solvers.core.errors import InputError
from ...solvers.core.interpolation import BetweenRows
from ...solvers.mapping.gaits import LEVELS, Gait
from ...solvers.mapping.source_motion import SourceModel, SourceStream
from ...solvers.mapping.travel_estimators import FeetAt, TravelEstimators
from ...solvers.shapes.feet_readout import FeetReadout
from ...solvers.shapes.target_space import TargetSpace
from ...solvers.surface.weld import weld
from ..core.stored_arrays import (
    StoredKind,
    by_part,
    flattened,
    require_counts,
    require_indices,
    require_positive,
    require_rising,
    require_shapes,
    require_texts,
)

_LEARNT = StoredKind("map target", 1, "poses", "learn the target again")
_READ = StoredKind("map source", 1, "positions of the source", "learn again")
# F frames, V vertices, D components, J points; see ``stored_arrays.require_shapes``.
_TARGET = {
    "frames": "fi F", "place": "f 4 4", "pivot": "f 3", "floor": "f?", "space rest": "f V 3",
    "space triangles": "iu T 3", "space mean": "f M", "space basis": "f D M", "space coefficients": "f F D",
}  # fmt: skip
_CLIP = {"positions": "f? F J 3", "frames": "fi F", "model reference": "f? J 3"}


@dataclass(frozen=True)
class LearntTarget:
    """space: its poses, in the object's space at the first frame.  frames: (F,) that were learnt.  place: (4, 4) world
    matrix at the first frame.  pivot: (3,) world, about which it turns.  travel: how its pose moves it.
    floor: the lowest it ever was, world, metres; minus infinity where all of its movement is pose.
    vertices, faces, mark: how many the mesh had, and ``mesh.faces.faces_mark`` of it, to tell later whether it is still
    that one.  loose: how many vertices lie where others do and move by themselves, as files from before have them.
    doubts: sentences on its motion, see ``doubts``; files from before have none."""

    space: TargetSpace
    frames: np.ndarray
    place: np.ndarray
    pivot: np.ndarray
    travel: TravelEstimators
    floor: float
    vertices: int
    faces: int
    mark: str
    loose: int = 0
    doubts: tuple[str, ...] = ()

    @cached_property
    def feet_at(self) -> FeetAt | None:
        """Where its feet are, of coefficients; None where it has none that tell how it travels."""
        strokes = self.travel.strokes
        return None if strokes is None else FeetReadout.build(self.space, strokes.feet, self.place).of

    def coefficients_at(self, frames: np.ndarray) -> np.ndarray:
        """(N, D) at frames (N,), on the line between the learnt ones; InputError for one that is not a number."""
        if np.isnan(frames).any():
            raise InputError("A frame of the target is not a number; choose one among those that were learnt.")
        return BetweenRows.at(frames, self.frames).of(self.space.coefficients)


@dataclass(frozen=True)
class SourceClip:
    """model: makes features of its points.  positions: (F, J, 3) world, metres, NaN where missing.  frames: (F,) scene
    frames.  fps: scene frames a second.  record: of the ``PointSource``."""

    model: SourceModel
    positions: np.ndarray
    frames: np.ndarray
    fps: float
    record: dict

    @property
    def times(self) -> np.ndarray:
        """(F,) seconds from the first frame."""
        return (self.frames - self.frames[0]) / self.fps

    @property
    def is_tracked(self) -> bool:
        """Whether a tracker may have lost its points: vertices of a mesh are where they are."""
        return self.record["kind"] != VERTICES


def pack_target(learnt: LearntTarget) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and header for ``scene.binding_store``."""
    parts = {"space": learnt.space.to_arrays(), "travel": learnt.travel.to_arrays()}
    arrays, texts = flattened(parts, " ")
    arrays |= {"frames": learnt.frames, "place": learnt.place, "pivot": learnt.pivot, "floor": np.array(learnt.floor)}
    mesh = {"vertices": learnt.vertices, "faces": learnt.faces, "mark": learnt.mark}
    return arrays, _LEARNT.header(**mesh, doubts=list(learnt.doubts), **texts)


def unpack_target(arrays: dict[str, np.ndarray], header: dict) -> LearntTarget:
    """The reverse of ``pack_target``; raises StaleBindingError for another format."""
    with _LEARNT.checked(header):
        sizes = require_shapes(arrays, _TARGET)
        require_rising(arrays["frames"])
        require_indices(arrays["space triangles"], 0, sizes["V"], "triangles")
        if "space left" in arrays:
            require_shapes(arrays, {"space left": f"f {sizes['F']}"})
        if "space same" in arrays:  # what was learnt before vertices were kept together has none
            require_shapes(arrays, {"space same": f"iu {sizes['V']}"})
            require_indices(arrays["space same"], 0, sizes["V"], "same")
        learnt = _unpacked_target(arrays, header)
        if learnt.space.vertices_of(learnt.space.coefficients[0]).shape != (sizes["V"], 3):
            raise ValueError("the poses are of other vertices")
        if learnt.travel.strokes is not None:
            strokes = learnt.travel.strokes
            told = {"forward": strokes.forward, "gaits": np.array(strokes.gaits)}
            rounded = len(LEVELS) if len(strokes.gaits) > 1 else 1
            require_shapes(told, {"forward": "f 2", "gaits": f"f {rounded} {len(Gait._fields)}"})
            for foot in strokes.feet.feet:
                require_indices(foot.vertices, 0, sizes["V"], "feet")
                require_indices(foot.sole, 0, sizes["V"], "soles")
        require_counts(learnt.vertices, learnt.faces)
        return learnt


def _unpacked_target(arrays: dict[str, np.ndarray], header: dict) -> LearntTarget:
    parts = by_part(arrays, header, " ")
    space, travel = TargetSpace.from_arrays(parts["space"]), TravelEstimators.from_arrays(parts["travel"])
    places = arrays["frames"], arrays["place"], arrays["pivot"]
    mesh = header["vertices"], header["faces"], header.get("mark", "")
    loose = 0 if "same" in parts["space"] else int((weld(space.rest) != np.arange(len(space.rest))).sum())
    doubts = header.get("doubts", [])
    require_texts(doubts, len(doubts), "doubts")
    return LearntTarget(space, *places, travel, float(arrays["floor"]), *mesh, loose, tuple(doubts))


def pack_clip(clip: SourceClip) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and header for ``scene.binding_store``."""
    arrays, model = clip.model.to_arrays()
    arrays, _ = flattened({"model": arrays}, " ")
    arrays |= {"positions": clip.positions.astype(np.float32), "frames": clip.frames}
    return arrays, _READ.header(model=model, fps=clip.fps, record=clip.record)


def unpack_clip(arrays: dict[str, np.ndarray], header: dict) -> SourceClip:
    """The reverse of ``pack_clip``; raises StaleBindingError for another format."""
    with _READ.checked(header):
        sizes = require_shapes(arrays, _CLIP)
        require_rising(arrays["frames"])
        require_positive(header, "fps")
        require_texts(header["model"]["names"], sizes["J"], "names")
        record = header["record"]
        require_texts(record["owners"], len(record["owners"]), "owners")
        if record["kind"] not in (JOINTS, OBJECTS, VERTICES) or not set(record) <= set(PointSource.__annotations__):
            raise ValueError("the source is of no kind that there is")
        model = SourceModel.from_arrays(by_part(arrays, header, " ")["model"], header["model"])
        clip = SourceClip(model, arrays["positions"].astype(float), arrays["frames"], header["fps"], record)
        SourceStream(clip.model).step(clip.model.ground.reference, 0.0)
        return clip
