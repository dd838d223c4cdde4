"""Live on captured clips: it shows what Bake and the command line write, scrubbed, rendered and after a drag."""

from contextlib import contextmanager
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs

from benchmarks import blender_rig, edits
from checkout import PACKAGE
from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests import mesh_play
from tests.commands import adapt
from tests.objects import handled

SAME = 1e-6


@pytest.fixture(autouse=True)
def _needs_data(data):
    """Skips where the captures are not."""


@pytest.fixture
def interactive():
    """Tracks are solved by ``settle``, as the timer does it in a window."""
    with play.interactive():
        yield


def climb(number, start, end, step=8):
    """Part of a climb up two boxes and down again; returns the rig and how the boxes are changed."""
    from benchmarks.climbs import climb

    scene = climb(number)
    rig = blender_rig.build_armature(PACKAGE, edits.sub_clip(scene.track, start, end, step), "Rig")
    environment = [blender_rig.build_mesh(mesh) for mesh in scene.environment.values()]
    boxes = [ob.name for ob in environment if ob.name != "Ground"]
    scenes.bind_rig(rig, environment)

    def change(height=0.08):
        for name in boxes:
            bpy.data.objects[name].location.z += height
        scenes.deform(boxes[0], lambda vertices: vertices * [1.05, 1.0, 1.0])

    return rig, change


def walk(data):
    """A walk over uneven ground, as Blender imports it."""
    from benchmarks.scenes import uneven

    scene = uneven("03_01")
    file = data / "mocap_bvh/cmu/03_01_uneven_terrain_30fps.bvh"
    bpy.ops.import_anim.bvh(filepath=str(file), global_scale=0.01, update_scene_fps=True)
    rig = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
    rig.name = "Rig"
    environment = [blender_rig.build_mesh(mesh) for mesh in scene.environment.values()]
    scenes.bind_rig(rig, environment, 20, 110)

    def change(height=0.15):
        bpy.data.objects["Terrain"].location.z += height
        scenes.deform("Terrain", edits.bent())

    return rig, change


@pytest.fixture(params=["climb 0", "climb 1", "walk"])
def bound(request, data):
    """A bound rig, and a change of its environment."""
    if request.param == "walk":
        return walk(data)
    return climb(0, 300, 1100) if request.param == "climb 0" else climb(1, 1400, 2200)


def require_ready(rig):
    assert play.is_ready(rig), play.status(rig)


def bound_span(rig):
    """First and last bound frame."""
    _, _, span = rig.motion_loom_adapt.summary.partition("frames ")
    return [int(part) for part in span.split(" to ")]


def some_frames(rig, count=40):
    """Whole frames and between, shuffled."""
    rng = np.random.default_rng(0)
    first, last = bound_span(rig)
    whole = rng.choice(np.arange(first, last + 1), count, replace=False)
    return rng.permutation(np.concatenate((whole, rng.uniform(first, last, count))))


def apart(joints, others):
    """The farthest joint, metres."""
    return float(np.linalg.norm(joints - others, axis=-1).max())


def test_live_is_bake_is_command(bound, tmp_path, capsys):
    rig, change = bound
    frames = some_frames(rig)
    before = scenes.joints_of(rig, frames)
    play.press(rig)
    assert apart(scenes.joints_of(rig, frames), before) < 1e-5
    change()
    followed = scenes.joints_of(rig, frames)
    require_ready(rig)
    assert apart(followed, before) > 0.05
    path = play.save(tmp_path / "live.blend")
    play.press(rig, "bake")
    assert np.abs(followed - scenes.joints_of(rig, frames)).max() < SAME
    bpy.ops.wm.open_mainfile(filepath=path)
    assert adapt(capsys)["unconverged_frames"] == 0
    assert np.abs(followed - scenes.joints_of(bpy.data.objects["Rig"], frames)).max() < SAME


# ------------------------------------------------------------------------------------------------- renders


