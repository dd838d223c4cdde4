"""Adapt live on rigs that are not plain: sampled, overriding, linked, duplicated, appended, scaled, oddly named."""

import contextlib
import time

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import actions, binding_store
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import adapt_scenes as scenes
from tests.adapt_rigs import (
    connected,
    disconnected,
    placed_like_imports,
    turned_and_away,
    under_a_scaled_empty,
    under_a_still_empty,
    with_a_driver,
    with_a_mirrored_step,
    with_a_moving_parent,
    with_a_scaled_floor,
    with_an_object_constraint,
    with_copy_rotation,
    with_deltas,
    with_ik,
    with_object_keys,
    with_strips_alone,
    with_strips_below_an_action,
    with_strips_that_walk,
    without_inherited_rotation,
)  # fmt: skip
from tests.rig_scenes import fingerprint

SAME = 1e-6
STEP = 0.12


@pytest.fixture(autouse=True)
def silence(capfd, monkeypatch):
    """Nothing that a handler, a timer or an operator does may end in a traceback."""
    monkeypatch.setattr(live, "_PAUSE", 0.0)
    yield
    out, err = capfd.readouterr()
    assert "Traceback" not in out + err and "Internal error" not in out + err, out + err
    assert "RNA_" not in out + err, out + err


@pytest.fixture
def rig():
    return scenes.add_scene()


def activate(ob):
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)


def bind(rig, environment=("Floor", "Step")):
    activate(rig)
    objects = bpy.context.scene.objects
    for item in rig.motion_loom_adapt.surfaces:  # of a library: such a list cannot lose its entries
        if item.target is not None and item.target.library is not None:
            item.target = objects[item.target.name]
    known = {item.target for item in rig.motion_loom_adapt.surfaces}
    for name in environment:
        target = bpy.context.scene.objects[name]
        if target not in known:
            rig.motion_loom_adapt.surfaces.add().target = target
    assert bpy.ops.motion_loom.fit(workflow="adapt") == {"FINISHED"}
    return rig


def press(rig, button="live"):
    activate(rig)
    assert getattr(bpy.ops.motion_loom, button)(workflow="adapt") == {"FINISHED"}


def refused(rig, button="live"):
    """What is said when a button does nothing."""
    activate(rig)
    with pytest.raises(RuntimeError) as caught:
        getattr(bpy.ops.motion_loom, button)(workflow="adapt")
    return str(caught.value)


def status(rig):
    return live.status(rig, "adapt")


def settle():
    """Evaluate, follow, and solve what the timer would."""
    layer = bpy.context.view_layer
    layer.update()
    deadline = time.monotonic() + 20
    while live._tick() is not None:
        assert time.monotonic() < deadline, "the timer never ends"
        time.sleep(0.002)
        layer.update()
    layer.update()


@contextlib.contextmanager
def interactive():
    """Single frames in handlers, tracks by the timer."""
    live_runs.at_once = False
    try:
        yield
    finally:
        live_runs.at_once = None


def lift(height=STEP, name="Step"):
    bpy.context.scene.objects[name].location.z += height
    settle()


def follows(rig):
    """The status is good and the step moves the rig."""
    settle()
    found = status(rig)
    assert found.problem is None and found.track == "READY", found


def reopen(path):
    """Save, open again; the rig."""
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")


def live_is_bake(rig, tolerance=SAME):
    """All frames are up to date and Bake finds the same; the rig plays the result then."""
    follows(rig)
    followed = scenes.joints_of(rig)
    assert status(rig).problem is None and status(rig).track == "READY", status(rig)
    press(rig, "bake")
    assert not rig.motion_loom_adapt.live and rig.motion_loom_adapt.live_sampled is None
    np.testing.assert_allclose(scenes.joints_of(rig), followed, atol=tolerance)
    return followed


def kept_meshes():
    return [mesh for mesh in bpy.data.meshes if mesh.name.startswith(".motion_loom")]


# ------------------------------------------------------------------------------------------- sampled sources


SAMPLED = [
    with_ik, with_copy_rotation, with_a_driver, with_strips_alone, with_strips_that_walk, with_strips_below_an_action,
    with_a_moving_parent, with_an_object_constraint,
]  # fmt: skip


