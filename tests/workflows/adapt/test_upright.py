"""Upright, as a user sets it: on a slope, keyed, driven, in the command, and in files from before it was there."""

import bpy
import numpy as np
import pytest

from tests.adapt_live import go_live, joints, settle
from tests.adapt_play import play_source, press, reopen, status
from tests.adapt_scenes import FRAMES, deform, joints_of
from tests.commands import adapt, refused
from tests.objects import drive

PATH = "motion_loom_adapt.upright"


def slope(degrees=15.0):
    """Floor and step rise to one side."""
    for name in ("Floor", "Step"):
        deform(name, lambda co: co + np.tan(np.radians(degrees)) * co[:, :1] * [0.0, 0.0, 1.0])
    bpy.context.view_layer.update()


def lean(rig, positions):
    """(F,) degrees of the trunk to the side, against the vertical."""
    names = [bone.name for bone in rig.pose.bones]
    trunk = positions[:, names.index("neck")] - positions[:, names.index("hips")]
    return np.degrees(np.arctan2(trunk[:, 0], trunk[:, 2]))


def as_from_before(rig):
    """Bound by a version that did not know of Upright."""
    rig.motion_loom_adapt.property_unset("upright")
    del rig.motion_loom_adapt.binding["knows upright"]


def chosen(rig, value):
    rig.motion_loom_adapt.upright = value
    press(rig, "bake")
    return np.abs(lean(rig, joints_of(rig)))


@pytest.mark.versions
def test_the_body_leans_as_little_as_is_chosen(bound):
    slope()
    assert chosen(bound, 1.0).mean() < 3 < chosen(bound, 0.5).mean() < 13 < chosen(bound, 0.0).mean()


def test_keys_are_heeded_live_and_baked(bound):
    slope()
    go_live(bound)
    settings = bound.motion_loom_adapt
    for frame, value in ((FRAMES[0], 1.0), (FRAMES[-1], 0.0)):
        settings.upright = value
        bound.keyframe_insert(PATH, frame=frame)
    settle()
    found = joints(bound)
    first, *_, last = np.abs(lean(bound, found))
    assert first < 4 and last > 10 and status(bound).problem is None
    press(bound, "bake")
    assert np.abs(joints_of(bound) - found).max() < 1e-4


def test_a_driver_is_read_when_it_is_baked(bound):
    slope()
    drive(bound, PATH, "0.0")
    press(bound, "bake")
    assert np.abs(lean(bound, joints_of(bound))).mean() > 13


def test_the_command_takes_it_unless_it_is_keyed(bound, capsys):
    slope()
    adapt(capsys, "--upright", "0")
    assert bound.motion_loom_adapt.upright == 0.0 and np.abs(lean(bound, joints_of(bound))).mean() > 13
    assert "--upright cannot be 2; use 0 to 1" in refused(capsys, "adapt", "--rig", "Rig", "--upright", "2")
    bound.keyframe_insert(PATH, frame=1)
    assert "'Rig' is animated" in refused(capsys, "adapt", "--rig", "Rig", "--upright", "1")


@pytest.mark.versions
def test_what_was_bound_before_it_was_there_keeps_its_result(bound, tmp_path):
    as_from_before(bound)
    rig = reopen(tmp_path / "older.blend")
    assert rig.motion_loom_adapt.upright == 0.0 and "Upright" in rig.motion_loom_adapt.notes
    slope()
    press(rig, "bake")
    assert np.abs(lean(rig, joints_of(rig))).mean() > 13
    again = reopen(tmp_path / "again.blend")
    assert again.motion_loom_adapt.notes.count("Upright") == 1


def test_what_is_bound_now_is_no_older_file(bound, tmp_path):
    rig = reopen(tmp_path / "now.blend")
    assert rig.motion_loom_adapt.upright == 1.0 and "Upright" not in rig.motion_loom_adapt.notes


def test_an_older_rig_that_was_appended_is_not_made_upright(bound):
    """No file was opened, so nothing could be noted."""
    as_from_before(bound)
    slope()
    press(bound, "bake")
    assert np.abs(lean(bound, joints_of(bound))).mean() > 13


@pytest.mark.versions
@pytest.mark.parametrize("between", ["nothing", "play source", "live off", "live again"])
@pytest.mark.parametrize("name", ["upright", "influence"])
def test_keys_set_while_live_count_for_every_later_bake(bound, name, between):
    """The second bake once took the slider's last value, without a word."""
    slope()
    go_live(bound)
    for frame, value in ((FRAMES[0], 1.0), (FRAMES[-1], 0.0)):
        setattr(bound.motion_loom_adapt, name, value)
        bound.keyframe_insert(f"motion_loom_adapt.{name}", frame=frame)
    settle()
    keyed = joints(bound)
    if between in ("nothing", "play source"):
        press(bound, "bake")
        if between == "play source":
            play_source(bound)
    else:
        press(bound)
        if between == "live again":
            press(bound)
            settle()
            assert np.abs(joints(bound) - keyed).max() < 1e-4
    setattr(bound.motion_loom_adapt, name, 0.3)
    for _ in range(2):
        press(bound, "bake")
        assert np.abs(joints_of(bound) - keyed).max() < 1e-4


@pytest.mark.parametrize("name", ["upright", "influence"])
def test_keys_set_while_live_count_over_the_source_s_own(bound, name, capsys):
    """When Live went on again, it played changed keys of Influence, but solved by the source's keys of Upright."""
    path, settings = f"motion_loom_adapt.{name}", bound.motion_loom_adapt

    def key(start, end):
        for frame, value in ((FRAMES[0], start), (FRAMES[-1], end)):
            setattr(settings, name, value)
            bound.keyframe_insert(path, frame=frame)

    slope()
    key(1.0, 1.0)
    press(bound, "bake")
    by_source = joints_of(bound)
    play_source(bound)
    go_live(bound)
    key(1.0, 0.0)
    settle()
    keyed = joints(bound)
    assert np.abs(keyed - by_source).max() > 0.02
    press(bound)
    press(bound)
    assert np.abs(joints_of(bound) - keyed).max() < 1e-4  # before anything is looked at again
    press(bound)
    report = adapt(capsys)
    assert np.abs(joints_of(bound) - keyed).max() < 1e-4
    assert any(f"{name.capitalize()} follows its keys in 'Rig clip (live)'" in note for note in report["notes"])
    play_source(bound)
    key(1.0, 0.9999)  # the source's own, after what was live
    adapt(capsys)
    assert np.abs(joints_of(bound) - by_source).max() < 1e-3


def test_an_override_that_forgets_a_default_is_no_older_file(bound, tmp_path):
    """A value that an override shares with its library is not set any more once the file is open again."""
    bound.motion_loom_adapt.property_unset("upright")
    rig = reopen(tmp_path / "override.blend")
    assert rig.motion_loom_adapt.upright == 1.0 and "Upright" not in rig.motion_loom_adapt.notes