def add_skin(rig):
    """A small solid around each bone, moved by it."""
    corners = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    faces = np.array([[x, y, z] for x in (0, 1) for y in (2, 3) for z in (4, 5)])
    vertices = np.concatenate([np.array(bone.head_local) + 0.08 * corners for bone in rig.data.bones])
    skin = scenes.add_mesh("Skin", vertices, np.concatenate([faces + 6 * k for k in range(len(rig.data.bones))]))
    for k, bone in enumerate(rig.data.bones):
        skin.vertex_groups.new(name=bone.name).add(list(range(6 * k, 6 * k + 6)), 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    return skin


def set_stage(rig):
    """A camera that sees the rig in the middle of the clip, and renders with motion blur."""
    scene = bpy.context.scene
    add_skin(rig)
    middle = sum(bound_span(rig)) // 2
    aim = scenes.joints_of(rig, [middle])[0].mean(axis=0)
    mesh_play.set_stage(aim + [3.0, 0.0, 0.3], (1.5, 0.0, 1.5708))
    scene.world = bpy.data.worlds.new("World")
    scene.render.use_motion_blur, scene.render.motion_blur_shutter = True, 1.0
    scene.frame_set(middle)


@contextmanager
def watched(rig):
    """{frame: (B, 3)} heads at every moment that a render evaluates, whole frames and between, of its own depsgraph."""
    found, name = {}, rig.name

    def note(scene, depsgraph):
        if depsgraph.mode == "RENDER":
            seen = bpy.data.objects[name].evaluated_get(depsgraph)
            world, heads = np.array(seen.matrix_world), np.array([bone.head for bone in seen.pose.bones])
            found[round(scene.frame_current_final, 6)] = heads @ world[:3, :3].T + world[:3, 3]

    note.__module__ = PACKAGE  # a script of others might move anything, so that all would be stepped through
    with handled(note, "frame_change_post"):
        yield found


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "pending"])
@pytest.mark.parametrize("picture", [mesh_play.still, mesh_play.three_frames])
def test_a_render_with_motion_blur_is_that_of_the_bake(tmp_path, interactive, picture, at_once):
    def render(rig, folder, name):
        with watched(rig) as seen:
            return picture(folder, name), seen

    live_runs.at_once = at_once
    rig, change = climb(1, 1500, 1900)
    set_stage(rig)
    play.press(rig)
    before, _ = render(rig, tmp_path, "before")
    change()  # and no frame change, nor an update
    followed, seen = render(rig, tmp_path, "live")
    require_ready(rig)
    assert np.abs(followed - before).max() > 0.01
    play.press(rig, "bake")
    baked, other = render(rig, tmp_path, "baked")
    assert np.isfinite(baked).all() and baked[..., :3].std() > 0.01
    assert sorted(seen) == sorted(other) and any(frame % 1.0 for frame in seen)
    assert all(np.abs(seen[frame] - other[frame]).max() < SAME for frame in seen)
    assert np.array_equal(followed, baked)


# --------------------------------------------------------------------------------------------- interactively


def test_a_drag_is_near_what_the_track_will_be(bound, interactive):
    rig, change = bound
    play.press(rig)
    play.assert_ready(rig)
    frames = some_frames(rig, 12)
    change()
    dragged = scenes.joints_of(rig, frames)
    assert play.status(rig).track == "WAITING"
    play.assert_ready(rig)
    followed = scenes.joints_of(rig, frames)
    require_ready(rig)
    gaps = np.linalg.norm(dragged - followed, axis=-1)
    print(f"Dragged frames off the track: median {1000 * np.median(gaps):.2f} mm, largest {1000 * gaps.max():.1f} mm")
    assert np.median(gaps) < 0.01 and gaps.max() < 0.1
    play.press(rig, "bake")
    assert np.abs(followed - scenes.joints_of(rig, frames)).max() < SAME


def test_a_drag_begins_where_the_track_is(bound, interactive):
    rig, change = bound
    play.press(rig)
    change()
    play.assert_ready(rig)
    frames = some_frames(rig, 12)
    followed = scenes.joints_of(rig, frames)
    next(ob for ob in bpy.data.objects if ob.type == "MESH" and ob.users_scene).location.z += 2e-5
    dragged = scenes.joints_of(rig, frames)
    assert play.status(rig).track == "WAITING"
    gaps = np.linalg.norm(dragged - followed, axis=-1)
    print(f"Nudged by 0.02 mm: median {1000 * np.median(gaps):.3f} mm, largest {1000 * gaps.max():.2f} mm off")
    assert np.median(gaps) < 1e-4 and 0.0 < gaps.max() < 5e-3


def resident_kb():
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmRSS")))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the memory of a process")
def test_playback_keeps_no_memory(interactive):
    rig, change = climb(1, 1500, 1900)
    play.press(rig)
    change()
    play.assert_ready(rig)
    first, last = bound_span(rig)

    def memory_after(count):
        for number in range(count):
            bpy.context.scene.frame_set(first + number % (last - first + 1))
        return resident_kb()

    before = memory_after(300)
    assert memory_after(1500) - before < 2048
    require_ready(rig)
