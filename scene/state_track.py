"""What an object of the environment was like over a range, compact, and compared with what it is now."""

from __future__ import annotations

import base64
import hashlib
import zlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..solvers.errors import StaleBindingError
from ..solvers.types import TriangleMesh
from .topology import Faces

# Of the object's size: matrices that curves make differ by rounding from those that the program evaluates.
_SAME_PLACE = 2e-6




@dataclass(frozen=True)
class ObjectState:
    """One object at one moment. matrix: (4, 4) world.  positions: (V, 3) float32, local.  faces: its topology."""

    name: str
    matrix: np.ndarray
    positions: np.ndarray
    faces: Faces

    @cached_property
    def digest(self) -> str:
        """Of the geometry in its own space, the same in every session."""
        return shape_digest(self.positions, self.faces)

    def surface(self, triangles: np.ndarray) -> TriangleMesh:
        """World-space triangles (T, 3) of the object."""
        world = self.positions.astype(float) @ self.matrix[:3, :3].T + self.matrix[:3, 3]
        return TriangleMesh(self.name, world, triangles)


def shape_digest(positions: np.ndarray, faces: Faces) -> str:
    """Digest of local positions (V, 3) float32 and topology."""
    digest = hashlib.blake2b((positions + np.float32(0.0)).tobytes(), digest_size=8)  # -0 is 0
    digest.update(faces.corners.tobytes())
    digest.update(faces.starts.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class StateTrack:
    """What an object was like when it was solved for.

    matrices: (F or 1, 4, 4) float32, world.  shapes: F or 1 digests of the local geometry.
    """

    matrices: np.ndarray
    shapes: tuple[str, ...]

    def matches(self, row: int | None, state: ObjectState) -> bool:
        """Whether the object is now as it was at a row; without a row, between the frames or outside, only what stands
        still is compared."""
        if row is None and len(self.matrices) + len(self.shapes) > 2:
            return True
        if not _same_place(self.matrices[0 if len(self.matrices) == 1 else row], state.matrix):
            return False
        return self.shapes[0 if len(self.shapes) == 1 else row] == state.digest

    def goes_along(self, worlds: np.ndarray) -> bool:
        """Whether world matrices (F or 1, 4, 4) are those of all rows."""
        alike = len(worlds) == len(self.matrices) or 1 in (len(worlds), len(self.matrices))
        return alike and _same_place(self.matrices, worlds)

    def to_text(self) -> str:
        """Compact, for a property that is saved."""
        packed = base64.b85encode(zlib.compress(np.ascontiguousarray(self.matrices, "<f4").tobytes(), 1)).decode()
        return f"{packed} {' '.join(self.shapes)}"

    @classmethod
    def from_text(cls, text: str) -> StateTrack:
        """Raises StaleBindingError where the text is none of ``to_text``."""
        try:
            packed, *shapes = text.split(" ")
            flat = np.frombuffer(zlib.decompress(base64.b85decode(packed)), "<f4")
            return cls(flat.reshape(-1, 4, 4).astype(np.float32), tuple(shapes))
        except (ValueError, zlib.error) as error:
            raise StaleBindingError("The state of the live action is damaged; switch Live off and on.") from error


def _same_place(matrix: np.ndarray, other: np.ndarray) -> bool:
    """Whether world matrices (..., 4, 4) are the same but for rounding."""
    return bool(np.abs(matrix - other).max() <= _SAME_PLACE * max(float(np.abs(matrix).max()), 1e-12))
