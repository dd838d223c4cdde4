"""Contacts of a body with itself in the list: found, off and on, added, mirrored, kept with the file."""

from dataclasses import replace
from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import InputError
from bl_ext.devrepo.motion_loom.workflows.environment import older_bindings
from bl_ext.devrepo.motion_loom.workflows.environment.model import stored_of
from bl_ext.devrepo.motion_loom.workflows.environment.own_contacts import own_row

from benchmarks.blender_rig import build_armature
from checkout import PACKAGE
from tests import adapt_live, commands
from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import self_touching as body
from tests.adapt_commands import refused
from tests.commands import adapt

SET = "Floor", "Shelf"
FRAMES = (0, 20, 40, 60, 110, 149)


@pytest.fixture(scope="module")
def touching_file(motion_loom, tmp_path_factory):
    """A body with a hand on its hip, bound to a floor and a shelf beside its elbow, which comes nearer after that."""
    bpy.ops.wm.read_homefile(use_empty=True)
    rig = build_armature(PACKAGE, body.standing())
    bpy.context.scene.render.fps = 30
    bpy.context.scene.frame_end = body.FRAMES - 1
    scenes.add_grid("Floor", (-2, 2), (-2, 2))
    scenes.add_box("Shelf", (0.5, -0.5, 1.0), (1.0, 0.5, 1.4))
    play.bind(rig, SET)
    bpy.data.objects["Shelf"].location.x -= 0.17
    return play.save(tmp_path_factory.mktemp("own") / "touching.blend")


@pytest.fixture
def touching(touching_file):
    bpy.ops.wm.open_mainfile(filepath=touching_file)
    return bpy.data.objects["Rig"]


def own(rig, bone="hand.L"):
    return [item for item in rig.motion_loom_adapt.contacts if item.is_own and item.bone == bone]


def away(rig):
    """Metres by which the hand is off the hip against the source, while it rests there."""
    at = scenes.joints_of(rig, names=["pelvis", "hand.L"], frames=np.arange(40, 60, 5))
    return np.abs(np.linalg.norm(at[:, 1] - at[:, 0], axis=1) - HIP_TO_HAND).max()


HIP_TO_HAND = float(np.linalg.norm(np.subtract((0.2, 0.0, 1.1), (0.0, 0.0, 1.0))))


def test_bind_lists_what_rests_on_the_body_and_bake_keeps_it(touching, capsys):
    found = own(touching)
    assert [(item.object, item.state, item.is_found) for item in found][0] == ("pelvis", "AUTO", True)
    report = adapt(capsys)
    near = away(touching)
    entry = {"bone": "hand.L", "object": "pelvis", "from": found[0].start, "to": found[0].end, "state": "auto"}
    assert entry | {"found": True, "own": True} in report["contact_list"]
    kept = [each for each in report["measures"]["own_contacts"] if (each["bone"], each["on"]) == ("hand.L", "pelvis")]
    assert kept[0]["kept"] == kept[0]["count"] > 30 and kept[0]["mm"] < 5.0
    report = adapt(capsys, "--contact", f"hand.L@pelvis:{found[0].start}-{found[0].end}=off")
    assert near < 0.003 < 0.008 < away(touching)
    assert {c["state"] for c in report["contact_list"] if c["own"] and c["object"] == "pelvis"} == {"off", "auto"}
    adapt(capsys, "--contact", f"hand.L@pelvis:{found[0].start}-{found[0].end}=auto")
    assert abs(away(touching) - near) < 1e-6


def test_live_is_bake_and_is_kept_with_the_file(touching, tmp_path):
    rig = adapt_live.go_live(touching)
    held = play.live_is_bake(rig, frames=FRAMES)
    own(rig)[0].state = "OFF"
    adapt_live.go_live(rig)
    let_go = play.live_is_bake(rig, frames=FRAMES)
    assert np.abs(held - let_go).max() > 0.008
    play.save(tmp_path / "own.blend")
    rig = play.reopen(tmp_path / "own.blend")
    assert own(rig)[0].state == "OFF" and len(stored_of(rig, scenes.workflow()).binding.own) > 0


