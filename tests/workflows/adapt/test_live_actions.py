"""Live on all that a user does to actions, keys and strips meanwhile."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions

from tests import adapt_live, adapt_rigs
from tests import adapt_scenes as scenes
from tests.adapt_live import STEP, ends_clean, follows, has_risen, joints, lift, live_action, settle, stands_still
from tests.adapt_play import bind, press, refused, slot_of, status
from tests.adapt_rigs import edit_bones
from tests.rig_scenes import add_strip, fingerprint

pytestmark = pytest.mark.usefixtures("both_ways", "silent")


@pytest.fixture
def was(live_rig):
    """What there was before Live on."""
    return adapt_live.before["Rig"]


def assign(rig, action):
    actions.assign(rig, action, slot_of(action))


def assign_another(rig):
    assign(rig, adapt_live.before["Rig"].source.copy())


def put_back(rig):
    other = rig.animation_data.action
    assign(rig, live_action(rig))
    bpy.data.actions.remove(other)


def resume(rig):
    press(rig, "live_resume")


def leave_the_slot(rig):
    if not actions.HAS_SLOTS:
        pytest.skip("there are no slots before 4.4")
    rig.animation_data.action_slot = live_action(rig).slots.new("OBJECT", "Other")


def leave_all_slots(rig):
    leave_the_slot(rig)
    rig.animation_data.action_slot = None


def push_down(rig):
    add_strip(rig, live_action(rig), slot_of(live_action(rig)), 1)
    rig.animation_data.action = None


NO_ACTION = "'Rig' plays no action, not its live one"
# What is done, what the problem says, and what makes it followed again: pressing Resume, mostly.
SPOILT = {
    "another action": (assign_another, ("'Rig' plays the action 'Rig clip.001', not its live one", "Resume"), put_back),
    "the source by hand": (lambda rig: assign(rig, rig.motion_loom_adapt.source), ("not its live one",), resume),
    "no action": (lambda rig: setattr(rig.animation_data, "action", None), (NO_ACTION,), resume),
    "animation data cleared": (lambda rig: rig.animation_data_clear(), (NO_ACTION,), resume),
    "the live action deleted": (lambda rig: bpy.data.actions.remove(live_action(rig)), (NO_ACTION,), resume),
    "another slot": (leave_the_slot, ("'Rig'", "slot"), resume),
    "no slot": (leave_all_slots, ("'Rig'", "slot"), resume),
    "pushed down": (push_down, (NO_ACTION,), None),
}


@pytest.mark.versions
@pytest.mark.parametrize("off", [False, True], ids=["mended", "switched off"])
@pytest.mark.parametrize("what", SPOILT)
def test_what_is_played_is_not_what_is_live(live_rig, was, what, off):
    """What is played then is left alone, also by Live off."""
    spoil, words, mend = SPOILT[what]
    spoil(live_rig)
    played = live_rig.animation_data and live_rig.animation_data.action
    keys = played and fingerprint(played)
    lift()
    stands_still(live_rig, *words, remedy="RESUME")
    assert fingerprint(was.source) == was.keys and (played is None or fingerprint(played) == keys)
    lift(-STEP)
    if off or mend is None:
        press(live_rig)
        settle()
        data = live_rig.animation_data
        assert not live_rig.motion_loom_adapt.live and fingerprint(was.source) == was.keys
        assert what not in ("another action", "the source by hand") or data.action == played
        assert what != "the live action deleted" or data.action == was.source
        left = {"another action": {"Rig clip.001"}, "pushed down": {"Rig clip (live)"}}
        assert set(bpy.data.actions.keys()) == was.actions | left.get(what, set())
        return
    mend(live_rig)
    follows(live_rig)
    slot = actions.HAS_SLOTS and live_rig.animation_data.action_slot
    assert not slot or slot == slot_of(live_action(live_rig))
    ends_clean(live_rig)


@pytest.mark.versions
@pytest.mark.parametrize("which", ["live", "source"])
def test_an_action_is_renamed(mended, was, which):
    if which == "live":
        live_action(mended).name = "Mine"
    else:
        was.source.name, was.actions = "Other", {"Other"}


def test_the_source_is_deleted(live_rig, was):
    bpy.data.actions.remove(was.source)
    lift()
    stands_still(live_rig, "'Rig'", "was deleted")
    press(live_rig)
    assert not live_rig.motion_loom_adapt.live


def move_keys(action, bone, by):
    for curve in actions.all_curves(action, slot_of(action)):
        if f'"{bone}"' in curve.data_path and curve.array_index == 1:
            for point in curve.keyframe_points:
                point.co.y += by
            curve.update()
    action.update_tag()


def test_the_source_is_edited(mended, was):
    move_keys(was.source, "thigh.R", 0.2)
    edited = fingerprint(was.source)
    settle()  # an edit and another frame at once are not told apart
    stands_still(mended, "The motion of 'Rig' is not the one that was bound", "thigh.R", remedy="BIND")
    assert not status(mended).source_untouched and fingerprint(was.source) == edited
    for curve, old in zip(actions.all_curves(was.source, slot_of(was.source)), was.keys, strict=True):
        assert old[0] == curve.data_path
        for point, values in zip(curve.keyframe_points, old[3], strict=True):
            point.co, point.handle_left, point.handle_right = values[0:2], values[2:4], values[4:6]
    was.source.update_tag()
    settle()
    assert status(mended).source_untouched


def test_the_source_is_edited_where_nothing_is_solved(live_rig, was):
    low = joints(live_rig)
    live_rig["mood"] = 0.0
    actions.curve_list(was.source, slot_of(was.source)).fcurves.new('["mood"]').keyframe_points.insert(1, 1.0)
    edited = fingerprint(was.source)
    follows(live_rig)
    assert not status(live_rig).source_untouched and fingerprint(was.source) == edited
    assert np.abs(joints(live_rig) - low).max() < 1e-5
    press(live_rig)
    assert live_rig.animation_data.action == was.source and fingerprint(was.source) == edited


# ------------------------------------------------------------------------------------------ the user's keys


def add_prop(rig):
    """A bone that is not solved: it hangs on nothing."""

    def add(bones):
        new = bones.new("prop")
        new.head, new.tail = (1, 0, 1), (1, 0, 1.2)

    edit_bones(rig, add)
    settle()


def kept_keys(rig, path, index=0):
    """The curve in the action that Live off keeps for the user's keys."""
    name, was = live_action(rig).name, adapt_live.before["Rig"]
    press(rig)
    settle()
    kept = bpy.data.actions[name]
    assert kept.use_fake_user and rig.animation_data.action == was.source
    assert fingerprint(was.source) == was.keys
    return actions.find_curve(kept, slot_of(kept), path, index)


