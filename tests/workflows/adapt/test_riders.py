"""Bones that are not solved go with those that are: sockets, targets, what hangs on a root, and the root."""

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests import adapt_scenes as scenes
from tests.adapt_scenes import raise_step
from tests.commands import adapt, bind


@pytest.fixture
def rig(rig):
    scenes.add_controls(rig)
    return rig


def bind_and_adapt(rig, capsys, change):
    """Reports of both, and joints before and after, (F, B, 3)."""
    before = scenes.joints_of(rig)
    bound = bind(capsys)
    change()
    bpy.context.view_layer.update()
    return bound, adapt(capsys), before, scenes.joints_of(rig)


def test_all_but_what_stands_by_itself_moves_as_the_set_does(rig, capsys):
    move = Matrix.Translation((0.4, -0.3, 0.15)) @ Matrix.Rotation(0.5, 4, "Z")

    def change():
        for name in ("Floor", "Step"):
            bpy.data.objects[name].matrix_world = move @ bpy.data.objects[name].matrix_world

    bound, report, before, after = bind_and_adapt(rig, capsys, change)
    moved = before @ np.array(move)[:3, :3].T + np.array(move)[:3, 3]
    bone = rig.data.bones.find("alone")
    moved[:, bone] = before[:, bone]
    np.testing.assert_allclose(after, moved, atol=2e-3)
    assert any("alone" in note for note in bound["notes"])
    assert not any("socket" in note or "root" in note for note in bound["notes"])


def test_sockets_and_targets_stay_by_the_hand(rig, capsys):
    hand, socket, target = (rig.data.bones.find(name) for name in ("wrist.L", "socket", "ik_hand"))
    rail = scenes.add_box("Rail", (0.0, -1.0, 0.6), (0.4, 1.0, 0.7))
    before = scenes.joints_of(rig)
    bind(capsys, "Rail")
    rail.location = (0.1, 0.0, 0.15)
    bpy.context.view_layer.update()
    adapt(capsys)
    after = scenes.joints_of(rig)
    assert np.linalg.norm(after[:, hand] - before[:, hand], axis=1).max() > 0.03
    np.testing.assert_allclose(after[:, target], after[:, hand], atol=1e-4)
    apart, apart_before = (np.linalg.norm(at[:, socket] - at[:, hand], axis=1) for at in (after, before))
    np.testing.assert_allclose(apart, apart_before, atol=1e-4)


def test_riders_get_no_keys_where_nothing_changes(rig, capsys):
    _, report, *_ = bind_and_adapt(rig, capsys, lambda: None)
    assert report["changed_bones"] == [] and report["curves"] == 0


def test_a_driven_bone_goes_with_what_it_hangs_on(rig, capsys):
    """Keys could not move it."""
    rig.pose.bones["ik_hand"].driver_add("location", 0)
    _, report, *_ = bind_and_adapt(rig, capsys, raise_step)
    assert "socket" in report["changed_bones"] and "ik_hand" not in report["changed_bones"]


def test_a_rider_that_jumps_further_than_all_solved_bones_is_told(rig, capsys):
    """A root on the ground, far below the hips that it rides on, was flung about in silence."""
    _, report, before, _ = bind_and_adapt(rig, capsys, lambda: None)
    assert report["measures"]["worst"]["ride"]["cm"] < 0.01 and report["warnings"] == []
    bpy.data.objects["Step"].location.x += 0.4
    bpy.data.objects["Step"].rotation_euler.z = 0.6
    report = adapt(capsys)
    steps_before, steps = (np.linalg.norm(np.diff(at, axis=0), axis=2) for at in (before, scenes.joints_of(rig)))
    pole = rig.data.bones.find("pole")
    ride, jump = (report["measures"]["worst"][name] for name in ("ride", "jump"))
    assert (ride["bone"], ride["carrier"]) == ("pole", "hips") and ride["cm"] > 2 * jump["cm"]
    beyond = (steps - steps_before)[:, pole]
    assert ride["cm"] == pytest.approx(100 * beyond.max(), abs=0.01)
    assert ride["frame"] == scenes.FRAMES[1:][beyond.argmax()]
    (text,) = [text for text in report["warnings"] if text.startswith("Bone 'pole', which rides on 'hips', jumps by")]
    assert f"at frame {ride['frame']:g} beyond the source" in text
