"""Adapt on captured clips and rigs as people exchange them, through Blender's own importers."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.adapt import run
from bl_ext.devrepo.motion_loom.workflows.environment.model import stored_of
from bl_ext.devrepo.motion_loom.workflows.rig.choose_joints import read_source

from benchmarks import blender_rig, edits
from checkout import PACKAGE
from tests import adapt_scenes as scenes
from tests.rig_scenes import fingerprint


@pytest.fixture(autouse=True)
def _needs_data(data):
    """Skips where the captures are not."""


def import_rig(file, action=None):
    """The armature of a glTF file, playing one of its actions, without the strips that the importer makes."""
    bpy.ops.import_scene.gltf(filepath=str(file))
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    if action:
        data = rig.animation_data
        for track in list(data.nla_tracks):
            data.nla_tracks.remove(track)
        data.action = next(a for a in bpy.data.actions if action in a.name)
        if actions.HAS_SLOTS:
            data.action_slot = data.action_suitable_slots[0]
    bpy.context.view_layer.update()
    return rig


def chosen(rig):
    """{joint: parent} of what is solved of a rig in its present motion, and the choice."""
    action, slot = actions.assigned(rig)
    first, last = actions.frame_range(action, slot)
    source = read_source(bpy.context, rig, np.arange(np.ceil(first), np.floor(last) + 1))
    names = source.track.skeleton.names
    return {n: names[p] if p >= 0 else None for n, p in zip(names, source.solved.parents, strict=True)}, source


def adapt_after(rig, environment, change, start=None, end=None):
    """Bind, see that nothing changed gives the source, change, adapt; returns the report."""
    source = rig.animation_data.action
    keys = fingerprint(source)
    scenes.bind_rig(rig, environment, start, end)
    frames = stored_of(rig, scenes.workflow()).binding.track.frames
    before = scenes.joints_of(rig, frames)
    size = np.ptp(before[0], axis=0).max()
    run.adapt_rig(bpy.context, rig, scenes.workflow())
    assert np.abs(scenes.joints_of(rig, frames) - before).max() < 1e-5 * max(size, 1.0)
    change()
    bpy.context.view_layer.update()
    report = run.adapt_rig(bpy.context, rig, scenes.workflow())
    assert report["source"] == source.name and fingerprint(source) == keys
    assert report["write_error_mm"] < 0.1 and report["unconverged_frames"] == 0
    measures = report["measures"]
    assert measures["contact_frames"] > 0 and measures["contacts_kept_pct"] >= 95
    assert measures["penetration_pct"] <= measures["penetration_original_pct"] + 1
    assert measures["jerk_mean_ratio"] <= 1.25 and measures["jerk_p95_ratio"] <= 1.25
    assert measures["clearance_lost_pct"] <= 10
    return report


def edited(name, edit):
    """A change: edit world-space vertices of an object."""

    def change():
        matrix = np.array(bpy.data.objects[name].matrix_world)
        back = np.linalg.inv(matrix[:3, :3]).T
        scenes.deform(name, lambda v: (edit(v @ matrix[:3, :3].T + matrix[:3, 3]) - matrix[:3, 3]) @ back)

    return change


def test_part_of_a_climb():
    from benchmarks.climbs import climb

    scene = climb(0)
    rig = blender_rig.build_armature(PACKAGE, edits.sub_clip(scene.track, 300, 1300, 4), "Rig")
    environment = [blender_rig.build_mesh(mesh) for mesh in scene.environment.values()]
    boxes = [name for name in scene.environment if name != "Ground"]

    def change():
        for name in boxes:
            edited(name, edits.stretched())()

    report = adapt_after(rig, environment, change)
    assert report["joints"] == 23


@pytest.mark.parametrize("clip", ["03_01", "03_03"])
def test_walks_over_uneven_ground(data, clip):
    """A BVH file as Blender imports it: Euler keys in the order of the file, a root with hips of no length."""
    from benchmarks.scenes import uneven

    scene = uneven(clip)
    bpy.ops.import_anim.bvh(
        filepath=str(data / f"mocap_bvh/cmu/{clip}_uneven_terrain_30fps.bvh"), global_scale=0.01, update_scene_fps=True
    )
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    names, source = chosen(rig)
    assert {"lfoot": "ltibia", "ltoes": "lfoot", "head": "upperneck"}.items() <= names.items()
    assert 1.5 < source.height < 2.0
    environment = [blender_rig.build_mesh(mesh) for mesh in scene.environment.values()]
    adapt_after(rig, environment, edited("Terrain", edits.bent()), 1, 150)


@pytest.mark.parametrize("clip", ["walk_giant", "bow_normal"])
def test_bodies_whose_rest_pose_is_no_pose(data, clip):
    """All bones point one way at rest, the root is metres from the hips, or the arms hang down all the time."""
    bpy.ops.import_anim.bvh(
        filepath=str(data / f"mocap_bvh/bandai/dataset-1_{clip}_001.bvh"), global_scale=0.01, update_scene_fps=True
    )
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    names, source = chosen(rig)
    assert 1.3 < source.height < 1.8
    for side in "LR":
        limbs(names, ["Hips", *(f"{part}_{side}" for part in ("UpperLeg", "LowerLeg", "Foot", "Toes"))])
        limbs(names, ["Chest", *(f"{part}_{side}" for part in ("Shoulder", "UpperArm", "LowerArm", "Hand"))])
    limbs(names, ["Hips", "Spine", "Chest", "Neck", "Head"])
    assert names["Hips"] is None


@pytest.mark.parametrize("animal", ["Horse", "Husky"])
def test_quadrupeds(data, animal):
    """Their hooves and paws hang on controls; the armature's object is scaled by 100 and turned."""
    rig = import_rig(data / f"quadruped_rigs/quaternius/{animal}.glb", "|Walk")
    names, _ = chosen(rig)
    for side in "LR":
        assert names[f"FF.{side}"] == f"IKFrontLeg.{side}" and names[f"IKFrontLeg.{side}"] == f"FrontLowerLeg.{side}"
        assert names[f"FFB.{side}"] == f"IKBackLeg.{side}" and names[f"IKBackLeg.{side}"] == f"BackLowerLeg.{side}"
    assert not any("Pole" in name or name == "Body" for name in names)
    assert names["Back"] is None and sum("Ear" in name for name in names) <= 1
    ground = scenes.add_grid("Ground", (-6, 6), (-6, 6), cells=24)
    adapt_after(rig, [ground], edited("Ground", edits.bent(0.15, 6)))