@pytest.mark.parametrize("make", SAMPLED)
def test_a_sampled_source_is_live_and_stays_so(rig, make, tmp_path):
    make(rig)
    bpy.context.scene.frame_set(1)
    before = scenes.joints_of(rig)
    played = rig.animation_data.action
    old = None if played is None else fingerprint(played)
    influences = [c.influence for bone in rig.pose.bones for c in bone.constraints]
    bind(rig)
    press(rig)
    follows(rig)
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-5)
    assert all(c.influence == 0.0 for bone in rig.pose.bones for c in bone.constraints)
    assert rig.motion_loom_adapt.live_sampled is not None
    rig = reopen(tmp_path / "live.blend")
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-5)
    lift()
    follows(rig)
    followed = scenes.joints_of(rig)
    assert np.abs(followed - before).max() > 0.6 * STEP
    rig = reopen(tmp_path / "again.blend")
    np.testing.assert_allclose(scenes.joints_of(rig), followed, atol=SAME)
    np.testing.assert_allclose(live_is_bake(rig), followed, atol=SAME)
    activate(rig)
    bpy.ops.motion_loom.adapt_play_source()
    press(rig)
    np.testing.assert_allclose(scenes.joints_of(rig), followed, atol=SAME)
    press(rig)
    assert [c.influence for bone in rig.pose.bones for c in bone.constraints] == influences
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-6)
    played = rig.animation_data.action
    assert old == (None if played is None else fingerprint(played))
    assert rig.motion_loom_adapt.live_sampled is None and len(kept_meshes()) == 1


@pytest.mark.parametrize("make", SAMPLED)
def test_a_sampled_source_while_it_is_dragged(rig, make, tmp_path):
    make(rig)
    bind(rig)
    press(rig)
    rig = reopen(tmp_path / "live.blend")
    with interactive():
        bpy.context.scene.frame_set(20)
        settle()
        here = np.array([20])
        before = scenes.joints_of(rig, here)
        bpy.context.scene.objects["Step"].location.z += STEP
        bpy.context.view_layer.update()
        assert status(rig).problem is None and status(rig).track == "WAITING"
        alone = scenes.joints_of(rig, here)
        assert np.abs(alone - before).max() > 0.6 * STEP
        live_is_bake(rig)


@pytest.mark.parametrize("make", SAMPLED)
@pytest.mark.parametrize("edit", ["scale", "location"])
def test_a_sampled_rig_is_resized_or_moved(rig, make, edit):
    make(rig)
    bind(rig)
    press(rig)
    if edit == "scale":
        rig.scale = (0.9,) * 3
    else:
        rig.location = 0.1, 0.0, 0.0
    settle()
    if status(rig).problem or status(rig).track == "SWEEP":
        assert status(rig).remedy == "REFRESH"
        assert make in (with_ik, with_copy_rotation, with_strips_that_walk, with_an_object_constraint)
        if make is with_ik:  # its target stays where it was: that is another motion
            said = "bone 'knee.R' has constraints: undo what changed there, or bind again"
            assert said in refused(rig, "live_refresh")
            return
        press(rig, "live_refresh")
    live_is_bake(rig)


def test_frames_alone_are_no_change(rig, monkeypatch):
    """What strips move is no reason to solve again."""
    with_strips_that_walk(rig)
    bind(rig)
    press(rig)
    written = rig.animation_data.action.motion_loom_adapt.stamp
    with interactive():
        for frame in (3, 17, 9):
            bpy.context.scene.frame_set(frame)
            assert status(rig).track == "READY"
    assert rig.animation_data.action.motion_loom_adapt.stamp == written


def test_the_kept_motion_is_exact(rig):
    with_ik(rig)
    rig.location.x = 100.0
    bpy.data.objects["Target"].delta_location.x = 100.0
    for name in ("Floor", "Step"):
        bpy.data.objects[name].location.x = 100.0
    bind(rig)
    press(rig)
    lift()
    live_is_bake(rig)


def test_constraints_changed_while_live_are_read_by_a_refresh(rig):
    with_ik(rig)
    bind(rig)
    press(rig)
    lift()
    before = scenes.joints_of(rig)
    rig.pose.bones["knee.R"].constraints[0].mute = True
    settle()
    assert status(rig).problem is None
    press(rig, "live_refresh")
    rig.pose.bones["knee.R"].constraints[0].mute = False
    press(rig, "live_refresh")
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=SAME)
    curve = actions.find_curve(*actions.assigned(bpy.data.objects["Target"]), "location", 2)
    for key in curve.keyframe_points:
        key.co.y += 0.00005  # still the motion that was bound
    curve.update()
    settle()
    press(rig, "live_refresh")
    assert 1e-6 < np.abs(scenes.joints_of(rig) - before).max() < 0.01
    live_is_bake(rig)


