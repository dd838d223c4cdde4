"""Changes of an environment and of a body's size, as a user would make them: pure functions on meshes.

An environment is a dict of name to MeshTrack. An edit returns a new dict with the same names and topology and
touches only the objects named; the ground stays unless it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from solvers.core.types import JointTrack, MeshTrack

Environment = dict[str, MeshTrack]
Edit = Callable[[np.ndarray], np.ndarray]


def stretched(metres: float = 0.2) -> Edit:
    """The upper half goes up; the foot stays where it is."""

    def edit(vertices):
        z = vertices[..., 2]
        middle = (z.min() + z.max()) / 2
        return vertices + metres * (z > middle)[..., None] * [0, 0, 1]

    return edit


def lifted(metres: float = 0.2) -> Edit:
    """The whole object goes up."""
    return moved((0, 0, metres))


def moved(shift: tuple[float, float, float] = (0.3, 0, 0)) -> Edit:
    """The whole object is shifted by metres (3,)."""
    return lambda vertices: vertices + np.asarray(shift, float)


def widened(factor: float = 1.3, axes: str = "xy") -> Edit:
    """Scaled about its own centre along world axes."""
    return _about_centre(scaling(factor, axes))


def tilted(degrees: float = 10.0, axis: str = "x") -> Edit:
    """Turned about its own centre around a world axis."""
    return _about_centre(turning(degrees, axis))


def _about_centre(change: Edit) -> Edit:
    def edit(vertices):
        centre = _centre(vertices)
        return centre + change(vertices - centre)

    return edit


def scaling(factor: float, axes: str = "xyz") -> Edit:
    """Scaled about the origin along world axes."""
    return lambda vertices: vertices * [factor if axis in axes else 1.0 for axis in "xyz"]


def turning(degrees: float, axis: str) -> Edit:
    """Turned about the origin around a world axis."""
    return lambda vertices: vertices @ rotation(axis, degrees).T


def about(point: tuple[float, float, float], edit: Edit) -> Edit:
    """An edit with a point (3,) in place of the origin: several objects change as one."""
    return lambda vertices: edit(vertices - np.asarray(point)) + point


def bent(metres: float = 0.15, length: float = 2.0) -> Edit:
    """Heights become a slow wave over x and y, zero at the origin: a ground that was flat."""

    def edit(vertices):
        x, y = vertices[..., 0] * 2 * np.pi / length, vertices[..., 1] * 2 * np.pi / length
        return vertices + metres * (np.sin(x) * np.cos(0.7 * y))[..., None] * [0, 0, 1]

    return edit


def sloped(degrees: float = 8.0, axis: str = "y") -> Edit:
    """Sheared in height to a plane that rises by an angle and holds the object's centre; turned about x or y."""
    return inclined(degrees, (1, 0) if axis == "y" else (0, 1))


def inclined(degrees: float, heading: tuple[float, float]) -> Edit:
    """Sheared in height to a plane that rises by an angle along a horizontal unit vector (2,) from the centre."""

    def edit(vertices):
        rise = np.tan(np.radians(degrees)) * (vertices - _centre(vertices))[..., :2] @ np.asarray(heading, float)
        return vertices + rise[..., None] * [0, 0, 1]

    return edit


def stepped(rise: float, tread: float, heading: tuple[float, float]) -> Edit:
    """Stairs of so many metres a step along a horizontal unit vector (2,), counted from the origin.

    Risers are as upright as the mesh has vertices on both sides of the multiples of the tread.
    """

    def edit(vertices):
        steps = np.floor(vertices[..., :2] @ np.asarray(heading, float) / tread)
        return vertices + rise * steps[..., None] * [0, 0, 1]

    return edit


def chained(*edits: Edit) -> Edit:
    """One edit after the other."""

    def edit(vertices):
        for step in edits:
            vertices = step(vertices)
        return vertices

    return edit


def applied(environment: Environment, edits: dict[str, Edit]) -> Environment:
    """The environment with each named object changed by its edit."""
    return {
        name: MeshTrack(name, edits[name](mesh.vertices), mesh.triangles) if name in edits else mesh
        for name, mesh in environment.items()
    }


