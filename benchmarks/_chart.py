"""Lines and words on a white sheet, drawn by Blender: for charts of the manual."""

from __future__ import annotations

import math
from pathlib import Path

import bpy
import numpy as np

from examples import strip

Colour = tuple[float, float, float]
BLACK, GREY = (0.02, 0.02, 0.02), (0.75, 0.75, 0.75)


class Chart:
    """A sheet of so many pixels; places are in pixels from its lower left corner."""

    def __init__(self, width: int, height: int):
        bpy.ops.wm.read_homefile(use_empty=True)
        scene = bpy.context.scene
        scene.render.engine, scene.cycles.device, scene.cycles.samples = "CYCLES", "CPU", 16
        scene.render.resolution_x, scene.render.resolution_y = width, height
        scene.view_settings.view_transform, scene.render.dither_intensity = "Standard", 0.0
        scene.render.image_settings.color_mode, scene.render.image_settings.compression = "RGB", 100
        scene.world = bpy.data.worlds.new("White")
        scene.world.use_nodes = True
        background = next(node for node in scene.world.node_tree.nodes if node.type == "BACKGROUND")
        background.inputs["Color"].default_value = (1.0, 1.0, 1.0, 1.0)
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        camera.data.type, camera.data.ortho_scale = "ORTHO", max(width, height)
        camera.location = (width / 2.0, height / 2.0, 100.0)
        camera.data.clip_end = 1000.0
        scene.collection.objects.link(camera)
        scene.camera = camera
        self._inks: dict[Colour, bpy.types.Material] = {}
        self._layer = 0.0

    def line(self, points: np.ndarray, colour: Colour = BLACK, width: float = 2.0, dash: float = 0.0) -> None:
        """A line through points (N, 2); dash: pixels on and off, 0 for none."""
        for piece in _dashes(np.asarray(points, float), dash) if dash else [np.asarray(points, float)]:
            self._stroke(piece, colour, width)

    def words(self, text: str, place, size: float = 15.0, align: str = "LEFT", colour: Colour = BLACK, turn: float = 0):
        """align: of the text's place, LEFT, CENTER or RIGHT.  turn: degrees."""
        curve = bpy.data.curves.new(text, "FONT")
        curve.body, curve.size, curve.align_x, curve.align_y = text, 1.3 * size, align, "CENTER"
        curve.materials.append(self._ink(colour))
        self._place(curve, (*place, 50.0), turn)

    def save(self, path: Path) -> None:
        bpy.context.scene.render.filepath = str(path)
        with strip.quiet():
            bpy.ops.render.render(write_still=True)

    def _stroke(self, points, colour, width):
        along = np.diff(points, axis=0)
        long = np.linalg.norm(along, axis=1)
        points, along = points[np.append(True, long > 0)], along[long > 0]
        side = np.stack((-along[:, 1], along[:, 0]), axis=1) / np.linalg.norm(along, axis=1, keepdims=True) * width / 2
        # Ends reach half a width farther, so that corners are closed.
        ahead = np.stack((side[:, 1], -side[:, 0]), axis=1)
        start, end = points[:-1] - ahead, points[1:] + ahead
        corners = np.stack((start - side, end - side, end + side, start + side), axis=1).reshape(-1, 2)
        mesh = bpy.data.meshes.new("line")
        flat = np.column_stack((corners, np.zeros(len(corners))))
        mesh.from_pydata(flat.tolist(), [], np.arange(len(flat)).reshape(-1, 4).tolist())
        mesh.materials.append(self._ink(colour))
        self._layer += 0.01
        self._place(mesh, (0.0, 0.0, self._layer), 0.0)

    def _place(self, data, place, turn):
        ob = bpy.data.objects.new(data.name, data)
        ob.location, ob.rotation_euler = place, (0.0, 0.0, math.radians(turn))
        bpy.context.scene.collection.objects.link(ob)

    def _ink(self, colour: Colour) -> bpy.types.Material:
        if colour not in self._inks:
            ink = self._inks[colour] = bpy.data.materials.new("ink")
            ink.use_nodes = True
            nodes = ink.node_tree.nodes
            output = next(node for node in nodes if node.type == "OUTPUT_MATERIAL")
            light = nodes.new("ShaderNodeEmission")
            light.inputs["Color"].default_value = (*colour, 1.0)
            ink.node_tree.links.new(light.outputs[0], output.inputs["Surface"])
        return self._inks[colour]


def _dashes(points: np.ndarray, dash: float) -> list[np.ndarray]:
    """Pieces of a line through points (N, 2)."""
    way = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    pieces = []
    for start in np.arange(0.0, way[-1], 2.0 * dash):
        end = min(start + dash, way[-1])
        inside = way[(way > start) & (way < end)]
        stops = np.concatenate(([start], inside, [end]))
        pieces.append(np.stack([np.interp(stops, way, column) for column in points.T], axis=1))
    return pieces
