"""What only stepping through the frames tells: it is noticed at every frame, explained, and read by a refresh.

Keys that deform the environment, and what constraints of the bound rig hold to; a driver of the influence stands in
test_live_drivers.py.
"""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, deforming_keys
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_play as play
from tests import adapt_rigs as rigs
from tests import adapt_scenes as scenes
from tests.adapt_play import at, is_ready, lift, live_is_bake, needs_refresh, press, ready_at_all_frames, settle, status
from tests.adapt_scenes import joints_of
from tests.instance_scenes import on_each, scatter
from tests.objects import add_object, drive, drive_by, handled, key, key_custom

pytestmark = pytest.mark.usefixtures("both_ways")

RISE = (0, 0, 0.15)


def step():
    return bpy.data.objects["Step"]


# -------------------------------------------------------------------------------------- what deforms the environment


def by_shape_key():
    scenes.add_shape_key(step(), lambda points: points + RISE, keys=((1, 0.0), (24, 1.0)))
    return step().data.shape_keys


def by_hook():
    """All vertices hang on an empty."""
    hook = add_object("Hook")
    modifier = step().modifiers.new("Hook", "HOOK")
    modifier.object = hook
    modifier.vertex_indices_set(range(len(step().data.vertices)))
    key(hook, "location", {1: (0, 0, 0), 24: RISE})
    return hook


def by_lattice():
    lattice = add_object("Cage", bpy.data.lattices.new("Cage"))
    lattice.scale, lattice.location = (4, 4, 4), (0, 1, 0)
    scenes.add_shape_key(lattice, lambda points: points + np.divide(RISE, 4), keys=((1, 0.0), (24, 1.0)))
    step().modifiers.new("Cage", "LATTICE").object = lattice
    return lattice.data.shape_keys


def by_armature():
    """The parent of the armature is keyed."""
    crane = scenes.add_walker("Crane")
    crane.animation_data_clear()
    step().modifiers.new("Crane", "ARMATURE").object = crane
    step().vertex_groups.new(name="hips").add(range(8), 1.0, "REPLACE")
    crane.parent = add_object("Cart")
    key(crane.parent, "location", {1: (0, 0, 0), 24: RISE})
    return crane.parent


def by_modifier():
    """Its strength is keyed in the object's own action."""
    key(step().modifiers.new("Cast", "CAST"), "factor", {1: 0.0, 24: 0.1})
    return step()


def by_driver():
    """The shape key is driven by a keyed property of another object."""
    handle, owner = add_object("Handle"), by_shape_key()
    owner.animation_data_clear()
    key_custom(handle, "share", {1: 0.0, 24: 1.0})
    drive_by(owner.key_blocks["Shape"], "value", handle, "share")
    return handle


def by_constraint():
    """It moves as another object does, which curves alone do not tell."""
    handle = add_object("Handle")
    constraint = step().constraints.new("COPY_LOCATION")
    constraint.target, constraint.use_offset = handle, True
    key(handle, "location", {1: (0, 0, 0), 24: RISE})
    return handle


def by_instances():
    """Its faces show a child that is keyed."""
    child = on_each("FACES", step())
    key(child, "scale", {1: (1, 1, 1), 24: (1, 1, 2)})
    return child


DEFORMING = [by_shape_key, by_hook, by_lattice, by_armature, by_modifier, by_driver, by_constraint, by_instances]


def go_live(rig):
    bpy.context.view_layer.update()
    at(1)
    play.bind(rig)
    press(rig)


def change(owner, share):
    """What is keyed at the last frame becomes a share of what it is."""
    for curve in actions.all_curves(*actions.assigned(owner)):
        curve.keyframe_points[-1].co.y *= share
        curve.update()
    settle()


