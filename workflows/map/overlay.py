"""What Map shows in the viewport: both poses of the active pair, the pose to be paired, and scores over the source."""

from __future__ import annotations

import numpy as np

from ...scene.frames import frame_now
from ...solvers.core.subsampling import evenly_spaced_indices, strided
from ...solvers.mapping.pair_suggestion import confidence
from ...solvers.surface.edges import unique_edges
from ..core.kept import kept
from ..core.overlay import Overlay, TextLine, joined, overlay
from ..mesh.target import target_behind
from .model import MotionMap, clip_of, pair_rows, pairs_mark, performed_poses, pose_at, row_at, target_of
from .pairs import gains_of, suggested

_CHOSEN, _PAIRED, _SOURCE = np.array([0.2, 0.6, 1.0]), np.array([0.15, 0.85, 0.4]), np.array([1.0, 0.45, 0.1])
_MARK, _FRAME = np.array([1.0, 1.0, 1.0, 0.9]), np.array([1.0, 0.9, 0.2, 0.9])
_BACK, _RIM = np.array([0.05, 0.05, 0.06, 0.6]), np.array([0.6, 0.6, 0.6, 0.6])
_LOW, _MIDDLE, _HIGH = np.array([[1.0, 0.32, 0.26], [0.95, 0.8, 0.15], [0.2, 0.85, 0.3]])
# Shares of the region: where the curve of the scores lies, the bar beside it, and what both mean above them.
_LEFT, _RIGHT, _BOTTOM, _TOP = 0.03, 0.93, 0.03, 0.14
_BAR = 0.945, 0.97
_WORDS_AT = _LEFT + 0.01, _TOP + 0.016
_MOST_POINTS = 600
_EDGES_SHOWN = 6000


def overlay_of(context, ob) -> Overlay | None:
    """The overlay of a learnt target at the present frame, on its live copy too; None where nothing is to be shown."""
    ob = target_behind(ob)
    if ob is None:
        return None
    settings = ob.motion_loom_map
    if settings.learnt is None or settings.clip is None or not (settings.show_pair or settings.show_scores):
        return None
    parts = []
    if settings.show_pair:
        parts.append(_ghost(ob, settings.target_frame, _CHOSEN))
        if 0 <= settings.active_pair < len(settings.pairs):
            parts += _pair(ob, settings.pairs[settings.active_pair])
    if settings.show_scores:
        parts += [_scores(context, ob), _confidence(context, ob)]
    return joined(parts)


def _pair(ob, pair) -> list[Overlay]:
    points = performed_poses(pair.performed)[1] if pair.performed else pose_at(ob, pair.source_frame)[1]
    points = points[np.isfinite(points).all(axis=1)]
    return [_ghost(ob, pair.target_frame, _PAIRED), overlay(points=(points, np.append(_SOURCE, 1.0)))]


def _ghost(ob, frame: float, colour: np.ndarray) -> Overlay:
    """The target's own pose at a frame of its motion, as its edges."""
    target = target_of(ob)

    def make() -> np.ndarray:
        vertices = target.space.vertices_of(target.coefficients_at(np.array([frame]))[0])
        world = vertices @ target.place[:3, :3].T + target.place[:3, 3]
        return world[_edges(ob)]

    lines = kept(ob, f"map ghost {colour.tobytes().hex()}", (*pairs_mark(ob)[:3], frame), make)
    return overlay(lines=(lines, np.append(colour, 0.5)))


def _edges(ob) -> np.ndarray:
    """(E, 2) edges of the target, thinned out where there are many."""
    target = target_of(ob)

    def make() -> np.ndarray:
        return strided(unique_edges(target.space.triangles)[0], _EDGES_SHOWN)

    return kept(ob, "map edges", pairs_mark(ob)[:3], make)


