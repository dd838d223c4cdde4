"""Animals side by side: what is right, and what each way shows at the moment at which ours is farthest off."""

from __future__ import annotations

import math

import bpy
import numpy as np

from examples import strip

from ._map_picture import black, torn_colours
from ._map_score_cases import ScoreCase, rig_cases
from ._map_score_ways import WAYS

CASES = "Alpaca to Horse", "Cow to Fox", "Velociraptor to Trex"
SIZE, SAMPLES = (1700, 640), 16
_WIDE, _HIGH, _LETTERS = 1.25, 1.2, 0.1
_RIGHT = "right"


def draw(path: str) -> None:
    """A row a case, as one PNG. Red: edges longer or shorter than ever by a quarter."""
    cases = [case for case in rig_cases() if case.name in CASES]
    shown = [_moment(case) for case in cases]
    bpy.ops.wm.read_homefile(use_empty=True)
    studio = strip.Studio(0.0, _HIGH * len(CASES) + 0.1, SIZE, SAMPLES)
    studio.close()
    bpy.data.objects["Sun"].rotation_euler = (math.radians(20.0), math.radians(48.0), 0.0)
    studio.camera.location, studio.camera.rotation_euler = (20.0, -0.05, 0.0), (math.pi / 2, 0.0, math.pi / 2)
    for row, (case, poses) in enumerate(zip(cases, shown, strict=True)):
        for column, (name, shape) in enumerate(poses.items()):
            _place(case, shape, f"{case.name}: {name}" if name == _RIGHT else name, column, row)
    render = bpy.context.scene.render
    render.filepath, render.dither_intensity = path, 0.0
    render.image_settings.color_mode, render.image_settings.compression = "RGB", 100
    with strip.quiet():
        bpy.ops.render.render(write_still=True)


def _moment(case: ScoreCase) -> dict[str, np.ndarray]:
    found = {name: way(case) for name, way in WAYS.items()}
    off = np.linalg.norm(next(iter(found.values())) - case.truth, axis=2).mean(axis=1)
    at = int(np.argmax(np.where(case.counted, off, 0.0)))
    return {_RIGHT: case.truth[at]} | {name: shape[at] for name, shape in found.items()}


def _place(case: ScoreCase, shape: np.ndarray, text: str, column: int, row: int) -> None:
    """An animal, seen from its side, as large as all others, and words below it."""
    mesh = bpy.data.meshes.new(text)
    low, high = case.truth[case.counted].min(axis=(0, 1)), case.truth[case.counted].max(axis=(0, 1))
    scale = 1.0 / float((high - low)[1:].max())
    mesh.from_pydata((scale * (shape - 0.5 * (low + high))).tolist(), [], case.triangles.tolist())
    torn_colours(mesh, case.target, case.triangles, shape)
    ob = bpy.data.objects.new(text, mesh)
    place = np.array([0.0, _WIDE * (column - 0.5 * len(WAYS)), _HIGH * (0.5 * len(CASES) - 0.5 - row) + 0.1])
    ob.location = place
    bpy.context.scene.collection.objects.link(ob)
    words = bpy.data.curves.new(text, "FONT")
    words.body, words.size, words.align_x = text, _LETTERS, "CENTER"
    words.materials.append(black())
    label = bpy.data.objects.new(f"{text} label", words)
    label.location = place + [3.0, 0.0, -0.5 * _HIGH - 0.04]
    label.rotation_euler = (math.pi / 2, 0.0, math.pi / 2)
    bpy.context.scene.collection.objects.link(label)