def test_one_is_added_between_two_selected_bones_and_mirrored(touching):
    play.activate(touching)
    bpy.ops.object.mode_set(mode="POSE")
    for name in ("hand.R", "hand.L"):
        bone = touching.data.bones[name] if bpy.app.version < (5, 0) else touching.pose.bones[name]
        bone.select = True
    touching.data.bones.active = touching.data.bones["hand.R"]
    bpy.context.scene.frame_set(40)
    count = len(touching.motion_loom_adapt.contacts)
    with pytest.raises(RuntimeError, match="m apart there"):
        bpy.ops.motion_loom.adapt_add_contact()
    bpy.context.scene.frame_set(110)
    bpy.ops.motion_loom.adapt_add_contact()
    settings = touching.motion_loom_adapt
    added = settings.contacts[settings.active_contact]
    assert (added.bone, added.object, added.is_own, added.state) == ("hand.R", "hand.L", True, "ON")
    bpy.ops.motion_loom.adapt_mirror_contact()
    added = settings.contacts[settings.active_contact]
    assert (added.bone, added.object, added.is_own) == ("hand.L", "hand.R", True)
    assert len(settings.contacts) == count + 2
    bpy.ops.motion_loom.adapt_remove_contact()
    assert len(settings.contacts) == count + 1


@pytest.mark.parametrize(
    "text, reason",
    [
        ("hand.L@elbow.L:1-40=on", "choose a solved bone of another limb"),
        ("shin.L@pelvis:1-40=on", "only solved hands and feet"),
        ("hand.L@chin:1-40=on", "is not bound to 'chin'"),
        ("hand.L@pelvis:900-950=on", "outside the bound frames"),
        ("foot.L@chest:1-40=on", "m apart there"),
    ],
)
def test_what_makes_no_sense_is_named(touching, capsys, text, reason):
    assert reason in refused(capsys, "adapt", "--contact", text)


@pytest.mark.parametrize("thick", [0.0, 0.12])
def test_a_hand_is_held_as_far_from_a_bone_as_its_flesh_is_thick(touching, thick):
    """On a hip that is farther from the bone than a body of that size holds hands without flesh."""
    found = own(touching)[0]
    asked = dict(bone=found.bone, obj=found.object, start=found.start, end=found.end)
    contact = SimpleNamespace(**asked, words="of a hand", is_edited=True, state="ON")
    binding = stored_of(touching, scenes.workflow()).binding
    small = replace(binding, height=0.3, radii=np.full_like(binding.radii, thick))
    if thick:
        assert own_row(small, contact)[2:] == own_row(binding, contact)[2:]
    else:
        with pytest.raises(InputError, match="more than 0.05 m apart"):
            own_row(small, contact)


def test_edits_survive_another_bind_and_a_new_name(touching, capsys):
    own(touching)[0].state = "OFF"
    touching.data.bones["pelvis"].name = "hips"
    bpy.data.objects["Shelf"].location.x = 0.0
    notes = commands.run(capsys, "bind", "--rig", "Rig", "--environment", *SET)["notes"]
    assert own(touching)[0].object == "hips" and own(touching)[0].state == "OFF"
    assert any("'pelvis' is called 'hips' now" in note for note in notes)


@pytest.mark.parametrize(
    "missing, said",
    [
        (older_bindings._ITSELF, "Bound before contacts of a body with itself were found"),
        (older_bindings._RULES, "Bound by older rules of what a body rests on"),
    ],
)
def test_rigs_that_were_bound_before_say_what_is_not_held(touching, tmp_path, missing, said):
    settings = touching.motion_loom_adapt
    assert "with itself" not in settings.notes and "older rules" not in settings.notes
    del settings.binding[missing]
    play.save(tmp_path / "older.blend")
    settings = play.reopen(tmp_path / "older.blend").motion_loom_adapt
    assert settings.notes.count(said) == 1
    assert "before seats" not in settings.notes


def test_what_cannot_be_kept_is_named(touching, capsys):
    """A hand that is pinned elsewhere leaves the hip."""
    empty = bpy.data.objects.new("Rail", None)
    bpy.context.scene.collection.objects.link(empty)
    empty.location = (0.5, -0.3, 1.2)
    notes = adapt(capsys, "--pin", "hand.L=Rail:30:65")["notes"]
    assert any("leave their places on the body: 'hand.L' on bone 'pelvis' by up to" in note for note in notes)