def test_a_constraint_that_comes_while_live_is_switched_off_by_a_refresh(rig):
    """It does not change the source, but would pull the foot back."""
    bind(rig)
    press(rig)
    source = rig.animation_data.action
    lift()
    before = scenes.joints_of(rig)
    press(rig)
    with_ik(rig)
    rig.pose.bones["knee.R"].constraints[0].mute = True
    press(rig)
    rig.pose.bones["knee.R"].constraints[0].mute = False
    settle()
    press(rig, "live_refresh")
    assert rig.pose.bones["knee.R"].constraints[0].influence == 0.0
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-3)
    lift(0.02)
    live_is_bake(rig)
    activate(rig)
    bpy.ops.motion_loom.adapt_play_source()
    assert rig.pose.bones["knee.R"].constraints[0].influence == 1.0
    assert rig.animation_data.action != source


@pytest.mark.parametrize("at_once", [True, False])
def test_joint_limits_switched_off_while_live(rig, at_once):
    limit = rig.pose.bones["knee.R"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.owner_space, limit.min_x, limit.max_x = True, "LOCAL", -0.9, 0.9
    before = scenes.joints_of(rig)
    bind(rig)
    press(rig)
    with contextlib.nullcontext() if at_once else interactive():
        lift()
        rig.motion_loom_adapt.limits = False
        settle()
        lift(0.01)
        assert limit.influence == 0.0
        live_is_bake(rig)
        activate(rig)
        bpy.ops.motion_loom.adapt_play_source()
        press(rig)
        press(rig)
    assert limit.influence == 1.0
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-6)


def test_another_motion_by_changed_strips_is_refused_by_a_refresh(rig):
    with_strips_alone(rig)
    bind(rig)
    press(rig)
    lift()
    before = scenes.joints_of(rig)
    rig.animation_data.nla_tracks[0].strips[0].frame_start = 8
    settle()
    said = refused(rig, "live_refresh")
    assert "not the one that was bound" in said and "NLA strips contribute to it: undo what changed there" in said
    rig.animation_data.nla_tracks[0].strips[0].frame_start = 1
    press(rig, "live_refresh")
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=SAME)
    live_is_bake(rig)


def test_bound_again_while_live_keeps_the_new_motion(rig, tmp_path):
    with_strips_alone(rig)
    bind(rig)
    press(rig)
    settings = rig.motion_loom_adapt
    settings.use_range, settings.start, settings.end = True, 5, 18
    old = settings.live_sampled.name
    bind(rig)
    assert settings.live_sampled is not None
    lift()
    follows(rig)
    assert len(kept_meshes()) == 2, old
    rig = reopen(tmp_path / "live.blend")
    lift(0.02)
    live_is_bake(rig, 1e-5)  # channels that the strips alone play here, Bake keys with their rounding


def damage(mesh):
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", flat)
    flat[len(flat) // 2] += 1.0
    mesh.attributes["position"].data.foreach_set("vector", flat)


@pytest.mark.parametrize("kind", ["bytes", "empty", "version", "gone"])
def test_a_damaged_kept_motion_is_explained_and_mended(rig, kind, tmp_path):
    with_strips_alone(rig)
    bind(rig)
    press(rig)
    settings = rig.motion_loom_adapt
    if kind == "bytes":
        damage(settings.live_sampled)
    elif kind == "empty":
        settings.live_sampled.clear_geometry()
    elif kind == "version":
        arrays, header = binding_store.load(settings.live_sampled)
        settings.live_sampled = binding_store.save("Rig", arrays, header | {"format": 99})
    else:
        bpy.data.meshes.remove(settings.live_sampled)
    rig = reopen(tmp_path / "live.blend")
    lift()
    if kind == "gone":
        assert status(rig).track == "SWEEP" and status(rig).remedy == "REFRESH"
        press(rig, "live_refresh")
    else:
        assert "bind again" in status(rig).problem and status(rig).remedy == "BIND"
        lift(-STEP)
        press(rig, "fit")
        lift()
    live_is_bake(rig)


def test_a_source_that_is_sampled_no_more_needs_nothing_kept(rig):
    with_a_moving_parent(rig)
    bind(rig)
    press(rig)
    world = rig.matrix_world.copy()
    rig.parent = None
    rig.matrix_world = world
    settle()
    lift()
    assert "Internal" not in (status(rig).problem or "")


# ------------------------------------------------------------------------------------------ library overrides


def make_library(path, bound=False, live_too=False):
    """A file with the collection Cast (Rig and its skin) and Floor and Step beside it."""
    rig = scenes.add_scene()
    skin = scenes.add_box("Skin", (-0.2, -0.1, 0.0), (0.2, 0.1, 1.7))
    skin.parent = rig
    skin.modifiers.new("Deform", "ARMATURE").object = rig
    for bone in rig.data.bones:
        skin.vertex_groups.new(name=bone.name).add(range(8), 1.0, "ADD")
    cast = bpy.data.collections.new("Cast")
    bpy.context.scene.collection.children.link(cast)
    for ob in (rig, skin):
        bpy.context.scene.collection.objects.unlink(ob)
        cast.objects.link(ob)
    if bound:
        bind(rig)
    if live_too:
        press(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))