def test_hooves_that_stand_still_hang_on_their_legs(data):
    """While the horse butts, all four keep their places by each other as well."""
    rig = import_rig(data / "quadruped_rigs/quaternius/Horse.glb", "Attack_Headbutt")
    names, source = chosen(rig)
    for side in "LR":
        limbs(names, [f"FrontLowerLeg.{side}", f"IKFrontLeg.{side}", f"FF.{side}"])
        limbs(names, [f"BackLowerLeg.{side}", f"IKBackLeg.{side}", f"FFB.{side}"])
    assert (source.solved.parents < 0).sum() == 1


@pytest.mark.parametrize("animal", ["Trex", "Apatosaurus", "Velociraptor"])
def test_dinosaurs(data, animal):
    rig = import_rig(next((data / "nonhumanoid_rigs").rglob(f"{animal}.glb")), "Walk")
    names, _ = chosen(rig)
    assert names["BackFoot.L"] == "BackLowLeg.L" and names["BackFoot.R"] == "BackLowLeg.R"
    assert names["Body"] is None and "root" not in names
    ground = scenes.add_grid("Ground", (-30, 30), (-30, 30), cells=24)
    adapt_after(rig, [ground], edited("Ground", edits.bent(0.8, 30)))


def test_sitting_down(data):
    """KayKit's skeleton has its controls beside it, none of which moves skin."""
    rig = import_rig(data / "biped_rigs/kaykit/Barbarian.glb", "Sit_Chair_Down")
    names, _ = chosen(rig)
    assert names["hips"] is None and names["head"] == "chest"
    limbs(names, ["hips", "upperleg.l", "lowerleg.l", "foot.l", "toes.l"], ["lowerarm.r", "wrist.r", "hand.r"])
    assert not any("IK" in name or "control" in name or name == "root" for name in names)
    known = set(bpy.data.objects)
    bpy.ops.import_scene.gltf(filepath=str(data / "scene_props/quaternius/Chair_1.glb"))
    chair = next(ob for ob in bpy.data.objects if ob not in known and ob.type == "MESH")
    hips = scenes.joints_of(rig, [19.0])[0, [bone.name for bone in rig.data.bones].index("hips")]
    chair.scale = [0.55 * value for value in chair.scale]
    chair.location = (hips[0], hips[1] + 0.1, 0.0)
    ground = scenes.add_grid("Ground", (-3, 3), (-3, 3))
    bpy.context.view_layer.update()

    def lift():
        chair.location.z += 0.08

    report = adapt_after(rig, [chair, ground], lift)
    assert "root" in report["changed_bones"]  # it goes along with the hips


