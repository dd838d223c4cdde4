"""What somebody new to Map came upon while live, while baking, and in what is linked from other files."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows import live, map_live

from tests import map_play as play

SAME = 1e-6


@pytest.fixture(autouse=True)
def silence(capfd):
    """Nothing that a handler or an operator does may end in a traceback."""
    yield
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err


def healthy(ob):
    found = play.status(ob)
    return found.problem is None and found.track == "READY"


def problem(ob):
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    return play.status(ob).problem


# ------------------------------------------------------------------------------------------------- linked, overridden


def override(path, was_live):
    """The target of another file as an override, whose linked original stays in the scene under the same name."""
    ob = play.add_ready()
    cast = bpy.data.collections.new("Cast")
    bpy.context.scene.collection.children.link(cast)
    cast.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    bpy.context.scene.collection.children.unlink(bpy.data.collections["Dots"])
    cast.children.link(bpy.data.collections["Dots"])
    if was_live:
        play.toggle(ob)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, there):
        there.collections = ["Cast"]
    scene, layer = bpy.context.scene, bpy.context.view_layer
    scene.collection.children.link(bpy.data.collections["Cast"])
    bpy.data.collections["Cast"].override_hierarchy_create(scene, layer)
    scene.frame_set(5)  # what is linked stands as it was saved before that
    names = [ob.name for ob in scene.objects]
    assert names.count("Worm") == 2
    return next(ob for ob in scene.objects if ob.name == "Worm" and ob.override_library)


@pytest.mark.parametrize("was_live", (False, True))
def test_an_override_beside_its_linked_original(tmp_path, was_live):
    ob = override(str(tmp_path / "cast.blend"), was_live)
    scene, settings = bpy.context.scene, ob.motion_loom_map
    bpy.context.view_layer.objects.active = ob
    if settings.live:
        play.press("live", workflow="map")
        assert not ob.hide_viewport
        bpy.context.view_layer.objects.active = ob
    for _ in range(2):
        play.press("fit", workflow="map")
        play.press("live", workflow="map")
        assert scene in settings.live_copy.users_scene and ob.hide_viewport
        assert healthy(ob)
        followed = play.shuffled(ob)
        np.testing.assert_allclose(play.shown(play.bake(ob)), followed, atol=SAME)
        play.toggle(ob)
        assert not settings.live and not ob.hide_viewport and live_mesh.live_of(ob) is None


def test_an_overridden_mesh_drives_beside_its_linked_original(tmp_path):
    driver = override(str(tmp_path / "cast.blend"), False)
    ob = play.learn(play.add_target("Other"), driver)
    play.pair(ob, (1, 1), (7, 7), (13, 13), (19, 19))
    play.toggle(ob)
    assert healthy(ob)


def test_live_on_that_fails_half_way_leaves_nothing(monkeypatch):
    ob = play.add_ready()
    play.activate(ob)
    before = play.everything()

    def fail(*_):
        raise MemoryError("no room")

    with monkeypatch.context() as broken:
        broken.setattr(map_live.live, "begin", fail)
        steps = live.while_paused(map_live.live_on_steps(bpy.context, ob, None))
        with pytest.raises(MemoryError):
            list(steps)
    assert play.everything() == before
    assert not ob.motion_loom_map.live and ob.motion_loom_map.live_copy is None and not live_runs.runs
    play.toggle(ob)
    assert healthy(ob)
