"""What somebody new to Map came upon while live, while baking, and in what is linked from other files."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, binding_store, live_mesh
from bl_ext.devrepo.motion_loom.solvers.core.errors import MotionLoomError, TooLargeError
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live, registry
from bl_ext.devrepo.motion_loom.workflows.mesh import live as mesh_live

from tests import map_play as play
from tests.map_play import healthy, problem
from tests.mesh_play import put_in_reverse

pytestmark = pytest.mark.usefixtures("no_traceback")

SAME = 1e-6


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
        broken.setattr(live, "begin", fail)
        with pytest.raises(TooLargeError, match="no room"):
            live_on(ob)
    assert play.everything() == before
    assert not ob.motion_loom_map.live and ob.motion_loom_map.live_copy is None and not live_runs.runs
    play.toggle(ob)
    assert healthy(ob)


# ---------------------------------------------------------------------------------------------------------------- bake


def edited(ob):
    """Its source is another one than when it was read."""
    places = play.dots()
    places[:, 3, 2] += 0.3 * np.sin(np.linspace(0, np.pi, len(play.FRAMES)))
    play.write_keys(bpy.data.objects["Dots 3"], "location", play.FRAMES, places[:, 3])
    bpy.context.scene.frame_set(7)


def left(ob):
    """What a bake or a refresh may not touch before its end."""
    settings = ob.motion_loom_map
    stored = [(mesh.name, binding_store.mark(mesh)) for mesh in (settings.clip, settings.learnt)]
    return play.everything(), sorted(bpy.data.meshes.keys()), stored, settings.result, bpy.context.scene.frame_current


def steps_of(ob, step):
    play.activate(ob.motion_loom_map.live_copy or ob)
    return live.while_paused(getattr(registry.by_id("map"), step)(bpy.context))


def cancelled_after(ob, step, count):
    """Whether the step had more parts than that; it is at its end otherwise."""
    steps = steps_of(ob, step)
    try:
        for _ in range(count):
            next(steps)
    except StopIteration:
        return False
    steps.close()
    return True


@pytest.mark.parametrize("kind", ("PCA_KEYS", "ABSOLUTE_KEYS", "refresh"))
def test_cancelled_after_the_source_was_read_again(kind):
    ob = play.add_live()
    play.activate(ob.motion_loom_map.live_copy)
    edited(ob)
    step = "live_refresh" if kind == "refresh" else "bake"
    ob.motion_loom_map.bake_kind = "PCA_KEYS" if kind == "refresh" else kind
    before, count = left(ob), 1
    while cancelled_after(ob, step, count):
        assert left(ob) == before, count
        count += 1
    assert count > 1 and left(ob)[2] != before[2]
    assert healthy(ob)
    if kind == "ABSOLUTE_KEYS":
        np.testing.assert_allclose(play.shown(ob.motion_loom_map.result), play.shuffled(ob), atol=SAME)


def test_a_bake_that_cannot_be_written_leaves_the_clip(tmp_path):
    ob = play.add_live()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "a.blend"))
    (tmp_path / "taken").write_text("a file where the folder would be")
    play.activate(ob.motion_loom_map.live_copy)
    edited(ob)
    settings = ob.motion_loom_map
    settings.bake_kind, settings.bake_folder = "PC2", "//taken"
    before = left(ob)
    with pytest.raises(MotionLoomError, match="taken"):
        list(steps_of(ob, "bake"))
    assert left(ob) == before
    settings.bake_folder = "//cache"
    list(steps_of(ob, "bake"))
    assert left(ob)[2] != before[2]
    np.testing.assert_allclose(play.shown(settings.result), play.shuffled(ob), atol=1e-5)


# --------------------------------------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize("value", (float("nan"), float("inf"), float("-inf")))
@pytest.mark.parametrize("frame", ("source_frame", "target_frame"))
def test_a_pair_at_no_frame(frame, value):
    ob = play.add_live()
    settings = ob.motion_loom_map
    before = play.now(ob)
    settings.active_pair, settings.bake_kind = 1, "PCA_KEYS"
    former = getattr(settings.pairs[1], frame)
    setattr(settings.pairs[1], frame, value)
    assert "Pair 2" in problem(ob) and "remove it" in problem(ob)
    np.testing.assert_array_equal(play.now(ob), before)
    for button in (
        lambda: bpy.ops.motion_loom.bake(workflow="map"),
        lambda: bpy.ops.motion_loom.map_show_pair(),
        lambda: bpy.ops.motion_loom.map_suggest(),
        lambda: bpy.ops.motion_loom.map_add_pair(),
    ):
        with pytest.raises(RuntimeError, match="Pair 2"):
            button()
    assert len(settings.pairs) == len(play.PAIRS)
    try:
        registry.by_id("map").overlay(bpy.context, ob)
    except MotionLoomError as error:
        assert "Pair 2" in str(error) or "not a number" in str(error)
    setattr(settings.pairs[1], frame, former)
    assert problem(ob) is None


def test_no_target_frame():
    ob = play.add_live()
    ob.motion_loom_map.target_frame = float("nan")
    with pytest.raises(MotionLoomError, match="not a number"):
        registry.by_id("map").overlay(bpy.context, ob)
    with pytest.raises(RuntimeError, match="Pair 5"):
        bpy.ops.motion_loom.map_add_pair()
    assert problem(ob) is None and len(ob.motion_loom_map.pairs) == len(play.PAIRS)


# -------------------------------------------------------------------------------------------------------------- source


def gone_and_back(empty, meanwhile=lambda: None):
    """Delete an empty and make another one of its name and motion in its collections."""
    name, action, collections = empty.name, empty.animation_data.action, empty.users_collection
    slot = getattr(empty.animation_data, "action_slot", None)
    bpy.data.objects.remove(empty)
    meanwhile()
    new = bpy.data.objects.new(name, None)
    actions.assign(new, action, slot)
    for collection in collections:
        collection.objects.link(new)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    return new


@pytest.mark.parametrize("number", (0, 2, 5))
def test_a_point_of_the_source_comes_back_under_its_name(number):
    ob = play.add_live()
    before = play.shuffled(ob)
    bpy.data.objects["Dots 1"].name = "renamed"  # that is known as well
    bpy.context.scene.frame_set(9)
    if number == 0:
        bpy.data.objects["Dots 5"].name = "renamed too"

    def meanwhile():
        assert f"'Dots {number}'" in problem(ob)

    gone_and_back(bpy.data.objects[f"Dots {number}"], meanwhile)
    assert healthy(ob)
    np.testing.assert_allclose(play.shuffled(ob), before, atol=SAME)


def test_all_points_of_the_source_come_back():
    """With the source performed, as of a stream that begins anew."""
    ob = play.add_live()
    before = play.shuffled(ob)
    for empty in list(bpy.data.collections["Dots"].objects):
        gone_and_back(empty)
    assert healthy(ob)
    np.testing.assert_allclose(play.shuffled(ob), before, atol=SAME)
    np.testing.assert_allclose(play.shown(play.bake(ob)), before, atol=SAME)
    ob.motion_loom_map.live_input = True
    for empty in list(bpy.data.collections["Dots"].objects):
        gone_and_back(empty)
    assert healthy(ob)


def test_another_object_in_the_place_of_a_point():
    """It is not taken for it, nor are the others moved up."""
    ob = play.add_live()
    collection = bpy.data.collections["Dots"]
    bpy.data.objects.remove(bpy.data.objects["Dots 1"])
    collection.objects.link(bpy.data.objects.new("Stranger", None))
    assert "'Dots 1'" in problem(ob)
    play.activate(ob.motion_loom_map.live_copy)
    ob.motion_loom_map.bake_kind = "PCA_KEYS"
    with pytest.raises(RuntimeError, match="'Dots 1'"):
        bpy.ops.motion_loom.bake(workflow="map")


def test_a_live_copy_is_no_source():
    driver = play.add_live()
    ob = play.add_target("Other")
    ob.motion_loom_map.source = driver.motion_loom_map.live_copy
    play.activate(ob)
    for group in ("", "none"):
        ob.motion_loom_map.source_group = group
        with pytest.raises(RuntimeError, match=r"'Worm \(live\)' is the live copy of another target: bake it"):
            bpy.ops.motion_loom.fit(workflow="map")
    ob.motion_loom_map.source_group = ""
    play.learn(ob, play.bake(driver))


# -------------------------------------------------------------------------------------------------------------- target


def hide(ob, way):
    """By what a user has for it; returns what takes it back."""
    layer, kept = bpy.context.view_layer, bpy.data.collections.new("Kept")
    bpy.context.scene.collection.children.link(kept)
    kept.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    play.activate(ob)
    owner, name = {
        "disabled": (ob, "hide_viewport"),
        "collection disabled": (kept, "hide_viewport"),
        "collection hidden": (layer.layer_collection.children["Kept"], "hide_viewport"),
        "collection excluded": (layer.layer_collection.children["Kept"], "exclude"),
    }[way]
    setattr(owner, name, True)
    layer.update()
    return lambda: setattr(owner, name, False)


def live_on(ob):
    """As for the active object, which one of an excluded collection cannot be."""
    list(live.while_paused(mesh_live.live_on_steps(bpy.context, ob, registry.by_id("map"))))


@pytest.mark.parametrize("way", ("disabled", "collection disabled", "collection hidden", "collection excluded"))
def test_a_hidden_target_does_not_go_live(way):
    ob = play.add_ready()
    show = hide(ob, way)
    before = play.everything()
    with pytest.raises(MotionLoomError, match="'Worm' is disabled in viewports, or its collections"):
        live_on(ob)
    assert play.everything() == before and not ob.motion_loom_map.live and not live_runs.runs
    if way in ("disabled", "collection disabled"):
        play.bake(ob)
    show()
    live_on(ob)
    assert healthy(ob) and ob.motion_loom_map.live_copy.visible_get()


def test_a_target_hidden_with_h_goes_live():
    ob = play.add_ready()
    ob.hide_set(True)
    live_on(ob)
    assert healthy(ob) and ob.motion_loom_map.live_copy.visible_get()
    play.toggle(ob)
    assert ob.hide_get() and not ob.hide_viewport


def test_a_target_in_another_order_is_refused():
    ob = play.add_ready()
    ob.motion_loom_map.bake_kind = "ABSOLUTE_KEYS"
    put_in_reverse(ob)
    for button in (bpy.ops.motion_loom.live, bpy.ops.motion_loom.bake):
        with pytest.raises(RuntimeError, match="faces of 'Worm' are in another order than when it was learnt; undo"):
            button(workflow="map")
    put_in_reverse(ob)
    play.toggle(ob)
    before = play.now(ob)
    twin = bpy.data.objects.new("Twin", ob.data)  # the target itself is hidden
    bpy.context.scene.collection.objects.link(twin)
    put_in_reverse(twin)
    assert "'Worm' are in another order" in problem(ob) and play.status(ob).remedy == "BIND"
    np.testing.assert_array_equal(play.now(ob), before)
    put_in_reverse(twin)
    assert problem(ob) is None


@pytest.mark.parametrize("how", ("data", "operator"))
@pytest.mark.parametrize("button", ("live_refresh", "bake", "fit"))
def test_a_deleted_copy_is_told_by_every_button(button, how):
    ob = play.add_live()
    if how == "data":
        bpy.data.objects.remove(ob.motion_loom_map.live_copy)
    else:
        play.activate(ob.motion_loom_map.live_copy)
        bpy.ops.object.delete()
    bpy.context.view_layer.update()
    bpy.context.view_layer.objects.active = ob
    ob.motion_loom_map.bake_kind = "ABSOLUTE_KEYS"
    with pytest.raises(RuntimeError, match="live copy of 'Worm' was deleted; undo that, or switch Live off and on"):
        getattr(bpy.ops.motion_loom, button)(workflow="map")
    play.press("live", workflow="map")
    play.toggle(ob)
    assert healthy(ob)
