"""Feet that are held, as a user of Map or Transfer has them: live, baked, on a ground, in files from before."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.workflows.core import live
from bl_ext.devrepo.motion_loom.workflows.mesh import feet_task, may_stand, plants

from tests import map_play, map_scenes, mesh_steps, transfer_play
from tests.map_play import MAP
from tests.mesh_steps import SAME, shown
from tests.walking_body import PART, walk

pytestmark = [pytest.mark.usefixtures("no_traceback")]
FRAMES = np.arange(1, 50)
SOLES = np.concatenate([np.flatnonzero(np.isclose(walk(0.1)[1][0][:, 2], 0.0))])


def add_walker(travels=True):
    """A body on four legs that walks two cycles."""
    _, vertices, triangles, places, _ = walk(2.0)
    if not travels:
        vertices = vertices - np.pad(places, ((0, 0), (0, 1)))[:, None]
    return map_play.add_target("Walker", vertices.astype(np.float32), triangles)


def steps():
    """(F, 9, 3) the trunk and the ends of legs of one who walks likewise, but lifts and sways otherwise."""
    _, vertices, _, _, _ = walk(2.0)
    parts = vertices.reshape(len(vertices), 5, PART, 3)
    points = np.concatenate((parts[:, :, 0], parts[:, 1:, PART // 2]), axis=1)
    sway = 0.06 * np.sin(2 * np.pi * np.arange(len(points)) / 24.0)[:, None]
    points[..., 0] += sway
    points[..., 2] += 0.5 * sway * np.arange(points.shape[1]) / 9
    return points


def make_walk(travels=True):
    """Walker, driven by points, after four pairs: too few for its feet to stand."""
    ob = map_play.learn(add_walker(travels), map_play.add_dots("Steps", steps(), FRAMES))
    map_play.pair(ob, *((frame, frame) for frame in (7, 13, 19, 26, 31)))
    return ob


@pytest.fixture
def ob():
    return mesh_steps.once(make_walk)


@pytest.fixture
def settings(ob):
    return ob.motion_loom_map


def at(ob, settings, feet):
    settings.feet = feet
    return shown(settings.live_copy, FRAMES)


def reported(capfd, *words):
    capfd.readouterr()
    assert jobs.main(["map", "--target", "Walker", "--bake", "absolute-keys", *words, "--json"]) == 0
    return json.loads(capfd.readouterr().out.splitlines()[-1])


def test_standing_feet_slide_less_and_live_is_as_baked(ob, settings, capfd):
    MAP.toggle(ob)
    free = at(ob, settings, "FREE")
    held = at(ob, settings, "FULL")
    assert np.abs(held - free).max() > 0.01
    settings.feet = "AS_OWN"
    followed = MAP.follows_as_baked(ob, FRAMES)
    MAP.toggle(ob)
    feet = reported(capfd)["feet"]
    baked = shown(settings.result, FRAMES)
    np.testing.assert_allclose(baked, followed, atol=2 * SAME * np.abs(followed).max())
    assert feet["found"] == 4 and feet["hold"] == "as_own" and feet["note"] is None
    assert feet["slide_after_m_s"] <= max(1.2 * feet["slide_own_m_s"], 0.02) < feet["slide_before_m_s"]
    assert feet["off_ground_after_m"] < 0.01 / 1.8 * 1.2 < feet["off_ground_before_m"]
    often = f"stand in {feet['stands_share']:.0%} of the frames (in own clips {feet['stands_share_own']:.0%})"
    assert 0.5 < feet["stands_share"] <= 1.0 and often in plants.text_of(feet)
    free_again = reported(capfd, "--feet", "free")
    assert free_again["feet"] == {"hold": "free", "found": 0, "note": None}
    np.testing.assert_allclose(shown(settings.result, FRAMES), free, atol=2 * SAME * np.abs(free).max())


def test_a_target_that_follows_itself_stays_as_it_is(settings, ob):
    """Its own poses by its own points, at every frame a pair."""
    settings.pairs.clear()
    map_play.pair(ob, *((frame, frame) for frame in FRAMES[1:]))
    MAP.toggle(ob)
    free, held = at(ob, settings, "FREE"), at(ob, settings, "AS_OWN")
    own = shown(ob, FRAMES)
    assert np.abs(held - own).max() < 1.05 * np.abs(free - own).max()


def test_a_walk_on_the_spot_stays_there(capfd):
    ob = mesh_steps.once(make_walk, False)
    settings = ob.motion_loom_map
    settings.travel = "NONE"
    MAP.toggle(ob)
    found = at(ob, settings, "AS_OWN")
    assert np.abs(found[..., :2] - found[:1, :, :2]).max() < 0.8
    assert live.status(ob, "map").note is None


def add_ground(name="Hill", slope=0.15, height=0.7):
    corners = [(x, y, height + slope * y) for x, y in ((-9, -9), (9, -9), (9, 9), (-9, 9))]
    return map_scenes.add_mesh(name, corners, [(0, 1, 2, 3)])


def test_feet_stand_on_the_ground_that_is_picked(ob, settings, capfd):
    hill = add_ground()
    MAP.toggle(ob)
    settings.stands_on = hill
    found = MAP.follows_as_baked(ob, FRAMES)
    above = found[..., 2] - (0.7 + 0.15 * found[..., 1])
    assert np.quantile(np.abs(above[:, SOLES].min(axis=1)), 0.8) < 0.01
    hill.location.z = -2.0
    bpy.context.view_layer.update()
    lowered = shown(settings.live_copy, FRAMES)
    np.testing.assert_allclose(lowered[..., 2], found[..., 2] - 2.0, atol=1e-5)
    MAP.toggle(ob)
    assert reported(capfd, "--ground", "Hill")["feet"]["off_ground_after_m"] < 0.01


def test_what_is_high_is_not_stood_on_and_where_the_ground_ends_is_told(ob, settings, capfd):
    """A canopy in the way changes nothing; a floor that ends is gone on with, and the frames are named."""
    floor, ends = [(x, y, 0.0) for x, y in ((-9, -9), (9, -9), (9, 9), (-9, 9))], 0.5
    canopy = [(x, y, 1.5) for x, y in ((-1, 0.2), (1, 0.2), (1, 0.8), (-1, 0.8))]
    short = [(x, min(y, ends), z) for x, y, z in floor]
    map_scenes.add_mesh("Floor", floor, [(0, 1, 2, 3)])
    map_scenes.add_mesh("Canopy", floor + canopy, [(0, 1, 2, 3), (4, 5, 6, 7)])
    map_scenes.add_mesh("Short", short, [(0, 1, 2, 3)])
    found, told = {}, {}
    for name in ("Floor", "Canopy", "Short"):
        told[name] = reported(capfd, "--ground", name)["feet"]
        found[name] = shown(settings.result, FRAMES)
    for name in ("Canopy", "Short"):
        np.testing.assert_allclose(found[name], found["Floor"], atol=1e-6)
    assert told["Floor"]["no_ground"] == told["Canopy"]["no_ground"] == told["Canopy"]["ground_not_followed"] == []
    ((first, last),) = told["Short"]["no_ground"]
    assert 1 < first < last <= FRAMES[-1] and found["Floor"][int(first) - 1, :, 1].max() > ends
    assert f"no ground is below standing feet at frames {first:g} to {last:g}" in plants.text_of(told["Short"])


def test_a_performed_walk_says_where_its_ground_ends(ob, settings, monkeypatch):
    seconds = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: seconds[0])
    corners = [(-9, -9, 0), (9, -9, 0), (9, 0.6, 0), (-9, 0.6, 0)]
    MAP.toggle(ob)
    settings.live_input, settings.stands_on = True, map_scenes.add_mesh("Short", corners, [(0, 1, 2, 3)])
    empties = list(bpy.data.collections["Steps"].objects)
    for empty in empties:
        empty.animation_data_clear()
    notes = []
    for places in steps():
        for empty, place in zip(empties, places, strict=True):
            empty.location = place
        seconds[0] += 1 / 24
        MAP.now(ob)
        notes.append(live.status(ob, "map").note)
    told = ["No ground is below the target" in (note or "") for note in notes]
    assert not any(told[:6]) and told[-1] and MAP.healthy(ob)
    settings.stands_on = None
    MAP.now(ob)
    assert live.status(ob, "map").note is None


def test_what_follows_goes_on_with_free_feet_while_its_ground_cannot_be_stood_on(ob, settings):
    """It stood still from the moment on at which a key was set, say by Auto Keying."""
    hill = add_ground(slope=0.0)
    MAP.toggle(ob)
    free = at(ob, settings, "FREE")
    settings.stands_on = hill
    held = at(ob, settings, "FULL")
    hill.keyframe_insert("location", frame=3)
    np.testing.assert_array_equal(shown(settings.live_copy, FRAMES), held)
    assert live.status(ob, "map").note is None and MAP.healthy(ob)
    hill.location.z = 0.4
    hill.keyframe_insert("location", frame=30)
    np.testing.assert_allclose(shown(settings.live_copy, FRAMES), free, atol=1e-6)
    note = live.status(ob, "map").note
    assert MAP.healthy(ob) and "Feet are free until this is mended" in note and "The ground 'Hill' may move" in note
    map_play.activate(settings.live_copy)
    settings.bake_kind = "ABSOLUTE_KEYS"
    with pytest.raises(RuntimeError, match="may move or change its shape"):
        bpy.ops.motion_loom.bake(workflow="map")
    hill.animation_data_clear()
    hill.location = (200.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    np.testing.assert_allclose(shown(settings.live_copy, FRAMES), free, atol=1e-6)
    assert MAP.healthy(ob) and "never comes to where its ground is" in live.status(ob, "map").note
    hill.location.x = 0.0
    bpy.context.view_layer.update()
    np.testing.assert_array_equal(shown(settings.live_copy, FRAMES), held)
    assert live.status(ob, "map").note is None


def test_transfer_goes_on_with_free_feet_while_its_ground_may_move():
    play = transfer_play
    ob = play.TRANSFER.add_live()
    settings = ob.motion_loom_transfer
    hill = add_ground(slope=0.0, height=0.0)
    settings.feet, settings.stands_on = "FULL", hill
    bpy.context.view_layer.update()
    before = play.TRANSFER.followed(ob)
    hill.location.x = 1.0
    hill.keyframe_insert("location", frame=1)
    hill.location.x = 0.0
    hill.keyframe_insert("location", frame=9)
    after = play.TRANSFER.followed(ob)
    assert "The ground 'Hill' may move" in live.status(ob, "transfer").note and play.TRANSFER.healthy(ob)
    assert np.ptp(after, axis=0).max() > 0.3 * np.ptp(before, axis=0).max()


@pytest.mark.parametrize("what", ["moves", "itself", "gone", "elsewhere", "wall", "no mesh", "no faces"])
def test_a_ground_that_cannot_be_stood_on_is_told(ob, settings, what):
    hill = add_ground()
    settings.stands_on = hill
    told = {
        "moves": "may move or change its shape",
        "itself": "cannot be its own ground",
        "gone": "is not in the scene",
        "elsewhere": "never comes to where its ground is",
        "wall": "no face to stand on",
        "no mesh": "is no mesh",
        "no faces": "has no faces; give it faces, or leave it out",
    }[what]
    if what == "moves":
        hill.keyframe_insert("location", frame=1)
        hill.location.x = 0.1
        hill.keyframe_insert("location", frame=9)
    elif what == "itself":
        settings.stands_on = ob
    elif what == "gone":
        bpy.context.scene.collection.objects.unlink(hill)
    elif what == "no mesh":
        settings.stands_on = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "POINT"))
        bpy.context.scene.collection.objects.link(settings.stands_on)
    elif what == "no faces":
        hill.data.clear_geometry()
    elif what == "elsewhere":
        hill.location.x = 100.0
    else:
        for vertex in hill.data.vertices:
            vertex.co = (0.0, vertex.co.y, vertex.co.x)
    bpy.context.view_layer.update()
    map_play.activate(ob)
    settings.bake_kind = "ABSOLUTE_KEYS"
    with pytest.raises(RuntimeError, match=told):
        bpy.ops.motion_loom.bake(workflow="map")
    assert settings.result is None


def test_a_vertex_group_says_what_may_stand(ob, settings, capfd):
    group = ob.vertex_groups.new(name="Hind Feet")
    group.add(list(range(PART, 3 * PART)), 1.0, "REPLACE")
    assert reported(capfd, "--may-stand", "Hind Feet")["feet"]["found"] == 2
    group.remove(list(range(5 * PART)))
    ob.data.update()
    none = reported(capfd)["feet"]
    assert none["found"] == 0 and "No foot was found" in none["note"]
    assert jobs.main(["map", "--target", "Walker", "--may-stand", "Paws", "--bake", "absolute-keys"]) == 1
    assert "no vertex group 'Paws'" in capfd.readouterr().err
    settings.stand_group = "Hind Feet"
    assert may_stand.group_missing(ob, settings) is may_stand.group_renamed(ob, settings) is None


def test_a_group_that_has_another_name_is_followed_while_its_vertices_are_the_same(ob, settings, tmp_path, capfd):
    group = ob.vertex_groups.new(name="Hind Feet")
    group.add(list(range(PART, 3 * PART)), 1.0, "REPLACE")
    settings.stand_group = "Hind Feet"
    MAP.toggle(ob)
    expected = shown(settings.live_copy, FRAMES)
    group.name = "Back"
    np.testing.assert_array_equal(shown(settings.live_copy, FRAMES), expected)
    told = "'Hind Feet' is called 'Back' now"
    assert told in live.status(ob, "map").note
    MAP.toggle(ob)
    ob = mesh_steps.reopened(ob, tmp_path)
    report, settings = reported(capfd), ob.motion_loom_map
    assert report["feet"]["found"] == 2 and told in report["feet"]["note"]
    assert any(told in note for note in report["notes"])
    # With other vertices it may be anything.
    ob.vertex_groups["Back"].remove([PART])
    ob.data.update()
    bpy.context.view_layer.update()
    assert "no vertex group 'Hind Feet'" in may_stand.group_missing(ob, settings)
    settings.stand_group = "Paws"
    ob.vertex_groups["Back"].add([PART], 1.0, "REPLACE")
    ob.data.update()
    bpy.context.view_layer.update()
    assert "no vertex group 'Paws'" in may_stand.group_missing(ob, settings)


def test_a_file_from_before_opens_with_free_feet_and_says_so(ob, settings, tmp_path):
    """They changed what was saved in files of before they were held."""
    MAP.toggle(ob)
    free = at(ob, settings, "FREE")
    settings.property_unset("feet")
    settings.feet_known = False
    ob = mesh_steps.reopened(ob, tmp_path)
    settings = ob.motion_loom_map
    bpy.context.scene.frame_set(5)
    assert settings.feet == "FREE" and "Learnt before feet were held" in live.status(ob, "map").note
    np.testing.assert_allclose(shown(settings.live_copy, FRAMES), free, atol=1e-6)
    settings.feet = "AS_OWN"
    bpy.context.view_layer.update()
    assert live.status(ob, "map").note is None
    assert np.abs(shown(settings.live_copy, FRAMES) - free).max() > 0.01


def test_a_file_whose_feet_were_held_by_other_rules_says_so(ob, settings, tmp_path, capfd):
    """What it shows has changed, by up to 23 cm, though nothing in it has."""
    MAP.toggle(ob)
    assert live.status(ob, "map").note is None
    settings.feet_rules = 1
    ob = mesh_steps.reopened(ob, tmp_path)
    settings = ob.motion_loom_map
    bpy.context.scene.frame_set(5)
    told = "earlier rules for feet"
    assert settings.feet == "AS_OWN" and told in live.status(ob, "map").note
    MAP.toggle(ob)
    report = reported(capfd)
    assert told in report["feet"]["note"] and any(told in note for note in report["notes"])
    settings.feet = "AS_OWN"
    assert not plants.older_note(settings, True) and reported(capfd)["feet"]["note"] is None


def test_what_takes_long_is_solved_in_a_thread_while_the_pose_is_shown(ob, settings, both_ways, monkeypatch):
    MAP.toggle(ob)
    expected = at(ob, settings, "FULL")
    settings.feet = "FREE"
    MAP.now(ob)
    monkeypatch.setattr(feet_task, "QUICK", 0)
    settings.feet = "FULL"
    settings.pairs[0].target_frame += 0.5
    first = MAP.now(ob)
    assert np.isfinite(first).all()
    settings.pairs[0].target_frame -= 0.5
    MAP.now(ob)
    while live._tick() is not None:
        pass
    assert MAP.healthy(ob)
    # The frame that is shown waits for no other one.
    np.testing.assert_allclose(MAP.now(ob), expected[bpy.context.scene.frame_current - 1], atol=1e-6)
    np.testing.assert_allclose(shown(settings.live_copy, FRAMES), expected, atol=1e-6)


def test_transfer_holds_feet_live_as_baked(capfd):
    play = transfer_play
    ob = play.TRANSFER.add_live()
    settings = ob.motion_loom_transfer
    settings.feet = "FULL"
    found = play.TRANSFER.follows_as_baked(ob)
    settings.feet = "FREE"
    assert np.isfinite(found).all() and np.isfinite(play.TRANSFER.followed(ob)).all()
