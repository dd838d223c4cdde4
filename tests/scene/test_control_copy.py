"""Trials of controls on a private copy, against the rig itself with the same keys."""

from types import SimpleNamespace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import session
from bl_ext.devrepo.motion_loom.scene.control_copy import control_copy
from bl_ext.devrepo.motion_loom.scene.motion import read_motion
from bl_ext.devrepo.motion_loom.scene.private_copies import private_copies, sweep
from bl_ext.devrepo.motion_loom.solvers.core.errors import StaleBindingError
from mathutils import Matrix

from tests.control_scenes import CONTROLS, FRAMES, add_leg, animate_leg, hold_to_carried, hold_to_moving, id_counts
from tests.linked import linked_instead
from tests.objects import add_object, drive_by, frames_set, handled, key


def as_trial(source, frames=None):
    """Channels of the source, to be tried."""
    rows = np.arange(len(source.pose)) if frames is None else np.asarray(frames)
    channels = SimpleNamespace(
        location=source.location[rows].copy(), rotation=source.rotation[rows].copy(), scale=source.scale[rows].copy()
    )
    return SimpleNamespace(frames=rows, channels=channels)


def pose_of(ob, frames=FRAMES):
    return read_motion(bpy.context, ob, frames).pose


def held_by_itself(ob):
    hold_to_carried(ob, "e", "b")


def held_by_bound(ob):
    """By an object that it carries, and by a mesh that is hooked to it, both from where they were bound."""
    carried = hold_to_carried(ob, "d", "b")
    carried.matrix_parent_inverse = Matrix.Rotation(0.7, 4, "X")
    mesh = bpy.data.meshes.new("Hooked")
    mesh.from_pydata([(0.1, -1.0, 0.3)], [], [])
    hooked = add_object("Hooked", mesh)
    hooked.vertex_groups.new(name="all").add([0], 1.0, "REPLACE")
    hook = hooked.modifiers.new("Hook", "HOOK")
    hook.object, hook.subtarget = ob, "b"
    hook.vertex_indices_set([0])
    hook.matrix_inverse = ob.data.bones["b"].matrix_local.inverted()
    track = ob.pose.bones["e"].constraints.new("DAMPED_TRACK")
    track.target, track.subtarget = hooked, "all"


HOLDS = {"": None, "post": lambda ob: hold_to_moving(ob, "a"), "self": held_by_itself, "bound": held_by_bound}


@pytest.mark.parametrize("hold", HOLDS.values(), ids=HOLDS)
def test_the_source_is_evaluated_as_the_rig_itself(hold):
    ob = animate_leg(add_leg())
    if hold is not None:
        hold(ob)
    wanted = pose_of(ob)
    bpy.context.scene.frame_set(4)  # another pose than the one that something was bound in
    with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        source = copy.source()
        tried = copy.evaluate(as_trial(source))
        again = copy.source()
    np.testing.assert_allclose(source.pose, wanted, atol=1e-6)
    np.testing.assert_allclose(tried, wanted, atol=1e-6)
    np.testing.assert_array_equal(again.pose, source.pose)


@pytest.mark.parametrize("hold", [None, lambda ob: hold_to_moving(ob, "a"), held_by_itself], ids=["", "post", "self"])
def test_a_trial_is_what_its_keys_make_of_the_rig(hold, rng):
    ob = animate_leg(add_leg())
    if hold is not None:
        hold(ob)
    with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        trial = as_trial(copy.source(), [1, 4, 6])
        trial.channels.location += rng.normal(0, 0.05, trial.channels.location.shape)
        trial.channels.rotation[..., :3] += rng.normal(0, 0.2, (3, len(CONTROLS), 3))
        pose = copy.evaluate(trial)
    for row, frame in enumerate(FRAMES[trial.frames]):
        for number, name in enumerate(CONTROLS):
            bone = ob.pose.bones[name]
            key(bone, "location", {frame: trial.channels.location[row, number]})
            key(bone, "rotation_euler", {frame: trial.channels.rotation[row, number, :3]})
    np.testing.assert_allclose(pose, pose_of(ob, FRAMES[trial.frames]), atol=2e-6)


