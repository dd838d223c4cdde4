"""What an object of the environment was like over a range, compact, and compared with what it is now."""

from __future__ import annotations

import base64
import hashlib
import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..solvers.core.errors import StaleBindingError
from ..solvers.core.types import TriangleMesh
from .topology import Faces

# Single precision: matrices that the program evaluates differ by up to 6e-7 of what their linear part adds up from,
# and 4e-7 of what their place does, over random chains of four parents.
_LINEAR, _PLACE = 2e-6, 1e-6


@dataclass(frozen=True)
class Shape:
    """Geometry in its own space. positions: (V, 3) float32.  faces: its topology."""

    positions: np.ndarray
    faces: Faces

    @cached_property
    def digest(self) -> str:
        """The same in every session."""
        digest = hashlib.blake2b(self.positions + np.float32(0.0), digest_size=8)  # -0 is 0
        digest.update(self.faces.digest)
        return digest.hexdigest()

    def kept(self, known: Shape | None) -> Shape:
        """The known shape, or one with its faces, where that is the same, so that what was worked out is kept."""
        if known is None or not self.faces.same_as(known.faces):
            return self
        return known if np.array_equal(self.positions, known.positions) else Shape(self.positions, known.faces)


@dataclass(frozen=True)
class ObjectState:
    """One object at one moment. matrix: (4, 4) world."""

    name: str
    matrix: np.ndarray
    shape: Shape

    @property
    def positions(self) -> np.ndarray:
        """(V, 3) float32, local."""
        return self.shape.positions

    @property
    def faces(self) -> Faces:
        return self.shape.faces

    @property
    def digest(self) -> str:
        """Of the geometry in its own space, the same in every session."""
        return self.shape.digest

    def surface(self, triangles: np.ndarray) -> TriangleMesh:
        """World-space triangles (T, 3) of the object."""
        world = self.positions.astype(float) @ self.matrix[:3, :3].T + self.matrix[:3, 3]
        return TriangleMesh(self.name, world, triangles)


@dataclass(frozen=True)
class StateTrack:
    """What an object was like when it was solved for.

    matrices: (F or 1, 4, 4) float32, world.  shapes: F or 1 digests of the local geometry.
    slack: (4, 4) float32, by how much the elements of a matrix may differ from rounding alone.
    """

    matrices: np.ndarray
    shapes: tuple[str, ...]
    slack: np.ndarray

    @classmethod
    def of(cls, worlds: np.ndarray, shapes: tuple[str, ...], sizes: np.ndarray | None = None) -> StateTrack:
        """worlds: (F or 1, 4, 4).  sizes: alike, of what they add up from where that is larger than they are."""
        return cls(worlds.astype(np.float32), shapes, _slack(np.abs(worlds) if sizes is None else sizes))

    def matches(self, row: int | None, state: ObjectState) -> bool:
        """Whether the object is now as it was at a row; without a row, between the frames or outside, only what stands
        still is compared."""
        if row is None and len(self.matrices) + len(self.shapes) > 2:
            return True
        if not self._is_near(self.matrices[0 if len(self.matrices) == 1 else row], state.matrix):
            return False
        return self.shapes[0 if len(self.shapes) == 1 else row] == state.digest

    def goes_along(self, worlds: np.ndarray) -> bool:
        """Whether world matrices (F or 1, 4, 4) are those of all rows."""
        alike = len(worlds) == len(self.matrices) or 1 in (len(worlds), len(self.matrices))
        return alike and self._is_near(self.matrices, worlds)

    def _is_near(self, matrices: np.ndarray, worlds: np.ndarray) -> bool:
        return bool((np.abs(matrices - worlds) <= self.slack).all())

    def to_text(self) -> str:
        """Compact, for a property that is saved."""
        rows = np.concatenate((self.slack[None], self.matrices)).astype("<f4")
        packed = base64.b85encode(zlib.compress(rows.tobytes(), 1)).decode()
        return f"{packed} {' '.join(self.shapes)}"

    @classmethod
    def from_text(cls, text: str) -> StateTrack:
        """Raises StaleBindingError where the text is none of ``to_text``."""
        try:
            packed, *shapes = text.split(" ")
            rows = np.frombuffer(zlib.decompress(base64.b85decode(packed)), "<f4").reshape(-1, 4, 4).astype(np.float32)
            slack, *matrices = rows
            return cls(np.stack(matrices), tuple(shapes), slack)
        except (ValueError, zlib.error) as error:
            raise StaleBindingError("The state of the live action is damaged; switch Live off and on.") from error


def _slack(sizes: np.ndarray) -> np.ndarray:
    """(4, 4) of sizes (F, 4, 4): the linear part and the place have units of their own."""
    linear, place = sizes[:, :3, :3].max(), sizes[:, :3].max()
    out = np.zeros((4, 4), np.float32)
    out[:3, :3], out[:3, 3] = _LINEAR * linear, _PLACE * place
    return out
