"""The influence of one object, keyed over the frames: a hand lets go of it."""

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene import actions

from tests import adapt_live
from tests import adapt_scenes as scenes
from tests.adapt_play import press
from tests.commands import adapt

FIRST, LAST = scenes.FRAMES[[0, -1]]


def key(rig, values, name="Step"):
    """Keys of an object's influence, by frame."""
    settings = rig.motion_loom_adapt
    item = next(item for item in settings.surfaces if item.bound_name == name)
    for frame, value in values.items():
        item.influence = value
        item.keyframe_insert("influence", frame=frame)


def surface_paths(rig):
    """What is keyed of entries of the list of objects."""
    paths = [curve.data_path for curve in actions.all_curves(*actions.assigned(rig))]
    return sorted(path for path in paths if "surfaces" in path)


def test_keys_act_frame_by_frame(bound, capsys):
    source = scenes.joints_of(bound, names=["toe.R"])[:, 0]
    scenes.raise_step()
    adapt(capsys)
    held = scenes.joints_of(bound, names=["toe.R"])[:, 0]
    bound.animation_data.action = bound.motion_loom_adapt.source
    key(bound, {int(FIRST): 1.0, 17: 1.0, 20: 0.0, int(LAST): 0.0})
    adapt(capsys, "--no-collision")
    free = scenes.joints_of(bound, names=["toe.R"])[:, 0]
    early, late = scenes.FRAMES <= 13, scenes.FRAMES >= 23
    assert np.abs(free - held)[early].max() < 0.02
    assert np.abs((held - source)[late, 2]).min() > 0.05 > np.abs((free - source)[late, 2]).max()


def test_keys_of_one_value_are_that_value(bound, capsys):
    scenes.raise_step()
    settings = bound.motion_loom_adapt
    item = next(item for item in settings.surfaces if item.bound_name == "Step")
    item.influence = 0.4
    adapt(capsys)
    plain = scenes.joints_of(bound)
    bound.animation_data.action = settings.source
    key(bound, {int(FIRST): 0.4, int(LAST): 0.4})
    adapt(capsys)
    assert np.abs(scenes.joints_of(bound) - plain).max() < 1e-6


def test_a_live_rig_goes_by_the_keys(bound, at_any_time):
    key(bound, {int(FIRST): 1.0, 17: 1.0, 20: 0.0, int(LAST): 0.0})
    adapt_live.go_live(bound)
    scenes.raise_step()
    adapt_live.follows(bound)


def test_keys_go_with_their_entry_when_one_before_it_is_removed(bound):
    settings = bound.motion_loom_adapt
    names = [item.bound_name for item in settings.surfaces]
    for number, name in enumerate(names):
        key(bound, {int(FIRST): 0.1 * number, int(LAST): 0.2 * number}, name)
    settings.surfaces[1].driver_add("influence")
    assert bpy.ops.motion_loom.adapt_remove_item(items="surfaces", index=0) == {"FINISHED"}
    paths = [f"motion_loom_adapt.surfaces[{k}].influence" for k in range(len(names) - 1)]
    assert surface_paths(bound) == paths
    for number, path in enumerate(paths, 1):
        points = actions.find_curve(*actions.assigned(bound), path).keyframe_points
        assert np.allclose([point.co[1] for point in points], [0.1 * number, 0.2 * number], atol=1e-6)
    assert [d.data_path for d in bound.animation_data.drivers] == paths[:1]


def test_keys_that_go_with_their_entry_are_told(bound, capfd):
    """They went without a word. What is not keyed goes so."""
    places = {item.bound_name: k for k, item in enumerate(bound.motion_loom_adapt.surfaces)}
    key(bound, {int(FIRST): 1.0, int(LAST): 0.0})
    capfd.readouterr()
    bpy.ops.motion_loom.adapt_remove_item(items="surfaces", index=places["Step"])
    assert "keys of the influence of 'Step' are gone with it" in capfd.readouterr().out and not surface_paths(bound)
    bpy.ops.motion_loom.adapt_remove_item(items="surfaces", index=0)
    assert "are gone" not in capfd.readouterr().out


def test_keys_that_are_kept_of_a_live_action_are_told_by_object(bound, capsys):
    adapt_live.go_live(bound)
    key(bound, {int(FIRST): 1.0, int(LAST): 0.0})
    adapt_live.settle()
    press(bound)
    notes = adapt(capsys)["notes"]
    assert any("Influence of 'Step' follows its keys in 'Rig clip (live)'" in note for note in notes)


def test_keys_go_with_their_object_when_the_list_is_bound_in_another_order(bound):
    key(bound, {int(FIRST): 0.3, int(LAST): 0.6})
    step, floor = (bpy.data.objects[name] for name in ("Step", "Floor"))
    scenes.bind_rig(bound, [step, floor])
    assert surface_paths(bound) == ["motion_loom_adapt.surfaces[0].influence"]
    scenes.bind_rig(bound, [floor])
    assert not surface_paths(bound) and "keys of the influence of 'Step' are gone" in bound.motion_loom_adapt.notes
