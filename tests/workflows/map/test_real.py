"""Map on captures and models: dogs, people, hands and faces move horses, a chicken, a cat, a caterpillar and birds.

What must hold: numbers, poses inside the range that was learnt, edges that stay about as long as they were seen to be,
live as baked.  The figures are printed.
"""

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.workflows.map.model import clip_of, confidence_of, target_of, track_of

from benchmarks.mesh_sequences import edge_lengths
from tests import map_play as play
from tests import map_scenes, mesh_steps

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Z_UP = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
# Edges this much shorter or longer than they were ever seen to be count as torn.
TORN = 1.5


@pytest.fixture(autouse=True)
def _needs_data(data):
    """Skips where the captures are not."""


# ------------------------------------------------------------------------------------------------------- the targets


def sequence(name, frames=None, scale=1.0):
    """A mesh sequence as absolute shape keys."""

    def make(data):
        with np.load(data / f"mesh_seq/{name}.npz") as file:
            shapes, faces = file["verts"][:frames].astype(float) @ Z_UP.T * scale, file["faces"]
        return play.add_target(name, shapes, faces)

    return make


def poses(name):
    """Poses in no order in time."""

    def make(data):
        ob = sequence(name)(data)
        ob.data.shape_keys.animation_data_clear()
        ob.motion_loom_map.target_motion = "SHAPE_KEYS"
        return ob

    return make


def morphs(name):
    """As the glTF importer leaves it."""

    def make(data):
        bpy.ops.import_scene.gltf(filepath=str(data / f"morph_glb/{name}.glb"))
        ob = next(ob for ob in bpy.context.scene.objects if ob.type == "MESH" and ob.data.shape_keys)
        ob.motion_loom_map.target_ground = "PLACE"
        return ob

    return make


def caterpillar(data):
    sys.path.insert(0, str(EXAMPLES))
    try:
        import caterpillar_in_blender
    finally:
        sys.path.remove(str(EXAMPLES))
    return caterpillar_in_blender.add_caterpillar()


# ------------------------------------------------------------------------------------------------------- the sources


def dog(clip, frames=300):
    def make(data, ob):
        path = data / f"point_seq/dog/dog_{clip}_joint_pos.txt"
        places = np.loadtxt(path, delimiter="," if "," in path.read_text()[:200] else None)
        places = places.reshape(len(places), -1, 3)[:frames] @ Z_UP.T
        bpy.context.scene.render.fps = 60
        ob.motion_loom_map.source_collection = play.add_dots("Dog", places, np.arange(1, len(places) + 1))

    return make


def person(file, start=2, end=150):
    def make(data, ob):
        bpy.ops.import_anim.bvh(filepath=str(data / f"mocap_bvh/{file}.bvh"), global_scale=0.01, update_scene_fps=True)
        settings = ob.motion_loom_map
        settings.source = next(ob for ob in bpy.context.scene.objects if ob.type == "ARMATURE")
        settings.use_source_range, settings.source_start = True, start
        settings.source_end = min(end, int(settings.source.animation_data.action.frame_range[1]))

    return make


def landmarks(file, part, ground, most=40):
    """Points of a video, pixels with y down, as empties that are hidden where they were not found."""

    def make(data, ob):
        with np.load(data / f"point_seq/holistic_face_hands/{file}.npz") as found:
            pixels, sure = found[part].astype(float), found[f"{part}_conf"] > 0.0
            fps, size = float(found["fps"]), found["size"]
        chosen = np.linspace(0, pixels.shape[1] - 1, min(most, pixels.shape[1])).astype(int)
        pixels, sure = pixels[:, chosen], sure[:, chosen]
        places = np.stack((pixels[..., 0], 0 * pixels[..., 0], -pixels[..., 1]), axis=-1) / float(size[0])
        scene = bpy.context.scene
        scene.render.fps = round(fps)
        scene.render.fps_base = scene.render.fps / fps
        frames = np.arange(1, len(places) + 1)
        dots = play.add_dots("Points", places, frames)
        for empty, seen in zip(dots.objects, sure.T, strict=True):
            if not seen.all():
                for row in np.flatnonzero(np.diff(seen.astype(int), prepend=2)):
                    empty.hide_viewport = not seen[row]
                    empty.keyframe_insert("hide_viewport", frame=row + 1)
        settings = ob.motion_loom_map
        settings.source_collection, settings.ground, settings.target_ground = dots, ground, "NONE"
        print(f"{file} {part}: {1 - sure.mean():.0%} of the points are missing")

    return make


# ------------------------------------------------------------------------------------------------------------ the way

CASES = {
    "dog walk, horse gallop": (sequence("horse_gallop", 24), dog("walk00", 593)),
    "dog trot, horse gallop": (sequence("horse_gallop", 24), dog("trot")),
    "dog turn, horse poses": (poses("horse_poses"), dog("turn00")),
    "dog pace, horse model": (morphs("Horse"), dog("pace")),
    "terrain, chicken": (sequence("chicken_crossing"), person("cmu/03_01_uneven_terrain_30fps")),
    "jog, cat": (sequence("walking_cat", scale=0.01), person("cmu/02_03_run_jog_30fps")),
    "giant walk, cat": (sequence("walking_cat", scale=0.01), person("bandai/dataset-1_walk_giant_001")),
    "walk left, chicken": (sequence("chicken_crossing"), person("bandai/dataset-1_walk-left_normal_001")),
    "kick, caterpillar": (caterpillar, person("bandai/dataset-1_kick_normal_001")),
    "bend, caterpillar": (caterpillar, person("cmu/02_06_bend_scoop_up_30fps")),
    "walk, flamingo": (morphs("Flamingo"), person("bandai/dataset-1_walk_giant_001")),
    "face, faces": (poses("face_poses"), landmarks("essen", "FACE_LANDMARKS", "PLACE")),
    "hand, parrot": (
        morphs("Parrot"), landmarks("hand_0ff215ef4f1f111e217e2cefee0adc77", "RIGHT_HAND_LANDMARKS", "PLACE")
    ),
    "hand with gaps, flamingo": (morphs("Flamingo"), landmarks("pizza", "RIGHT_HAND_LANDMARKS", "NONE")),
    "left hand, faces": (poses("face_poses"), landmarks("kleine", "LEFT_HAND_LANDMARKS", "PLACE")),
}  # fmt: skip


