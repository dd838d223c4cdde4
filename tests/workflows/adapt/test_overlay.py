"""What Adapt shows in the viewport: read from the drawn arrays, against the rig and the scene as Blender has them."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import StaleBindingError
from bl_ext.devrepo.motion_loom.workflows.adapt import overlay as adapt_overlay
from bl_ext.devrepo.motion_loom.workflows.adapt import run
from bl_ext.devrepo.motion_loom.workflows.adapt.overlay import overlay_of
from bl_ext.devrepo.motion_loom.workflows.environment.model import stored_of

from tests import adapt_scenes as scenes
from tests.adapt_play import bind
from tests.adapt_scenes import raise_step
from tests.instance_scenes import scatter
from tests.objects import key

STANDS = 22  # a frame at which the left foot has come to stand on the step, beside the right one


@pytest.fixture
def rig(bound):
    return bound


def shown(rig, *what, frame=STANDS, subframe=0.0):
    """The overlay with only these switched on, at a frame."""
    for name in ("ghost", "points", "relations", "contacts"):
        setattr(rig.motion_loom_adapt, f"show_{name}", name in what)
    bpy.context.scene.frame_set(frame, subframe=subframe)
    return overlay_of(bpy.context, rig, scenes.workflow())


def ghost_ends(overlay):
    """(B, 2, 3) heads and tails: the corners that four edges of a bone share."""
    edges = overlay.lines.reshape(-1, 12, 2, 3)
    return np.stack((edges[:, 0, 0], edges[:, 4, 0]), axis=1)


def bound_ends(rig, place):
    track = stored_of(rig, scenes.workflow()).binding.track
    lower = int(place)
    upper = min(lower + 1, len(track.positions) - 1)
    at = (1 - place + lower) * track.positions[lower] + (place - lower) * track.positions[upper]
    child = np.flatnonzero(track.skeleton.parents >= 0)
    return np.stack((at[track.skeleton.parents[child]], at[child]), axis=1)


def centres(overlay):
    """(D, 3) of discs of 24 corners."""
    return overlay.triangles.reshape(-1, 24, 3, 3)[:, 0, 0]


def are_held(overlay):
    """(D,) bool: greenish discs."""
    rim = overlay.line_colours.reshape(-1, 24, 2, 4)[:, 0, 0]
    return rim[:, 1] > rim[:, 0]


def test_nothing_is_shown_of_a_rig_that_is_not_bound():
    assert overlay_of(bpy.context, scenes.add_walker(), scenes.workflow()) is None


def test_nothing_is_shown_with_everything_off(rig):
    assert shown(rig) is None


@pytest.mark.parametrize(
    ("frame", "subframe", "place"), [(7, 0.0, 6.0), (7, 0.25, 6.25), (-20, 0.0, 0.0), (90, 0.5, 23.0)]
)
def test_the_ghost_is_the_bound_pose(rig, frame, subframe, place):
    overlay = shown(rig, "ghost", frame=frame, subframe=subframe)
    np.testing.assert_allclose(ghost_ends(overlay), bound_ends(rig, place), atol=1e-5)


def test_the_ghost_stays_and_stands_out_where_the_rig_is_adapted(rig):
    faint = shown(rig, "ghost").line_colours[:, 0, 3].max()
    raise_step()
    run.adapt_rig(bpy.context, rig, scenes.workflow())
    overlay = shown(rig, "ghost")
    np.testing.assert_allclose(ghost_ends(overlay), bound_ends(rig, STANDS - 1.0), atol=1e-5)
    assert overlay.line_colours[:, 0, 3].max() > 2 * faint


def test_descriptors_are_where_their_objects_are_now(rig):
    before = shown(rig, "points")
    on_step = stored_of(rig, scenes.workflow()).binding.points.object_index == 1
    assert len(before.points) == len(on_step) and 0 < on_step.sum() < len(on_step)
    step = bpy.data.objects["Step"]
    step.location = (0.3, -0.2, 0.4)
    step.rotation_euler.z = 0.5
    bpy.context.view_layer.update()
    after = shown(rig, "points")
    world = np.array(step.matrix_world)
    carried = before.points[on_step] @ world[:3, :3].T + world[:3, 3]
    np.testing.assert_allclose(after.points[on_step], carried, atol=1e-5)
    np.testing.assert_array_equal(after.points[~on_step], before.points[~on_step])


def test_the_lightest_descriptors_are_where_the_body_touches(rig):
    overlay = shown(rig, "points")
    lightest = overlay.points[overlay.point_colours[:, :3].sum(axis=1).argmax()]
    soles = scenes.joints_of(rig, [STANDS])[0]
    names = [bone.name for bone in rig.data.bones]
    feet = soles[[names.index(f"{bone}.{side}") for bone in ("ankle", "toe") for side in "LR"]]
    assert np.linalg.norm(feet - lightest, axis=1).min() < 0.15


def test_weights_of_one_row_are_close_to_the_smoothed_ones(rig):
    """Before anything has needed the relations of all frames, and after."""
    binding = stored_of(rig, scenes.workflow()).binding
    assert "relations" not in vars(binding)
    alone = adapt_overlay._weights(binding, 12)
    assert "relations" not in vars(binding)
    smoothed = binding.relations.weights[12 * alone.shape[0] : 13 * alone.shape[0]].toarray()
    np.testing.assert_array_equal(adapt_overlay._weights(binding, 12), smoothed)
    related = alone.sum(axis=1) > 0
    np.testing.assert_allclose(alone.sum(axis=1)[related], 1.0)
    assert np.abs(alone - smoothed)[related].sum(axis=1).mean() < 0.6


def test_relations_go_from_the_active_bone_to_its_descriptors(rig):
    assert shown(rig, "relations") is None  # no bone is active in Object Mode
    raise_step()
    run.adapt_rig(bpy.context, rig, scenes.workflow())
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones.active = rig.data.bones["toe.R"]
    overlay = shown(rig, "relations")
    toe = scenes.joints_of(rig, [STANDS])[0][[bone.name for bone in rig.data.bones].index("toe.R")]
    np.testing.assert_allclose(overlay.lines[:, 0], np.broadcast_to(toe, (len(overlay.lines), 3)), atol=1e-5)
    names = stored_of(rig, scenes.workflow()).binding.track.skeleton.names
    row = adapt_overlay._weights(stored_of(rig, scenes.workflow()).binding, STANDS - 1)[names.index("toe.R")]
    assert len(overlay.lines) == (row > 0).sum() > 3
    at = shown(rig, "points").points
    gap = np.linalg.norm(overlay.lines[:, 1] - at[row > 0], axis=1)
    np.testing.assert_allclose(gap, adapt_overlay._LIFT * stored_of(rig, scenes.workflow()).binding.scale, atol=1e-5)
    bpy.ops.object.mode_set(mode="OBJECT")


def test_contacts_lie_on_the_surfaces_and_are_held(rig):
    overlay = shown(rig, "contacts")
    on_step = np.abs(centres(overlay)[:, 2] - scenes.STEP_HEIGHT) < 0.006
    # The left toe is five centimetres higher above the step than it stands on the floor.
    assert on_step.all() and len(on_step) == 2
    assert are_held(overlay).all()


def test_contacts_are_lost_until_the_rig_is_adapted(rig):
    raise_step()
    lost = shown(rig, "contacts")
    np.testing.assert_allclose(centres(lost)[:, 2], scenes.STEP_HEIGHT + 0.12, atol=0.006)
    assert not are_held(lost).any()
    run.adapt_rig(bpy.context, rig, scenes.workflow())
    held = shown(rig, "contacts")
    np.testing.assert_allclose(centres(held), centres(lost), atol=1e-5)
    assert are_held(held).all()


def test_a_character_of_another_size_holds_its_contacts(rig):
    rig.scale = (0.9, 0.9, 0.9)
    bpy.context.view_layer.update()
    run.adapt_rig(bpy.context, rig, scenes.workflow())
    assert are_held(shown(rig, "contacts")).all()


def test_contacts_are_not_asked_of_objects_to_be_avoided(rig):
    rig.motion_loom_adapt.surfaces["Step"].mode = "AVOID"
    assert not len(shown(rig, "contacts").triangles)
    assert len(shown(rig, "points").points) == len(stored_of(rig, scenes.workflow()).binding.points)


@pytest.mark.parametrize(
    "change",
    [
        lambda rig, step: setattr(rig.motion_loom_adapt.surfaces["Step"], "mode", "IGNORE"),
        lambda rig, step: setattr(step, "hide_viewport", True),
        lambda rig, step: step.modifiers.new("More", "SUBSURF"),
        lambda rig, step: bpy.data.objects.remove(step),
    ],
)
def test_objects_that_are_not_heeded_or_not_as_bound_carry_nothing(rig, change):
    on_floor = (stored_of(rig, scenes.workflow()).binding.points.object_index == 0).sum()
    change(rig, bpy.data.objects["Step"])
    bpy.context.view_layer.update()
    overlay = shown(rig, "points", "contacts", "ghost")
    assert len(overlay.points) == on_floor
    assert not len(shown(rig, "contacts").triangles)


def test_without_any_object_only_the_ghost_is_left(rig):
    for item in rig.motion_loom_adapt.surfaces:
        item.mode = "IGNORE"
    overlay = shown(rig, "points", "contacts", "relations", "ghost")
    assert not len(overlay.points) and len(overlay.lines) == 12 * len(bound_ends(rig, 0))


def test_faces_without_area_carry_nothing(rig):
    bpy.data.objects["Step"].scale.z = 0.0
    bpy.context.view_layer.update()
    points = stored_of(rig, scenes.workflow()).binding.points
    overlay = shown(rig, "points", "contacts")
    assert (points.object_index == 0).sum() < len(overlay.points) < len(points)
    assert np.isfinite(overlay.points).all() and np.isfinite(overlay.triangles).all()


def test_nothing_is_evaluated(rig):
    """While the viewport draws, what has not been evaluated stays as it was."""
    before = shown(rig, "points")
    calls = []
    bpy.app.handlers.depsgraph_update_post.append(lambda *args: calls.append(args))
    try:
        bpy.data.objects["Step"].location.z += 1.0
        np.testing.assert_array_equal(overlay_of(bpy.context, rig, scenes.workflow()).points, before.points)
        assert not calls
    finally:
        bpy.app.handlers.depsgraph_update_post.pop()


def test_a_renamed_bone_is_named(rig):
    shown(rig, "ghost")
    rig.data.bones["toe.L"].name = "Zehe"
    bpy.context.view_layer.update()
    with pytest.raises(StaleBindingError, match="no bone 'toe.L'"):
        overlay_of(bpy.context, rig, scenes.workflow())


def test_moving_objects_carry_their_contacts():
    rig = scenes.add_scene()
    step = bpy.data.objects["Step"]
    key(step, "location", {1: 0.0, 24: 0.4}, index=0)
    bind(rig)
    assert len(stored_of(rig, scenes.workflow()).binding.origins) == len(scenes.FRAMES)
    overlay = shown(rig, "contacts", "points", frame=14)
    assert len(overlay.triangles) and are_held(overlay).all()


def test_descriptors_on_what_is_shown_as_instances():
    """They lie on it, and are not drawn where Blender does not tell it."""
    rig, floor = scenes.add_scene(), bpy.data.objects["Floor"]
    scatter(floor, ((0, 0.95, 0.1),))
    bind(rig, ("Floor",))
    stored = stored_of(rig, scenes.workflow())
    on_stone = stored.binding.points.triangle >= len(stored.triangles[0]) - 12
    assert on_stone.any()
    assert len(shown(rig, "points").points) == len(on_stone)
    floor.hide_set(True)
    bpy.context.view_layer.update()
    overlay = shown(rig, "points")
    assert overlay is None or not len(overlay.points)
