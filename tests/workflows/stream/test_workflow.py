"""Live Stream with real sockets: what the buttons and the timer do, called as they call it."""

from __future__ import annotations

import functools
import importlib
import math
import socket
import threading
import time
import types

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import handlers
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.scene.stream_empties import COLLECTION
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.streams.listener import Listener
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.stream import follow
from bl_ext.devrepo.motion_loom.workflows.stream.follow import status, tick
from bl_ext.devrepo.motion_loom.workflows.stream.run import stream_state

from checkout import PACKAGE
from examples.send_clip import bundle, message, packets
from tests.panel_layout import Context, Layout

NAMES = ("Hips", "Head", "hand.L", "左手")
LOOPBACK = "127.0.0.1"
press = bpy.ops.motion_loom


class Clock:
    """Seconds that pass when a test says so: nothing depends on how busy the computer is."""

    def __init__(self):
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """The clock of what is received and of the panel's rate."""
    made = Clock()
    monkeypatch.setattr(follow, "Listener", functools.partial(Listener, clock=made))
    monkeypatch.setattr(follow, "_clock", made)
    yield made
    follow.close()


@pytest.fixture
def scene():
    """The scene, set to a port that is free."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind((LOOPBACK, 0))
        bpy.context.scene.motion_loom_stream.port = taken.getsockname()[1]
    return bpy.context.scene


def threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "Motion Loom stream"]


def places(seed=0, *shape) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(*shape, len(NAMES), 3))


def send(*data: bytes) -> None:
    """Send packets, and wait until they have been read."""
    listener = stream_state.run.listener
    until = listener.counts().received + len(data)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        for packet in data:
            out.sendto(packet, (LOOPBACK, listener.port))
    end = time.monotonic() + 10.0
    while listener.counts().received < until and time.monotonic() < end:
        time.sleep(0.001)
    assert listener.counts().received == until


def pose(seed=0, names=NAMES, seconds=0.0) -> None:
    send(*packets(names, places(seed)[: len(names)], seconds))


def empties(scene=None) -> dict[str, bpy.types.Object]:
    scene = scene or bpy.context.scene
    return {ob["motion_loom_joint"]: ob for ob in scene.objects if "motion_loom_joint" in ob}


def shown(names=NAMES) -> np.ndarray:
    bpy.context.view_layer.update()
    found = empties()
    return np.array([found[name].matrix_world.translation for name in names])


def drawn() -> list[str]:
    """What the panel says."""
    out = []
    registry.by_id("stream").draw(Layout(out, True), Context(None))
    return out


def action_of(ob) -> bpy.types.Action | None:
    return ob.animation_data.action if ob.animation_data else None


# --------------------------------------------------------------------------------------------------- listening


def test_empties_go_where_the_latest_frame_says(scene):
    assert press.stream_start() == {"FINISHED"}
    assert len(threads()) == 1
    for seed in range(3):
        pose(seed)
        assert tick() == pytest.approx(1 / 60)
        np.testing.assert_allclose(shown(), places(seed), atol=1e-6)
    assert len(empties()) == len(bpy.data.objects) == 4
    assert set(bpy.data.collections[COLLECTION].objects) == set(empties().values())
    assert press.stream_stop() == {"FINISHED"}
    assert not threads() and tick() is None
    np.testing.assert_allclose(shown(), places(2), atol=1e-6)


def test_nothing_happens_at_rest(scene):
    press.stream_start()
    pose()
    tick()
    shown()
    updates = []
    seen = lambda _scene, depsgraph: updates.append(len(depsgraph.updates))  # noqa: E731
    bpy.app.handlers.depsgraph_update_post.append(seen)
    try:
        for _ in range(5):
            tick()
            bpy.context.view_layer.update()
        assert not updates
        pose(1)
        tick()
        bpy.context.view_layer.update()
        assert updates and updates[0] >= 4
    finally:
        bpy.app.handlers.depsgraph_update_post.remove(seen)


def test_followers_are_told_which_empties_moved(scene, monkeypatch):
    """What is live is asked to follow by the handlers, with the uids of all that was evaluated."""
    press.stream_start()
    pose()
    tick()
    shown()
    told = []
    monkeypatch.setattr(live_runs, "runs", {("", ""): None})
    monkeypatch.setattr(handlers.live, "follow_all", lambda _scene, _depsgraph, uids, *_: told.append(uids))
    pose(1)
    tick()
    shown()
    monkeypatch.undo()
    assert told and {ob.session_uid for ob in empties().values()} <= told[0]


def test_joints_in_several_frames_between_two_ticks_all_arrive(scene):
    press.stream_start()
    pose(0)
    send(*packets(NAMES[:3], places(1)[:3], 0.1), *packets(NAMES[3:], places(1)[3:], 0.2))
    tick()
    assert status().joints == 4
    np.testing.assert_allclose(shown(), places(1), atol=1e-6)


def test_bones_come_out_upright(scene):
    """A figure in Unity's axes: its hips one metre above the ground, the head half a metre above them."""
    upright = (0.0, 0.0, 0.0, 1.0)
    press.stream_start()
    send(
        bundle(
            message("/VMC/Ext/Bone/Pos", "Hips", 0.0, 1.0, 2.0, *upright),
            message("/VMC/Ext/Bone/Pos", "Head", 0.0, 0.5, 0.0, *upright),
            message("/VMC/Ext/OK", 1.0),
        )
    )
    tick()
    np.testing.assert_allclose(shown(("Hips", "Head")), [[0, -2, 1], [0, -2, 1.5]], atol=1e-6)


