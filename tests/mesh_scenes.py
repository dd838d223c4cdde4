"""Meshes that tests read from the scene, and a slow and plain reading of the same."""

import math

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene import meshes
from bl_ext.devrepo.motion_loom.scene.instances import ShownInstances
from bl_ext.devrepo.motion_loom.scene.surfaces import expand
from bl_ext.devrepo.motion_loom.solvers.core.steps import result_of

from tests.objects import add_grid, evaluate, key
from tests.rig_scenes import add_armature

FRAMES = np.arange(1, 9)


def read(*objects, frames=FRAMES, bound=None):
    return result_of(meshes.sweep_environment(bpy.context, objects, frames, bound))


def read_state(depsgraph, objects, bound=None):
    """Surfaces of objects as a depsgraph evaluated them."""
    objects = expand(objects)
    shown = ShownInstances(depsgraph, objects)
    found = [meshes.read_surface(ob, depsgraph, (bound or {}).get(ob.name_full), shown) for ob in objects]
    return [meshes.mesh_track(state, triangles, state.matrix[None]).state(0) for state, triangles in found]


def live(*objects, bound=None):
    return read_state(evaluate(), objects, bound)


def key_location(ob, start=(0, 0, 0), end=(7, 0, 0)):
    key(ob, "location", {1: start, 8: end})
    bpy.context.scene.frame_set(1)


def add_rig():
    """One bone from the origin 1 m up."""
    return add_armature("Rig", [{"name": "Bone", "head": (0, 0, 0), "tail": (0, 0, 1)}])


def add_sea(size, name="Sea"):
    """A grid that waves over time."""
    sea = add_grid(name, *np.broadcast_to(size, 2).tolist())
    sea.modifiers.new("Wave", "WAVE")
    return sea


def shape_key(ob, offset=(0, 0, 1)):
    """A shape key that moves the object's points."""
    ob.shape_key_add(name="Basis")
    moved = ob.shape_key_add(name="Moved")
    basis = [point.co for point in moved.data]
    moved.data.foreach_set("co", (np.array(basis, np.float32) + np.float32(offset)).ravel())
    return moved


def reference(ob, frame):
    """World vertices (V, 3), one at a time."""
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
    evaluated = ob.evaluated_get(evaluate())
    mesh = evaluated.to_mesh()
    vertices = np.array([evaluated.matrix_world @ vertex.co for vertex in mesh.vertices])
    evaluated.to_mesh_clear()
    return vertices


def volume(mesh, row=-1):
    """Positive where the normals of a closed mesh point out."""
    vertices = mesh.vertices[row] if mesh.vertices.ndim == 3 else mesh.vertices
    a, b, c = np.moveaxis(vertices[mesh.triangles], 1, 0)
    return np.einsum("ij,ij->", a, np.cross(b, c)) / 6


def assert_follows(ob, frames=FRAMES, states=None):
    (track,) = read(ob, frames=frames)
    assert len(track.vertices) == (len(frames) if states is None else states)
    assert track.vertices.dtype == float
    for index, frame in enumerate(frames):
        assert np.allclose(track.state(index).vertices, reference(ob, frame), atol=2e-6), frame
    return track