@pytest.mark.parametrize("make", DEFORMING)
def test_edited_keys_are_noticed_at_every_frame(rig, make):
    """Also where the present one does not differ. Keys that are put back need nothing."""
    owner = make()
    go_live(rig)
    ready_at_all_frames(rig)
    before = joints_of(rig)
    at(1)
    change(owner, 0.5)
    assert needs_refresh(rig)
    change(owner, 2.0)
    ready_at_all_frames(rig)
    np.testing.assert_allclose(joints_of(rig), before, atol=play.SAME)
    at(1)
    change(owner, 0.5)
    for frame in (1, 12, 24, 30):
        at(frame)
        assert needs_refresh(rig), frame
    assert status(rig).note == "'Step' deforms, or moves by more than keys"
    press(rig, "live_refresh")
    ready_at_all_frames(rig)
    live_is_bake(rig)


def test_without_what_deformed_it_all_frames_follow_at_once(rig):
    by_hook()
    go_live(rig)
    step().modifiers.clear()
    lift(0.1)
    ready_at_all_frames(rig)
    live_is_bake(rig)


@pytest.mark.parametrize("make", [by_hook, by_constraint])
def test_without_what_could_have_moved_it(rig, make):
    """The set is as it was, but for keys that moved nothing."""
    change(make(), 0.0)
    go_live(rig)
    step().modifiers.clear()
    step().constraints.clear()
    settle()
    ready_at_all_frames(rig)
    at(12)
    bpy.context.view_layer.update()
    assert is_ready(rig)
    live_is_bake(rig)


def test_playback_does_not_look_at_the_keys(rig, monkeypatch):
    by_shape_key()
    go_live(rig)
    ready_at_all_frames(rig)
    if live.at_once():
        pytest.skip("without a window scripts edit keys and change the frame at once")
    monkeypatch.setattr(deforming_keys, "keys_digest", None)
    for frame in range(2, 24):
        bpy.context.scene.frame_set(frame)
        assert is_ready(rig)


def by_faces(floor):
    on_each("FACES", floor)


def by_nodes(floor):
    """Geometry nodes show another object."""
    stone = scenes.add_box("Stone", (-0.6, -0.65, -0.5), (0.6, 0.65, 0.15))
    points = scatter(floor, ((0, 0.95, 0),))[0]
    tree, shown = points.id_data, points.outputs[0].links[0].to_node
    node = tree.nodes.new("GeometryNodeObjectInfo")
    node.inputs["Object"].default_value = stone
    tree.links.new(node.outputs["Geometry"], shown.inputs["Instance"])


@pytest.mark.parametrize("make", [by_faces, by_nodes])
def test_what_is_shown_as_instances_is_edited(rig, make):
    """The object that shows it is not evaluated for that."""
    make(bpy.data.objects["Floor"])
    go_live(rig)
    ready_at_all_frames(rig)
    before = joints_of(rig)
    scenes.deform("Stone", lambda vertices: vertices + [0, 0, 0.1])
    settle()
    assert needs_refresh(rig)
    press(rig, "live_refresh")
    ready_at_all_frames(rig)
    assert np.abs(live_is_bake(rig) - before).max() > 0.05


# ------------------------------------------------------------------------------------------ what constraints hold to

MOVED = "What constraints of 'Rig' hold to was moved"


@pytest.fixture
def holding(rig):
    """A live walker whose left hand reaches for an object that stands still."""
    target = add_object("Target")
    target.location = 0.5, 0.3, 1.1
    ik = rig.pose.bones["elbow.L"].constraints.new("IK")
    ik.target, ik.chain_count = target, 2
    go_live(rig)
    return rig


def move(by):
    bpy.data.objects["Target"].location.z += by
    settle()


def test_a_moved_target_is_noticed_and_explained(holding):
    """It makes another motion."""
    lift(0.1)
    ready_at_all_frames(holding)
    before = joints_of(holding)
    at(12)
    move(0.2)
    for frame in (12, 3):
        at(frame)
        assert needs_refresh(holding) and status(holding).note == MOVED
    said = play.refused(holding, "live_refresh")
    assert "bone 'elbow.L' has constraints: undo what changed there, or bind again" in said
    move(-0.2)
    ready_at_all_frames(holding)
    assert status(holding).note is None
    np.testing.assert_allclose(joints_of(holding), before, atol=play.SAME)


