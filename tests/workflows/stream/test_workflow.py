"""Live Stream with real sockets: what the buttons and the timer do, called as they call it."""

import importlib
import math
import socket
import types

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import handlers
from bl_ext.devrepo.motion_loom.scene.stream_empties import COLLECTION
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.stream import follow
from bl_ext.devrepo.motion_loom.workflows.stream.follow import status, tick

from checkout import PACKAGE
from examples.send_clip import bundle, message, packets
from tests.mesh_steps import saved
from tests.stream_play import LOOPBACK, NAMES, arrive, drawn, empties, panel, places, pose, send, shown, shows, threads

press = bpy.ops.motion_loom


def test_empties_go_where_the_latest_frame_says(scene):
    assert press.stream_start() == {"FINISHED"}
    assert len(threads()) == 1
    for seed in range(3):
        pose(seed)
        assert tick() == pytest.approx(1 / 60)
        shows(seed)
    assert len(empties()) == len(bpy.data.objects) == 4
    assert set(bpy.data.collections[COLLECTION].objects) == set(empties().values())
    assert press.stream_stop() == {"FINISHED"}
    assert not threads() and tick() is None
    shows(2)


def test_nothing_happens_at_rest(posed):
    shown()
    updates = []
    seen = lambda _scene, depsgraph: updates.append(len(depsgraph.updates))  # noqa: E731
    bpy.app.handlers.depsgraph_update_post.append(seen)
    try:
        for _ in range(5):
            tick()
            bpy.context.view_layer.update()
        assert not updates
        arrive(1)
        bpy.context.view_layer.update()
        assert updates and updates[0] >= 4
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(seen)


def test_followers_are_told_which_empties_moved(posed, monkeypatch):
    """What is live is asked to follow by the handlers, with the uids of all that was evaluated."""
    shown()
    told = []
    monkeypatch.setattr(live_runs, "runs", {("", ""): None})
    monkeypatch.setattr(handlers.live, "follow_all", lambda _scene, _depsgraph, uids, *_: told.append(uids))
    arrive(1)
    shown()
    monkeypatch.undo()
    assert told and {ob.session_uid for ob in empties().values()} <= told[0]


def test_joints_in_several_frames_between_two_ticks_all_arrive(started):
    pose(0)
    send(*packets(NAMES[:3], places(1)[:3], 0.1), *packets(NAMES[3:], places(1)[3:], 0.2))
    tick()
    assert status().joints == 4
    shows(1)


def bone(name, *place):
    """An upright one, in Unity's axes."""
    return message("/VMC/Ext/Bone/Pos", name, *place, 0.0, 0.0, 0.0, 1.0)


def test_garbage_moves_nothing(posed):
    rng = np.random.default_rng(3)
    send(*[rng.bytes(rng.integers(1, 900)) for _ in range(200)])
    send(message("/motion_loom/point", "Hips", math.nan, 0.0, 0.0), message("/other/address", 1.0))
    tick()
    shows()
    text = panel()
    assert "200 malformed packets, 1 messages left out, 1 messages ignored" in text
    assert "Left out: /motion_loom/point: 'Hips' has numbers that are not finite" in text
    assert "Ignored messages: /other/address (1)" in text


def test_what_is_guessed_of_bones_is_said_while_listening_and_afterwards(started):
    """Rotations without positions: the panel, the end of a recording and that of listening name the standard body."""
    words = "Positions are missing: rotations are shown on a standard body 1.7 m high"
    bones = [bone(name, 0.0, 0.0, 0.0) for name in ("Hips", "Spine", "LeftHand")]
    send(bundle(*bones))
    tick()
    found = shown(("Hips", "Spine", "LeftHand"))
    assert found[0, 2] < found[1, 2] < found[2, 2] and found[2, 0] > 0.5
    assert words in panel()
    follow.record()
    send(bundle(*bones))
    assert words in follow.keep()
    assert words in follow.stop()


def test_a_flood_of_names_is_cut_off(posed, monkeypatch):
    monkeypatch.setattr(follow, "MAX_JOINTS", 6)
    for k in range(5):
        send(*packets([f"{k} {i}" for i in range(4)], places(), 0.0))
        tick()
    assert len(bpy.data.objects) == 6
    arrive(7)
    shows(7)
    assert "More than 6 joints were sent" in panel()


@pytest.mark.parametrize("reason", ["busy", "rendering"])
def test_pauses_while_frames_are_stepped_through_or_rendered(posed, monkeypatch, reason):
    press.stream_record()
    with monkeypatch.context() as patch:
        if reason == "busy":
            patch.setattr(live_runs, "busy", True)
        else:
            patch.setattr(follow.session, "is_rendering", lambda: True)
        pose(1, seconds=0.1)
        assert tick()
        shows()
        assert status().take.frames == 1
    tick()
    shows(1)


def test_start_again(scene):
    for seed in range(3):
        press.stream_start()
        assert status().counts.received == 0
        arrive(seed)
        shows(seed)
        press.stream_stop()
    assert len(bpy.data.objects) == 4 and not threads()


def test_a_port_in_use_is_told_and_nothing_starts(scene):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind((LOOPBACK, scene.motion_loom_stream.port))
        with pytest.raises(RuntimeError, match="is used by another program; close that, or choose another port"):
            press.stream_start()
    assert status() is None and not threads()
    assert press.stream_start() == {"FINISHED"}


