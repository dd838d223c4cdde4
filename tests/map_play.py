"""A small target and small sources for tests of Map, and the steps that a user goes through."""

import bpy
import numpy as np

from tests import map_scenes
from tests.mesh_steps import MeshPlay, activate, everything, press, shown, write_keys  # noqa: F401

FRAMES = np.arange(1, 41)
RINGS, ROUND = 8, 6
PAIRS = (3, 1), (11, 8), (22, 15), (34, 20)


def worm_shapes(count=24):
    """(count, V, 3) one cycle of a tube along -Y that bends up, to the sides and stretches; its faces (Q, 4)."""
    turn = 2 * np.pi * np.arange(count)[:, None] / count
    along, around = (part.ravel() for part in np.meshgrid(np.linspace(0, 1, RINGS), range(ROUND), indexing="ij"))
    x = 0.12 * np.cos(around * 2 * np.pi / ROUND) + 0.3 * np.sin(turn + 1.0) * np.sin(np.pi * along)
    z = 0.12 * np.sin(around * 2 * np.pi / ROUND) + 0.5 * (1 + np.sin(turn)) * along**2 + 0.15
    y = -along * (1 + 0.1 * np.sin(2 * turn))
    ring, over = (ROUND * np.arange(RINGS - 1)[:, None] + (np.arange(ROUND) + k) % ROUND for k in (0, 1))
    faces = np.stack((ring, over, over + ROUND, ring + ROUND), axis=-1).reshape(-1, 4)
    return np.stack((x, y + 0 * x, z), axis=-1), faces


def add_target(name="Worm", shapes=None, faces=None, start=1):
    """A mesh of absolute shape keys, one a frame from start."""
    if shapes is None:
        shapes, faces = worm_shapes()
    ob = map_scenes.add_mesh(name, shapes[0], faces)
    for number, shape in enumerate(shapes):
        key = ob.shape_key_add(name=f"Pose {number}", from_mix=False)
        key.points.foreach_set("co", np.asarray(shape, np.float32).ravel())
    keys = ob.data.shape_keys
    keys.use_relative = False
    write_keys(keys, "eval_time", np.arange(start, start + len(shapes)), [block.frame for block in keys.key_blocks])
    return ob


def dots(frames=FRAMES, seed=0):
    """(F, 6, 3) places of a body of six points that swings, walks along -Y and turns."""
    rng = np.random.default_rng(seed)
    time = (np.asarray(frames, float)[:, None, None] - 1) / 24.0
    rest, phase = rng.normal(0, 0.4, (6, 3)) + [0, 0, 1.0], rng.uniform(0, 6, (6, 3))
    pose = rest + 0.25 * np.sin(2 * np.pi * time + phase)
    yaw = 0.5 * time[..., 0]
    x, y = pose[..., 0], pose[..., 1]
    pose = np.stack((np.cos(yaw) * x - np.sin(yaw) * y, np.sin(yaw) * x + np.cos(yaw) * y, pose[..., 2]), axis=-1)
    return pose - [0.0, 0.8, 0.0] * time


def add_dots(name="Dots", places=None, frames=FRAMES):
    """A collection of keyed empties."""
    places = dots(frames) if places is None else places
    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    for number in range(places.shape[1]):
        empty = bpy.data.objects.new(f"{name} {number}", None)
        collection.objects.link(empty)
        write_keys(empty, "location", frames, places[:, number])
    return collection


def hide_between(number, frames):
    """Keys that hide one of the dots from one frame until another."""
    empty = bpy.data.objects[f"Dots {number}"]
    for frame, hide in ((0, False), (frames[0], True), (frames[1], False)):
        empty.hide_viewport = hide
        empty.keyframe_insert("hide_viewport", frame=frame)


def learn(ob, source=None):
    """Choose a source, if one is given, and learn."""
    settings = ob.motion_loom_map
    if isinstance(source, bpy.types.Collection):
        settings.source_collection = source
    elif source is not None:
        settings.source = source
    activate(ob)
    press("fit", workflow="map")
    return ob


def pair(ob, *frames):
    """Pairs (source frame, target frame)."""
    settings = ob.motion_loom_map
    activate(settings.live_copy or ob)
    for source, target in frames:
        whole = int(np.floor(source))
        bpy.context.scene.frame_set(whole, subframe=source - whole)
        settings.target_frame = target
        press("map_add_pair")


def make_ready(pairs=PAIRS):
    """Worm, learnt from and paired with Dots."""
    ob = learn(add_target(), add_dots())
    pair(ob, *pairs)
    return ob


def edit(back=False):
    """Lift one of the dots on its way, by its keys, or lower it again."""
    places = dots()[:, 3]
    if not back:
        places[:, 2] += 0.3 * np.sin(np.linspace(0, np.pi, len(FRAMES)))
    write_keys(bpy.data.objects["Dots 3"], "location", FRAMES, places)


BUTTONS = ("fit", "live", "bake")
MAP = MeshPlay("map", "Worm", "Dots 2", FRAMES, make_ready, edit, 20, BUTTONS)
add_ready, add_live, toggle, bake = MAP.add_ready, MAP.add_live, MAP.toggle, MAP.bake
status, healthy, problem, now, followed = MAP.status, MAP.healthy, MAP.problem, MAP.now, MAP.followed
