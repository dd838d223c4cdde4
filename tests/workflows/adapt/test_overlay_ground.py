"""What Adapt shows in the viewport on an object that takes the place of a bound one."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.adapt import run
from bl_ext.devrepo.motion_loom.workflows.adapt.overlay import overlay_of
from bl_ext.devrepo.motion_loom.workflows.environment.replaced import replace_objects

from tests import adapt_scenes as scenes

STANDS, LIFT = 22, 0.12  # a frame at which both feet stand on the step


@pytest.fixture
def rig(bound):
    return bound


def shown(rig, what, frame=STANDS):
    for name in ("ghost", "points", "relations", "contacts"):
        setattr(rig.motion_loom_adapt, f"show_{name}", name == what)
    bpy.context.scene.frame_set(frame)
    return overlay_of(bpy.context, rig, scenes.workflow())


def centres(overlay):
    """(D, 3) of discs of 24 corners."""
    return overlay.triangles.reshape(-1, 24, 3, 3)[:, 0, 0]


def are_held(overlay):
    """(D,) bool: greenish discs."""
    rim = overlay.line_colours.reshape(-1, 24, 2, 4)[:, 0, 0]
    return rim[:, 1] > rim[:, 0]


def replaced(rig, name, lift=0.0, halves=False):
    """By a copy of another topology, or by two that are its halves."""
    item = next(item for item in rig.motion_loom_adapt.surfaces if item.bound_name == name)
    old = bpy.data.objects[name]
    faces = [tuple(face.vertices) for face in reversed(old.data.polygons)]
    parts = [faces[: len(faces) // 2], faces[len(faces) // 2 :]] if halves else [faces]
    corners, out = [tuple(vertex.co) for vertex in old.data.vertices], []
    for part in parts:
        out.append(scenes.add_mesh(f"New {name}", corners, part))
        out[-1].matrix_world = old.matrix_world
        out[-1].location.z += lift
    bpy.context.view_layer.update()
    replace_objects(rig, item, out)
    return out


def sorted_rows(points):
    return points[np.lexsort(np.round(points.T, 4))]


@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("what", ["points", "contacts"])
def test_a_copy_shows_what_the_object_did(rig, what, halves):
    """Nothing was drawn on it."""
    before = shown(rig, what)
    replaced(rig, "Step", halves=halves)
    after = shown(rig, what)
    if what == "points":
        np.testing.assert_allclose(sorted_rows(after.points), sorted_rows(before.points), atol=1e-4)
    else:
        assert are_held(after).all()
        np.testing.assert_allclose(sorted_rows(centres(after)), sorted_rows(centres(before)), atol=1e-4)


def test_contacts_are_lost_until_the_motion_follows(rig):
    before = centres(shown(rig, "contacts"))
    replaced(rig, "Step", LIFT)
    overlay = shown(rig, "contacts")
    assert not are_held(overlay).any()
    np.testing.assert_allclose(sorted_rows(centres(overlay)), sorted_rows(before + [0.0, 0.0, LIFT]), atol=1e-4)
    run.adapt_rig(bpy.context, rig, scenes.workflow())
    overlay = shown(rig, "contacts")
    assert len(centres(overlay)) == len(before) and are_held(overlay).all()


def test_it_is_shown_where_it_is_now(rig):
    (ground,) = replaced(rig, "Step")
    before = centres(shown(rig, "contacts"))
    ground.location.z += LIFT
    bpy.context.view_layer.update()
    assert np.abs(centres(shown(rig, "contacts"))[:, 2].mean() - before[:, 2].mean() - LIFT) < 1e-4


def test_without_ground_nothing_is_shown(rig):
    """Nor where what replaces is hidden or was deleted, which solving names."""
    (ground,) = replaced(rig, "Step")
    ground.location.x += 30.0
    bpy.context.view_layer.update()
    for change in ("away", "hidden", "gone"):
        if change == "hidden":
            ground.hide_viewport = True
        if change == "gone":
            bpy.data.objects.remove(ground)
        bpy.context.view_layer.update()
        overlay = shown(rig, "contacts")
        assert overlay is None or not len(overlay.triangles)