@pytest.mark.parametrize(("by", "remedy"), [(0.2, "fit"), (1e-4, "live_refresh")])
def test_a_moved_target_is_followed_afterwards(holding, by, remedy):
    """What hardly moves the rig is taken over by a refresh."""
    move(by)
    assert status(holding).note == MOVED
    press(holding, remedy)
    settle()
    assert status(holding).note is None
    lift(0.1)
    ready_at_all_frames(holding)
    live_is_bake(holding)


# -------------------------------------------------------------------------------------------------- files, other notes


@pytest.mark.parametrize("kind", ["deforming", "held"])
def test_it_is_noticed_after_the_file_was_opened(rig, tmp_path, kind, request):
    if kind == "held":
        rig = request.getfixturevalue("holding")
    else:
        by_shape_key()
        go_live(rig)
    rig = play.reopen(tmp_path / "live.blend")
    ready_at_all_frames(rig)
    at(1)
    if kind == "held":
        move(0.2)
    else:
        change(step().data.shape_keys, 0.5)
    note = status(rig).note
    assert needs_refresh(rig) and note
    rig = play.reopen(tmp_path / "live.blend")
    at(1)
    assert needs_refresh(rig) and status(rig).note == note
    if kind == "deforming":
        press(rig, "live_refresh")
        live_is_bake(rig)


def test_a_script_that_acts_on_frame_changes_is_named(bound):
    press(bound)
    lift(0.1)
    assert status(bound).note is None

    def foreign(_scene, _depsgraph):
        """It does nothing, which nobody can know."""

    foreign.__module__ = "some_addon.physics"
    with handled(foreign, "frame_change_post"):
        lift(0.02)
        assert needs_refresh(bound)
        assert status(bound).note == "The script 'some_addon.physics' acts on frame changes"
        press(bound, "live_refresh")
        # The result may have more to say, of a body that stays nearer than it could.
        assert is_ready(bound) and "script" not in (status(bound).note or "")
    lift(0.02)
    assert is_ready(bound) and "script" not in (status(bound).note or "")


def test_a_source_that_is_sampled_from_now_on_is_named(bound):
    press(bound)
    bound["mood"] = 0.0
    drive(bound, '["mood"]', "frame")
    lift(0.1)
    assert needs_refresh(bound) and status(bound).note == "The keys of 'Rig' do not tell its motion"
    press(bound, "live_refresh")
    assert status(bound).note is None


OUTSIDE = {
    True: "Frames outside 6 to 18 hold the pose of the nearest one",
    False: "Frames outside 6 to 18 go back to the source over 10 frames",
}


@pytest.mark.parametrize("strips", [False, True])
def test_what_frames_outside_of_those_that_are_bound_show_is_said(rig, strips):
    if strips:
        rigs.with_strips_alone(rig)
    settings = rig.motion_loom_adapt
    settings.use_range, settings.start, settings.end = True, 6, 18
    go_live(rig)
    assert strips or status(rig).note is None  # nothing has changed: the source plays on
    lift(0.1)
    assert is_ready(rig) and status(rig).note == OUTSIDE[strips]
    if strips:
        return
    lift(-0.1)
    assert status(rig).note is None
    lift(0.1)
    drive(rig, "motion_loom_adapt.influence", "frame / 24")
    at(12)
    assert status(rig).note == f"A driver tells the influence. {OUTSIDE[False]}"


def test_a_range_between_whole_frames_is_no_part(rig):
    """Keys begin and end where they like; whole frames are bound."""
    for curve in actions.all_curves(*actions.assigned(rig)):
        for point in curve.keyframe_points:
            point.co.x += 0.4
        curve.update()
    go_live(rig)
    lift(0.1)
    assert is_ready(rig) and status(rig).note is None