def climb_changes(boxes: list[str]) -> dict[str, dict[str, Edit]]:
    """The standard edits of the boxes of a climb: all at once, each box alone, and mixtures."""
    kinds = {
        "stretched": stretched(),
        "lifted": lifted(),
        "widened": widened(),
        "moved": moved(),
        "moved_y": moved((0, 0.3, 0)),
        "tilted": tilted(),
        "tilted_y": tilted(axis="y"),
    }
    out = {kind: dict.fromkeys(boxes, edit) for kind, edit in kinds.items()}
    for kind in ("stretched", "widened", "moved", "tilted"):
        out |= {f"{kind}:{name}": {name: kinds[kind]} for name in boxes}
    mixture = (chained(kinds["widened"], lifted(0.1)), kinds["tilted"], kinds["moved"])
    out["mixed"] = {name: mixture[i % 3] for i, name in enumerate(boxes)}
    out["lifted_and_tilted"] = dict.fromkeys(boxes, chained(lifted(0.1), tilted(8)))
    return out


def strong_climb_changes(boxes: dict[str, MeshTrack]) -> dict[str, dict[str, Edit]]:
    """Changes that ask more of a climb than the standard ones: what was one set of boxes comes apart.

    boxes: without the ground; the first one is what the others are pulled from and run into, along y.
    """
    middle = {name: mesh.vertices[0].mean(axis=0) for name, mesh in boxes.items()}
    centre = (*np.mean(list(middle.values()), axis=0)[:2], 0)
    first = middle[next(iter(boxes))][1]
    side = {name: float(np.sign(place[1] - first)) for name, place in middle.items()}
    out = {f"lifted_50:{name}": {name: lifted(0.5)} for name in boxes}
    for degrees in (45, 90):
        out[f"set_turned_{degrees}"] = dict.fromkeys(boxes, about(centre, turning(degrees, "z")))
    for kind, metres in (("pulled_apart", 0.3), ("run_together", -0.2)):
        out[kind] = {name: moved((0, metres * side[name], 0)) for name in boxes if side[name]}
    return out


def climb_edits(environment: Environment) -> dict[str, Environment]:
    """Each of climb_changes applied to all objects of an environment but the ground."""
    boxes = [name for name in environment if name != "Ground"]
    return {name: applied(environment, change) for name, change in climb_changes(boxes).items()}


def scaled_character(track: JointTrack, factor: float) -> JointTrack:
    """Bones scaled about the root, whose path stays: the pose that a rescaled rig plays before adapting."""
    roots = _roots(track.skeleton.parents)
    root = track.positions[:, roots]
    positions = root + factor * (track.positions - root)
    return JointTrack(track.skeleton, positions, track.fps, track.frames)


def mirrored(track: JointTrack, meshes: Iterable[MeshTrack]) -> tuple[JointTrack, Environment]:
    """Clip and environment reflected in x; triangles turn round to keep their outside, joints swap names."""
    flip = np.array([-1.0, 1, 1])
    names = track.skeleton.names
    other = [
        names.index(_other_side(name)) if _other_side(name) in names else j for j, name in enumerate(names)
    ]
    turned = JointTrack(track.skeleton, track.positions[:, other] * flip, track.fps, track.frames)
    environment = {m.name: MeshTrack(m.name, m.vertices * flip, m.triangles[:, ::-1]) for m in meshes}
    return turned, environment


def time_reversed(track: JointTrack) -> JointTrack:
    """The clip played backwards."""
    return JointTrack(track.skeleton, track.positions[::-1].copy(), track.fps, track.frames)


def sub_clip(track: JointTrack, start: int, stop: int, step: int = 1) -> JointTrack:
    """Frames start to stop (indices); every step-th, at the rate that follows."""
    chosen = slice(start, stop, step)
    return JointTrack(
        track.skeleton,
        track.positions[chosen].copy(),
        track.fps / step,
        track.frames[: len(track.frames[chosen])],
    )


def rotation(axis: str, degrees: float) -> np.ndarray:
    """Rotation (3, 3) around a world axis."""
    a, b = ((1, 2), (2, 0), (0, 1))["xyz".index(axis)]
    matrix = np.eye(3)
    matrix[a, a] = matrix[b, b] = np.cos(np.radians(degrees))
    matrix[b, a] = np.sin(np.radians(degrees))
    matrix[a, b] = -matrix[b, a]
    return matrix


def _centre(vertices):
    """Mean vertex of each state, (3,) or (S, 1, 3): it goes with an object that moves."""
    return vertices.mean(axis=-2, keepdims=True)


def _other_side(name):
    return name.replace("Left", "\0").replace("Right", "Left").replace("\0", "Right")


def _roots(parents):
    """Root (J,) of each joint."""
    root = np.arange(len(parents))
    for joint, parent in enumerate(parents):
        if parent >= 0:
            root[joint] = root[parent]
    return root
