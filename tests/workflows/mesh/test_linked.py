"""Targets and sources of other files: linked, overridden, and copied into this one."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import live_mesh
from bl_ext.devrepo.motion_loom.workflows.transfer.model import dense_of

from tests import map_play, mesh_steps, transfer_play
from tests.linked import linked
from tests.map_play import MAP
from tests.mesh_play import link, override, refused
from tests.mesh_steps import SAME, reopened, saved, shown
from tests.transfer_play import FRAMES, PAIRS, TRANSFER

pytestmark = [pytest.mark.usefixtures("no_traceback"), pytest.mark.versions]


def go_live(play, ob, tmp_path):
    """What is shown is baked, and goes on in the file when that is opened again; the target then."""
    play.toggle(ob)
    followed = play.follows_as_baked(ob)
    ob = reopened(ob, tmp_path)
    np.testing.assert_allclose(play.followed(ob), followed, atol=SAME)
    assert play.healthy(ob)
    play.toggle(ob)
    assert not play.settings(ob).live and not ob.hide_viewport and live_mesh.live_of(ob) is None
    return ob


def test_a_linked_source_of_map(tmp_path):
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    collection.children.link(map_play.add_dots())
    path = saved(tmp_path, "library.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    ob = map_play.learn(map_play.add_target(), linked(path, collection="Dots"))
    map_play.pair(ob, *map_play.PAIRS)
    go_live(MAP, ob, tmp_path)


def test_a_linked_source_of_transfer(tmp_path):
    """It is read where it is; only writing groups into it is refused."""
    transfer_play.add_scene()
    ann, new = link(tmp_path, "Ann", "Ann Again")
    bob = transfer_play.add_subject("Bob", transfer_play.TARGET, transfer_play.warped(), 1.0)
    transfer_play.add_clip(bob, ann, PAIRS)
    transfer_play.add_parts(bob)
    refused(TRANSFER, bob, "transfer_suggest_parts", "'Ann'.*linked")
    go_live(TRANSFER, transfer_play.learn(bob, performed=new), tmp_path)


def test_two_objects_of_one_name(tmp_path):
    """A clip of a library and one of the file, called the same: each is what it is."""
    transfer_play.add_scene()
    twin = link(tmp_path, "Ann")[0]
    ann, bob, _ = transfer_play.add_scene()
    transfer_play.add_parts(bob)
    transfer_play.add_clip(bob, ann, PAIRS)
    for block, shape in zip(ann.data.shape_keys.key_blocks, moved_on(), strict=True):
        block.points.foreach_set("co", shape.astype(np.float32).ravel())
    second = transfer_play.add_clip(bob, ann, PAIRS)
    second.source = twin
    assert second.source.name == ann.name
    TRANSFER.press(bob, "fit")
    first, other = (used.source.track.translations for used, _ in dense_of(bob))
    assert np.abs(first - other).max() > 1e-3


def moved_on():
    return transfer_play.shapes(transfer_play.SOURCE, 3.0 + np.arange(FRAMES))[0]


def override_of(ob, folder):
    """The overridden target, active; its linked original stays in the scene under the same name."""
    name = ob.name
    override(folder, *bpy.context.scene.collection.objects.keys())
    bpy.context.scene.frame_set(5)  # what is linked stands as it was saved before that
    assert [ob.name for ob in bpy.context.scene.objects].count(name) == 2
    ob = next(ob for ob in bpy.context.scene.objects if ob.name == name and ob.override_library)
    bpy.context.view_layer.objects.active = ob
    return ob


@pytest.mark.parametrize("was_live", (False, True))
def test_an_overridden_target_of_map(tmp_path, was_live):
    ob = override_of(MAP.add_live() if was_live else MAP.add_ready(), tmp_path)
    scene, settings = bpy.context.scene, ob.motion_loom_map
    if settings.live:
        mesh_steps.press("live", workflow="map")
        assert not ob.hide_viewport
        bpy.context.view_layer.objects.active = ob
    mesh_steps.press("fit", workflow="map")
    mesh_steps.press("live", workflow="map")
    assert scene in settings.live_copy.users_scene and ob.hide_viewport
    MAP.toggle(ob)
    go_live(MAP, ob, tmp_path)


def test_an_overridden_target_of_transfer(tmp_path):
    """All is done on it, and saved with the file that overrides it."""
    bob = override_of(transfer_play.add_scene()[1], tmp_path)
    transfer_play.add_clip(bob, bpy.context.scene.objects["Ann"], PAIRS)
    transfer_play.add_parts(bob)
    for step in ("fit", "densify", "train"):
        TRANSFER.press(bob, step)
    bob.motion_loom_transfer.performed = bpy.context.scene.objects["Ann Again"]
    go_live(TRANSFER, bob, tmp_path)


def test_an_overridden_mesh_drives_beside_its_linked_original(tmp_path):
    driver = override_of(MAP.add_ready(), tmp_path)
    ob = map_play.learn(map_play.add_target("Other"), driver)
    map_play.pair(ob, (1, 1), (7, 7), (13, 13), (19, 19))
    MAP.toggle(ob)
    assert MAP.healthy(ob)


def local(ob):
    """The local copy of a linked object, made by the button."""
    mesh_steps.activate(ob)
    mesh_steps.press("make_local_copy")
    copy = bpy.context.object
    assert copy.library is None and copy.data.library is None and copy.data.shape_keys.library is None
    assert ob.hide_get() and copy.visible_get()
    return copy


def names_with(play):
    """The target, and all objects that drive it."""
    return [play.target, *(ob.name for ob in bpy.data.objects if ob.name != play.target and "(live)" not in ob.name)]


def test_a_linked_target_made_local_keeps_what_it_learnt(play, ready, tmp_path):
    expected, settings = shown(play.bake(ready), play.frames), play.settings(ready)
    bpy.data.objects.remove(settings.result)
    linked = link(tmp_path, *names_with(play))[0]
    moved = shown(linked, play.frames)
    ob = local(linked)
    settings = play.settings(ob)
    np.testing.assert_array_equal(shown(ob, play.frames), moved)
    if play is TRANSFER:
        clip = settings.clips[0]
        assert clip.target == ob and clip.stored and len(clip.pairs) == len(PAIRS) and not settings.clip_is_other
    play.toggle(ob)
    np.testing.assert_allclose(play.follows_as_baked(ob), expected, atol=1e-5)
    play.toggle(ob)
    for step in ("densify", "train", "fit") if play is TRANSFER else ("fit",):
        play.press(ob, step)


def test_a_linked_target_that_was_live(tmp_path):
    """Its copy is seen, and goes live by itself."""
    bob = TRANSFER.add_live()
    expected = TRANSFER.followed(bob)
    _, copy, _, _ = link(tmp_path, "Bob", "Bob (live)", "Ann", "Ann Again")
    mesh_steps.activate(copy)
    mesh_steps.press("make_local_copy")
    bob = bpy.context.object
    assert bob.name == "Bob (local)" and bob.visible_get() and copy.hide_get()
    assert not bob.motion_loom_transfer.live and bob.motion_loom_transfer.live_copy is None
    TRANSFER.toggle(bob)
    np.testing.assert_allclose(TRANSFER.followed(bob), expected, atol=1e-5)
    TRANSFER.toggle(bob)
    assert bob.visible_get()


def test_parts_of_linked_subjects_are_suggested_on_local_copies(tmp_path):
    ann, bob, _ = transfer_play.add_scene()
    transfer_play.add_clip(bob, ann, PAIRS)
    bob.motion_loom_transfer.part_count = 3
    bob, ann = map(local, link(tmp_path, "Bob", "Ann"))
    settings = bob.motion_loom_transfer
    assert settings.source == ann and settings.clips[0].source == ann
    mesh_steps.activate(bob)
    mesh_steps.press("transfer_suggest_parts")
    TRANSFER.press(bob, "fit")
    assert len(settings.parts) == 3 and {part.source_group for part in settings.parts} <= set(ann.vertex_groups.keys())
    map_play.add_dots()
    for needless in (bob, bpy.data.objects["Dots 0"]):
        mesh_steps.activate(needless)
        with pytest.raises(RuntimeError, match="poll"):
            bpy.ops.motion_loom.make_local_copy()