@pytest.mark.parametrize(
    ("host", "words"),
    [("", "The address is empty"), ("192.0.2.1", "192.0.2.1"), ("no such host", "no such host"), ("a" * 300, "aaa")],
)
def test_an_address_that_cannot_be_had_is_told(scene, host, words):
    scene.motion_loom_stream.host = host
    with pytest.raises(RuntimeError, match=words):
        press.stream_start()
    assert status() is None and not threads() and not bpy.data.objects


def test_nothing_received(started):
    tick()
    assert not bpy.data.objects and COLLECTION not in bpy.data.collections
    assert "Waiting for packets at 127.0.0.1" in panel()
    press.stream_record()
    with pytest.raises(RuntimeError, match="Nothing was received, so there is nothing to record; start the sender"):
        press.stream_keep()
    assert not bpy.data.actions and not bpy.data.objects
    assert "Nothing was received; see that the sender" in follow.stop()


@pytest.mark.parametrize(
    ("before", "name", "words"),
    [
        ([], "stream_stop", "Nothing is listened to"),
        ([], "stream_record", "Start listening first"),
        ([], "stream_keep", "Nothing is being recorded"),
        (["stream_start"], "stream_start", "Listening already"),
        (["stream_start"], "stream_keep", "Nothing is being recorded"),
        (["stream_start", "stream_record"], "stream_record", "Recording already"),
        (["stream_start", "stream_record"], "stream_stop", "Stop the recording first"),
    ],
)
def test_buttons_that_cannot_be_pressed_say_why(scene, before, name, words):
    for other in before:
        getattr(press, other)()
    with pytest.raises(RuntimeError, match=words):
        getattr(press, name)()


@pytest.mark.parametrize(("name", "words"), [("fit", "has no step"), ("copy_command", "no command for it")])
def test_the_general_buttons_say_why_not(scene, name, words):
    with pytest.raises(RuntimeError, match=words):
        getattr(press, name)(workflow="stream")


def test_a_linked_scene_is_refused(scene, tmp_path):
    path = saved(tmp_path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, linked):
        linked.scenes = there.scenes
    context = types.SimpleNamespace(scene=linked.scenes[0])
    assert "is linked; switch to one of this file" in follow.why_not_start(context)


def test_another_file_ends_listening(posed, tmp_path):
    press.stream_record()
    bpy.ops.wm.open_mainfile(filepath=saved(tmp_path))
    assert status() is None and not threads() and tick() is None
    assert not bpy.app.timers.is_registered(tick)
    shows()
    press.stream_start()
    arrive(1)
    shows(1)
    assert len(bpy.data.objects) == 4


def test_disabling_the_extension_ends_listening(scene, posed):
    registration = importlib.import_module(f"{PACKAGE}.registration")
    port = scene.motion_loom_stream.port
    registration.unregister()
    try:
        assert not threads() and not bpy.app.timers.is_registered(tick)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind((LOOPBACK, port))
        assert not hasattr(bpy.types.Scene, "motion_loom_stream")
    finally:
        registration.register()
    shows()


def test_a_copied_empty_stays_where_it_is(posed):
    hips = empties()["Hips"]
    copy = hips.copy()
    bpy.data.collections[COLLECTION].objects.link(copy)
    arrive(1)
    np.testing.assert_allclose(hips.location, places(1)[0], atol=1e-6)
    np.testing.assert_allclose(copy.location, places()[0], atol=1e-6)


def test_a_copy_of_the_scene_stays_still(scene, posed):
    first = bpy.context.scene
    bpy.ops.scene.new(type="FULL_COPY")
    second = next(other for other in bpy.data.scenes if other != first)
    arrive(1)
    at = [np.array([empties(one)[name].location for name in NAMES]) for one in (first, second)]
    np.testing.assert_allclose(at[0], places(1), atol=1e-6)
    np.testing.assert_allclose(at[1], places(0), atol=1e-6)
    bpy.context.window.scene = second
    assert f"The empties are in scene '{first.name}'" in panel()


def test_a_deleted_scene_ends_listening(scene, posed):
    other = bpy.data.scenes.new("Other")
    name = scene.name
    bpy.data.scenes.remove(scene)
    assert bpy.context.scene == other
    pose(1)
    assert tick() is None
    assert status() is None and not threads()
    assert f"Scene '{name}', which has the empties, was deleted" in panel()


def test_a_renamed_scene_is_found(scene, started):
    scene.name = "Renamed"
    arrive()
    shows()


def test_the_panel_needs_no_object(scene):
    assert drawn() == ["host", "port", "Start Listening"]


@pytest.mark.parametrize(
    ("host", "warns"),
    [
        *((host, False) for host in ("127.0.0.1", "127.1.2.3", "localhost")),
        *((host, True) for host in ("0.0.0.0", "192.168.1.2", "127.0.0.1.example.org")),
    ],
)
def test_the_panel_warns_of_a_network(scene, host, warns):
    scene.motion_loom_stream.host = host
    assert ("Other computers" in panel()) == warns


def test_the_panel_counts(started, clock):
    tick()
    send(message("/VMC/Ext/OK", 1.0))
    tick()
    assert "No packet has held a joint so far" in panel()
    pose()
    pose(1)
    clock.now += 0.5
    tick()
    text = panel()
    assert "4 joints" in text and "3 packets received" in text and f"choose '{COLLECTION}'" in text
    assert status().rate == pytest.approx(2 / 0.5)
    for _ in range(10):
        clock.now += 0.5
        tick()
    assert status().rate == 0.0
