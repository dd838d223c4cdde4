"""Rows of small pictures that show a motion, tiled into one PNG."""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import sys
import tempfile

import bpy
import numpy as np

GAP = 4  # pixels between pictures


class Studio:
    """Sun, sky, a camera and a caption, for as many rows as are wanted.

    side: direction the camera looks from, in degrees about up from +X.  span: metres a picture is high.
    size: of one picture in pixels.  samples: rays a pixel.
    """

    def __init__(self, side: float, span: float = 2.35, size=(224, 336), samples: int = 12):
        scene = bpy.context.scene
        self.side, self.tilt = math.radians(side), math.radians(14.0)
        scene.render.engine = "CYCLES"
        scene.cycles.device = "CPU"
        scene.cycles.samples = samples
        scene.cycles.use_denoising = True
        scene.cycles.denoising_quality = scene.cycles.denoising_prefilter = "FAST"
        scene.cycles.max_bounces = 3
        scene.render.resolution_percentage = 100
        scene.render.use_persistent_data = True
        scene.render.image_settings.file_format = "PNG"
        scene.view_settings.view_transform = "Standard"
        _add_sky(scene)
        _add_sun(scene)
        self.camera = _camera(scene)
        self.caption = _caption(self.camera)
        self.reframe(span, size)

    def reframe(self, span: float, size) -> None:
        """Take pictures of another height in metres and another size in pixels from now on."""
        render = bpy.context.scene.render
        render.resolution_x, render.resolution_y = size
        self.camera.data.ortho_scale = span
        width = span * size[0] / size[1]
        self.caption.data.size = 0.07 * width
        self.caption.location = (-0.47 * width, 0.48 * span, -1.0)
        self.caption.data.text_boxes[0].width = 0.94 * width  # longer ones go on in another line

    def row(self, frames, look_at: np.ndarray, title: str) -> list[np.ndarray]:
        """A picture (H, W, 4), bottom line first, of each frame, looking at (n, 3)."""
        scene = bpy.context.scene
        tiles = []
        with tempfile.TemporaryDirectory() as folder:
            for number, (frame, target) in enumerate(zip(frames, look_at, strict=True)):
                scene.frame_set(frame)
                self._aim(target)
                self.caption.data.body = f"{title}\n" if number == 0 else ""
                self.caption.data.body += f"frame {frame}"
                scene.render.filepath = os.path.join(folder, f"{number}.png")
                with quiet():
                    bpy.ops.render.render(write_still=True)
                tiles.append(_read(scene.render.filepath))
        return tiles

    def close(self) -> None:
        """Take down the caption, which would otherwise stay in the picture."""
        bpy.data.curves.remove(self.caption.data)

    def _aim(self, target) -> None:
        x, y = math.cos(self.side), math.sin(self.side)
        away = np.array([x * math.cos(self.tilt), y * math.cos(self.tilt), math.sin(self.tilt)])
        self.camera.location = np.asarray(target) + 8.0 * away
        self.camera.rotation_euler = (math.pi / 2.0 - self.tilt, 0.0, self.side + math.pi / 2.0)


@contextlib.contextmanager
def quiet():
    """Keep off the terminal what Blender's own code prints line by line; errors still arrive as exceptions."""
    sys.stdout.flush()
    kept = [os.dup(1), os.dup(2)]
    with open(os.devnull, "w") as nowhere:
        for stream in (1, 2):
            os.dup2(nowhere.fileno(), stream)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        ctypes.CDLL("ucrtbase" if sys.platform == "win32" else None).fflush(None)
        for stream, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, stream)
            os.close(copy)


def tile(rows: list[list[np.ndarray]]) -> np.ndarray:
    """Pictures (H, W, 4), bottom line first, side by side in rows, the first row on top."""
    lines = []
    for row in rows:
        gap = np.ones((row[0].shape[0], GAP, 4), np.float32)
        lines.append(np.concatenate([part for picture in row for part in (picture, gap)][:-1], axis=1))
    gap = np.ones((GAP, lines[0].shape[1], 4), np.float32)
    return np.concatenate([part for line in reversed(lines) for part in (line, gap)][:-1])


