"""The feet of bodies that walk, for tests of the solvers."""

from solvers.shapes.feet_motion import FeetMotion, FootPoints
from solvers.shapes.mesh_feet import find_feet


def feet_motion(vertices, times, places, feet, ground=None):
    return FeetMotion(feet, times, vertices[:, feet.vertices], places, ground)


def feet_of(vertices, triangles, ground=0.0):
    return FootPoints(find_feet(vertices, triangles, ground))
