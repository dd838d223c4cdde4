"""Adapt on every state a rig or an environment can be in."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import actions
from mathutils import Matrix

from tests import adapt_scenes as scenes
from tests.rig_scenes import add_strip, fingerprint
from tests.workflows.adapt.test_workflow import adapt, bind, bones_of, played, raise_step, run


@pytest.fixture
def rig():
    return scenes.add_scene()


def moved(rig, capsys, *words):
    """Bind, raise the step, adapt: (report, joints before, joints after), each (F, B, 3)."""
    before = played(rig, bones_of(rig))
    run(capsys, "bind", "--rig", rig.name, "--environment", "Floor", "Step")
    raise_step()
    report = run(capsys, "adapt", "--rig", rig.name, *words)
    return report, before, played(rig, bones_of(rig))


def assert_foot_followed(rig, before, after, height=0.12):
    bone = bones_of(rig).index("ankle.R")
    np.testing.assert_allclose((after - before)[-6:, bone], np.tile([0, 0, height], (6, 1)), atol=0.015)


def by_hand(rig, matrix):
    """Put the rig's object elsewhere while its bones stay where they are in the world, as importers leave it."""
    inverse = np.linalg.inv(matrix)
    rig.matrix_world = bpy_matrix(inverse)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.transform_apply()
    action, slot = actions.assigned(rig)
    scale = np.cbrt(np.linalg.det(inverse[:3, :3]))
    for curve in actions.all_curves(action, slot):
        if curve.data_path.endswith(".location"):
            for key in curve.keyframe_points:
                key.co.y *= scale
            curve.update()
    rig.matrix_world = bpy_matrix(matrix)
    bpy.context.view_layer.update()


def bpy_matrix(matrix):
    return Matrix(np.asarray(matrix).tolist())


FBX = np.array([[0.01, 0, 0, 0], [0, 0, -0.01, 0], [0, 0.01, 0, 0], [0, 0, 0, 1]])


def test_an_object_scaled_and_turned_like_imported_ones(rig, capsys):
    before = played(rig, bones_of(rig))
    by_hand(rig, FBX)
    np.testing.assert_allclose(played(rig, bones_of(rig)), before, atol=1e-5)
    report, before, after = moved(rig, capsys)
    assert report["measures"]["contacts_kept_pct"] > 95 and report["write_error_mm"] < 0.1
    assert_foot_followed(rig, before, after)


def test_a_rig_under_a_scaled_empty(rig, capsys):
    by_hand(rig, FBX)
    holder = bpy.data.objects.new("Holder", None)
    bpy.context.scene.collection.objects.link(holder)
    rig.parent, holder.scale = holder, (0.01, 0.01, 0.01)
    rig.scale = (1, 1, 1)  # times the empty's
    bpy.context.view_layer.update()
    report, before, after = moved(rig, capsys)
    assert_foot_followed(rig, before, after)


def test_object_level_keys_travel_along(rig, capsys):
    """The object walks, and the result keeps its keys."""
    for frame, y in ((1, 0.0), (24, 0.3)):
        rig.location.y = y
        rig.keyframe_insert("location", frame=frame)
    report, before, after = moved(rig, capsys)
    assert report["measures"]["contacts_kept_pct"] >= 95
    paths = {c.data_path for c in actions.all_curves(*actions.assigned(rig))}
    assert "location" in paths
    assert np.abs(after - before).max() > 0.05


def test_odd_bone_names(rig, capsys):
    names = {"thigh.R": 'Ober"schenkel"', "ankle.R": "pied/droit.001", "toe.R": "つま先\\", "spine": "x" * 63}
    for old, new in names.items():
        rig.data.bones[old].name = new
    before = played(rig, bones_of(rig))
    bind(capsys)
    raise_step()
    report = adapt(capsys, "--hold", "pied/droit.001=2", 'Ober"schenkel"=1')
    after = played(rig, bones_of(rig))
    bone = bones_of(rig).index("pied/droit.001")
    assert abs((after - before)[-1, bone, 2] - 0.12) < 0.015
    assert set(names.values()) <= set(report["changed_bones"])