def test_garbage_moves_nothing(scene):
    press.stream_start()
    pose()
    tick()
    rng = np.random.default_rng(3)
    send(*[rng.bytes(rng.integers(1, 900)) for _ in range(200)])
    send(message("/motion_loom/point", "Hips", math.nan, 0.0, 0.0), message("/other/address", 1.0))
    tick()
    np.testing.assert_allclose(shown(), places(), atol=1e-6)
    text = " ".join(drawn())
    assert "200 malformed packets, 1 messages left out, 1 messages ignored" in text
    assert "Left out: /motion_loom/point: 'Hips' has numbers that are not finite" in text
    assert "Ignored messages: /other/address (1)" in text


def test_what_is_guessed_of_bones_is_said_while_listening_and_afterwards(scene):
    """Rotations without positions: the panel, the end of a recording and that of listening name the standard body."""
    words = "Positions are missing: rotations are shown on a standard body 1.7 m high"
    none = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    bones = [message("/VMC/Ext/Bone/Pos", name, *none) for name in ("Hips", "Spine", "LeftHand")]
    press.stream_start()
    send(bundle(*bones))
    tick()
    found = shown(("Hips", "Spine", "LeftHand"))
    assert found[0, 2] < found[1, 2] < found[2, 2] and found[2, 0] > 0.5
    assert words in " ".join(drawn())
    follow.record()
    send(bundle(*bones))
    assert words in follow.keep()
    assert words in follow.stop()


def test_a_flood_of_names_is_cut_off(scene, monkeypatch):
    monkeypatch.setattr(follow, "MAX_JOINTS", 6)
    press.stream_start()
    pose()
    tick()
    for k in range(5):
        send(*packets([f"{k} {i}" for i in range(4)], places(), 0.0))
        tick()
    assert len(bpy.data.objects) == 6
    pose(7)
    tick()
    np.testing.assert_allclose(shown(), places(7), atol=1e-6)
    assert "More than 6 joints were sent" in " ".join(drawn())


@pytest.mark.parametrize("reason", ["busy", "rendering"])
def test_pauses_while_frames_are_stepped_through_or_rendered(scene, monkeypatch, reason):
    press.stream_start()
    pose()
    tick()
    press.stream_record()
    with monkeypatch.context() as patch:
        if reason == "busy":
            patch.setattr(live_runs, "busy", True)
        else:
            patch.setattr(follow.session, "is_rendering", lambda: True)
        pose(1, seconds=0.1)
        assert tick()
        np.testing.assert_allclose(shown(), places(), atol=1e-6)
        assert status().take.frames == 1
    tick()
    np.testing.assert_allclose(shown(), places(1), atol=1e-6)


def test_start_again(scene):
    for seed in range(3):
        press.stream_start()
        assert status().counts.received == 0
        pose(seed)
        tick()
        np.testing.assert_allclose(shown(), places(seed), atol=1e-6)
        press.stream_stop()
    assert len(bpy.data.objects) == 4 and not threads()


# ------------------------------------------------------------------------------------------------- what is wrong


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


