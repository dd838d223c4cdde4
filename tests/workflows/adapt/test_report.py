"""The report of the last result: kept with the rig, shown while it holds, a link from each line, and a picture."""

from xml.etree import ElementTree

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import blend_file
from bl_ext.devrepo.motion_loom.workflows.adapt.report import remarks_of, shown_report
from bl_ext.devrepo.motion_loom.workflows.adapt.words import summary
from bl_ext.devrepo.motion_loom.workflows.core import registry

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests.commands import adapt, refused
from tests.panel_layout import Context, Layout


def baked(rig, fails=False):
    """Adapted and baked; fails: the floor goes down, and the feet that stand on it do not."""
    if fails:
        rig.motion_loom_adapt.surfaces[0].mode = "IGNORE"
        bpy.data.objects["Floor"].location.z -= 0.5
        bpy.context.view_layer.update()
    play.press(rig, "bake")
    return rig


def report_of(rig):
    return shown_report(rig, scenes.workflow())


def drawn(rig, opened=True):
    out = []
    registry.by_id("adapt").draw(Layout(out, opened), Context(rig))
    return out


def test_doubts_are_in_sight_and_the_rest_in_the_report(bound):
    assert "Adapt and Bake measures what" in " ".join(drawn(bound))
    baked(bound, fails=True)
    closed, opened = (drawn(bound, opened) for opened in (False, True))
    assert "Bone 'toe.L' keeps" in " ".join(closed) and "Report" in closed
    assert [text for text in closed if text.startswith("Show toe.L, frame ")]
    assert "Rig clip (adapted)" in opened and "Save Picture" in opened
    for start in ("Contacts kept", "Jump ", "Turn ", "Tilt ", "Balance ", "Contact "):
        assert any(text.startswith(start) for text in opened), start
    assert any(text.startswith("toe.L, frame ") for text in opened)


def test_a_result_without_doubts_shows_none(bound):
    baked(bound)
    assert not any(text.startswith("Show ") for text in drawn(bound))
    assert not any(remark.doubt for remark in remarks_of(report_of(bound)))


def test_each_line_leads_to_its_frame_and_bone(bound):
    baked(bound, fails=True)
    for mode in ("OBJECT", "POSE"):
        bpy.ops.object.mode_set(mode=mode)
        for remark in remarks_of(report_of(bound)):
            assert bpy.ops.motion_loom.show_bone(bone=remark.bone, frame=remark.frame) == {"FINISHED"}
            assert bpy.context.scene.frame_current == remark.frame and bound.data.bones.active.name == remark.bone
    bpy.ops.object.mode_set(mode="OBJECT")
    assert bpy.ops.motion_loom.show_bone(frame=3.5) == {"FINISHED"}
    assert bpy.context.scene.frame_current_final == 3.5
    with pytest.raises(RuntimeError, match="no bone 'gone'"):
        bpy.ops.motion_loom.show_bone(bone="gone", frame=1)