def make_override(path, how):
    """The overriding rig, in an empty file with Floor and Step of its own."""
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, there):
        there.collections = ["Cast"]
    scene = bpy.context.scene
    scene.render.fps = 24
    scenes.add_grid("Floor", (-1.5, 1.5), (-1.5, 2.5))
    scenes.add_box("Step", (-0.6, 0.3, -0.5), (0.6, 1.6, scenes.STEP_HEIGHT))
    if how == "hierarchy":
        scene.collection.children.link(there.collections[0])
        there.collections[0].override_hierarchy_create(scene, bpy.context.view_layer)
    elif how == "operator":
        bpy.ops.object.collection_instance_add(collection="Cast")
        bpy.ops.object.make_override_library()
    else:
        linked = there.collections[0].objects["Rig"]
        scene.collection.objects.link(linked)
        linked.override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    return overriding()


def overriding():
    return next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob.override_library is not None)


HOW = ["hierarchy", "operator", "object"]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("bound", [False, True])
def test_an_override_is_live(tmp_path, how, bound):
    make_library(tmp_path / "library.blend", bound)
    rig = make_override(tmp_path / "library.blend", how)
    before = scenes.joints_of(rig)
    bind(rig)
    press(rig)
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-5)
    lift()
    follows(rig)
    followed = scenes.joints_of(rig)
    assert np.abs(followed - before).max() > 0.6 * STEP
    for name in ("shot.blend", "again.blend"):
        rig = reopen_override(tmp_path / name)
        assert rig.motion_loom_adapt.live and status(rig) is not None
        np.testing.assert_allclose(scenes.joints_of(rig), followed, atol=SAME)
    lift(0.03)
    live_is_bake(rig)
    activate(rig)
    bpy.ops.motion_loom.adapt_play_source()
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-6)
    press(rig)
    follows(rig)
    press(rig)
    assert rig.animation_data.action.name == "Rig clip" and not rig.motion_loom_adapt.live
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-6)
    rig = reopen_override(tmp_path / "off.blend")
    assert not rig.motion_loom_adapt.live and status(rig) is None
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-6)


def reopen_override(path):
    reopen(path)
    return overriding()


@pytest.mark.parametrize("how", HOW)
def test_an_override_is_dragged(tmp_path, how):
    make_library(tmp_path / "library.blend")
    rig = make_override(tmp_path / "library.blend", how)
    bind(rig)
    press(rig)
    rig = reopen_override(tmp_path / "shot.blend")
    with interactive():
        bpy.context.scene.frame_set(20)
        settle()
        here = np.array([20])
        before = scenes.joints_of(rig, here)
        bpy.context.scene.objects["Step"].location.z += STEP
        bpy.context.view_layer.update()
        assert status(rig).problem is None and status(rig).track == "WAITING"
        assert np.abs(scenes.joints_of(rig, here) - before).max() > 0.6 * STEP
        live_is_bake(rig)


def test_an_override_with_constraints_is_live(tmp_path):
    make_library(tmp_path / "library.blend")
    rig = make_override(tmp_path / "library.blend", "hierarchy")
    with_ik(rig)
    before = scenes.joints_of(rig)
    bind(rig)
    press(rig)
    for name in ("shot.blend", "again.blend"):
        rig = reopen_override(tmp_path / name)
        np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-5)
    lift()
    live_is_bake(rig)


def test_an_override_of_a_live_rig(tmp_path):
    """What is live in the library plays on; the override is made live for its own surroundings."""
    make_library(tmp_path / "library.blend", True, True)
    rig = make_override(tmp_path / "library.blend", "hierarchy")
    bpy.context.view_layer.update()
    assert "Internal" not in (status(rig).problem or "")
    assert status(rig).problem and status(rig).remedy in ("RESUME", "BIND"), status(rig)
    before = scenes.joints_of(rig)
    bind(rig)
    press(rig, "live_resume")
    lift()
    assert status(rig).problem is None, status(rig)
    assert np.abs(scenes.joints_of(rig) - before).max() > 0.6 * STEP
    for name in ("shot.blend", "again.blend"):
        rig = reopen_override(tmp_path / name)
    live_is_bake(rig)


# ----------------------------------------------------------------------------------------------- linked rigs


def link_all(path, names=("Rig", "Skin", "Floor", "Step")):
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, there):
        there.objects = list(names)
    for ob in there.objects:
        bpy.context.scene.collection.objects.link(ob)
    bpy.context.scene.render.fps = 24
    bpy.context.view_layer.update()
    return there.objects[0]


