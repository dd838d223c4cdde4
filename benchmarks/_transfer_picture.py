"""Pictures of the manual's page on Transfer: learning curves, and what stitching does at the borders of parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np

from examples import strip

from ._chart import BLACK, GREY, Chart
from ._transfer_bodies import Captured, dance, shown
from ._transfer_measures import SIZES
from ._transfer_results import Results
from ._transfer_ways import AFFINE, AFFINE_MOVING, LINEAR, OURS, OURS_ALONE, SE
from .seams import Seams

_WIDE, _HIGH, _LEFT, _BELOW, _GAP = 330, 230, 70, 60, 45
_MOST = 60.0  # mm, at the top of the charts
_COLOURS = {
    OURS: (0.85, 0.10, 0.05),
    SE: (0.05, 0.25, 0.75),
    LINEAR: (0.05, 0.50, 0.15),
    OURS_ALONE: (0.95, 0.55, 0.60),
    AFFINE: (0.85, 0.45, 0.0),
    AFFINE_MOVING: (0.45, 0.2, 0.55),
}
# Metres of the picture's height; pixels.  Creases of this many radians show, of twice as many are red.
_TALL, _SEAMS_SIZE, _SAMPLES, _CREASE = 2.45, (1960, 490), 24, 0.15
# Degrees about up that turn dancers, as they stood when they were captured, towards the eye.
_FACING, _APART = {"samba": 25.0, "crane": 205.0}, 1.22
# Metres around a border that are seen close, so many times larger.
_AROUND, _LARGER = 0.17, 3.2
_PLAIN, _RED = np.array((0.48, 0.44, 0.40, 1.0)), np.array((0.85, 0.05, 0.03, 1.0))


def draw_curves(found: Results, folder: Path) -> Path:
    """Error against the number of pairs: of the pairs left out, solid, and of those learnt from, dashed."""
    names = list(found.curves)
    kinds = {"random pairs": found.curves, "key poses first": found.keyed, "whole body": found.whole}
    width = _LEFT + len(kinds) * (_WIDE + _GAP)
    chart = Chart(width, _BELOW + len(names) * (_HIGH + _GAP + 15) + 40)
    for row, name in enumerate(reversed(names)):
        for column, (kind, curves) in enumerate(kinds.items()):
            corner = np.array((_LEFT + column * (_WIDE + _GAP), _BELOW + 30 + row * (_HIGH + _GAP + 15)), float)
            shown_ways = {way: values for way, values in curves[name].items() if way in _COLOURS}
            if kind == "whole body":
                # Beside the parts, thinner.
                _curve(chart, corner, found.curves[name][OURS], GREY, 3.0)
            _axes(chart, corner, f"{name}: {kind}", column == 0)
            for way, values in reversed(shown_ways.items()):
                _curve(chart, corner, values, _COLOURS[way], 3.0)
    place = _LEFT
    for way, colour in _COLOURS.items():
        chart.line([(place, 24), (place + 30, 24)], colour, 3.0)
        chart.words(way, (place + 38, 24), 14)
        place += 60 + round(7.2 * len(way))
    chart.line([(place, 24), (place + 30, 24)], GREY, 3.0)
    chart.words("parts", (place + 38, 24), 14)
    path = folder / "transfer_curves.png"
    chart.save(path)
    return path


def _axes(chart: Chart, corner: np.ndarray, title: str, named: bool) -> None:
    right, top = corner + (_WIDE, 0), corner + (0, _HIGH)
    for value in range(0, int(_MOST) + 1, 20):
        height = corner + (0, _HIGH * value / _MOST)
        chart.line([height, height + (_WIDE, 0)], GREY, 1.0)
        chart.words(str(value), height - (8, 0), 13, "RIGHT")
    for size in SIZES:
        chart.words(str(size), corner + (_WIDE * size / SIZES[-1], -14), 13, "CENTER")
    chart.line([top, corner, right], BLACK, 1.5)
    chart.words(title, top + (_WIDE / 2, 14), 15, "CENTER")
    if named:
        chart.words("error, mm", top + (-45, -_HIGH / 2), 14, "CENTER", turn=90)


def _curve(chart: Chart, corner: np.ndarray, values: np.ndarray, colour, width: float) -> None:
    """values: (2, sizes) of those learnt from, and the rest."""
    across = _WIDE * np.array(SIZES) / SIZES[-1]
    for row, dash in ((1, 0.0), (0, 7.0)):
        heights = _HIGH * values[row] / _MOST
        # A curve that is off the sheet comes in through its top.
        inside = np.interp(across, across, np.minimum(heights, _HIGH))
        points = corner + np.stack((across, inside), axis=1)
        out = np.flatnonzero(heights > _HIGH)
        if len(out):
            last = out[-1]
            if last + 1 == len(across):
                continue
            share = (_HIGH - heights[last]) / (heights[last + 1] - heights[last])
            enters = corner + (across[last] + share * (across[last + 1] - across[last]), _HIGH)
            points = np.concatenate((enters[None], points[last + 1 :]))
        chart.line(points, colour, width if not dash else 0.7 * width, dash)


def draw_seams(folder: Path) -> Path:
    """Dancers who perform each other's dance, and close to a border where stitching gains most.  Red: creases."""
    bpy.ops.wm.read_homefile(use_empty=True)
    studio = strip.Studio(0.0, _TALL, _SEAMS_SIZE, _SAMPLES)
    studio.close()
    bpy.data.objects["Sun"].rotation_euler = (math.radians(20.0), math.radians(48.0), 0.0)
    studio.camera.location, studio.camera.rotation_euler = (20.0, 0.0, 0.0), (math.pi / 2, 0.0, math.pi / 2)
    column = 0
    for backward in (False, True):
        for shape in _dance_shapes(backward):
            _place(shape, column)
            column += 1
    path = folder / "transfer_seams.png"
    render = bpy.context.scene.render
    render.filepath, render.dither_intensity = str(path), 0.0
    render.image_settings.color_mode, render.image_settings.compression = "RGB", 100
    with strip.quiet():
        bpy.ops.render.render(write_still=True)
    return path


