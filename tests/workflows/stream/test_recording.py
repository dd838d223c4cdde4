"""Recordings of a stream: what they play, when they show, and what becomes of the empties' own actions."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.stream import follow
from bl_ext.devrepo.motion_loom.workflows.stream.follow import status, tick

from examples.send_clip import packets
from tests.mesh_steps import saved
from tests.stream_play import NAMES, arrive, drawn, empties, panel, places, pose, send, shown, shows

pytestmark = pytest.mark.versions

press = bpy.ops.motion_loom


def action_of(ob) -> bpy.types.Action | None:
    return ob.animation_data.action if ob.animation_data else None


def recorded(scene, count=13, name="Take", start=10) -> np.ndarray:
    """Record some frames at the scene's rate; returns their places (F, J, 3)."""
    track = np.cumsum(places(5, count), axis=0)
    scene.frame_set(start)
    scene.motion_loom_stream.take = name
    press.stream_record()
    clock = follow._clock
    began = clock.now
    for k, frame in enumerate(track):
        clock.now = began + k / scene.render.fps
        send(*packets(NAMES, frame, k / scene.render.fps))
        tick()
    assert press.stream_keep() == {"FINISHED"}
    return track


def plays(place, frame):
    bpy.context.scene.frame_set(frame)
    np.testing.assert_allclose(shown(), place, atol=1e-5)


def test_a_recording_plays_the_same_places(scene, started):
    arrive(9)
    track = recorded(scene)
    press.stream_stop()
    assert {action.name for action in bpy.data.actions} == (
        {"Take"} if actions.HAS_SLOTS else {f"Take {name}" for name in NAMES}
    )
    for frame in (10, 15, 22):
        plays(track[frame - 10], frame)


def test_a_recording_that_cannot_be_written_is_not_lost(scene, started, monkeypatch):
    recorded(scene, name="First")
    write, calls = actions.write_curve, []

    def scarce(*args, **kwargs):
        calls.append(args)
        if len(calls) > 4:
            raise MemoryError
        return write(*args, **kwargs)

    press.stream_record()
    arrive(3)
    before = set(bpy.data.actions.keys()), {name: action_of(ob) for name, ob in empties().items()}
    monkeypatch.setattr(actions, "write_curve", scarce)
    with pytest.raises(MemoryError):
        follow.keep()
    assert (set(bpy.data.actions.keys()), {name: action_of(ob) for name, ob in empties().items()}) == before
    monkeypatch.undo()
    assert "frames" in follow.keep() and len(bpy.data.actions) > len(before[0])


def test_what_is_said_of_a_recording(scene, started):
    scene.frame_set(7)
    assert follow.record() == "Recording from frame 7"
    pose(0, seconds=0.0)
    pose(1, NAMES[:3], seconds=10.0)  # a sender's clock that is wrong: not used
    tick()
    shown_take = status().take
    assert (shown_take.frames, shown_take.first_frame, shown_take.is_full) == (2, 7, False)
    assert {"take", "Stop Recording"} <= set(drawn())
    assert "2 frames received, from frame 7" in panel()
    text = follow.keep()
    last = int(text.split(" to ")[1].split(",")[0])
    assert last < 60
    missing = last - 7  # of the joint that came once
    assert f"frames 7 to {last}, 4 joints, {missing or 'no'} missing samples" in text


def test_a_recording_follows_a_scene_that_remaps_time(scene):
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 200
    press.stream_start()
    track = recorded(scene)
    press.stream_stop()
    plays(track[6], 16)


def test_while_listening_the_stream_is_shown_and_then_the_recording(scene, started):
    """Else both would move the empties on playback."""
    track = recorded(scene)
    arrive(3)
    assert not any(action_of(ob) for ob in empties().values())
    scene.frame_set(12)
    shows(3)
    press.stream_stop()
    assert all(action_of(ob) for ob in empties().values())
    assert not any("motion_loom_take" in ob for ob in empties().values())
    plays(track[2], 12)


def test_an_action_given_while_listening_is_not_lost(scene, started):
    recorded(scene)
    arrive(3)
    hips = empties()["Hips"]
    action, slot = actions.create(hips, "By hand")
    actions.assign(hips, action, slot)
    press.stream_stop()
    assert action_of(hips).name == "By hand"
    assert bpy.data.actions["Take" if actions.HAS_SLOTS else "Take Hips"].use_fake_user


def test_a_file_saved_while_listening_plays_its_recording(scene, started, tmp_path):
    track = recorded(scene)
    arrive(3)
    path = saved(tmp_path)
    arrive(4)
    shows(4)
    bpy.ops.wm.open_mainfile(filepath=path)
    plays(track[2], 12)
