"""A captured body: the poses of its parts, learnt from its clips, and how a whole mesh is made of them again."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core.errors import InputError
from ..core.steps import within
from ..core.subsampling import evenly_spaced_indices
from ..surface.cotangent import lumped_mass
from .body_parts import BodyParts
from .part_space import PartSpace, learn_part_steps
from .stitching import Stitcher
from .subject_track import SubjectTrack
from .torso_frame import TorsoFrame, to_local

__all__ = ["NEAREST", "Subject", "SubjectTrack"]

# Captured meshes that a pose of a part is corrected by (Boukhayma et al. 2017, section 6.1).
NEAREST = 3
# Most frames that the components are learnt from, evenly spaced; neighbouring frames tell little new.
_MOST_FRAMES = 600
# Share of a clip's frames that may sink into the ground.
_LOW = 0.1
# Frames worked on at a time, in double precision.
_CHUNK = 64
# Of the others' mass, a vertex's that is in no face: it steers nothing, and its way is still learnt in proportion.
_LOOSE = 1e-12


@dataclass(frozen=True)
class Subject:
    """K parts of a mesh with V vertices; the first is the torso.

    names: K.  memberships: (K, V) bool.  triangles: (T, 3).  reference: (V, 3) the first mesh of the first clip, local.
    torso: the frame that all is local to.  parts: K spaces.  captured: (N, V, 3) float32 meshes that stand for all that
    were captured, local, and captured_rows: of each part (N, D_k).  floor: height of the ground it stands on, world,
    metres, see ``ground_of``.

    ``to_arrays`` holds 12 N + 12 D bytes a vertex or a little more: at 10,000 vertices, 128 meshes and 20 components
    about 20 MB before compression.
    """

    names: tuple[str, ...]
    memberships: np.ndarray
    triangles: np.ndarray
    reference: np.ndarray
    torso: TorsoFrame
    parts: tuple[PartSpace, ...]
    captured: np.ndarray
    captured_rows: tuple[np.ndarray, ...]
    floor: float
    stitcher: Stitcher

    @classmethod
    def learn_steps(
        cls,
        clips: list[np.ndarray],
        triangles: np.ndarray,
        memberships: np.ndarray,
        names: tuple[str, ...],
        components: int = 20,
        captured: int = 128,
    ) -> Generator[float, None, Subject]:
        """From clips, each (F, V, 3), world, metres, Z up; triangles (T, 3); memberships (K, V) bool, the torso first.

        At most ``components`` numbers a part, at most ``captured`` meshes kept; yields shares of the way.

        Raises InputError for no clip, clips of one frame or of another number of vertices, NaN, a first mesh without
        area, parts that leave vertices out, do not meet the torso or never move against it.  A torso may be stiff.
        """
        clips, triangles = _checked(clips), np.asarray(triangles, int)
        memberships, names = np.asarray(memberships, bool), tuple(names)
        _require_area(clips[0][0].astype(float), triangles)
        mass = _mass(clips[0][0].astype(float), triangles)
        body = BodyParts.build(memberships, names, clips[0][0].astype(float), triangles)
        yield 0.05
        some = _spread(clips)
        torso = TorsoFrame.learn(some, memberships[0], mass)
        yield 0.1
        local = yield from within(_local_steps(some, torso), 0.1, 0.2)
        parts = []
        for number, (name, mask) in enumerate(zip(names, memberships, strict=True)):
            vertices = np.flatnonzero(mask)
            # A stiff torso is known by where it is alone; limbs must move, and so must a body of one part.
            is_torso = number == 0 < len(names) - 1
            steps = learn_part_steps(local[:, vertices], vertices, mass[vertices], name, components, is_torso)
            share = 0.5 / len(names)
            parts.append((yield from within(steps, 0.2 + share * number, 0.2 + share * (number + 1))))
        rows = tuple(part.coefficients_of(local[:, part.vertices]) for part in parts)
        kept = _farthest(np.concatenate(rows, axis=1), captured)
        yield 0.75
        meshes = np.ascontiguousarray(local[kept])
        floor = ground_of(clips, _of_faces(clips[0].shape[1], triangles))
        kept_rows = tuple(part[kept] for part in rows)
        reference = local[0].astype(float)
        stitcher = Stitcher.build(reference, triangles, body, meshes)
        yield 1.0
        return cls(names, memberships, triangles, reference, torso, tuple(parts), meshes, kept_rows, floor, stitcher)

    @property
    def size(self) -> float:
        """RMS distance of the surface from its centre, metres: tells bodies of different size from each other."""
        mass = self.mass / self.mass.sum()
        return float(np.sqrt(mass @ ((self.reference - mass @ self.reference) ** 2).sum(axis=1)))

    @property
    def layout(self) -> np.ndarray:
        """(K, 3) where the parts lie on average over the clips, local."""
        return np.stack([part.weights @ part.mean.reshape(-1, 3) for part in self.parts])

    def read(self, vertices: np.ndarray) -> SubjectTrack:
        """Of vertices (F, V, 3), world, metres, each frame by itself.

        Raises InputError for another number of vertices and for NaN.
        """
        vertices = _checked_frames(np.asarray(vertices), len(self.reference), "The clip")
        rotations, translations = self.torso.of(vertices)
        rows = tuple(np.empty((len(vertices), part.components)) for part in self.parts)
        for start in range(0, len(vertices), _CHUNK):
            some = slice(start, start + _CHUNK)
            local = to_local(vertices[some], rotations[some], translations[some])
            for part, values in zip(self.parts, rows, strict=True):
                values[some] = part.coefficients_of(local[:, part.vertices])
        return SubjectTrack(rows, rotations, translations)

    def lowest(self, track: SubjectTrack) -> np.ndarray:
        """(F,) the lowest height of the parts as they are, neither corrected nor stitched, world, metres.

        Of vertices of faces: what is in none is not seen.
        """
        out = np.full(len(track), np.inf)
        for start in range(0, len(track), _CHUNK):
            some = slice(start, start + _CHUNK)
            for part, rows in zip(self.parts, track.rows, strict=True):
                heights = np.einsum("fnj,fj->fn", part.vertices_of(rows[some]), track.rotations[some, 2])
                np.minimum(out[some], heights[:, self._is_seen[part.vertices]].min(axis=1), out=out[some])
        return out + track.translations[:, 2]

    def assemble(self, rows: tuple[np.ndarray, ...], correct: bool = True, stitch: bool = True) -> np.ndarray:
        """The whole mesh (V, 3), local, of one pose: rows (D_k,) of each part.

        correct: by the captured meshes nearest to each part's pose.  stitch: blend the parts where they overlap.
        """
        found = [part.vertices_of(values) for part, values in zip(self.parts, rows, strict=True)]
        nearest, weights = self.nearest(rows)
        return self.stitcher.assemble(found, nearest, weights, correct=correct, stitch=stitch)

    def nearest(self, rows: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Numbers (K, 3) of the captured meshes nearest to each part's pose, and their weights (K, 3), of sum one.

        Distances are those of rows.  Weights are Franke and Little's (Renka 1988), ((R - d) / (R d))^2 with R the
        distance of the fourth: a mesh has no weight when another takes its place, so nothing jumps, and all of it
        when the pose is its own.
        """
        count = len(self.captured)
        numbers, weights = np.zeros((len(rows), NEAREST), int), np.zeros((len(rows), NEAREST))
        some = min(NEAREST, count)
        for part, (values, known) in enumerate(zip(rows, self.captured_rows, strict=True)):
            distances = np.sqrt(np.square(known - values).sum(axis=1))
            order = np.argpartition(distances, some)[: some + 1] if count > some else np.arange(count)
            order = order[np.argsort(distances[order], kind="stable")]
            numbers[part, :some] = order[:some]
            weights[part, :some] = _weights(distances[order], some)
        return numbers, weights

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All that is needed to build the same subject again."""
        out = {name: getattr(self, name) for name in ("memberships", "triangles", "reference", "captured")}
        out |= {"names": np.array(self.names), "floor": np.array(self.floor)}
        out |= {"torso": self.torso.reference, "torso weights": self.torso.weights}
        for number, part in enumerate(self.parts):
            out |= {f"{name} {number}": getattr(part, name) for name in ("weights", "mean", "basis")}
            out[f"rows {number}"] = self.captured_rows[number]
        return out

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> Subject:
        """Of what ``to_arrays`` gave."""
        arrays = {name: np.asarray(value) for name, value in arrays.items()}
        names = tuple(str(name) for name in arrays["names"])
        memberships, triangles, reference = arrays["memberships"].astype(bool), arrays["triangles"], arrays["reference"]
        vertices = [np.flatnonzero(mask) for mask in memberships]
        parts = tuple(
            PartSpace(vertices[number], *(arrays[f"{name} {number}"] for name in ("weights", "mean", "basis")))
            for number in range(len(names))
        )
        rows = tuple(arrays[f"rows {number}"] for number in range(len(names)))
        torso = TorsoFrame(vertices[0], arrays["torso"], arrays["torso weights"])
        body, meshes = BodyParts.build(memberships, names, reference, triangles), arrays["captured"]
        stitcher = Stitcher.build(reference, triangles, body, meshes)
        floor = float(arrays["floor"])
        return cls(names, memberships, triangles, reference, torso, parts, meshes, rows, floor, stitcher)

    @cached_property
    def mass(self) -> np.ndarray:
        """(V,) area around each vertex, square metres; as good as none where it is in no face."""
        return _mass(self.reference, self.triangles)

    @cached_property
    def _is_seen(self) -> np.ndarray:
        return _of_faces(len(self.reference), self.triangles)


def ground_of(clips: list[np.ndarray], seen: np.ndarray | slice = slice(None)) -> float:
    """Height of the ground under clips, each (F, V, 3), Z up; seen (V,): the vertices that count.

    The lowest points of frames, the tenth of a hundred from below in each clip, the middle one of the clips: neither
    a few frames nor a clip whose feet or seat sink into the ground lower it for all others.
    """
    return ground_below([clip[:, seen, 2].min(axis=1) for clip in clips])


def ground_below(lowest: list[np.ndarray]) -> float:
    """The same of the lowest heights (F,) of each clip."""
    return float(np.median([np.quantile(heights, _LOW) for heights in lowest]))


def _of_faces(count: int, triangles: np.ndarray) -> np.ndarray:
    """(V,) true for vertices that are in a face."""
    return np.bincount(triangles.reshape(-1), minlength=count) > 0


def _mass(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    mass = lumped_mass(vertices, triangles)
    return np.where(_of_faces(len(vertices), triangles), mass, _LOOSE * mass)


def _weights(distances: np.ndarray, some: int) -> np.ndarray:
    """Of distances in order, one more than ``some`` where there are so many: (some,), of sum one."""
    if distances[0] <= 1e-9 * distances[-1] or len(distances) == 1:
        return np.eye(1, some)[0]
    near = 1.0 / distances[:some]
    if len(distances) > some:
        # A hair farther than the fourth, so that weights do not vanish where all four are equally far.
        near -= 1.0 / (1.001 * distances[some])
    return near**2 / np.sum(near**2)


def _spread(clips: list[np.ndarray]) -> np.ndarray:
    """Frames (F, V, 3) evenly from all clips, at most so many, the first of the first clip among them."""
    lengths = np.array([len(clip) for clip in clips])
    total = int(lengths.sum())
    chosen = evenly_spaced_indices(total, _MOST_FRAMES)
    clip = np.searchsorted(np.cumsum(lengths), chosen, side="right")
    starts = np.cumsum(lengths) - lengths
    return np.concatenate([clips[k][chosen[clip == k] - starts[k]] for k in range(len(clips))])


def _local_steps(vertices: np.ndarray, torso: TorsoFrame) -> Generator[float, None, np.ndarray]:
    """(F, V, 3) float32 in the torso's frame."""
    out = np.empty(vertices.shape, np.float32)
    for start in range(0, len(vertices), _CHUNK):
        some = vertices[start : start + _CHUNK]
        out[start : start + _CHUNK] = to_local(some, *torso.of(some))
        yield start / len(vertices)
    return out


