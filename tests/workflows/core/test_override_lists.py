"""Lists of library overrides: what is added is kept, what comes from the library is not removed, and both are told."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs

from tests import map_play
from tests import transfer_play as play
from tests.mesh_play import link, saved

pytestmark = [pytest.mark.usefixtures("no_traceback"), pytest.mark.versions]


def overriding(tmp_path, *names, active):
    """Objects of the present file linked into an empty one; one of them as a library override, active."""
    next(ob for ob in link(tmp_path, *names) if ob.name == active).override_create(remap_local_usages=True)
    return activated(active)


def activated(name):
    bpy.context.view_layer.update()
    ob = next(ob for ob in bpy.data.objects if ob.name == name and ob.override_library is not None)
    map_play.activate(ob)
    return ob


def reopened(tmp_path, ob):
    name = ob.name
    for again in ("once.blend", "twice.blend"):
        saved(tmp_path, again)
        bpy.ops.wm.open_mainfile(filepath=str(tmp_path / again))
    return activated(name)


@pytest.fixture
def bob(tmp_path):
    play.add_trained()
    return overriding(tmp_path, "Bob", "Ann", "Ann Again", active="Bob")


def frames(clip):
    return [(pair.source_frame, pair.target_frame) for pair in clip.pairs]


def add_pairs(ob, *pairs):
    for source, target in pairs:
        bpy.context.scene.frame_set(source)
        ob.motion_loom_transfer.target_frame = target
        map_play.press("transfer_add_pair")


def between(clip):
    """Two new pairs, in the middle between the first three of a clip."""
    first, second, third = frames(clip)[:3]
    return [tuple(int((a + b) / 2) for a, b in zip(*ends, strict=True)) for ends in ((first, second), (second, third))]


def test_pairs_and_clips_that_are_added_are_kept(bob, tmp_path):
    settings = bob.motion_loom_transfer
    count = len(settings.clips[0].pairs)
    add_pairs(bob, *between(settings.clips[0]))
    clips = len(settings.clips)
    for _ in range(2):
        clip = settings.clips.add()  # as a script does it, without a name
        clip.source, clip.target = settings.source, bob
        for frame in (3.0, 9.0, 12.0):
            pair = clip.pairs.add()
            pair.source_frame, pair.target_frame = frame, frame + 1.0
    before = [frames(clip) for clip in settings.clips]
    assert len(before) == clips + 2 and len(before[0]) == count + 2
    bob = reopened(tmp_path, bob)
    assert [frames(clip) for clip in bob.motion_loom_transfer.clips] == before


def test_pairs_of_map_that_are_added_are_kept(tmp_path):
    worm = map_play.add_ready()
    count = len(worm.motion_loom_map.pairs)
    dots = [ob.name for ob in bpy.data.collections["Dots"].objects]
    worm = overriding(tmp_path, worm.name, *dots, active=worm.name)
    for source, target in ((3, 2), (5, 3), (12, 7)):
        pair = worm.motion_loom_map.pairs.add()
        pair.source_frame, pair.target_frame = source, target
    before = frames(worm.motion_loom_map)
    assert len(before) == count + 3
    worm = reopened(tmp_path, worm)
    assert frames(worm.motion_loom_map) == before
    with pytest.raises(RuntimeError, match="Pair 1 of .* comes from its library .* switch it off"):
        bpy.ops.motion_loom.map_remove_pair(index=0)
    bpy.ops.motion_loom.map_remove_pair(index=count)
    assert frames(worm.motion_loom_map) == before[:count] + before[count + 1 :]


def test_what_comes_from_the_library_is_not_removed(bob):
    settings = bob.motion_loom_transfer
    settings.active_clip, settings.active_part = 0, 0
    settings.clips[0].active_pair = 0
    before = [frames(clip) for clip in settings.clips], [part.name for part in settings.parts]
    for button in ("transfer_remove_clip", "transfer_remove_pair", "transfer_remove_part"):
        with pytest.raises(RuntimeError, match="comes from its library and cannot be removed; .*make it local"):
            getattr(bpy.ops.motion_loom, button)()
    assert before == ([frames(clip) for clip in settings.clips], [part.name for part in settings.parts])
    add_pairs(bob, *between(settings.clips[0]))
    bpy.ops.motion_loom.transfer_remove_pair(index=len(settings.clips[0].pairs) - 1)
    assert len(settings.clips[0].pairs) == len(before[0][0]) + 1


def test_the_command_replaces_pairs_or_says_that_it_cannot(bob, capfd):
    settings = bob.motion_loom_transfer
    old = frames(settings.clips[0])
    new = [*old[:-1], *between(settings.clips[0]), old[-1]]
    words = [f"{source:g}={target:g}" for source, target in new]
    line = ("transfer", "--target", "Bob", "--learn-only", "--json", "--pair")
    assert jobs.main([*line, *words]) == 0, capfd.readouterr().err
    assert json.loads(capfd.readouterr().out.splitlines()[-1])
    np.testing.assert_allclose(frames(settings.clips[0]), sorted(new))
    now = [frames(clip) for clip in settings.clips]
    for options in (("--pair", *words[:2]), ("--clip", "Ann:1..20=Bob:1..20")):
        assert jobs.main([*line[:4], *options]) == 1
        told = capfd.readouterr().err
        assert "come from its library" in told and "Make Local" in told and told.count("\n") == 1
        assert [frames(clip) for clip in settings.clips] == now