def stand_still(rig):
    """A rig without an action gets one of two frames, so that it can be read."""
    for frame in (1, 2):
        rig.keyframe_insert("location", frame=frame)


def limbs(names, *chains):
    for chain in chains:
        for above, below in zip(chain, chain[1:], strict=False):
            assert names[below] == above, (above, below)


def test_characters_with_fingers(data):
    rig = import_rig(data / "biped_rigs/quaternius/modular_men_Casual.glb")
    stand_still(rig)
    names, source = chosen(rig)
    assert len(names) == 22 and names["Hips"] is None
    limbs(names, ["Hips", "UpperLeg.L", "LowerLeg.L", "Foot.L"], ["UpperArm.R", "LowerArm.R", "Hand.R", "Middle2.R"])
    effectors = {name for name, is_so in zip(names, source.solved.effectors, strict=True) if is_so}
    assert {"Foot.L", "Hand.L", "Hand.R"} <= effectors and "UpperArm.L" not in effectors


def test_characters_with_twist_bones_and_faces(data):
    rig = import_rig(data / "ai4animation/Cranberry/Model.glb")
    stand_still(rig)
    names, _ = chosen(rig)
    assert len(rig.data.bones) == 159 and len(names) < 55
    assert not any("twist" in name and name.startswith("p_") or "tongue" in name or "eye" in name for name in names)
    limbs(names, ["b_r_arm", "b_r_forearm", "b_r_wrist_twist", "b_r_wrist", "b_r_middle1"], ["b_neck0", "b_head"])


def test_motion_capture_skeletons(data):
    rig = import_rig(data / "ai4animation/Geno/Model.glb")
    stand_still(rig)
    names, _ = chosen(rig)
    limbs(names, ["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"], ["LeftForeArm", "LeftHand"])
    assert not any("End" in name or "Thumb" in name for name in names)


@pytest.mark.parametrize("animal, tallest", [("Dog", 1.2), ("Wolf", 1.2)])
def test_dogs(data, animal, tallest):
    """The wolf's bones are drawn a hundred times too long, which must not count for its size."""
    rig = import_rig(data / f"ai4animation/Quadruped/{animal}.glb")
    stand_still(rig)
    names, source = chosen(rig)
    assert 0.5 < source.height < tallest
    limbs(names, ["Hips", "LeftUpLeg", "LeftLeg", "LeftFoot", "LeftFootSite"])
    limbs(names, ["LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand", "LeftHandSite"], ["Neck", "Head"])
