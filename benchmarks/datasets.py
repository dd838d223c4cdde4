"""The folder of public captures outside the project that tests and benchmarks read, and what a scene of them is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solvers.core.errors import InputError
from solvers.core.types import JointTrack, MeshTrack

from . import edits
from .edits import Edit, Environment


@dataclass(frozen=True)
class Scene:
    """A clip and its surroundings. environment: name to mesh, the ground among them.

    effectors: kind to joint names.  height: the character's, metres.  edits: name to {object: edit}.
    """

    name: str
    track: JointTrack
    environment: Environment
    effectors: dict[str, tuple[str, ...]]
    height: float
    edits: dict[str, dict[str, Edit]]

    def changed(self, edit: str) -> Environment:
        """The environment after one of the edits."""
        return edits.applied(self.environment, self.edits[edit])


def data_folder() -> Path | None:
    """MOTION_LOOM_DATA, else ../shared/data beside the checkout; None where neither is there."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("MOTION_LOOM_DATA") or default)
    return folder if folder.is_dir() else None


def data_file(relative: str) -> Path:
    """A file of the data folder; InputError says how to point to the folder when it is missing."""
    folder = data_folder()
    if folder is None or not (folder / relative).exists():
        raise InputError(f"'{relative}' is not there; set MOTION_LOOM_DATA to the folder of captures.")
    return folder / relative


def read_obj(file: Path, name: str) -> MeshTrack:
    """A static mesh from the v and f lines of an OBJ file; polygons become fans, coordinates stay."""
    vertices, triangles = [], []
    for line in Path(file).read_text().splitlines():
        kind, *rest = line.split() or [""]
        if kind == "v":
            vertices.append([float(value) for value in rest[:3]])
        elif kind == "f":
            index = [int(value.split("/")[0]) for value in rest]
            face = [i - 1 if i > 0 else len(vertices) + i for i in index]
            triangles += [[face[0], face[i], face[i + 1]] for i in range(1, len(face) - 1)]
    return MeshTrack(name, np.array(vertices)[None], np.array(triangles))
