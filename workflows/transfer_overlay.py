"""What Transfer shows in the viewport: poses of the target to be paired, and the path of a clip over its cost."""

from __future__ import annotations

import numpy as np

from ..scene import binding_store
from ..scene.frames import frame_now
from ..solvers.errors import MotionLoomError
from .kept import kept
from .mesh_target import target_behind
from .overlay import Overlay, TextLine, joined, overlay, ramp
from .transfer_model import UsedClip, clip_number, dense_of, stored_clip, subjects_of, training_mark
from .transfer_pairs import active_clip
from .transfer_part_overlay import parts_overlay
from .transfer_store import StoredClip, matrices

_CHOSEN, _PAIRED = np.array([0.2, 0.6, 1.0]), np.array([0.15, 0.85, 0.4])
_PATH, _LINE = np.array([1.0, 1.0, 1.0, 1.0]), np.array([1.0, 0.55, 0.2, 0.8])
_NOW = np.array([1.0, 0.9, 0.2, 0.9])
_EDGES_SHOWN = 6000
_CELLS = 72  # across the picture, at most
# The picture's place, shares of the region: left, bottom, width, height.
PLACE = (0.03, 0.06, 0.26, 0.42)
_MARK = 0.008  # half the size of a pair's mark, share of the picture


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
        source, target = stored_clip(ob, clip)
        parts.append(_ghost(ob, target, settings.target_frame, _CHOSEN))
        if 0 <= clip.active_pair < len(clip.pairs):
            parts.append(_ghost(ob, target, clip.pairs[clip.active_pair].target_frame, _PAIRED))
    if settings.show_path:
        parts += _path(context, ob, clip)
    return joined(parts) if parts else None


def _ghost(ob, clip: StoredClip, frame: float, colour: np.ndarray) -> Overlay:
    """The target's captured pose at a frame of its clip, where it stood, as edges."""
    subject = subjects_of(ob).target

    def make() -> np.ndarray:
        track = clip.track.sampled(np.array([frame - clip.frames[0]]))
        world = matrices(track)[0]
        vertices = subject.assemble(tuple(rows[0] for rows in track.rows), False, False)
        return (vertices @ world[:3, :3].T + world[:3, 3])[_edges(ob)]

    mark = *binding_store.mark(ob.motion_loom_transfer.subjects), frame, float(clip.frames[0]), len(clip.frames)
    lines = kept(ob, f"transfer ghost {colour.tobytes().hex()}", mark, make)
    return overlay(lines=(lines, np.append(colour, 0.5)))


def _edges(ob) -> np.ndarray:
    """(E, 2) edges of the target, thinned out where there are many."""
    triangles = subjects_of(ob).target.triangles

    def make() -> np.ndarray:
        edges = np.sort(np.concatenate((triangles[:, :2], triangles[:, 1:], triangles[:, ::2])), axis=1)
        edges = np.unique(edges, axis=0)
        return edges[:: max(1, len(edges) // _EDGES_SHOWN)]

    return kept(ob, "transfer edges", binding_store.mark(ob.motion_loom_transfer.subjects), make)


# --------------------------------------------------------------------------------------------------------- path


def _path(context, ob, clip) -> list[Overlay]:
    """Cost, path, straight line and pairs of a clip as a picture: the source's time to the right, the target's up."""
    found = used_dense(ob, clip)
    if found is None:
        return []
    used, pairs = found
    still = kept(ob, "transfer path", (*training_mark(ob), clip_number(clip)), lambda: _picture(used, pairs))
    now = (frame_now(context.scene) - used.source.frames[0]) / max(len(used.source.frames) - 1, 1)
    if not 0.0 <= now <= 1.0:
        return [still]
    mark = _placed(np.array([[[now, 0.0], [now, 1.0]]]))
    return [still, overlay(screen_lines=(mark, _NOW))]


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


def _picture(used: UsedClip, pairs) -> Overlay:
    corners, colours = _cells(pairs.cost)
    ends = np.array(pairs.cost.shape, float) - 1.0
    across = pairs.source_rows / ends[0]
    lines, shades = [], []
    for heights, colour in ((pairs.line, _LINE), (pairs.target_rows, _PATH)):
        points = np.stack((across, heights / ends[1]), axis=1)
        lines.append(np.stack((points[:-1], points[1:]), axis=1))
        shades.append(np.tile(colour, (len(points) - 1, 1)))
    marks = _diamonds(used.pairs / ends)
    lines.append(marks)
    shades.append(np.tile(np.append(_PAIRED, 1.0), (len(marks), 1)))
    words = (("Path", tuple(_PATH)), ("Straight", (*_LINE[:3], 1.0)), ("Pairs", (*_PAIRED, 1.0)))
    text = TextLine(PLACE[0], PLACE[1] + PLACE[3] + 0.012, words)
    return overlay(
        screen_lines=(_placed(np.concatenate(lines)), np.concatenate(shades)[:, None]),
        screen_triangles=(_placed(corners), colours[:, None]),
        screen_texts=[text],
    )


def _cells(cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two triangles (2 N, 3, 2) for each of N cells of the unit square, and their colours (2 N, 4), by rank of cost."""
    rows, columns = (np.unique(np.linspace(0, count - 1, min(count, _CELLS)).astype(int)) for count in cost.shape)
    thinned = cost[np.ix_(rows, columns)]
    rank = np.argsort(np.argsort(thinned, axis=None)).reshape(thinned.shape) / max(thinned.size - 1, 1)
    x, y = (np.linspace(0.0, 1.0, count + 1) for count in thinned.shape)
    left, bottom = (grid.ravel() for grid in np.meshgrid(x[:-1], y[:-1], indexing="ij"))
    right, top = (grid.ravel() for grid in np.meshgrid(x[1:], y[1:], indexing="ij"))
    first = np.stack([np.stack(at, axis=1) for at in ((left, bottom), (right, bottom), (left, top))], axis=1)
    second = np.stack([np.stack(at, axis=1) for at in ((right, bottom), (right, top), (left, top))], axis=1)
    colours = np.concatenate((ramp(0.85 * rank.ravel()), np.full((rank.size, 1), 0.8)), axis=1)
    return np.concatenate((first, second)), np.concatenate((colours, colours))


def _diamonds(places: np.ndarray) -> np.ndarray:
    """(4 N, 2, 2) outlines of marks at places (N, 2) of the unit square."""
    turn = _MARK * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    corners = places[:, None] + 2.0 * turn
    return np.stack((corners, np.roll(corners, -1, axis=1)), axis=2).reshape(-1, 2, 2)


def _placed(shares: np.ndarray) -> np.ndarray:
    """Places (..., 2) of the unit square where the picture is, shares of the region."""
    return np.array(PLACE[:2]) + np.array(PLACE[2:]) * shares