# Each kind of target and of source; the rest is slow.
FIRST = ("dog trot, horse gallop", "terrain, chicken", "kick, caterpillar", "face, faces", "hand with gaps, flamingo")
SLOW = (pytest.param(case, marks=pytest.mark.slow) for case in CASES if case not in FIRST)


@pytest.mark.parametrize("case", (*FIRST, *SLOW))
def test_maps_and_holds(data, tmp_path, case):
    target, source = CASES[case]
    ob = target(data)
    source(data, ob)
    play.learn(ob)
    settings = ob.motion_loom_map
    add_suggested(ob, 5)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "real.blend"))
    play.toggle(ob)
    frames = clip_of(ob).frames[:: max(1, len(clip_of(ob).frames) // 12)]
    followed = play.followed(ob, frames)
    assert play.status(ob).problem is None and np.isfinite(followed).all()

    space, track = target_of(ob).space, track_of(ob)
    assert (track.coefficients >= space.box.low).all() and (track.coefficients <= space.box.high).all()

    some = space.coefficients[:: max(1, len(space.coefficients) // 40)]
    learnt = edge_lengths(space.vertices_of(some), space.triangles)
    shapes = map_scenes.seen(settings.live_copy, frames)[0]
    now = edge_lengths(shapes, space.triangles)
    floor = 0.05 * np.median(learnt)
    torn = (now > TORN * learnt.max(axis=0) + floor) | (now < learnt.min(axis=0) / TORN - floor)
    size = np.ptp(space.rest, axis=0).max()
    travel = np.linalg.norm(np.diff(track.positions, axis=0), axis=1).sum()
    print(
        f"{case}: {space.components} components, confidence {confidence_of(ob).mean():.0%}, torn edges "
        f"{torn.mean():.3%}, longest {(now / np.maximum(learnt.max(axis=0), floor)).max():.2f} x, travels "
        f"{travel / np.linalg.norm(np.ptp(followed[0], axis=0)):.1f} lengths, live {play.status(ob).ms:.1f} ms"
    )
    assert torn.mean() < 0.02
    assert np.ptp(shapes, axis=0).max() > 0.005 * size  # it moves

    baked = mesh_steps.shown(play.bake(ob, "PC2"), frames)
    assert np.abs(baked - followed).max() < 1e-5 * np.abs(followed).max()
    play.toggle(ob)
    assert not ob.hide_viewport


def add_suggested(ob, count):
    """Pairs at suggested frames, the target's poses handed out in the order of time."""
    settings = ob.motion_loom_map
    first, last = target_of(ob).frames[[0, -1]]
    picks = []
    for number in range(count):
        play.press("map_suggest")
        settings.target_frame = first + (last - first) * number / count
        play.press("map_add_pair")
        picks.append(settings.pairs[-1].source_frame)
    assert len(set(picks)) == count
    for number, row in enumerate(np.argsort(picks)):
        settings.pairs[int(row)].target_frame = round(first + (last - first) * number / count)


# --------------------------------------------------------------------------------------------------- where it goes


def test_a_walking_dog_takes_the_horse_along(data):
    """By its standing feet: ahead, and not to the side or up."""
    ob = sequence("horse_gallop", 24)(data)
    dog("walk00", 593)(data, ob)
    play.learn(ob)
    add_suggested(ob, 6)
    play.toggle(ob)
    centre = mesh_steps.shown(ob.motion_loom_map.live_copy, [1, 300, 593]).mean(axis=1)
    way = centre[-1] - centre[0]
    print(f"The horse goes {way.round(2)} m; {ob.motion_loom_map.learnt_summary}")
    assert np.abs(way[:2]).max() > 1.0 and abs(way[2]) < 0.3
    track = track_of(ob)
    source = clip_of(ob).positions.mean(axis=1)
    ob.motion_loom_map.travel = "SOURCE"
    bpy.context.view_layer.update()
    positions = track_of(ob).positions
    assert np.linalg.norm(positions[-1] - (source[-1] - source[0])[:2]) < 0.35
    np.testing.assert_allclose(track_of(ob).headings, track.headings)


def test_a_standing_person_does_not_send_the_chicken_away(data):
    ob = sequence("chicken_crossing")(data)
    person("bandai/dataset-1_bow_normal_001")(data, ob)
    play.learn(ob)
    add_suggested(ob, 4)
    track, clip = track_of(ob), clip_of(ob)
    ob.motion_loom_map.travel = "SOURCE"
    bow = np.abs(track_of(ob).positions).max()
    print(f"Bowing: the chicken moves {np.abs(track.positions).max():.2f} by its pose, {bow:.2f} m by its source")
    assert bow < 0.5 and len(clip.model.names) >= 22