def test_nothing_received(scene):
    press.stream_start()
    tick()
    assert not bpy.data.objects and COLLECTION not in bpy.data.collections
    assert "Waiting for packets at 127.0.0.1" in " ".join(drawn())
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
    path = str(tmp_path / "library.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (there, linked):
        linked.scenes = there.scenes
    context = types.SimpleNamespace(scene=linked.scenes[0])
    assert "is linked; switch to one of this file" in follow.why_not_start(context)


# ------------------------------------------------------------------------------------------------------ recording


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


def test_a_recording_plays_the_same_places(scene):
    press.stream_start()
    pose(9)
    tick()
    track = recorded(scene)
    press.stream_stop()
    assert {action.name for action in bpy.data.actions} == (
        {"Take"} if actions.HAS_SLOTS else {f"Take {name}" for name in NAMES}
    )
    for frame in (10, 15, 22):
        scene.frame_set(frame)
        np.testing.assert_allclose(shown(), track[frame - 10], atol=1e-5)


def test_a_recording_that_cannot_be_written_is_not_lost(scene, monkeypatch):
    press.stream_start()
    recorded(scene, name="First")
    write, calls = actions.write_curve, []

    def scarce(*args, **kwargs):
        calls.append(args)
        if len(calls) > 4:
            raise MemoryError
        return write(*args, **kwargs)

    press.stream_record()
    pose(3)
    tick()
    before = set(bpy.data.actions.keys()), {name: action_of(ob) for name, ob in empties().items()}
    monkeypatch.setattr(actions, "write_curve", scarce)
    with pytest.raises(MemoryError):
        follow.keep()
    assert (set(bpy.data.actions.keys()), {name: action_of(ob) for name, ob in empties().items()}) == before
    monkeypatch.undo()
    assert "frames" in follow.keep() and len(bpy.data.actions) > len(before[0])


def test_what_is_said_of_a_recording(scene):
    press.stream_start()
    scene.frame_set(7)
    assert follow.record() == "Recording from frame 7"
    pose(0, seconds=0.0)
    pose(1, NAMES[:3], seconds=10.0)  # a sender's clock that is wrong: not used
    tick()
    shown_take = status().take
    assert (shown_take.frames, shown_take.first_frame, shown_take.is_full) == (2, 7, False)
    assert {"take", "Stop Recording"} <= set(drawn())
    assert "2 frames received, from frame 7" in " ".join(drawn())
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
    scene.frame_set(16)
    np.testing.assert_allclose(shown(), track[6], atol=1e-5)


def test_while_listening_the_stream_is_shown_and_then_the_recording(scene):
    """Else both would move the empties on playback."""
    press.stream_start()
    track = recorded(scene)
    pose(3)
    tick()
    assert not any(action_of(ob) for ob in empties().values())
    scene.frame_set(12)
    np.testing.assert_allclose(shown(), places(3), atol=1e-6)
    press.stream_stop()
    assert all(action_of(ob) for ob in empties().values())
    assert not any("motion_loom_take" in ob for ob in empties().values())
    scene.frame_set(12)
    np.testing.assert_allclose(shown(), track[2], atol=1e-5)


def test_a_second_take_keeps_the_first(scene):
    press.stream_start()
    recorded(scene)
    recorded(scene, name="Second")
    press.stream_stop()
    assert all(action_of(ob).name.startswith("Second") for ob in empties().values())
    first = [action for action in bpy.data.actions if action.name.startswith("Take")]
    assert first and all(action.use_fake_user for action in first)


def test_an_action_given_while_listening_is_not_lost(scene):
    press.stream_start()
    recorded(scene)
    pose(3)
    tick()
    hips = empties()["Hips"]
    action, slot = actions.create(hips, "By hand")
    actions.assign(hips, action, slot)
    press.stream_stop()
    assert action_of(hips).name == "By hand"
    assert bpy.data.actions["Take" if actions.HAS_SLOTS else "Take Hips"].use_fake_user


def test_a_file_saved_while_listening_plays_its_recording(scene, tmp_path):
    press.stream_start()
    track = recorded(scene)
    pose(3)
    tick()
    path = str(tmp_path / "saved.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    pose(4)
    tick()
    np.testing.assert_allclose(shown(), places(4), atol=1e-6)
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.scene.frame_set(12)
    np.testing.assert_allclose(shown(), track[2], atol=1e-5)


# --------------------------------------------------------------------------------- files, scenes, the extension


def test_another_file_ends_listening(scene, tmp_path):
    path = str(tmp_path / "scene.blend")
    press.stream_start()
    pose()
    tick()
    press.stream_record()
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert status() is None and not threads() and tick() is None
    assert not bpy.app.timers.is_registered(tick)
    np.testing.assert_allclose(shown(), places(), atol=1e-6)
    press.stream_start()
    pose(1)
    tick()
    np.testing.assert_allclose(shown(), places(1), atol=1e-6)
    assert len(bpy.data.objects) == 4


def test_disabling_the_extension_ends_listening(scene):
    registration = importlib.import_module(f"{PACKAGE}.registration")
    port = scene.motion_loom_stream.port
    press.stream_start()
    pose()
    tick()
    registration.unregister()
    try:
        assert not threads() and not bpy.app.timers.is_registered(tick)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
            other.bind((LOOPBACK, port))
        assert not hasattr(bpy.types.Scene, "motion_loom_stream")
    finally:
        registration.register()
    np.testing.assert_allclose(shown(), places(), atol=1e-6)


def test_deleted_empties_come_back(scene):
    press.stream_start()
    pose()
    tick()
    bpy.data.objects.remove(empties()["Head"])
    bpy.data.collections.remove(bpy.data.collections[COLLECTION])
    pose(1)
    tick()
    np.testing.assert_allclose(shown(), places(1), atol=1e-6)


def test_a_copied_empty_stays_where_it_is(scene):
    press.stream_start()
    pose()
    tick()
    hips = empties()["Hips"]
    copy = hips.copy()
    bpy.data.collections[COLLECTION].objects.link(copy)
    pose(1)
    tick()
    np.testing.assert_allclose(hips.location, places(1)[0], atol=1e-6)
    np.testing.assert_allclose(copy.location, places()[0], atol=1e-6)


def test_a_copy_of_the_scene_stays_still(scene):
    press.stream_start()
    pose()
    tick()
    first = bpy.context.scene
    bpy.ops.scene.new(type="FULL_COPY")
    second = next(other for other in bpy.data.scenes if other != first)
    pose(1)
    tick()
    at = [np.array([empties(one)[name].location for name in NAMES]) for one in (first, second)]
    np.testing.assert_allclose(at[0], places(1), atol=1e-6)
    np.testing.assert_allclose(at[1], places(0), atol=1e-6)
    bpy.context.window.scene = second
    assert f"The empties are in scene '{first.name}'" in " ".join(drawn())


def test_a_deleted_scene_ends_listening(scene):
    press.stream_start()
    pose()
    tick()
    other = bpy.data.scenes.new("Other")
    name = scene.name
    bpy.data.scenes.remove(scene)
    assert bpy.context.scene == other
    pose(1)
    assert tick() is None
    assert status() is None and not threads()
    assert f"Scene '{name}', which has the empties, was deleted" in " ".join(drawn())


def test_a_renamed_scene_is_found(scene):
    press.stream_start()
    scene.name = "Renamed"
    pose()
    tick()
    np.testing.assert_allclose(shown(), places(), atol=1e-6)


# ------------------------------------------------------------------------------------------------------- the panel


def test_the_panel_needs_no_object(scene):
    assert drawn() == ["host", "port", "Start Listening"]


@pytest.mark.parametrize(
    ("host", "warns"),
    [
        ("127.0.0.1", False),
        ("127.1.2.3", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("192.168.1.2", True),
        ("127.0.0.1.example.org", True),
    ],
)
def test_the_panel_warns_of_a_network(scene, host, warns):
    scene.motion_loom_stream.host = host
    assert ("Other computers" in " ".join(drawn())) == warns


def test_the_panel_counts(scene, clock):
    press.stream_start()
    tick()
    send(message("/VMC/Ext/OK", 1.0))
    tick()
    assert "No packet has held a joint so far" in " ".join(drawn())
    pose()
    pose(1)
    clock.now += 0.5
    tick()
    text = " ".join(drawn())
    assert "4 joints" in text and "3 packets received" in text and f"choose '{COLLECTION}'" in text
    assert status().rate == pytest.approx(2 / 0.5)
    for _ in range(10):
        clock.now += 0.5
        tick()
    assert status().rate == 0.0