@pytest.mark.parametrize("live_too", [False, True])
def test_a_linked_rig_is_refused_and_its_local_copy_is_live(tmp_path, live_too):
    make_library(tmp_path / "library.blend", live_too, live_too)
    rig = link_all(tmp_path / "library.blend")
    live_action = rig.motion_loom_adapt.live_action
    written = fingerprint(live_action) if live_too else None
    before = scenes.joints_of(rig)
    assert status(rig) is None
    for button in ("live", "live_refresh", "live_resume"):
        assert "is linked from" in refused(rig, button)
    activate(rig)
    assert bpy.ops.motion_loom.make_local_copy() == {"FINISHED"}
    copy = bpy.context.object
    bpy.data.objects["Step"].make_local()
    settle()
    if live_too:
        assert status(copy).problem and status(copy).remedy == "RESUME", status(copy)
        press(copy, "live_resume")
    else:
        bind(copy)
        press(copy)
    np.testing.assert_allclose(scenes.joints_of(copy), before, atol=1e-5)
    lift()
    follows(copy)
    assert np.abs(scenes.joints_of(copy) - before).max() > 0.6 * STEP
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-6)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    copy = bpy.data.objects["Rig (local)"]
    lift(0.03)
    live_is_bake(copy)
    activate(copy)
    bpy.ops.motion_loom.adapt_play_source()
    press(copy)
    press(copy)
    assert copy.animation_data.action.name == "Rig clip"
    np.testing.assert_allclose(scenes.joints_of(copy), before, atol=1e-5)
    if live_too:
        rig = next(ob for ob in bpy.data.objects if ob.name == "Rig")
        assert fingerprint(rig.motion_loom_adapt.live_action) == written


# ------------------------------------------------------------------------------------------------ duplicates


def duplicated(rig, kind):
    """A twin half a metre aside: duplicated along with its action or sharing it, or copied by a script."""
    edit = bpy.context.preferences.edit
    kept = edit.use_duplicate_action
    activate(rig)
    try:
        edit.use_duplicate_action = kind == "own action"
        if kind.startswith("script"):
            bpy.context.scene.collection.objects.link(rig.copy())
            twin = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE" and ob != rig)
        else:
            bpy.ops.object.duplicate(linked=kind == "linked")
            twin = bpy.context.object
    finally:
        edit.use_duplicate_action = kept
    twin.name = "Twin"
    if kind == "script with action":
        slot = actions.HAS_SLOTS and twin.animation_data.action_slot.handle
        copy = twin.animation_data.action.copy()
        actions.assign(twin, copy, next(s for s in copy.slots if s.handle == slot) if actions.HAS_SLOTS else None)
    settle()
    return twin


DUPLICATES = ["own action", "shared action", "linked", "script", "script with action"]


@pytest.mark.parametrize("kind", DUPLICATES)
@pytest.mark.parametrize("make", [None, with_strips_alone])
def test_a_duplicate_gets_a_live_action_of_its_own(rig, kind, make, tmp_path):
    if make is not None:
        make(rig)
    bind(rig)
    press(rig)
    lift()
    high = scenes.joints_of(rig)
    twin = duplicated(rig, kind)
    assert twin.motion_loom_adapt.live
    played = twin.animation_data.action
    owner = played != rig.animation_data.action
    assert (status(rig).problem is None) == owner, status(rig)
    if not owner:
        assert "shares its live action with 'Twin'" in status(rig).problem
    if kind == "own action":  # Blender lets the settings point at the copy as well
        assert status(twin).problem is None
    else:
        assert status(twin).remedy == "RESUME"
    press(twin, "live_resume")
    assert (twin.animation_data.action == played) == owner
    follows(twin)
    follows(rig)
    assert twin.motion_loom_adapt.live_action != rig.motion_loom_adapt.live_action
    np.testing.assert_allclose(scenes.joints_of(rig), high, atol=1e-5)
    twin.location.x = 0.1
    twin.motion_loom_adapt.surfaces[1].influence = 0.5
    settle()
    follows(twin)
    np.testing.assert_allclose(scenes.joints_of(rig), high, atol=1e-5)
    path = tmp_path / "live.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    rig, twin = bpy.data.objects["Rig"], bpy.data.objects["Twin"]
    live_count = sum("(live)" in action.name for action in bpy.data.actions)
    assert live_count == 2
    lift(0.03)
    follows(rig)
    followed = scenes.joints_of(rig)
    live_is_bake(twin)
    np.testing.assert_allclose(scenes.joints_of(rig), followed, atol=SAME)
    live_is_bake(rig)
    assert sum("(live)" in action.name for action in bpy.data.actions) == 0


