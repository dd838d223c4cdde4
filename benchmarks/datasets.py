"""Real inputs for tests and benchmarks, read from a folder of public captures outside the project."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from solvers.errors import InputError
from solvers.types import JointTrack, MeshTrack, Skeleton

EFFECTORS_CLIMB = {
    "toe": ("LeftToeBase", "RightToeBase"),
    "ankle": ("LeftFoot", "RightFoot"),
    "wrist": ("LeftHand", "RightHand"),
    "knuckle": ("LeftHandMiddle1", "RightHandMiddle1"),
}
_CLIMB_BODY = {
    "Hips": "",
    "Spine": "Hips",
    "Spine1": "Spine",
    "Neck": "Spine1",
    "Head": "Neck",
    "Shoulder": "Spine1",
    "UpLeg": "Hips",
}
_CLIMB_LIMBS = {
    "Arm": "Shoulder",
    "ForeArm": "Arm",
    "Hand": "ForeArm",
    "Leg": "UpLeg",
    "Foot": "Leg",
    "ToeBase": "Foot",
}
_FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")


@dataclass(frozen=True)
class Scene:
    """A clip and what it was captured on. environment: name to mesh, the ground among them.

    effectors: kind to joint names.  height: the character's, metres.
    """

    name: str
    track: JointTrack
    environment: dict[str, MeshTrack]
    effectors: dict[str, tuple[str, ...]]
    height: float


def data_folder() -> Path | None:
    """MOTION_LOOM_DATA, else ../shared/data beside the checkout; None where neither is there."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("MOTION_LOOM_DATA", default))
    return folder if folder.is_dir() else None


def data_file(relative: str) -> Path:
    """A file of the data folder; InputError says how to point to the folder when it is missing."""
    folder = data_folder()
    if folder is None or not (folder / relative).exists():
        raise InputError(f"'{relative}' is not there; set MOTION_LOOM_DATA to the folder of captures.")
    return folder / relative


def climb(number: int, fingers: bool = False) -> Scene:
    """Capture 0 or 1 of a person climbing boxes, 120 fps, Z up.

    Joints: the body and the two middle knuckles (23); fingers=True keeps all 51. The captured boxes stand on
    a ground at z = 0, a grid of 1 m cells reaching 2 m beyond the motion.
    """
    with np.load(data_file(f"scene_climb/seq_{number}/joints.npz")) as capture:
        names = [str(name) for name in capture["joint_names"]]
        positions = capture["joints"].astype(float)
    kept = [n for n in names if not n.endswith("FootMod") and (fingers or not _is_finger(n))]
    parents = [kept.index(parent) if parent else -1 for parent in map(_climb_parent, kept)]
    skeleton = Skeleton(tuple(kept), np.array(parents))
    positions = positions[:, [names.index(n) for n in kept]]
    track = JointTrack(skeleton, positions, 120.0, np.arange(len(positions)))
    files = sorted(data_file(f"scene_climb/seq_{number}/box_models").glob("*.obj"))
    environment = {"Ground": ground(positions)}
    for file in files:
        environment[file.stem.capitalize()] = read_obj(file, file.stem.capitalize())
    return Scene(f"climb_{number}", track, environment, EFFECTORS_CLIMB, 1.8)


def _is_finger(name):
    return any(finger in name for finger in _FINGERS) and not name.endswith("HandMiddle1")


def _climb_parent(name):
    side = next((s for s in ("Left", "Right") if name.startswith(s)), "")
    part = name[len(side) :]
    if part in _CLIMB_BODY:
        return _CLIMB_BODY[part]
    if part in _CLIMB_LIMBS:
        return side + _CLIMB_LIMBS[part]
    return side + (f"{part[:-1]}{int(part[-1]) - 1}" if part[-1] in "23" else "Hand")


def ground(positions: np.ndarray, margin: float = 2.0, cell: float = 1.0) -> MeshTrack:
    """A flat grid at z = 0 under positions (F, J, 3)."""
    lo = np.floor((positions.reshape(-1, 3)[:, :2].min(axis=0) - margin) / cell)
    hi = np.ceil((positions.reshape(-1, 3)[:, :2].max(axis=0) + margin) / cell)
    x, y = (np.arange(a, b + 1) * cell for a, b in zip(lo, hi, strict=True))
    return height_field("Ground", x, y, np.zeros((len(x), len(y))))


def height_field(name: str, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> MeshTrack:
    """A static grid with heights z (X, Y) at x (X,), y (Y,); normals point up."""
    vertices = np.stack([*np.meshgrid(x, y, indexing="ij"), z], axis=-1).reshape(-1, 3)
    n = len(y)
    corner = (np.arange(len(x) - 1)[:, None] * n + np.arange(n - 1)).ravel()
    offsets = np.array([[0, n, n + 1], [0, n + 1, 1]])
    return MeshTrack(name, vertices[None], (corner[:, None, None] + offsets).reshape(-1, 3))


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


def box(name: str, lo: list[float], hi: list[float]) -> MeshTrack:
    """A static axis-aligned box from corner lo to corner hi."""
    corner = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    faces = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [[f[0], f[i], f[i + 1]] for f in faces for i in (1, 2)]
    vertices = np.asarray(lo, float) + corner * (np.asarray(hi, float) - lo)
    return MeshTrack(name, vertices[None], np.array(triangles))
