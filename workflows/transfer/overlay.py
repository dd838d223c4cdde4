"""What Transfer shows in the viewport: poses of the target to be paired, and the path of a clip over its cost."""

from __future__ import annotations

import numpy as np

from ...scene import binding_store
from ...scene.frames import frame_now
from ...solvers.core.errors import MotionLoomError
from ...solvers.core.subsampling import evenly_spaced_indices, strided
from ...solvers.core.vectors import cross
from ...solvers.transfer.cost_picture import PAIR, PATH, STRAIGHT, shades
from ..core.kept import kept
from ..core.overlay import Overlay, TextLine, joined, overlay
from ..mesh.target import target_behind
from .model import UsedClip, clip_number, dense_of, stored_clip, subjects_of, training_mark
from .pairs import active_clip
from .part_overlay import parts_overlay
from .store import StoredClip, matrices

# Of the target's poses, and of what stands for them in the picture.
_CHOSEN, _PAIRED = np.array([0.2, 0.6, 1.0]), np.array([0.15, 0.85, 0.4])
_DARKEST, _FACES_SHOWN = 0.25, 40_000
_LIGHT = np.array([0.3, -0.4, 0.87])
_CELLS = 96  # across the picture, at most
_OPAQUE = 0.9
# The picture's place, shares of the shorter side of the region: left, bottom, width, height.
PLACE = (0.03, 0.04, 0.44, 0.44)
_MARK = 0.014  # half the size of a pair's mark, and
_DASH = 0.012  # the length of a dash, shares of the picture


def overlay_of(context, ob) -> Overlay | None:
    """The overlay of a target subject, on its live copy too; None where nothing is to be shown."""
    ob = target_behind(ob)
    if ob is None:
        return None
    settings, clip = ob.motion_loom_transfer, active_clip(ob)
    parts = parts_overlay(context, ob) if settings.show_parts else []
    if settings.subjects is None or clip is None or not clip.stored:
        return joined(parts) if parts else None
    if settings.show_pair:
        parts += _ghosts(ob, clip)
    if settings.show_path:
        parts += _path(context, ob, clip)
    return joined(parts) if parts else None


def _ghosts(ob, clip) -> list[Overlay]:
    """The target's pose that is to be paired, over a fainter one of the active pair where that is another one."""
    target = stored_clip(ob, clip)[1]
    chosen = ob.motion_loom_transfer.target_frame
    ghosts = [_ghost(ob, clip, target, chosen, np.append(_CHOSEN, 0.4))]
    if 0 <= clip.active_pair < len(clip.pairs):
        paired = clip.pairs[clip.active_pair].target_frame
        if paired != chosen:
            ghosts.insert(0, _ghost(ob, clip, target, paired, np.append(_PAIRED, 0.2)))
    return ghosts


def _ghost(ob, clip, target: StoredClip, frame: float, colour: np.ndarray) -> Overlay:
    """The target's captured pose at a frame of its clip, where it stood: translucent faces, lit from above."""
    subject = subjects_of(ob).target
    faces = strided(subject.triangles, _FACES_SHOWN)

    def make() -> Overlay:
        track = target.track.sampled(np.array([frame - target.frames[0]]))
        world = matrices(track)[0]
        vertices = subject.assemble(tuple(rows[0] for rows in track.rows), False, False)
        corners = (vertices @ world[:3, :3].T + world[:3, 3])[faces]
        normals = cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
        lit = _DARKEST + (1.0 - _DARKEST) * (0.5 + 0.5 * normals @ _LIGHT)
        shades = colour * np.stack((lit, lit, lit, np.ones(len(lit))), axis=1)
        return overlay(triangles=(corners, shades[:, None]))

    mark = *binding_store.mark(ob.motion_loom_transfer.subjects), clip.stored, frame
    return kept(ob, f"transfer ghost {colour.tobytes().hex()}", mark, make)


# --------------------------------------------------------------------------------------------------------- path


def _path(context, ob, clip) -> list[Overlay]:
    """Cost, path, straight line and pairs of a clip as a picture: the source's time to the right, the target's up."""
    found = used_dense(ob, clip)
    if found is None:
        return []
    used, pairs = found
    mark = *training_mark(ob), clip_number(clip), clip.active_pair
    still = kept(ob, "transfer path", mark, lambda: _picture(used, pairs, clip.active_pair))
    return [still, _cross(context, ob, used)]