@pytest.mark.parametrize("kind", DUPLICATES)
@pytest.mark.parametrize("which", ["original", "twin"])
def test_live_off_of_one_leaves_the_other(rig, kind, which):
    source = rig.animation_data.action
    bind(rig)
    before = scenes.joints_of(rig)
    press(rig)
    lift()
    high = scenes.joints_of(rig)
    twin = duplicated(rig, kind)
    first, other = (rig, twin) if which == "original" else (twin, rig)
    press(first)
    assert first.animation_data.action == source
    np.testing.assert_allclose(scenes.joints_of(first), before, atol=1e-6)
    np.testing.assert_allclose(scenes.joints_of(other), high, atol=1e-5)
    settle()
    if status(other).problem:
        press(other, "live_resume")
    lift(0.03)
    follows(other)
    assert np.abs(scenes.joints_of(other) - high).max() > 0.02
    press(other)
    assert other.animation_data.action == source
    np.testing.assert_allclose(scenes.joints_of(other), before, atol=1e-6)
    assert not [action for action in bpy.data.actions if "(live)" in action.name]


@pytest.mark.parametrize("kind", DUPLICATES)
def test_keys_of_a_duplicate_are_kept(rig, kind):
    bind(rig)
    press(rig)
    twin = duplicated(rig, kind)
    twin.pose.bones["neck"].scale = (1.5,) * 3
    twin.pose.bones["neck"].keyframe_insert("scale", frame=10)
    press(twin, "live_resume")
    settle()
    lift()
    bpy.context.scene.frame_set(10)
    assert tuple(twin.pose.bones["neck"].scale) == pytest.approx((1.5,) * 3)
    assert "neck" in str([curve.data_path for curve in actions.all_curves(*actions.assigned(twin))])
    press(twin)
    kept = twin.motion_loom_adapt.live_action
    assert kept is not None and kept.use_fake_user


@pytest.mark.parametrize("kind", DUPLICATES)
def test_a_duplicate_that_shares_is_baked_without_the_other(rig, kind):
    bind(rig)
    press(rig)
    lift()
    high = scenes.joints_of(rig)
    twin = duplicated(rig, kind)
    twin.motion_loom_adapt.surfaces[1].mode = "IGNORE"
    press(twin, "bake")
    assert not twin.motion_loom_adapt.live
    settle()
    np.testing.assert_allclose(scenes.joints_of(rig), high, atol=1e-5)
    follows(rig)
    assert np.abs(scenes.joints_of(twin) - high).max() > 0.5 * STEP
    live_is_bake(rig)


@pytest.mark.parametrize("kind", DUPLICATES)
def test_a_duplicate_is_bound_anew(rig, kind):
    with_strips_alone(rig)
    bind(rig)
    press(rig)
    lift()
    twin = duplicated(rig, kind)
    shared, sampled = rig.motion_loom_adapt.binding, rig.motion_loom_adapt.live_sampled
    press(twin, "fit")
    press(twin, "live_resume")
    assert rig.motion_loom_adapt.binding == shared and rig.motion_loom_adapt.live_sampled == sampled
    lift(0.03)
    follows(rig)
    follows(twin)
    live_is_bake(rig)
    live_is_bake(twin)
    assert len(kept_meshes()) == 2


@pytest.mark.parametrize("button", ["live_resume", "bake"])
def test_what_was_solved_before_is_gone_after(rig, button):
    """Live stood still while the environment was left out of account."""
    source = rig.animation_data.action
    before = scenes.joints_of(rig)
    bind(rig)
    press(rig)
    lift()
    actions.assign(rig, source, source.slots[0] if actions.HAS_SLOTS else None)
    for item in rig.motion_loom_adapt.surfaces:
        item.mode = "IGNORE"
    settle()
    assert status(rig).remedy == "RESUME"
    press(rig, button)
    assert rig.animation_data.action != source
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-5)


def test_an_action_that_resume_takes_off_is_not_lost(rig):
    bind(rig)
    press(rig)
    mine = bpy.data.actions.new("Mine")
    rig.animation_data.action = mine
    settle()
    press(rig, "live_resume")
    assert mine.use_fake_user
    follows(rig)


def test_keys_set_before_resume_are_kept_by_live_off(rig):
    source = rig.animation_data.action
    bind(rig)
    press(rig)
    rig.pose.bones["neck"].scale = (1.5,) * 3
    rig.pose.bones["neck"].keyframe_insert("scale", frame=10)
    live_action = rig.animation_data.action
    actions.assign(rig, source, source.slots[0] if actions.HAS_SLOTS else None)
    press(rig, "live_resume")
    assert rig.animation_data.action == live_action
    press(rig)
    assert rig.motion_loom_adapt.live_action == live_action and live_action.use_fake_user