def test_a_report_is_saved_with_its_file(bound, tmp_path):
    said = remarks_of(report_of(baked(bound, fails=True)))
    path = play.save(tmp_path / "baked.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert said == remarks_of(report_of(bpy.data.objects["Rig"])) and len(said) > 5


def test_a_linked_rig_that_is_overridden_has_its_own_report(bound, capsys, tmp_path):
    """Entries of a list that came from the library stayed, and the override's own were put beside them."""
    play.press(bound, "bake")
    linked, *_ = play.brought(play.save(tmp_path / "library.blend"), "Rig", "Floor", "Step", link=True)
    linked.override_create(remap_local_usages=True)
    rig = next(ob for ob in bpy.context.scene.objects if ob.override_library)
    rig.motion_loom_adapt.surfaces[0].mode = "IGNORE"
    adapt(capsys, "--step", "4")
    said = remarks_of(report_of(rig))
    bpy.ops.wm.open_mainfile(filepath=play.save(tmp_path / "scene.blend"))
    rig = next(ob for ob in bpy.context.scene.objects if ob.override_library)
    assert remarks_of(report_of(rig)) == said and len({remark.text for remark in said}) > 5


def test_a_report_that_is_out_of_date_is_not_shown(bound, capsys):
    baked(bound)
    play.play_source(bound)
    assert report_of(bound) is None
    baked(bound)
    play.press(bound, "fit")
    assert report_of(bound) is None
    baked(bound)
    bpy.data.actions.remove(report_of(bound).action)
    assert report_of(bound) is None
    bound.animation_data.action = bpy.data.actions["Rig clip"]
    adapt(capsys, "--no-assign")
    assert report_of(bound).action != bound.motion_loom_adapt.result
    adapt(capsys, "--no-measures")
    assert report_of(bound) is None


def test_a_strip_has_its_report_too(bound):
    bound.motion_loom_adapt.bake_strip = True
    assert report_of(baked(bound)).action == bound.motion_loom_adapt.result


def test_bones_that_are_not_solved_are_named(bound):
    baked(bound)
    assert "Not solved" not in " ".join(drawn(bound))
    bound.motion_loom_adapt.joints[2].role = "STAYS"
    assert "Not solved, as no solved bone" in " ".join(drawn(bound)) and "them: 'chest'" in " ".join(drawn(bound))


def test_a_picture_shows_every_limb_and_the_worst(bound, capsys, tmp_path):
    bpy.data.objects["Step"].rotation_euler.x = np.radians(25.0)
    report = adapt(capsys, "--picture", str(tmp_path / "worst.svg"))
    assert report["picture"] == str(tmp_path / "worst.svg")
    texts = [each.text for each in ElementTree.parse(tmp_path / "worst.svg").iter("{http://www.w3.org/2000/svg}text")]
    assert {"toe.L", "toe.R", "Jump", "Turn", "Tilt of the trunk", "Balance", "frame"} <= set(texts)
    tilt = report["measures"]["worst"]["tilt"]
    assert f"{tilt['degrees']:.1f} degrees, chest, frame {tilt['frame']:g}" in texts
    path = tmp_path / "again.svg"
    assert bpy.ops.motion_loom.adapt_save_picture(filepath=str(path)) == {"FINISHED"}
    assert path.read_bytes() == (tmp_path / "worst.svg").read_bytes()


def test_a_picture_that_cannot_be_saved_is_refused_before_the_work(bound, capsys, tmp_path):
    words = ["adapt", "--rig", "Rig", "--picture"]
    assert "the ending .svg" in refused(capsys, *words, str(tmp_path / "worst.png"))
    assert "does not exist" in refused(capsys, *words, str(tmp_path / "nowhere" / "worst.svg"))
    assert "leave out --no-measures" in refused(capsys, *words, str(tmp_path / "worst.svg"), "--no-measures")
    assert len(bpy.data.actions) == 1
    with pytest.raises(RuntimeError):
        bpy.ops.motion_loom.adapt_save_picture(filepath=str(tmp_path / "worst.svg"))


def test_a_picture_has_the_names_of_the_rig_and_the_action_as_they_are_when_it_is_saved(bound, tmp_path):
    baked(bound)
    bound.name, bound.motion_loom_adapt.result.name = "Mira & <1>", "Walk > 2"
    path = tmp_path / "renamed.svg"
    assert bpy.ops.motion_loom.adapt_save_picture(filepath=str(path)) == {"FINISHED"}
    texts = [each.text for each in ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")]
    assert texts[0] == "Mira & <1>: Walk > 2" and not any("Rig clip" in text for text in texts)


@pytest.mark.parametrize("path, way_out", [("", "Name a file"), (" ", "Name a file"), ("//x.svg", "save it or give")])
def test_a_picture_without_a_name_or_beside_no_file_is_refused(bound, path, way_out, tmp_path, monkeypatch):
    monkeypatch.setattr(blend_file, "opened_path", lambda: "")
    monkeypatch.chdir(tmp_path)
    baked(bound)
    with pytest.raises(RuntimeError, match=way_out):
        bpy.ops.motion_loom.adapt_save_picture(filepath=path)
    assert not list(tmp_path.iterdir())


def test_a_single_frame_is_told_as_one():
    report = {"source": "Walk", "action": "Walk 2", "frames": 1, "curves": 3, "keys": 3, "keys_of_all_frames": 3}
    report |= {"keys_per_curve": 1.0, "strip": False, "silenced_constraints": []}
    assert summary(report) == "Adapted 'Walk' into 'Walk 2', 1 frame, 1 key a curve"
    assert "24 frames, 2.5 keys a curve" in summary(report | {"frames": 24, "keys_per_curve": 2.5})