def _scores(context, ob) -> Overlay:
    """How much a pair at each frame would gain, as a curve over the source's range, with marks."""
    clip = clip_of(ob)
    scores = gains_of(context.scene, ob)
    rows = evenly_spaced_indices(len(scores), _MOST_POINTS)
    height = scores[rows] / max(float(scores.max()), 1e-12)
    curve = np.stack((_across(clip, clip.frames[rows]), _BOTTOM + (_TOP - _BOTTOM) * height), axis=1)
    floor = np.stack((curve[:, 0], np.full(len(curve), _BOTTOM)), axis=1)
    fill = np.concatenate((_strip(curve[:-1], curve[1:], floor[:-1], floor[1:]), _box(_LEFT, _RIGHT, _BOTTOM, _TOP)))
    colours = np.concatenate((np.tile(np.append(_SOURCE, 0.35), (2 * (len(curve) - 1), 1)), np.tile(_BACK, (2, 1))))
    rim = _rim(_LEFT, _RIGHT, _BOTTOM, _TOP)
    lines = [rim, np.stack((curve[:-1], curve[1:]), axis=1)]
    shades = [np.tile(_RIM, (len(rim), 1)), np.tile(np.append(_SOURCE, 0.9), (len(curve) - 1, 1))]
    used = [pair.source_frame for pair in ob.motion_loom_map.pairs if pair.use and not pair.performed]
    now = [frame_now(context.scene)]
    for frames, colour in ((suggested(ob), _FRAME), (used, np.append(_PAIRED, 1.0)), (now, _MARK)):
        places = _across(clip, np.array(frames))
        lines.append(np.stack([np.stack((places, np.full(len(places), y)), axis=1) for y in (_BOTTOM, _TOP)], axis=1))
        shades.append(np.tile(colour, (len(places), 1)))
    return overlay(
        screen_lines=(np.concatenate(lines), np.concatenate(shades)[:, None]),
        screen_triangles=(fill[::-1], colours[::-1][:, None]),
    )


def _confidence(context, ob) -> Overlay:
    """A bar from red to green: how sure the map is of the source's present pose."""
    rows, _ = pair_rows(ob)
    features = row_at(ob, frame_now(context.scene))[None]
    sure = float(confidence(MotionMap.variance_of(rows, features))[0]) if len(rows) else 0.0
    height = _BOTTOM + (_TOP - _BOTTOM) * max(sure, 0.02)
    fill = np.concatenate((_box(*_BAR, _BOTTOM, _TOP), _box(*_BAR, _BOTTOM, height)))
    shade = np.append(_shade(sure), 0.9)
    rim = _rim(*_BAR, _BOTTOM, _TOP)
    return overlay(
        screen_lines=(rim, np.tile(_RIM, (len(rim), 1))[:, None]),
        screen_triangles=(fill, np.stack((_BACK, _BACK, shade, shade))[:, None]),
        screen_texts=[_words(sure)],
    )


def _shade(sure: float) -> np.ndarray:
    """Red, by yellow, to green."""
    return np.array([np.interp(sure, (0.0, 0.5, 1.0), channel) for channel in zip(_LOW, _MIDDLE, _HIGH, strict=True)])


def _words(sure: float) -> TextLine:
    """What the colours of the curve, its marks and the bar mean."""
    words = (
        (f"Confidence {sure:.0%}", _shade(sure)), ("Worth of a pair", _SOURCE), ("Pairs", _PAIRED),
        ("Suggested", _FRAME), ("Now", _MARK),
    )  # fmt: skip
    return TextLine(*_WORDS_AT, tuple((text, (*colour[:3].tolist(), 1.0)) for text, colour in words))


def _across(clip, frames: np.ndarray) -> np.ndarray:
    """Where frames lie on the curve, as shares of the region's width."""
    span = clip.frames[-1] - clip.frames[0]
    return _LEFT + (_RIGHT - _LEFT) * np.clip((frames - clip.frames[0]) / span, 0.0, 1.0)


def _box(left: float, right: float, bottom: float, top: float) -> np.ndarray:
    corners = np.array([[left, top], [right, top], [left, bottom], [right, bottom]])
    return _strip(*corners[:, None])


def _rim(left: float, right: float, bottom: float, top: float) -> np.ndarray:
    """(4, 2, 2) the edges of a box."""
    corners = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    return np.stack((corners, np.roll(corners, -1, axis=0)), axis=1)


def _strip(top_left, top_right, bottom_left, bottom_right) -> np.ndarray:
    """Two triangles (2 N, 3, 2) of each of N boxes, by corners (N, 2)."""
    halves = (top_left, bottom_left, top_right), (top_right, bottom_left, bottom_right)
    return np.concatenate([np.stack(corners, axis=1) for corners in halves])