# ------------------------------------------------------------------------------------ several, odd, scaled


def add_walkers(count):
    """Walkers side by side on the same floor and step."""
    first = scenes.add_scene()
    rigs = [first]
    for k in range(1, count):
        rigs.append(scenes.add_walker(name=f"Rig {k}"))
        rigs[-1].location.x = 0.2 * k
    bpy.context.view_layer.update()
    return rigs


@pytest.mark.parametrize("at_once", [True, False])
def test_several_rigs_and_one_that_fails(at_once):
    rigs = add_walkers(3)
    scenes.add_box("Own", (3, 3, 0), (4, 4, 1))
    bind(rigs[0])
    bind(rigs[1], ("Floor", "Step", "Own"))
    bind(rigs[2], ("Step",))
    for rig in rigs:
        press(rig)
    low = [scenes.joints_of(rig) for rig in rigs]
    bpy.data.objects.remove(bpy.data.objects["Own"])
    with contextlib.nullcontext() if at_once else interactive():
        lift()
        assert "'Own'" in status(rigs[1]).problem and status(rigs[1]).remedy == "UPDATE"
        for rig, before in ((rigs[0], low[0]), (rigs[2], low[2])):
            follows(rig)
            assert np.abs(scenes.joints_of(rig) - before).max() > 0.6 * STEP
        settings = rigs[1].motion_loom_adapt
        settings.surfaces.remove(next(k for k, item in enumerate(settings.surfaces) if item.target is None))
        bpy.context.scene.objects["Step"].location.z -= STEP
        settle()
        press(rigs[1], "fit")
        lift()
        follows(rigs[1])
        for rig in rigs:
            live_is_bake(rig)


def assert_live(rig, tmp_path, tolerance=SAME, moved=0.6 * STEP):
    """Live on, an edit, dragged and at once, save and reopen, bake."""
    bpy.context.view_layer.update()
    before = scenes.joints_of(rig)
    bind(rig)
    press(rig)
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=2e-5)
    with interactive():
        bpy.context.scene.frame_set(20)
        settle()
        here = np.array([20])
        there = scenes.joints_of(rig, here)
        bpy.context.scene.objects["Step"].location.z += STEP
        bpy.context.view_layer.update()
        assert status(rig).problem is None
        assert np.abs(scenes.joints_of(rig, here) - there).max() > moved
        alone = scenes.joints_of(rig, here)
        settle()
        follows(rig)
        assert np.abs(scenes.joints_of(rig, here) - alone).max() < 0.05
    rig = reopen(tmp_path / "live.blend")
    lift(-0.02)
    after = live_is_bake(rig, tolerance)
    assert np.abs(after - before).max() > 0.8 * moved
    return rig


KINDS = [
    placed_like_imports, under_a_scaled_empty, turned_and_away, with_object_keys, with_a_moving_parent,
    under_a_still_empty, with_deltas, without_inherited_rotation, disconnected, connected, with_a_scaled_floor,
]  # fmt: skip


@pytest.mark.parametrize("make", KINDS)
def test_rigs_of_every_kind(rig, make, tmp_path):
    make(rig)
    assert_live(rig, tmp_path)


def test_a_mirrored_object_of_the_environment(rig, tmp_path):
    with_a_mirrored_step(rig)
    assert_live(rig, tmp_path)


MODES = ["QUATERNION", "AXIS_ANGLE", "XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"]


def keyed_in(rig, mode):
    """The same motion in another rotation mode, for every bone."""
    before = scenes.joints_of(rig)
    poses = []
    for frame in scenes.FRAMES:
        bpy.context.scene.frame_set(int(frame))
        poses.append([bone.matrix_basis.copy() for bone in rig.pose.bones])
    rig.animation_data.action = None
    for bone in rig.pose.bones:
        bone.rotation_mode = mode
    channel = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for frame, pose in zip(scenes.FRAMES, poses, strict=True):
        for bone, basis in zip(rig.pose.bones, pose, strict=True):
            bone.matrix_basis = basis
            bone.keyframe_insert(channel, frame=int(frame))
            bone.keyframe_insert("location", frame=int(frame))
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-4)


@pytest.mark.parametrize("mode", [*MODES, "mixed"])
def test_every_rotation_mode(rig, mode, tmp_path):
    keyed_in(rig, MODES[0] if mode == "mixed" else mode)
    if mode == "mixed":
        for number, bone in enumerate(rig.pose.bones):
            if number % 2:
                continue
            bone.rotation_mode = MODES[number % len(MODES)]
        bpy.context.scene.frame_set(1)
    assert_live(rig, tmp_path)


