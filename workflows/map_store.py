"""What Map has learnt of a target and read of a source, as arrays and a header that the .blend can hold, and back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..scene.point_source import VERTICES
from ..solvers.between_rows import BetweenRows
from ..solvers.errors import InputError, StaleBindingError
from ..solvers.source_motion import SourceModel
from ..solvers.target_space import TargetSpace
from ..solvers.travel_ways import TravelWays

# Raised when what is stored changes its meaning.
FORMAT = 1
_TEXTS = "texts"


@dataclass(frozen=True)
class LearntTarget:
    """space: its poses, in the object's space at the first frame.  frames: (F,) that were learnt.  place: (4, 4) world
    matrix at the first frame.  pivot: (3,) world, about which it turns.  travel: how its pose moves it.
    floor: the lowest it ever was, world, metres; minus infinity where all of its movement is pose.
    vertices, faces, mark: how many the mesh had, and ``mesh_faces.faces_mark`` of it, to tell later whether it is still
    that one."""

    space: TargetSpace
    frames: np.ndarray
    place: np.ndarray
    pivot: np.ndarray
    travel: TravelWays
    floor: float
    vertices: int
    faces: int
    mark: str

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
    found = {f"{part} {name}": np.asarray(value) for part, arrays in parts.items() for name, value in arrays.items()}
    texts = {name: str(value) for name, value in found.items() if value.dtype.kind == "U"}
    arrays = {name: value for name, value in found.items() if name not in texts}
    arrays |= {"frames": learnt.frames, "place": learnt.place, "pivot": learnt.pivot, "floor": np.array(learnt.floor)}
    header = {"workflow": "map target", "format": FORMAT, _TEXTS: texts}
    return arrays, header | {"vertices": learnt.vertices, "faces": learnt.faces, "mark": learnt.mark}


def unpack_target(arrays: dict[str, np.ndarray], header: dict) -> LearntTarget:
    """The reverse of ``pack_target``; raises StaleBindingError for another format."""
    _check(header, "map target", "learn the target again")
    found = arrays | {name: np.array(text) for name, text in header[_TEXTS].items()}

    def part(of: str) -> dict[str, np.ndarray]:
        return {name[len(of) + 1 :]: value for name, value in found.items() if name.startswith(f"{of} ")}

    space, travel = TargetSpace.from_arrays(part("space")), TravelWays.from_arrays(part("travel"))
    places = arrays["frames"], arrays["place"], arrays["pivot"]
    mesh = header["vertices"], header["faces"], header.get("mark", "")
    return LearntTarget(space, *places, travel, float(arrays["floor"]), *mesh)


def pack_clip(clip: SourceClip) -> tuple[dict[str, np.ndarray], dict]:
    """Arrays and header for ``scene.binding_store``."""
    arrays, model = clip.model.to_arrays()
    arrays = {f"model {name}": value for name, value in arrays.items()}
    arrays |= {"positions": clip.positions.astype(np.float32), "frames": clip.frames}
    return arrays, {
        "workflow": "map source", "format": FORMAT, "model": model, "fps": clip.fps, "record": clip.record
    }  # fmt: skip


def unpack_clip(arrays: dict[str, np.ndarray], header: dict) -> SourceClip:
    """The reverse of ``pack_clip``; raises StaleBindingError for another format."""
    _check(header, "map source", "learn again")
    parts = {name[len("model ") :]: value for name, value in arrays.items() if name.startswith("model ")}
    model = SourceModel.from_arrays(parts, header["model"])
    return SourceClip(model, arrays["positions"].astype(float), arrays["frames"], header["fps"], header["record"])


def _check(header: dict, workflow: str, remedy: str) -> None:
    if header.get("workflow") != workflow or header.get("format") != FORMAT:
        raise StaleBindingError(f"The learnt data come from another version of Motion Loom; {remedy}.")
