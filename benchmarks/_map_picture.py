"""Horses side by side that say more than numbers: beyond the range of poses, and half-way between two of them."""

from __future__ import annotations

import math

import bpy
import numpy as np

from benchmarks.baselines.target_representations import COMBINED, GRADIENTS, POINTS
from examples import strip
from solvers.surface.edges import unique_edges

from ._map_cases import Target, onto_itself, target
from ._map_measures import BAD, edge_excess
from ._map_ways import OPEN, OURS, WAYS, target_space
from .mesh_sequences import edge_lengths

SIZE, SAMPLES = (1260, 560), 24
_WIDE, _HIGH, _LETTERS = 2.65, 2.35, 0.19
_PLAIN, _TORN = (0.48, 0.44, 0.40, 1.0), (0.85, 0.05, 0.03, 1.0)
_NAMES = {"raw points": "raw points", OPEN: "no latent box", "hard box": "hard box", OURS: "soft box (ours)"}
_HALVES = {POINTS: "raw points", GRADIENTS: "bare gradients", COMBINED: "both (ours)"}


def draw(path: str) -> None:
    """Two rows of four, as one PNG. Red: edges longer or shorter than ever by a quarter."""
    gallop, poses = target("horse_gallop"), target("horse_poses")
    bpy.ops.wm.read_homefile(use_empty=True)
    studio = strip.Studio(0.0, 2.0 * _HIGH + 0.1, SIZE, SAMPLES)
    studio.close()
    bpy.data.objects["Sun"].rotation_euler = (math.radians(20.0), math.radians(48.0), 0.0)
    studio.camera.location, studio.camera.rotation_euler = (20.0, -0.15, 0.0), (math.pi / 2, 0.0, math.pi / 2)
    for column, (name, shape) in enumerate(_beyond(gallop).items()):
        _place(gallop, shape, f"x 2: {_NAMES[name]}", column, 0)
    for column, (name, shape) in enumerate(_between(poses).items()):
        _place(poses, shape, name, column, 1)
    render = bpy.context.scene.render
    render.filepath, render.dither_intensity = path, 0.0
    render.image_settings.color_mode, render.image_settings.compression = "RGB", 100
    with strip.quiet():
        bpy.ops.render.render(write_still=True)


def _beyond(gallop: Target) -> dict[str, np.ndarray]:
    """By way, the moment of a source amplified twice at which most is torn without a box."""
    case = onto_itself(gallop).amplified(2.0)
    own = edge_lengths(gallop.vertices, gallop.triangles)
    times = case.times[6::3]
    torn = edge_excess(edge_lengths(WAYS[OPEN].learn(case).vertices(times), gallop.triangles), own) > BAD
    moment = times[[torn.mean(axis=1).argmax()]]
    return {name: WAYS[name].learn(case).vertices(moment)[0] for name in _NAMES}


def _between(poses: Target) -> dict[str, np.ndarray]:
    """Of the two poses that raw points blend worst: one of them, and what is half-way to the other."""
    first, second = np.triu_indices(len(poses.vertices), 1)
    lengths = edge_lengths(poses.vertices, poses.triangles)
    middle = edge_lengths(0.5 * (poses.vertices[first] + poses.vertices[second]), poses.triangles)
    worst = np.abs(middle - 0.5 * (lengths[first] + lengths[second])).sum(axis=1).argmax()
    pair = [first[worst], second[worst]]
    found = {"one of two poses": poses.vertices[pair[0]]}
    for kind, name in _HALVES.items():
        space = target_space(poses.name, kind, 50, poses)
        found[f"half-way: {name}"] = space.vertices_of(space.coefficients[pair].mean(axis=0))
    return found


def _place(mesh: Target, shape: np.ndarray, text: str, column: int, row: int) -> None:
    """A horse, seen from its side, and words below it."""
    data = bpy.data.meshes.new(text)
    data.from_pydata(shape.tolist(), [], mesh.triangles.tolist())
    data.shade_smooth()
    torn_colours(data, mesh.vertices, mesh.triangles, shape)
    ob = bpy.data.objects.new(text, data)
    centre = 0.5 * (mesh.vertices.min(axis=(0, 1)) + mesh.vertices.max(axis=(0, 1)))
    place = np.array([0.0, _WIDE * (column - 1.5), _HIGH * (0.5 - row) + 0.1])
    ob.location = place - centre
    bpy.context.scene.collection.objects.link(ob)
    words = bpy.data.curves.new(text, "FONT")
    words.body, words.size, words.align_x = text, _LETTERS, "CENTER"
    words.materials.append(black())
    label = bpy.data.objects.new(f"{text} label", words)
    label.location = place + [3.0, 0.0, -0.5 * _HIGH + 0.02]
    label.rotation_euler = (math.pi / 2, 0.0, math.pi / 2)
    bpy.context.scene.collection.objects.link(label)


def torn_colours(data: bpy.types.Mesh, own: np.ndarray, triangles: np.ndarray, shape: np.ndarray) -> None:
    """Red at the ends of edges of a shape (V, 3) that are bad beside those of a mesh's own frames (N, V, 3)."""
    torn = edge_excess(edge_lengths(shape[None], triangles), edge_lengths(own, triangles))[0] > BAD
    colours = np.tile(np.array(_PLAIN, np.float32), (len(shape), 1))
    colours[np.unique(unique_edges(triangles)[0][torn])] = _TORN
    data.color_attributes.new("torn", "FLOAT_COLOR", "POINT").data.foreach_set("color", colours.ravel())
    material = bpy.data.materials.new("hide")
    material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Roughness"].default_value = 0.7
    attribute = material.node_tree.nodes.new("ShaderNodeAttribute")
    attribute.attribute_name = "torn"
    material.node_tree.links.new(attribute.outputs["Color"], shader.inputs["Base Color"])
    data.materials.append(material)


def black() -> bpy.types.Material:
    """Of words."""
    material = bpy.data.materials.new("words")
    material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (0.02, 0.02, 0.02, 1.0)
    shader.inputs["Specular IOR Level"].default_value = 0.0
    return material