ODD = ['say "hi" back\\slash', "a=b] ['0'] 100%", "骨 Knie_δεξιά\ttab", "x" * 60]


@pytest.mark.parametrize("name", ODD)
def test_odd_names(rig, name, tmp_path):
    rig.name = name
    rig.data.name = name
    rig.animation_data.action.name = name
    names = ["thigh.R", "ankle.R", "spine", "wrist.L"]
    for number, bone in enumerate(names):
        rig.data.bones[bone].name = f"{name[:55]}{number}"
    floor = bpy.data.objects["Floor"]
    floor.name = floor.data.name = f"{name[:50]} floor"
    rig.motion_loom_adapt.surfaces.add().target = floor
    item = rig.motion_loom_adapt.bones.add()
    item.bone, item.factor = f"{name[:55]}1", 2.0
    pin = rig.motion_loom_adapt.pins.add()
    pin.bone, pin.target, pin.start, pin.end = f"{name[:55]}3", add_pin_target(rig), 1, 3
    before = scenes.joints_of(rig)
    bind(rig, ("Step",))
    press(rig)
    lift()
    follows(rig)
    assert np.abs(scenes.joints_of(rig) - before).max() > 0.6 * STEP
    rig = reopen(tmp_path / "live.blend")
    assert rig.name == name and rig.motion_loom_adapt.live
    lift(0.02)
    live_is_bake(rig)


def add_pin_target(rig):
    target = bpy.data.objects.new("Pin", None)
    bpy.context.scene.collection.objects.link(target)
    target.location = rig.matrix_world @ rig.pose.bones[-1].head
    return target


# ---------------------------------------------------------------------------------------------------- append


def append(path, names):
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(path), link=False) as (_, there):
        there.objects = list(names)
    for ob in there.objects:
        bpy.context.scene.collection.objects.link(ob)
    bpy.context.scene.render.fps = 24
    settle()
    return there.objects[0]


@pytest.mark.parametrize("make", [None, with_ik, with_strips_alone])
def test_an_appended_live_rig_goes_on(rig, make, tmp_path):
    if make is not None:
        make(rig)
    bind(rig)
    press(rig)
    lift()
    high = scenes.joints_of(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "live.blend"))
    more = ["Target"] if make is with_ik else []
    rig = append(tmp_path / "live.blend", ["Rig", "Floor", "Step", *more])
    np.testing.assert_allclose(scenes.joints_of(rig), high, atol=1e-5)
    follows(rig)
    lift(0.03)
    follows(rig)
    assert np.abs(scenes.joints_of(rig) - high).max() > 0.02
    live_is_bake(rig)


@pytest.mark.parametrize("make", [None, with_strips_alone])
def test_a_live_rig_appended_without_its_environment(rig, make, tmp_path):
    """Blender brings what the settings point at, but puts it into no scene."""
    if make is not None:
        make(rig)
    before = scenes.joints_of(rig)
    bind(rig)
    press(rig)
    lift()
    high = scenes.joints_of(rig)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "live.blend"))
    rig = append(tmp_path / "live.blend", ["Rig"])
    np.testing.assert_allclose(scenes.joints_of(rig), high, atol=1e-5)
    assert "is no longer in the scene; link it to a collection of the scene again" in status(rig).problem
    assert status(rig).remedy == "UPDATE"
    for name in ("Floor", "Step"):
        bpy.context.scene.collection.objects.link(bpy.data.objects[name])
    settle()
    follows(rig)
    lift(0.03)
    follows(rig)
    press(rig)
    np.testing.assert_allclose(scenes.joints_of(rig), before, atol=1e-6)


def test_appended_twice(rig, tmp_path):
    bind(rig)
    press(rig)
    lift()
    path = tmp_path / "live.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    first = append(path, ["Rig", "Floor", "Step"])
    with bpy.data.libraries.load(str(path), link=False) as (_, there):
        there.objects = ["Rig", "Floor", "Step"]
    second = there.objects[0]
    for ob in there.objects:
        bpy.context.scene.collection.objects.link(ob)
    settle()
    assert first.motion_loom_adapt.live_action != second.motion_loom_adapt.live_action
    follows(first)
    follows(second)
    high = scenes.joints_of(first)
    there.objects[2].location.z += 0.03
    settle()
    np.testing.assert_allclose(scenes.joints_of(first), high, atol=1e-6)
    assert np.abs(scenes.joints_of(second) - high).max() > 0.02
    live_is_bake(second)
    live_is_bake(first)