@dataclass(frozen=True)
class _Shape:
    """vertices (V, 3) that face the eye.  colours (V, 4).  size: how many times larger than life."""

    text: str
    vertices: np.ndarray
    triangles: np.ndarray
    colours: np.ndarray
    size: float = 1.0


def _dance_shapes(backward: bool) -> list[_Shape]:
    source, target, _, track = dance(backward)
    seams = Seams.of(target.local, target.triangles, target.memberships)
    blended, stitched = (shown(target.subject, track, *done) for done in ((True, False), (True, True)))
    gained = [seams.creases(one) - seams.creases(other) for one, other in zip(blended, stitched, strict=True)]
    gained = np.where(seams.rim, np.stack(gained), 0.0)
    frame, edge = np.unravel_index(gained.argmax(), gained.shape)
    plain = np.tile(_PLAIN, (source.vertices.shape[1], 1))
    shapes = [
        _Shape(f"{source.name}, frame {frame}", source.local[frame] @ _facing(source), source.triangles, plain),
        _Shape(f"by {target.name}", stitched[frame] @ _facing(target), target.triangles,
               np.tile(_PLAIN, (len(stitched[frame]), 1))),
    ]  # fmt: skip
    for text, mesh in (("not stitched", blended[frame]), ("stitched", stitched[frame])):
        shapes.append(_close(text, mesh, stitched[frame], seams, edge))
    return shapes


def _facing(who: Captured) -> np.ndarray:
    return _turned(_FACING[who.name]).T


def _close(text: str, mesh: np.ndarray, whole: np.ndarray, seams: Seams, edge: int) -> _Shape:
    """The surroundings of an edge, seen from outside."""
    centre = whole[seams.ends[:, edge]].mean(axis=0)
    corners = whole[seams.triangles[seams.faces[:, edge]]]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]).sum(axis=0)
    turn = _turned(25.0 - math.degrees(math.atan2(normal[1], normal[0])))
    near = np.linalg.norm(whole - centre, axis=1) < _AROUND
    outwards = (whole - centre) @ normal > -_AROUND * np.linalg.norm(normal)
    kept = seams.triangles[(near & outwards)[seams.triangles].all(axis=1)]
    strength = np.zeros(len(mesh))
    creases = np.where(seams.rim, seams.creases(mesh), 0.0)
    for ends in seams.ends:
        np.maximum.at(strength, ends, np.clip(creases / _CREASE - 1.0, 0.0, 1.0))
    return _Shape(text, (mesh - centre) @ turn.T, kept, _PLAIN + strength[:, None] * (_RED - _PLAIN), _LARGER)


def _place(shape: _Shape, column: int) -> None:
    """In its column, with words below it."""
    data = bpy.data.meshes.new(shape.text)
    used, numbers = np.unique(shape.triangles, return_inverse=True)
    vertices = shape.size * shape.vertices[used]
    data.from_pydata(vertices.tolist(), [], numbers.reshape(-1, 3).tolist())
    data.shade_smooth()
    colours = shape.colours[used].astype(np.float32)
    data.color_attributes.new("creases", "FLOAT_COLOR", "POINT").data.foreach_set("color", colours.ravel())
    ob = bpy.data.objects.new(shape.text, data)
    strip.paint(ob, _PLAIN[:3])
    tree = data.materials[0].node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    attribute = tree.nodes.new("ShaderNodeAttribute")
    attribute.attribute_name = "creases"
    tree.links.new(attribute.outputs["Color"], shader.inputs["Base Color"])
    place = np.array((0.0, _APART * (column - 3.5), 0.12))
    ob.location = place - 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    bpy.context.scene.collection.objects.link(ob)
    words = bpy.data.curves.new(shape.text, "FONT")
    words.body, words.size, words.align_x = shape.text, 0.14, "CENTER"
    label = bpy.data.objects.new(f"{shape.text} label", words)
    strip.paint(label, BLACK)
    label.location = place + [3.0, 0.0, -1.15]
    label.rotation_euler = (math.pi / 2, 0.0, math.pi / 2)
    bpy.context.scene.collection.objects.link(label)


def _turned(degrees: float) -> np.ndarray:
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])