def test_keys_on_a_solved_bone(live_rig, was):
    bone = live_rig.pose.bones["thigh.R"]
    bpy.context.scene.frame_set(5)
    bone.rotation_quaternion.x += 0.1
    bone.keyframe_insert("rotation_quaternion", frame=5)
    settle()
    # Solving writes over them.
    lift()
    lift(-STEP)
    assert status(live_rig).problem is None
    assert kept_keys(live_rig, actions.bone_path("thigh.R", "rotation_quaternion")) is not None
    assert np.array_equal(scenes.joints_of(live_rig), was.joints)


@pytest.mark.parametrize(
    ("bone", "key", "path"),
    [
        ("prop", "location", 'pose.bones["prop"].location'),
        ("head", '["mood"]', 'pose.bones["head"]["mood"]'),
        ("", '["mood"]', '["mood"]'),
        ("", "color", "color"),
    ],
)
def test_keys_on_what_is_not_solved(live_rig, bone, key, path):
    if bone == "prop":
        add_prop(live_rig)
    holder = live_rig.pose.bones[bone] if bone else live_rig
    for frame, value in ((1, 1.0), (12, 1.01)):
        if key == '["mood"]':
            holder["mood"] = value
        else:
            setattr(holder, key, (value,) * len(getattr(holder, key)))
        holder.keyframe_insert(key, frame=frame)
    bpy.context.scene.frame_set(7)
    settle()
    assert status(live_rig).problem is None, status(live_rig).problem
    follows(live_rig)
    found = actions.find_curve(*actions.assigned(live_rig), path, 0)
    for curve in (found, kept_keys(live_rig, path)):
        assert [point.co.y for point in curve.keyframe_points] == pytest.approx([1.0, 1.01])


@pytest.mark.parametrize(
    ("bone", "channel"),
    [
        ("", "location"), ("", "rotation_euler"), ("", "scale"), ("", "delta_location"), ("wrist.L", "location"),
        ("wrist.L", "scale"),
    ],
)  # fmt: skip
def test_keys_that_move_what_is_solved_for(live_rig, bone, channel):
    """What is solved knows only where the bound action has the rig and its joints; also when it is baked."""
    holder, whose = live_rig, "'Rig' itself"
    if bone:
        holder, whose = live_rig.pose.bones[bone], f"Bone '{bone}' of 'Rig'"
    old = getattr(holder, channel).x

    def key_both_ends():
        holder.keyframe_insert(channel, frame=1)
        getattr(holder, channel).x += 0.05
        holder.keyframe_insert(channel, frame=24)

    key_both_ends()
    stands_still(live_rig, f"{whose} ({channel}) is keyed in 'Rig clip (live)'", "Delete these keys")
    for button in ("live_refresh", "bake"):
        assert "is keyed in" in refused(live_rig, button)
    for frame in (1, 24):
        holder.keyframe_delete(channel, frame=frame)
    getattr(holder, channel).x = old
    settle()
    follows(live_rig)
    key_both_ends()
    ends_clean(live_rig, joints_too=False, new_actions=[live_action(live_rig).name])
    assert "is keyed in" in refused(live_rig)
    assert not live_rig.motion_loom_adapt.live
    assert live_rig.animation_data.action == live_rig.motion_loom_adapt.source