def test_switches_of_trials_and_those_that_are_held():
    ob = animate_leg(add_leg())
    ob.pose.bones["p"]["s"] = 1.0
    driver = ob.pose.bones["d"].constraints[0].driver_add("influence").driver
    variable = driver.variables.new()
    driver.type, variable.name, path = "AVERAGE", "s", 'pose.bones["p"]["s"]'
    variable.targets[0].id, variable.targets[0].data_path = ob, path
    on = pose_of(ob)
    ob.pose.bones["p"]["s"] = 0.0
    ob.update_tag()
    off = pose_of(ob)
    assert np.abs(on - off).max() > 0.05
    with control_copy(bpy.context, ob, CONTROLS, FRAMES, (path,)) as copy:
        source = copy.source()
        assert (source.values == 0.0).all()
        every = as_trial(source)
        np.testing.assert_allclose(copy.evaluate(every), off, atol=1e-6)
        np.testing.assert_allclose(copy.evaluate(every, np.ones((len(FRAMES), 1))), on, atol=1e-6)
    with control_copy(bpy.context, ob, CONTROLS, FRAMES, held={path: 1.0}) as copy:
        source = copy.source()
        np.testing.assert_allclose(source.pose, off, atol=1e-6)
        np.testing.assert_allclose(copy.evaluate(as_trial(source)), on, atol=1e-6)


def test_only_the_copy_is_touched_and_nothing_is_left():
    ob = animate_leg(add_leg())
    hold_to_carried(ob, "e", "b")
    other = add_object("Other")
    key(other, "location", {1: (0, 0, 0), 8: (1, 0, 0)})
    bpy.context.scene.frame_set(3, subframe=0.5)
    ob.pose.bones["c"].location = (0.1, 0.2, 0.3)  # without a key
    before, placed = id_counts(), tuple(other.location)
    with frames_set() as seen, control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        copy.evaluate(as_trial(copy.source()))
        assert id_counts() != before
    assert seen
    scene = bpy.context.scene
    assert (scene.frame_current, scene.frame_subframe) == (3, 0.5)
    assert tuple(other.location) == placed and bpy.context.object == ob
    assert tuple(ob.pose.bones["c"].location) == pytest.approx((0.1, 0.2, 0.3))
    assert id_counts() == before


def test_nothing_is_left_after_an_error_or_a_cancel():
    ob = animate_leg(add_leg())
    before = id_counts()
    with pytest.raises(ZeroDivisionError), control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        copy.source()
        raise ZeroDivisionError

    def steps():
        with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
            copy.evaluate(as_trial(copy.source()))
            yield

    running = steps()
    next(running)
    running.close()
    assert id_counts() == before


def test_saving_takes_the_copy_away_and_the_next_trial_says_so(tmp_path):
    ob = animate_leg(add_leg())
    before = id_counts()
    with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        source = copy.source()
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "saved.blend"))
        assert id_counts() == before
        with pytest.raises(StaleBindingError, match="do it again"):
            copy.evaluate(as_trial(source))
    assert id_counts() == before


def test_leftovers_are_swept():
    ob = animate_leg(add_leg())
    before = id_counts()
    left = private_copies(bpy.context.scene, ob)
    left.__enter__()
    sweep()
    assert id_counts() == before


def test_strips_alone_move_the_copy_too():
    ob = animate_leg(add_leg())
    wanted = pose_of(ob)
    data = ob.animation_data
    action, data.action = data.action, None
    data.nla_tracks.new().strips.new("Step", 1, action)
    with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        source = copy.source()
        np.testing.assert_allclose(source.pose, wanted, atol=1e-6)
        np.testing.assert_allclose(copy.evaluate(as_trial(source)), wanted, atol=1e-6)


@pytest.mark.parametrize("event", ["frame_change_post", "depsgraph_update_post"])
def test_trials_can_be_evaluated_while_a_handler_runs(event):
    """Where no timer fires, what is live is solved there."""
    ob = animate_leg(add_leg())
    wanted, before, found = pose_of(ob), id_counts(), []

    def solve(scene, _depsgraph):
        if not found and scene == bpy.context.scene:
            found.append(None)
            with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
                found.append(copy.evaluate(as_trial(copy.source())))

    with handled(solve, event):
        bpy.context.scene.frame_set(4)
        ob.location.x = 1.0
        bpy.context.view_layer.update()
    np.testing.assert_allclose(found[1], wanted, atol=1e-6)
    assert bpy.context.scene.frame_current == 4 and id_counts() == before
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    np.testing.assert_allclose([np.array(evaluated.pose.bones["d"].matrix)], pose_of(ob, [4.0])[:, 3], atol=1e-6)