def _farthest(rows: np.ndarray, most: int) -> np.ndarray:
    """Numbers of at most so many frames (F, D): the one nearest to the mean, then always the farthest from all before.

    Farthest-point sampling (Gonzalez 1985).  Ends where all that is left has been seen.
    """
    chosen = [int(np.square(rows - rows.mean(axis=0)).sum(axis=1).argmin())]
    away = np.square(rows - rows[chosen[0]]).sum(axis=1)
    while len(chosen) < min(most, len(rows)) and away.max() > 0.0:
        chosen.append(int(away.argmax()))
        np.minimum(away, np.square(rows - rows[chosen[-1]]).sum(axis=1), out=away)
    return np.array(chosen)


def _checked(clips: list[np.ndarray]) -> list[np.ndarray]:
    clips = [np.asarray(clip) for clip in clips]
    if not clips:
        raise InputError("The subject has no clips; choose at least one.")
    for number, clip in enumerate(clips, start=1):
        _checked_frames(clip, clips[0].shape[1] if clips[0].ndim == 3 else None, f"Clip {number}")
        if len(clip) < 2:
            raise InputError(f"Clip {number} has {len(clip)} frame, which shows no motion; choose at least two frames.")
    return clips


def _require_area(vertices: np.ndarray, triangles: np.ndarray) -> None:
    first, second = (vertices[triangles[:, k]] - vertices[triangles[:, 0]] for k in (1, 2))
    if not np.cross(first, second).any():
        raise InputError("Clip 1 has no face with an area at its first frame; start that clip later.")


def _checked_frames(vertices: np.ndarray, count: int | None, name: str) -> np.ndarray:
    if vertices.ndim != 3 or vertices.shape[2] != 3:
        raise InputError(f"{name} has vertices of shape {vertices.shape}, expected (frames, vertices, 3).")
    if vertices.shape[1] != count:
        raise InputError(
            f"{name} has {vertices.shape[1]} vertices and the subject {count}: one subject has the same mesh in all "
            "its clips; choose another one."
        )
    for frame, row in enumerate(vertices):
        if not np.isfinite(row).all():
            vertex = int(np.flatnonzero(~np.isfinite(row).all(axis=1))[0])
            raise InputError(f"{name}: vertex {vertex} is not a number at frame {frame} of the range; repair it.")
    return vertices