@pytest.mark.parametrize("channel", ["location", "scale"])
@pytest.mark.parametrize("name", ["", "wrist.L"])
def test_keys_that_hold_still(live_rig, name, channel):
    """As one key of everything sets them: they count as the value that they hold."""
    holder = live_rig.pose.bones[name] if name else live_rig
    old = getattr(holder, channel).copy()
    holder.keyframe_insert(channel, frame=5)
    follows(live_rig)
    getattr(holder, channel)[:] = [value + 0.1 for value in old]
    holder.keyframe_insert(channel, frame=5)
    settle()
    if (name, channel) == ("wrist.L", "location"):  # another body than was bound
        stands_still(live_rig, "The motion of 'Rig' is not the one that was bound (bone 'elbow.L'", remedy="BIND")
        getattr(holder, channel)[:] = old
        holder.keyframe_insert(channel, frame=5)
        settle()
    follows(live_rig)
    held = joints(live_rig)
    press(live_rig, "bake")
    assert np.abs(scenes.joints_of(live_rig) - held).max() < 1e-6


@pytest.mark.parametrize("name", ["thigh.R", "hips", "prop"])
def test_bones_are_posed_without_keys(live_rig, name):
    """As Blender plays any action: until the frame changes."""
    if name == "prop":
        add_prop(live_rig)
    low = joints(live_rig)
    bpy.context.scene.frame_set(7)
    if name != "thigh.R":
        live_rig.pose.bones[name].location.x += 0.1
    live_rig.pose.bones[name].rotation_quaternion.x += 0.1
    settle()
    assert status(live_rig).problem is None
    live_rig.pose.bones[name].location = 0, 0, 0
    follows(live_rig)
    others = [row for row, bone in enumerate(live_rig.data.bones) if bone.name != "prop"]
    assert np.abs(joints(live_rig) - low)[:, others].max() < 1e-5


def test_autokey_sets_no_keys(live_rig):
    def counts():
        curves = actions.all_curves(*actions.assigned(live_rig))
        return {curve.data_path: len(curve.keyframe_points) for curve in curves}

    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    before = counts()
    follows(live_rig)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = False
    assert before.keys() <= counts().keys() and max(counts().values()) <= len(scenes.FRAMES)
    ends_clean(live_rig)


@pytest.mark.versions
def test_curves_of_the_live_action_are_deleted_and_muted(live_rig):
    lift()
    curves = actions.curve_list(*actions.assigned(live_rig)).fcurves
    curves.remove(next(curve for curve in curves if "knee.R" in curve.data_path))
    next(curve for curve in curves if "thigh.R" in curve.data_path).mute = True
    curves.find(actions.bone_path("hips", "location"), index=2).keyframe_points.insert(7.5, 3.0)
    lift(-STEP)
    follows(live_rig)
    name = live_action(live_rig).name
    ends_clean(live_rig, new_actions=[name])
    assert bpy.data.actions[name].use_fake_user


def test_the_whole_live_action_is_emptied(live_rig, was):
    curves = actions.curve_list(*actions.assigned(live_rig)).fcurves
    for curve in list(curves):
        curves.remove(curve)
    settle()
    lift()
    assert adapt_live.is_no_bug(live_rig)
    lift(-STEP)
    press(live_rig)
    settle()
    assert live_rig.animation_data.action == was.source
    assert np.array_equal(scenes.joints_of(live_rig), was.joints)


# ------------------------------------------------------------------------------------------------------ NLA


def pushed_strip(rig, mute):
    """A strip of a copy of the source on a track of its own: the track, and the copy."""
    copy = adapt_live.before["Rig"].source.copy()
    add_strip(rig, copy, slot_of(copy), 1, mute_track=mute)
    settle()
    return rig.animation_data.nla_tracks[0], copy


@pytest.mark.versions
def test_a_strip_is_tweaked(mended, was):
    track, copy = pushed_strip(mended, True)
    track.mute = False
    track.strips[0].select = True
    mended.animation_data.nla_tracks.active = track
    mended.animation_data.use_tweak_mode = True
    if not mended.animation_data.use_tweak_mode:
        pytest.skip("this Blender does not enter tweak mode without an editor")
    old = fingerprint(copy)
    lift()
    stands_still(mended, "'Rig'", "tweak")
    assert fingerprint(copy) == old and fingerprint(was.source) == was.keys
    mended.animation_data.use_tweak_mode = False
    mended.animation_data.nla_tracks.remove(track)
    bpy.data.actions.remove(copy)
    lift(-STEP)


@pytest.mark.parametrize("mute", [True, False])
def test_tracks_beside_the_action(mended, mute):
    track, copy = pushed_strip(mended, mute)
    low = joints(mended)
    lift()
    assert status(mended).problem is None
    if not mute:  # what is bound plays on top of another motion
        assert status(mended).track == "SWEEP"
        press(mended, "live_refresh")
    settle()
    assert status(mended).track == "READY" and has_risen(mended, low)
    lift(-STEP)
    mended.animation_data.nla_tracks.remove(track)
    bpy.data.actions.remove(copy)


@pytest.mark.versions
def test_strips_alone(rig):
    adapt_rigs.with_strips_alone(rig)
    adapt_live.go_live(bind(rig))
    low = joints(rig)
    lift()
    assert has_risen(rig, low)
    ends_clean(rig)
