"""Objects that take the place of a bound one: a ground under a walk that was made on another."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import actions, strips
from bl_ext.devrepo.motion_loom.solvers.adapt.options import SurfaceUse
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError
from bl_ext.devrepo.motion_loom.workflows.environment.replaced import (
    ground_as_json,
    ground_notes,
    ground_report,
    replace_objects,
)

from tests import adapt_scenes as scenes
from tests.adapt_ground import TREAD, bound_march, stairs
from tests.adapt_play import brought, live_is_bake, press, refused, reopen, save, settle, status
from tests.objects import key

LIFT = 0.2


@pytest.fixture
def rig(bound):
    return bound


def entry(rig, name="Floor"):
    return next(item for item in rig.motion_loom_adapt.surfaces if item.bound_name == name)


def copy_of(name="Floor", lift=0.0):
    """A copy whose faces are in another order, so that its topology is another one."""
    old = bpy.data.objects[name]
    faces = [tuple(face.vertices) for face in reversed(old.data.polygons)]
    ob = scenes.add_mesh(f"New {name}", [tuple(vertex.co) for vertex in old.data.vertices], faces)
    ob.location.z = lift
    bpy.context.view_layer.update()
    return ob


def ramp(name="Ramp", y=(-2.0, 3.0), slope=0.15):
    """Two quads that rise along the walk."""
    corners = [(x, at_y, slope * at_y) for at_y in (y[0], sum(y) / 2, y[1]) for x in (-2.0, 2.0)]
    ob = scenes.add_mesh(name, corners, [(0, 1, 3, 2), (2, 3, 5, 4)])
    bpy.context.view_layer.update()
    return ob


def baked(rig):
    press(rig, "bake")
    return scenes.joints_of(rig)


def test_a_copy_changes_nothing(rig):
    before = scenes.joints_of(rig)
    replace_objects(rig, entry(rig), [copy_of()])
    assert np.abs(baked(rig) - before).max() < 1e-5


@pytest.mark.parametrize("along", ["GRAVITY", "CLOSEST"])
def test_a_copy_that_is_lifted_is_as_if_the_object_were(rig, along):
    scenes.raise_step(LIFT)
    floor = bpy.data.objects["Floor"]
    floor.location.z += LIFT
    lifted = baked(rig)
    floor.location.z -= LIFT
    replace_objects(rig, entry(rig), [copy_of(lift=LIFT)], along)
    assert np.abs(baked(rig) - lifted).max() < 1e-4


def test_live_is_bake_is_the_command(rig, tmp_path, capsys):
    replace_objects(rig, entry(rig), [ramp()])
    press(rig)
    assert status(rig).problem is None
    live_is_bake(rig)
    solved = scenes.joints_of(rig)
    entry(rig).replacements.clear()
    save(tmp_path / "ramp.blend")
    assert jobs.main(["adapt", "--rig", "Rig", "--replace", "Floor=Ramp", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    (replaced,) = found["replaced"]
    assert replaced.pop("points") > 10 and replaced.pop("stances")["over_edge"] == []
    none = {"without_ground": 0, "bones": [], "frames": [], "fast_swings": []}
    assert replaced == {"object": "Floor", "by": ["Ramp"], "along": "GRAVITY"} | none
    assert np.abs(scenes.joints_of(bpy.data.objects["Rig"]) - solved).max() < 1e-6


def test_live_follows_what_replaces(rig):
    """Dragged, deformed and deleted; the replaced one may be hidden or go."""
    ground = ramp()
    replace_objects(rig, entry(rig), [ground])
    press(rig)
    first = scenes.joints_of(rig)
    ground.location.z += LIFT
    settle()
    assert status(rig).problem is None and scenes.joints_of(rig)[:, 0, 2].mean() > first[:, 0, 2].mean() + 0.5 * LIFT
    ground.location.z -= LIFT
    settle()
    assert np.abs(scenes.joints_of(rig) - first).max() < 1e-4
    bpy.data.objects["Floor"].hide_viewport = True
    settle()
    assert status(rig).problem is None and np.abs(scenes.joints_of(rig) - first).max() < 1e-4
    bpy.data.objects.remove(bpy.data.objects["Floor"])
    settle()
    assert status(rig).problem is None
    ground.hide_viewport = True
    settle()
    assert "'Ramp'" in status(rig).problem
    ground.hide_viewport = False
    settle()
    assert status(rig).problem is None
    bpy.data.objects.remove(ground)
    settle()
    assert "'Ramp', which replaces 'Floor'" in status(rig).problem


def test_another_shape_of_other_size_is_followed(rig):
    ground = ramp()
    replace_objects(rig, entry(rig), [ground])
    press(rig)
    first = scenes.joints_of(rig)
    ground.modifiers.new("More", "SUBSURF").subdivision_type = "SIMPLE"
    settle()
    assert status(rig).problem is None and np.abs(scenes.joints_of(rig) - first).max() < 1e-3


def test_a_ground_that_moves_carries(rig):
    ground = copy_of()
    key(ground, "location", {0: (0, 0, 0), 40: (0, 0, 0.4)})
    replace_objects(rig, entry(rig), [ground])
    before = scenes.joints_of(rig)
    press(rig)
    assert status(rig).problem is None
    live_is_bake(rig)
    assert (scenes.joints_of(rig) - before)[-1, :, 2].mean() > 0.1


def test_points_without_ground_are_named(rig):
    replace_objects(rig, entry(rig), [ramp("Short", y=(-2.0, 0.0), slope=0.0)])
    press(rig)
    assert "'Short' has no ground for" in status(rig).note


def test_a_block_that_is_inside_out_is_named(rig):
    scenes.add_box("Block", (-2.0, -2.0, -0.5), (2.0, 3.0, 0.0))
    block = bpy.data.objects["Block"]
    block.data.flip_normals()
    bpy.context.view_layer.update()
    replace_objects(rig, entry(rig), [block])
    press(rig)
    assert "'Block' is inside out" in status(rig).note
    block.data.flip_normals()
    settle()
    assert "inside out" not in (status(rig).note or "")


@pytest.mark.parametrize("rise", [0.17, -0.17, 0.0])
def test_steps_that_are_too_high_for_their_time_are_named(rise):
    binding, environment = bound_march(stride=2 * TREAD, steps=6), [stairs(rise)]
    uses = (SurfaceUse(replaced="GRAVITY"),)
    found = ground_report(binding, environment, uses)
    notes, (replaced,) = ground_notes(binding, environment, found), ground_as_json(binding, environment, uses, found)
    fast = replaced["fast_swings"]
    if not rise:
        assert not notes and not fast
        return
    way = "up" if rise > 0 else "down"
    (note,) = (note for note in notes if "too fast" in note)
    assert note.startswith(f"Feet go {way} 'Stairs' too fast for a walk: '{fast[0]['bone']}' by 68 cm at frames")
    assert f"and {len(fast) - 1} swing" in note and note.endswith("slow the motion down, or make steps lower or longer")
    assert fast[0]["m_s"] > 1.2 and fast[0]["rise_cm"] == pytest.approx(400.0 * rise, abs=0.1)


def test_the_report_names_what_takes_the_place(rig, tmp_path, capsys):
    """The replaced one may be hidden, or gone."""
    replace_objects(rig, entry(rig), [ramp("Short", y=(-2.0, 0.0), slope=0.0)])
    save(tmp_path / "short.blend")
    assert jobs.main(["adapt", "--rig", "Rig", "--json"]) == 0
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    named = {each["object"] for each in (*found["measures"]["given_up"], *found["measures"]["deeper"])}
    assert "Short" in named and "Floor" not in named
    assert not any("on 'Floor'" in note or "with 'Floor'" in note for note in found["notes"])


@pytest.mark.parametrize(("lift", "words"), [(1.6, "1.6 m above"), (-1.6, "1.6 m below")])
def test_a_ground_far_away_is_told(rig, lift, words):
    replace_objects(rig, entry(rig), [copy_of(lift=lift)])
    press(rig)
    assert f"'New Floor' lies {words} 'Floor'" in status(rig).note


def test_saved_and_opened_again(rig, tmp_path):
    replace_objects(rig, entry(rig), [ramp(), copy_of()], "CLOSEST")
    press(rig, "fit")
    rig = reopen(tmp_path / "again.blend")
    item = entry(rig)
    assert [each.target.name for each in item.replacements] == ["Ramp", "New Floor"] and item.along == "CLOSEST"


def test_undo_takes_it_back(rig):
    ramp()
    bpy.ops.ed.undo_push(message="before")
    for ob in bpy.data.objects:
        ob.select_set(ob.name in ("Rig", "Ramp"))
    bpy.context.view_layer.objects.active = rig
    rig.motion_loom_adapt.active_surface = 0
    assert bpy.ops.motion_loom.adapt_replace_by_objects() == {"FINISHED"}
    assert len(bpy.data.objects["Rig"].motion_loom_adapt.surfaces[0].replacements) == 1
    assert bpy.ops.motion_loom.adapt_hide_replaced() == {"FINISHED"}
    assert bpy.data.objects["Floor"].hide_render


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Floor", "by itself"),
        ("Step", "in the list"),
        ("Rig", "own environment"),
        ("Camera", "no surface"),
        ("Child", "moves it"),
    ],
)
def test_what_cannot_replace_is_refused(rig, name, words):
    bpy.context.scene.collection.objects.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    copy_of().name = "Child"
    bpy.data.objects["Child"].parent = rig
    bpy.context.view_layer.update()
    with pytest.raises(SceneError, match=words):
        replace_objects(rig, entry(rig), [bpy.data.objects[name]])
    assert not entry(rig).replacements


def test_a_ground_elsewhere_or_without_faces_is_named(rig):
    ground = ramp()
    replace_objects(rig, entry(rig), [ground])
    ground.location.x += 50.0
    assert "'Ramp'" in refused(rig, "bake")
    ground.location.x -= 50.0
    ground.data.clear_geometry()
    assert "'Ramp' has no faces" in refused(rig, "bake")


def test_a_result_with_lowered_hips_says_so_when_it_is_bound(rig):
    """Brought back to its first ground it stays low: nothing in it says how straight its knees were."""
    replace_objects(rig, entry(rig), [ramp(slope=0.5)])
    source = rig.motion_loom_adapt.source.name
    press(rig, "bake")
    press(rig, "fit")
    notes = rig.motion_loom_adapt.notes
    assert "the hips went down by up to" in notes and f"bind '{source}'" in notes
    # Adapted once more it is still of that source, and stays low.
    entry(rig).replacements.clear()
    press(rig, "bake")
    press(rig, "fit")
    assert f"bind '{source}'" in rig.motion_loom_adapt.notes


@pytest.mark.parametrize("way", ["strip", "copy", "bake"])
def test_copies_of_a_result_with_lowered_hips_say_so_too(rig, way):
    """What somebody makes of it by hand: a strip, another name, the keys of Bake Action. They were silent."""
    replace_objects(rig, entry(rig), [ramp(slope=0.5)])
    source = rig.motion_loom_adapt.source.name
    press(rig, "bake")
    action, slot = actions.assigned(rig)
    if way == "strip":
        strips.push(rig, action, slot, *actions.frame_range(action, slot))
        rig.animation_data.action = None
    elif way == "copy":
        rig.animation_data.action = action.copy()
    else:
        rig.motion_loom_bake.assign = True
        assert bpy.ops.motion_loom.bake(workflow="bake") == {"FINISHED"}
        assert rig.animation_data.action != action
    press(rig, "fit")
    assert f"bind '{source}'" in rig.motion_loom_adapt.notes


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("link", [False, True])
def test_what_replaces_comes_along_with_the_rig(rig, tmp_path, link, count):
    """Appended, and linked with an override: baked, and live at frames that are shown in any order."""
    ends = np.linspace(-2.0, 3.0, count + 1)
    grounds = [ramp(f"Ramp {n}", (ends[n], ends[n + 1])) for n in range(count)]
    names = [ground.name for ground in grounds]
    replace_objects(rig, entry(rig), grounds)
    expected = baked(rig)
    path = save(tmp_path / "from.blend")
    brought(path, "Rig", *names, "Floor", "Step", link=link)
    again = next(ob for ob in bpy.context.scene.objects if ob.name == "Rig")
    if link:
        again = again.override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    assert [each.target.name for each in entry(again).replacements] == names
    press(again, "bake")
    assert np.abs(scenes.joints_of(again) - expected).max() < 1e-6
    press(again)
    assert status(again).problem is None
    for frame in (20, 3, 11):
        bpy.context.scene.frame_set(frame)
        settle()
    assert np.abs(scenes.joints_of(again) - expected).max() < 1e-5


def test_bind_again_while_the_replaced_one_is_hidden_names_it(rig):
    """It counts as the original, and Blender does not evaluate what is hidden."""
    replace_objects(rig, entry(rig), [ramp()])
    bpy.data.objects["Floor"].hide_viewport = True
    bpy.context.view_layer.update()
    assert "'Floor'" in refused(rig, "fit")
    press(rig, "bake")
    bpy.data.objects["Floor"].hide_viewport = False
    bpy.context.view_layer.update()
    press(rig, "update_binding")
    assert [each.target.name for each in entry(rig).replacements] == ["Ramp"]


def test_one_object_may_replace_several(rig):
    ground = ramp(slope=0.05)
    for name in ("Floor", "Step"):
        replace_objects(rig, entry(rig, name), [ground])
    press(rig)
    assert status(rig).problem is None
    live_is_bake(rig)