def test_bones_of_hardly_any_length(rig, capsys):
    """Blender deletes bones of no length; the shortest that stay must do no harm."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, parent in (("stub", "wrist.L"), ("inner", "spine")):
        bone = rig.data.edit_bones.new(name)
        bone.head = rig.data.edit_bones[parent].head
        bone.tail = bone.head + rig.data.edit_bones[parent].vector * 1e-5
        bone.parent = rig.data.edit_bones[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    assert_foot_followed(rig, *moved(rig, capsys)[1:])


def test_two_rigs_of_one_action(rig, capsys):
    twin = rig.copy()
    twin.name = "Twin"
    bpy.context.scene.collection.objects.link(twin)
    twin.location.x = 0.5
    source = rig.animation_data.action
    keys = fingerprint(source)
    before = played(twin, bones_of(twin))
    _, old, new = moved(rig, capsys)
    assert_foot_followed(rig, old, new)
    assert twin.animation_data.action == source and fingerprint(source) == keys
    np.testing.assert_allclose(played(twin, bones_of(twin)), before, atol=1e-6)


def test_a_duplicate_shares_the_binding_until_it_is_bound_itself(rig, capsys):
    bind(capsys)
    twin = rig.copy()
    twin.name = "Twin"
    bpy.context.scene.collection.objects.link(twin)
    shared = rig.motion_loom_adapt.binding
    assert twin.motion_loom_adapt.binding == shared
    raise_step()
    run(capsys, "adapt", "--rig", "Twin")
    once = played(twin, bones_of(twin))
    raise_step(-0.12)
    twin.motion_loom_adapt.result = None
    run(capsys, "bind", "--rig", "Twin", "--environment", "Floor")
    assert rig.motion_loom_adapt.binding == shared and twin.motion_loom_adapt.binding != shared
    raise_step()
    run(capsys, "adapt", "--rig", "Rig")
    np.testing.assert_allclose(played(rig, bones_of(rig)), once, atol=1e-5)
    run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Step")
    assert sum(mesh.name.startswith(".motion_loom") for mesh in bpy.data.meshes) == 2


def test_append_brings_the_binding(rig, capsys, tmp_path):
    before = played(rig, bones_of(rig))
    bind(capsys)
    path = str(tmp_path / "bound.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=False) as (_, there):
        there.objects = ["Rig"]
    rig = there.objects[0]
    for name in ("Rig", "Floor", "Step"):
        bpy.context.scene.collection.objects.link(bpy.data.objects[name])
    bpy.context.scene.render.fps = 24
    bpy.context.view_layer.update()
    raise_step()
    adapt(capsys)
    assert_foot_followed(rig, before, played(rig, bones_of(rig)))


@pytest.fixture
def override(rig, capsys, tmp_path):
    """override(bound): a library override of the rig, from a file in which it is bound or not."""

    def make(bound):
        if bound:
            bind(capsys)
        path = str(tmp_path / "library.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.read_homefile(use_empty=True)
        with bpy.data.libraries.load(path, link=True) as (_, there):
            there.objects = ["Rig", "Floor", "Step"]
        for ob in there.objects:
            bpy.context.scene.collection.objects.link(ob)
        bpy.data.objects["Rig"].override_create(remap_local_usages=True)
        bpy.data.objects["Step"].make_local()
        bpy.context.scene.render.fps = 24
        bpy.context.view_layer.update()
        return _override_in_scene()

    return make


def _override_in_scene():
    return next(ob for ob in bpy.context.scene.objects if ob.name == "Rig" and ob.library is None)


def test_a_library_override_is_bound_and_adapted(override, capsys, tmp_path):
    rig = override(bound=False)
    _, before, after = moved(rig, capsys)
    assert_foot_followed(rig, before, after)
    raise_step(-0.12)
    for name in ("shot.blend", "again.blend"):  # what has been opened must be saved again as well
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / name))
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / name))
    rig = _override_in_scene()
    raise_step()
    run(capsys, "adapt", "--rig", "Rig")
    np.testing.assert_allclose(played(rig, bones_of(rig)), after, atol=1e-5)


def test_an_override_of_a_bound_rig_is_adapted_and_bound_anew(override, capsys):
    """The list that comes from the library cannot lose its entries."""
    rig = override(bound=True)
    before = played(rig, bones_of(rig))
    bound = bpy.context.scene.objects["Step"]
    for item in rig.motion_loom_adapt.surfaces:
        if item.bound_name == "Step":
            item.target = bound
    raise_step()
    run(capsys, "adapt", "--rig", "Rig")
    assert_foot_followed(rig, before, played(rig, bones_of(rig)))
    raise_step(-0.12)
    rig.motion_loom_adapt.result = None
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motion_loom.adapt_play_source.poll()
    rig.animation_data.action = bpy.data.actions["Rig clip"]
    if actions.HAS_SLOTS:
        rig.animation_data.action_slot = rig.animation_data.action.slots[0]
    run(capsys, "bind", "--rig", "Rig", "--environment", "Step")
    raise_step()
    run(capsys, "adapt", "--rig", "Rig")
    assert_foot_followed(rig, before, played(rig, bones_of(rig)))


def test_a_rig_moved_by_strips_alone(rig, capsys):
    action, slot = actions.assigned(rig)
    add_strip(rig, action, slot, 1)
    rig.animation_data.action = None
    report, before, after = moved(rig, capsys)
    assert report["source"] == "Rig"
    assert_foot_followed(rig, before, after)
    once = after
    run(capsys, "adapt", "--rig", "Rig")
    np.testing.assert_allclose(played(rig, bones_of(rig)), once, atol=1e-4)


def test_other_frame_rates_and_time_remapping(rig, capsys):
    scene = bpy.context.scene
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    frames = np.arange(2, 49)
    order = bones_of(rig)
    before = scenes.joints_of(rig, frames)
    report = bind(capsys)
    assert "frames 2 to 48" in report["bound"]
    adapt(capsys)
    np.testing.assert_allclose(scenes.joints_of(rig, frames), before, atol=1e-4)
    raise_step()
    adapt(capsys)
    after = scenes.joints_of(rig, frames)
    assert abs((after - before)[-1, order.index("ankle.R"), 2] - 0.12) < 0.015


def test_a_single_frame(rig, capsys):
    before = played(rig, bones_of(rig), [24])
    bind(capsys, "--start", "24", "--end", "24")
    raise_step()
    report = adapt(capsys)
    after = played(rig, bones_of(rig), [24])
    assert report["frames"] == 1
    bone = bones_of(rig).index("ankle.R")
    assert abs((after - before)[0, bone, 2] - 0.12) < 0.02


def test_keys_between_frames(rig, capsys):
    for curve in actions.all_curves(*actions.assigned(rig)):
        for key in curve.keyframe_points:
            key.co.x += 0.37
        curve.update()
    report, before, after = moved(rig, capsys)
    assert report["frames"] == 23  # frames 2 to 24: whole ones within the keys
    assert_foot_followed(rig, before, after)


# ------------------------------------------------------------------------------------------- constraints


def add_leg_ik(rig):
    """An IK target, keyed, that holds the right ankle of a leg without keys."""
    before = played(rig, ["ankle.R"])[:, 0]
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    for frame, place in zip(scenes.FRAMES, before, strict=True):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    ik = rig.pose.bones["knee.R"].constraints.new("IK")
    ik.target, ik.chain_count = target, 2
    bpy.context.view_layer.update()
    return ik


def test_ik_does_not_pull_the_result_back(rig, capsys):
    ik = add_leg_ik(rig)
    source = rig.animation_data.action
    report, before, after = moved(rig, capsys)
    assert report["silenced_constraints"] == ["knee.R: IK"]
    assert_foot_followed(rig, before, after)
    # Adapted again the IK must act while the source is read.
    assert jobs.main(["adapt", "--rig", "Rig"]) == 0
    assert "constraints that would override it are switched off in it (knee.R: IK)" in capsys.readouterr().out
    np.testing.assert_allclose(played(rig, bones_of(rig)), after, atol=1e-4)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.motion_loom.adapt_play_source()
    assert rig.animation_data.action == source and ik.influence == 1.0
    np.testing.assert_allclose(played(rig, bones_of(rig)), before, atol=1e-5)


def test_a_result_that_is_not_assigned_carries_its_switches(rig, capsys):
    ik = add_leg_ik(rig)
    report, before, after = moved(rig, capsys, "--no-assign")
    np.testing.assert_allclose(after, before, atol=1e-6)
    assert ik.influence == 1.0 and not ik.mute
    action = bpy.data.actions[report["action"]]
    actions.assign(rig, action, action.slots[0] if actions.HAS_SLOTS else None)
    assert_foot_followed(rig, before, played(rig, bones_of(rig)))


def test_rotation_limits_go_on_working(rig, capsys):
    limit = rig.pose.bones["knee.R"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space, limit.min_x, limit.max_x = True, "LOCAL", -3.0, 3.0
    report, before, after = moved(rig, capsys)
    assert report["silenced_constraints"] == []
    assert_foot_followed(rig, before, after)
    settings = rig.motion_loom_adapt
    settings.limits = False
    assert run(capsys, "adapt", "--rig", "Rig")["silenced_constraints"] == ["knee.R: Limit Rotation"]


# ------------------------------------------------------------------------------------------- environment


def platform_joints(rig, capsys):
    """Nothing changed: a bound moving environment must give the source again; then it is lifted as a whole."""
    before = played(rig, bones_of(rig))
    bind(capsys)
    adapt(capsys)
    np.testing.assert_allclose(played(rig, bones_of(rig)), before, atol=1e-4)
    return before


def test_a_keyed_platform(rig, capsys):
    step = bpy.data.objects["Step"]
    for frame, z in ((1, -0.1), (12, 0.0)):
        step.location.z = z
        step.keyframe_insert("location", frame=frame)
    before = platform_joints(rig, capsys)
    for curve in actions.all_curves(*actions.assigned(step)):
        if curve.array_index == 2:
            for key in curve.keyframe_points:
                key.co.y += 0.12
            curve.update()
    adapt(capsys)
    assert_foot_followed(rig, before, played(rig, bones_of(rig)))


def test_keyed_shape_keys(rig, capsys):
    step = bpy.data.objects["Step"]
    step.shape_key_add(name="Basis")
    key = step.shape_key_add(name="High")
    for point in key.data:
        point.co.z += 0.12
    key.value = 0.0
    before = platform_joints(rig, capsys)
    for frame, value in ((1, 0.0), (10, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    adapt(capsys)
    assert_foot_followed(rig, before, played(rig, bones_of(rig)))


def test_a_platform_that_another_rig_deforms(rig, capsys):
    from tests.rig_scenes import add_chain

    lift = add_chain(("lift",), name="Lift")
    step = bpy.data.objects["Step"]
    group = step.vertex_groups.new(name="lift")
    group.add(range(len(step.data.vertices)), 1.0, "REPLACE")
    step.modifiers.new("Armature", "ARMATURE").object = lift
    before = platform_joints(rig, capsys)
    lift.pose.bones["lift"].location.y = 0.12
    bpy.context.view_layer.update()
    up = np.array(lift.pose.bones["lift"].matrix)[:3, 1]
    adapt(capsys)
    after = played(rig, bones_of(rig))
    bone = bones_of(rig).index("ankle.R")
    np.testing.assert_allclose((after - before)[-1, bone], 0.12 * up, atol=0.02)


def test_holes_slivers_and_loose_parts(rig, capsys):
    """Not closed, an edge of three faces, a face without area, loose vertices: all in the surface stood on."""
    vertices = [(-0.6, 0.3, 0.15), (0.6, 0.3, 0.15), (0.6, 1.6, 0.15), (-0.6, 1.6, 0.15), (0.6, 1.6, -0.5), (0, 5, 5)]
    vertices += [(0, 0.9, 0.15), (0.1, 0.9, 0.15), (0.2, 0.9, 0.15)]
    step = bpy.data.objects["Step"]
    step.data.clear_geometry()
    step.data.from_pydata(vertices, [(4, 5)], [(0, 1, 2, 3), (2, 3, 4), (3, 2, 4), (6, 7, 8), (2, 3, 3 - 2)])
    bpy.context.view_layer.update()
    _, before, after = moved(rig, capsys)
    assert_foot_followed(rig, before, after)


def test_a_mirrored_environment(rig, capsys):
    step = bpy.data.objects["Step"]
    step.scale.x = -1
    bpy.context.view_layer.update()
    assert_foot_followed(rig, *moved(rig, capsys)[1:])


def test_a_rig_with_a_skin(rig, capsys):
    """Bones without skin are controls: here the crown rides along and the rest is solved."""
    skin = scenes.add_box("Skin", (-0.2, -0.1, 0), (0.2, 0.1, 1.7))
    skin.parent = rig
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    for name in bones_of(rig):
        if name != "toe.L":
            skin.vertex_groups.new(name=name)
    for number, group in enumerate(skin.vertex_groups):
        group.add([number % 8], 0.5 + 0.01 * number, "REPLACE")
    _, before, after = moved(rig, capsys)
    assert np.isfinite(after).all() and np.abs(after - before).max() > 0.02


@pytest.mark.parametrize("bones", [("toe.R",), ("wrist.L", "head")])
def test_props_on_a_rig_without_skin_ride(rig, capsys, bones):
    """A shoe, a sword and a hat are not the body: all bones are solved, and the tails of its five ends."""
    for bone in bones:
        prop = scenes.add_box(f"Prop {bone}", (-0.03, -0.1, -0.03), (0.03, 0.1, 0.03))
        prop.parent, prop.parent_type, prop.parent_bone = rig, "BONE", bone
    report, before, after = moved(rig, capsys)
    assert report["joints"] == len(bones_of(rig)) + 5
    assert_foot_followed(rig, before, after)


def test_without_contacts_none_are_kept(rig, capsys):
    for name in ("Floor", "Step"):
        bpy.data.objects[name].location.z -= 0.3
    run(capsys, "bind", "--rig", rig.name, "--environment", "Floor", "Step")
    report = run(capsys, "adapt", "--rig", rig.name)
    assert report["measures"]["contact_frames"] == 0 and report["measures"]["contacts_kept_pct"] is None