def test_the_extension_does_not_take_copies_for_objects_of_the_user():
    ob = animate_leg(add_leg())
    count, objects = session.object_count(), session.all_objects()
    with private_copies(bpy.context.scene, ob):
        assert session.object_count() == count and session.all_objects() == objects
        assert len(bpy.data.objects) > count


def grown(ob):
    """Its object hangs on a moving one, is scaled, and time is stretched."""
    hub = add_object("Hub")
    key(hub, "location", {1: (0, 0, 0), 8: (1, 0.5, 0)})
    ob.parent, ob.scale = hub, (1.7, 1.7, 1.7)
    key(ob, "location", {1: (0, 0, 0), 8: (0, 0.3, 0)})
    bpy.context.scene.render.frame_map_new = 200
    hold_to_moving(ob, "a")


def driven(ob):
    """Drivers of the armature look at the object, those of the object at properties of the scene and at a bone."""
    bpy.context.scene["lift"] = 0.2
    ob["side"] = 0.3
    ob.data.bones["c"].bbone_segments = 3
    drive_by(ob.data.bones["c"], "bbone_curveinx", ob, "side")
    drive_by(ob.pose.bones["c"], "bbone_curveoutx", ob, "side")
    driver = ob.pose.bones["a"].driver_add("location", 2).driver
    variable = driver.variables.new()
    variable.name = driver.expression = "told"
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id, variable.targets[0].data_path = bpy.context.scene, '["lift"]'


@pytest.mark.parametrize("change", [grown, driven])
def test_what_moves_the_object_and_what_drives_it_counts(change):
    ob = animate_leg(add_leg())
    change(ob)
    motion = read_motion(bpy.context, ob, FRAMES)
    before = id_counts()
    with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        source = copy.source()
        tried = copy.evaluate(as_trial(source))
        inside = next(scene for scene in bpy.data.scenes if session.is_private(scene))
        owners = [each for other in inside.objects for each in (other, other.data)]
        looked_at = {
            target.id
            for owner in owners
            for curve in (owner.animation_data.drivers if owner.animation_data else ())
            for variable in curve.driver.variables
            for target in variable.targets
        }
        assert not looked_at & {ob, ob.data, bpy.context.scene}
    np.testing.assert_allclose(source.pose, motion.pose, atol=2e-6)
    np.testing.assert_allclose(source.object_world, motion.object_world, atol=1e-6)
    np.testing.assert_allclose(tried, motion.pose, atol=2e-6)
    assert id_counts() == before


@pytest.mark.parametrize("editable", [False, True], ids=["linked", "override"])
def test_linked_rigs_and_overrides_have_local_copies(tmp_path, editable):
    ob = linked_instead(animate_leg(add_leg()), tmp_path / "rig.blend")
    if editable:
        ob = ob.override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    wanted, before = pose_of(ob), id_counts()
    with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        trial = as_trial(copy.source())
        np.testing.assert_allclose(copy.evaluate(trial), wanted, atol=1e-6)
        trial.channels.location[:, 1] += 0.1
        assert np.abs(copy.evaluate(trial) - wanted).max() > 0.05
    np.testing.assert_allclose(pose_of(ob), wanted, atol=1e-6)
    assert id_counts() == before


def test_trials_do_not_depend_on_what_was_tried_or_read_before(rng):
    ob = animate_leg(add_leg())
    with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        source = copy.source()
        first, second = as_trial(source), as_trial(source, [2, 5])
        first.channels.location[:, 2] += 0.1
        second.channels.rotation[:, 1, :3] += rng.normal(0, 0.2, (2, 3))
        copy.evaluate(first)
        after = copy.evaluate(second)
    with control_copy(bpy.context, ob, CONTROLS, FRAMES) as copy:
        np.testing.assert_array_equal(copy.evaluate(second), after)
