"""The parts of both subjects as coloured points on them, alike where they answer to each other."""

from __future__ import annotations

import colorsys

import numpy as np

from ...scene.part_groups import part_masks, part_numbers
from ...scene.present import shape_now
from ...solvers.core.subsampling import strided
from ...state import mesh_edits
from ..core.kept import kept
from ..core.overlay import Overlay, joined, overlay

_MOST_POINTS = 6000
_SHARED = np.array([1.0, 1.0, 1.0])
_OPAQUE = 0.9


def parts_overlay(context, ob) -> list[Overlay]:
    """Of the target, on its copy while live, and its source subject, as far as Blender has evaluated them.

    Overlaps are white.  Raises InputError where a part names a group that there is not.
    """
    settings = ob.motion_loom_transfer
    out = []
    for subject, of in ((settings.source, "source_group"), (ob, "target_group")):
        groups = [getattr(part, of) for part in settings.parts]
        if subject is None or subject.type != "MESH" or not groups or not all(groups):
            continue
        shown = settings.live_copy if subject == ob and settings.live_copy is not None else subject
        shape = shape_now(context.view_layer.depsgraph, shown)
        if shape is None or len(shape.positions) != len(subject.data.vertices):
            continue
        some, colours = _coloured(subject, groups)
        places = shape.positions[some] @ shape.world[:3, :3].T + shape.world[:3, 3]
        out.append(overlay(points=(places, colours)))
    return [joined(out)] if out else []


def _coloured(subject, groups: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (N,) in parts, thinned out where there are many, and their colours (N, 4).

    Reading weights takes much longer than drawing them: they are read again only where the mesh was edited.
    """

    def make() -> tuple[np.ndarray, np.ndarray]:
        masks = part_masks(subject, groups)
        some = np.flatnonzero(masks.any(axis=0))
        some = strided(some, _MOST_POINTS)
        shades = np.array([colorsys.hsv_to_rgb(number / len(masks), 0.75, 1.0) for number in range(len(masks))])
        colours = np.where(masks[:, some].sum(axis=0)[:, None] > 1, _SHARED, shades[masks[:, some].argmax(axis=0)])
        return some, np.concatenate((colours, np.full((len(some), 1), _OPAQUE)), axis=1)

    return kept(subject, "transfer parts", (*mesh_edits.mark(subject.data), *part_numbers(subject, groups)), make)