def _cross(context, ob, used: UsedClip) -> Overlay:
    """What Add Pair would pair: lines at the shown frame of the source and at the chosen one of the target."""
    lines = []
    for along, frame, frames in (
        (0, frame_now(context.scene), used.source.frames),
        (1, ob.motion_loom_transfer.target_frame, used.target.frames),
    ):
        share = (frame - frames[0]) / max(frames[-1] - frames[0], 1)
        if 0.0 <= share <= 1.0:
            ends = np.array([[0.0, 0.0], [1.0, 1.0]])
            ends[:, along] = share
            lines.append(ends)
    return overlay(screen_lines=(_placed(np.array(lines).reshape(-1, 2, 2)), np.append(_CHOSEN, 0.9)), is_square=True)


def used_dense(ob, clip):
    """A clip with its dense pairs, or None where there are none (yet): the panel's buttons say why."""
    if not clip.use:
        return None
    try:
        dense = dense_of(ob)
    except MotionLoomError:
        return None
    number = clip_number(clip)
    return next(((used, pairs) for used, pairs in dense if used.number == number), None)


def _picture(used: UsedClip, pairs, active: int) -> Overlay:
    corners, colours = _cells(pairs.cost)
    ends = np.array(pairs.cost.shape, float) - 1.0
    across = pairs.source_rows / ends[0]
    straight, path = (np.stack((across, rows / ends[1]), axis=1) for rows in (pairs.line, pairs.target_rows))
    marks = _diamonds(used.pairs / ends)
    number = np.arange(len(marks)) // 4  # four edges each
    shade = np.where((number == active)[:, None], np.append(_PAIRED, 1.0), np.append(PAIR, 1.0))
    parts = (
        (_dashes(straight), np.append(STRAIGHT, 1.0)), (np.stack((path[:-1], path[1:]), axis=1), np.append(PATH, 1.0)),
        (marks, shade),
    )  # fmt: skip
    places = np.concatenate([lines for lines, _ in parts])
    shade = np.concatenate([np.broadcast_to(colour, (len(lines), 4)) for lines, colour in parts])
    words = (("Path", (*PATH, 1.0)), ("Even Time", (*STRAIGHT, 0.8)), ("Active Pair", (*_PAIRED, 1.0)))
    text = TextLine(PLACE[0] + 0.015, PLACE[1] + PLACE[3] + 0.02, (*words, ("Chosen", (*_CHOSEN, 1.0))))
    return overlay(
        screen_lines=(_placed(places), shade[:, None]),
        screen_triangles=(_placed(corners), colours[:, None]),
        screen_texts=[text],
        is_square=True,
    )


def _cells(cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two triangles (2 N, 3, 2) for each of N cells of the unit square, and their colours (2 N, 4)."""
    rows, columns = (evenly_spaced_indices(count, _CELLS) for count in cost.shape)
    thinned = cost[np.ix_(rows, columns)]
    x, y = (np.linspace(0.0, 1.0, count + 1) for count in thinned.shape)
    left, bottom = (grid.ravel() for grid in np.meshgrid(x[:-1], y[:-1], indexing="ij"))
    right, top = (grid.ravel() for grid in np.meshgrid(x[1:], y[1:], indexing="ij"))
    first = np.stack([np.stack(at, axis=1) for at in ((left, bottom), (right, bottom), (left, top))], axis=1)
    second = np.stack([np.stack(at, axis=1) for at in ((right, bottom), (right, top), (left, top))], axis=1)
    colours = np.concatenate((shades(thinned).reshape(-1, 3), np.full((thinned.size, 1), _OPAQUE)), axis=1)
    return np.concatenate((first, second)), np.concatenate((colours, colours))


def _dashes(points: np.ndarray) -> np.ndarray:
    """(N, 2, 2) dashes along a line through points (M, 2) of the unit square."""
    along = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))))
    at = np.arange(0.0, along[-1], _DASH)
    at = at[: len(at) // 2 * 2]
    return np.stack([np.interp(at, along, axis) for axis in points.T], axis=1).reshape(-1, 2, 2)


def _diamonds(places: np.ndarray) -> np.ndarray:
    """(4 N, 2, 2) outlines of marks at places (N, 2) of the unit square."""
    corners = places[:, None] + _MARK * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    return np.stack((corners, np.roll(corners, -1, axis=1)), axis=2).reshape(-1, 2, 2)


def _placed(shares: np.ndarray) -> np.ndarray:
    """Places (..., 2) of the unit square where the picture is, shares of the region's shorter side."""
    return np.array(PLACE[:2]) + np.array(PLACE[2:]) * shares
