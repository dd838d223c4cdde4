"""Adapt on every state a rig or an environment can be in, by commands; test_live_rigs.py has them live."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions

from tests import adapt_play as play
from tests import adapt_rigs as rigs
from tests import adapt_scenes as scenes
from tests.adapt_scenes import bones_of, joints_of, raise_step
from tests.commands import adapt, bind, run
from tests.objects import key
from tests.rig_scenes import add_chain, fingerprint

pytestmark = pytest.mark.versions


def moved(rig, capsys, *words):
    """Bind, raise the step, adapt: (report, joints before, joints after), each (F, B, 3)."""
    before = joints_of(rig)
    bind(capsys)
    raise_step()
    report = adapt(capsys, *words)
    return report, before, joints_of(rig)


def assert_foot_followed(rig, before, after, by=(0, 0, 0.12)):
    bone = rig.data.bones.find("ankle.R")
    np.testing.assert_allclose((after - before)[-6:, bone], np.tile(by, (6, 1)), atol=0.015)


@pytest.mark.parametrize(
    "make",
    [
        rigs.placed_like_imports, rigs.with_object_keys, rigs.with_strips_alone, rigs.with_ik,
        rigs.with_bones_of_hardly_any_length, rigs.with_holes_and_slivers,
    ],
)  # fmt: skip
def test_it_follows_is_read_again_and_given_back(rig, capsys, make):
    """Adapted again the source must be read, where constraints act that are off in the result."""
    make(rig)
    source, influences = rig.animation_data.action, play.influences(rig)
    report, before, after = moved(rig, capsys)
    assert report["measures"]["contacts_kept_pct"] >= 95 and report["write_error_mm"] < 0.1
    assert report["source"] == (source.name if source else "Rig")
    assert report["silenced_constraints"] == (["knee.R: IK"] if make is rigs.with_ik else [])
    assert_foot_followed(rig, before, after)
    paths = {c.data_path for c in actions.all_curves(*actions.assigned(rig))}
    assert ("location" in paths) == (make is rigs.with_object_keys)
    adapt(capsys)
    np.testing.assert_allclose(joints_of(rig), after, atol=1e-4)
    play.play_source(rig)
    assert rig.animation_data.action == source and play.influences(rig) == influences
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-5)


def test_odd_bone_names(rig, capsys):
    names = {"thigh.R": 'Ober"schenkel"', "ankle.R": "pied/droit.001", "toe.R": "つま先\\", "spine": "x" * 63}
    for old, new in names.items():
        rig.data.bones[old].name = new
    report, before, after = moved(rig, capsys, "--hold", "pied/droit.001=2", 'Ober"schenkel"=1')
    bone = rig.data.bones.find("pied/droit.001")
    assert abs((after - before)[-1, bone, 2] - 0.12) < 0.015
    assert set(names.values()) <= set(report["changed_bones"])


def add_twin(rig):
    twin = rig.copy()
    twin.name = "Twin"
    bpy.context.scene.collection.objects.link(twin)
    return twin


def test_two_rigs_of_one_action(rig, capsys):
    twin = add_twin(rig)
    twin.location.x = 0.5
    source = rig.animation_data.action
    keys = fingerprint(source)
    before = joints_of(twin)
    _, old, new = moved(rig, capsys)
    assert_foot_followed(rig, old, new)
    assert twin.animation_data.action == source and fingerprint(source) == keys
    np.testing.assert_allclose(joints_of(twin), before, atol=1e-6)


def test_a_duplicate_shares_the_binding_until_it_is_bound_itself(bound, capsys):
    twin, shared = add_twin(bound), bound.motion_loom_adapt.binding
    assert twin.motion_loom_adapt.binding == shared
    raise_step()
    run(capsys, "adapt", "--rig", "Twin")
    once = joints_of(twin)
    raise_step(-0.12)
    twin.motion_loom_adapt.result = None
    run(capsys, "bind", "--rig", "Twin", "--environment", "Floor")
    assert bound.motion_loom_adapt.binding == shared and twin.motion_loom_adapt.binding != shared
    raise_step()
    adapt(capsys)
    np.testing.assert_allclose(joints_of(bound), once, atol=1e-5)
    bind(capsys)
    assert len(play.kept_data()) == 2


def test_an_override_of_a_bound_rig_is_adapted_and_bound_anew(bound, capsys, tmp_path):
    """The list that comes from the library cannot lose its entries."""
    linked, *_ = play.brought(play.save(tmp_path / "library.blend"), "Rig", "Floor", "Step", link=True)
    linked.override_create(remap_local_usages=True)
    bpy.data.objects["Step"].make_local()
    bpy.context.view_layer.update()
    rig = next(ob for ob in bpy.context.scene.objects if ob.override_library)
    before = joints_of(rig)
    rig.motion_loom_adapt.surfaces[1].target = bpy.context.scene.objects["Step"]
    raise_step()
    adapt(capsys)
    assert_foot_followed(rig, before, joints_of(rig))
    raise_step(-0.12)
    play.play_source(rig)
    rig.motion_loom_adapt.result = None
    run(capsys, "bind", "--rig", "Rig", "--environment", "Step")
    raise_step()
    adapt(capsys)
    assert_foot_followed(rig, before, joints_of(rig))


def test_other_frame_rates_and_time_remapping(rig, capsys):
    render = bpy.context.scene.render
    render.fps, render.fps_base, render.frame_map_old, render.frame_map_new = 30, 1.001, 100, 200
    frames = np.arange(2, 49)
    before = joints_of(rig, frames)
    assert "frames 2 to 48" in bind(capsys)["bound"]
    adapt(capsys)
    np.testing.assert_allclose(joints_of(rig, frames), before, atol=1e-4)
    raise_step()
    adapt(capsys)
    assert_foot_followed(rig, before, joints_of(rig, frames))


def test_a_single_frame(rig, capsys):
    before = joints_of(rig, [24])
    bind(capsys, "--start", "24", "--end", "24")
    raise_step()
    assert adapt(capsys)["frames"] == 1
    moved = (joints_of(rig, [24]) - before)[0, rig.data.bones.find("ankle.R")]
    assert abs(moved[2] - 0.12) < 0.02


def test_keys_between_frames(rig, capsys):
    for curve in actions.all_curves(*actions.assigned(rig)):
        for point in curve.keyframe_points:
            point.co.x += 0.37
        curve.update()
    report, before, after = moved(rig, capsys)
    assert report["frames"] == 23  # frames 2 to 24: whole ones within the keys
    assert_foot_followed(rig, before, after)


def test_a_result_that_is_not_assigned_carries_its_switches(rig, capsys):
    rigs.with_ik(rig)
    report, before, after = moved(rig, capsys, "--no-assign")
    np.testing.assert_allclose(after, before, atol=1e-6)
    assert play.influences(rig) == [1.0] and not rig.pose.bones["knee.R"].constraints[0].mute
    action = bpy.data.actions[report["action"]]
    actions.assign(rig, action, play.slot_of(action))
    assert_foot_followed(rig, before, joints_of(rig))


def test_rotation_limits_go_on_working(rig, capsys):
    limit = rig.pose.bones["knee.R"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space, limit.min_x, limit.max_x = True, "LOCAL", -3.0, 3.0
    report, before, after = moved(rig, capsys)
    assert report["silenced_constraints"] == []
    assert_foot_followed(rig, before, after)
    rig.motion_loom_adapt.limits = False
    assert adapt(capsys)["silenced_constraints"] == ["knee.R: Limit Rotation"]


# ------------------------------------------------------------------------------------------- environment


def keyed(step):
    """Lifted by all its keys."""
    key(step, "location", {1: -0.1, 12: 0.0}, index=2)
    curve = actions.find_curve(*actions.assigned(step), "location", 2)

    def lift():
        for point in curve.keyframe_points:
            point.co.y += 0.12
        curve.update()

    return lift


def with_a_shape_key(step):
    """Lifted by keys of a value that had none."""
    shape = scenes.add_shape_key(step, lambda points: points + [0, 0, 0.12])
    return lambda: key(shape, "value", {1: 0.0, 10: 1.0})


def deformed_by_a_rig(step):
    crane = add_chain(("lift",), name="Lift")
    step.vertex_groups.new(name="lift").add(range(len(step.data.vertices)), 1.0, "REPLACE")
    step.modifiers.new("Armature", "ARMATURE").object = crane

    def lift():
        bone = crane.pose.bones["lift"]
        bone.location.y = 0.12
        bpy.context.view_layer.update()
        return 0.12 * np.array(bone.matrix)[:3, 1]

    return lift


@pytest.mark.parametrize("make", [keyed, with_a_shape_key, deformed_by_a_rig])
def test_platforms_that_move(rig, capsys, make):
    """Nothing changed, a bound moving environment must give the source again; then it is lifted as a whole."""
    lift = make(bpy.data.objects["Step"])
    before = joints_of(rig)
    bind(capsys)
    adapt(capsys)
    np.testing.assert_allclose(joints_of(rig), before, atol=1e-4)
    by = lift()
    adapt(capsys)
    assert_foot_followed(rig, before, joints_of(rig), (0, 0, 0.12) if by is None else by)


def test_a_rig_with_a_skin(rig, capsys):
    """Bones without skin are controls: here the crown rides along and the rest is solved."""
    skin = scenes.add_box("Skin", (-0.2, -0.1, 0), (0.2, 0.1, 1.7))
    skin.parent = rig
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    for number, name in enumerate(name for name in bones_of(rig) if name != "toe.L"):
        skin.vertex_groups.new(name=name).add([number % 8], 0.5 + 0.01 * number, "REPLACE")
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
    bind(capsys)
    measures = adapt(capsys)["measures"]
    assert measures["contact_frames"] == 0 and measures["contacts_kept_pct"] is None