def paint(ob: bpy.types.Object, colour) -> None:
    """Give an object one plain colour (r, g, b)."""
    material = bpy.data.materials.new(f"{ob.name} colour")
    material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (*colour, 1.0)
    shader.inputs["Roughness"].default_value = 0.7
    ob.data.materials.clear()
    ob.data.materials.append(material)


def veil(ob: bpy.types.Object, colour, alpha: float = 0.55) -> None:
    """Give an object a colour (r, g, b) that can be looked through; only what faces the eye is seen."""
    paint(ob, colour)
    tree = ob.data.materials[0].node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    side, seen = tree.nodes.new("ShaderNodeNewGeometry"), tree.nodes.new("ShaderNodeMapRange")
    seen.inputs["To Min"].default_value, seen.inputs["To Max"].default_value = alpha, 0.0
    tree.links.new(side.outputs["Backfacing"], seen.inputs["Value"])
    tree.links.new(seen.outputs["Result"], shader.inputs["Alpha"])
    shader.inputs["Emission Color"].default_value = (*colour, 1.0)
    shader.inputs["Emission Strength"].default_value = 0.15
    ob.visible_shadow = False


def checker(ob: bpy.types.Object, dark, light, cell: float = 0.5) -> None:
    """Two colours in squares of the object's own space, so that slopes and slides can be seen."""
    paint(ob, light)
    tree = ob.data.materials[0].node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    squares, place = tree.nodes.new("ShaderNodeTexChecker"), tree.nodes.new("ShaderNodeTexCoord")
    raised = tree.nodes.new("ShaderNodeVectorMath")
    # Half a cell up: exactly on the border of two cells colours would flicker.
    raised.inputs[1].default_value = (0.0, 0.0, 0.5 * cell)
    squares.inputs["Scale"].default_value = 1.0 / cell
    squares.inputs["Color1"].default_value, squares.inputs["Color2"].default_value = (*dark, 1.0), (*light, 1.0)
    tree.links.new(place.outputs["Object"], raised.inputs[0])
    tree.links.new(raised.outputs["Vector"], squares.inputs["Vector"])
    tree.links.new(squares.outputs["Color"], shader.inputs["Base Color"])


def _read(path: str) -> np.ndarray:
    image = bpy.data.images.load(path)
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    picture = pixels.reshape(image.size[1], image.size[0], 4)
    bpy.data.images.remove(image)
    return picture


def _add_sky(scene) -> None:
    world = bpy.data.worlds.new("Sky")
    world.use_nodes = True
    background = next(node for node in world.node_tree.nodes if node.type == "BACKGROUND")
    background.inputs["Color"].default_value = (0.62, 0.74, 0.90, 1.0)
    background.inputs["Strength"].default_value = 0.65
    scene.world = world


def _add_sun(scene) -> None:
    light = bpy.data.lights.new("Sun", "SUN")
    light.energy, light.angle = 2.4, math.radians(6.0)
    sun = bpy.data.objects.new("Sun", light)
    sun.rotation_euler = (math.radians(38.0), math.radians(-18.0), 0.0)
    scene.collection.objects.link(sun)


def _camera(scene) -> bpy.types.Object:
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.sensor_fit = "ORTHO", "VERTICAL"
    scene.collection.objects.link(camera)
    scene.camera = camera
    return camera


def _caption(camera) -> bpy.types.Object:
    """Text in front of the camera, in its upper left corner, that casts no shadow."""
    curve = bpy.data.curves.new("Caption", "FONT")
    curve.align_y = "TOP"
    caption = bpy.data.objects.new("Caption", curve)
    caption.parent = camera
    caption.visible_shadow = False
    glow = bpy.data.materials.new("Caption")
    glow.use_nodes = True
    nodes = glow.node_tree.nodes
    output = next(node for node in nodes if node.type == "OUTPUT_MATERIAL")
    light = nodes.new("ShaderNodeEmission")
    light.inputs["Color"].default_value = (0.02, 0.02, 0.03, 1.0)
    glow.node_tree.links.new(light.outputs[0], output.inputs["Surface"])
    curve.materials.append(glow)
    bpy.context.scene.collection.objects.link(caption)
    return caption
