"""A small target and small sources for tests of Map, and the steps that a user goes through."""

from __future__ import annotations

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import map_scenes
from tests.rig_scenes import fingerprint

FRAMES = np.arange(1, 41)
RINGS, ROUND = 8, 6


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


def write_keys(owner, path, frames, values):
    """Linear keys of one channel, or of one for each column of values (F, K)."""
    action, slot = actions.assigned(owner) if owner.animation_data and owner.animation_data.action else (None, None)
    if action is None:
        action, slot = actions.create(owner, owner.name)
        actions.assign(owner, action, slot)
    holder = actions.curve_list(action, slot, create=True)
    values = np.asarray(values, float)
    for index, column in enumerate(values.reshape(len(frames), -1).T):
        old = holder.fcurves.find(path, index=index)
        if old is not None:
            holder.fcurves.remove(old)
        actions.write_curve(holder, path, index, None, np.asarray(frames, float), column)


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


def activate(ob):
    for other in bpy.context.selected_objects:
        other.select_set(False)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)


def press(button, **arguments):
    assert getattr(bpy.ops.motion_loom, button)(**arguments) == {"FINISHED"}


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


def toggle(ob):
    activate(ob.motion_loom_map.live_copy or ob)
    press("live", workflow="map")


def bake(ob, kind="ABSOLUTE_KEYS"):
    """The new object."""
    activate(ob.motion_loom_map.live_copy or ob)
    ob.motion_loom_map.bake_kind = kind
    press("bake", workflow="map")
    return ob.motion_loom_map.result


PAIRS = (3, 1), (11, 8), (22, 15), (34, 20)


def add_ready(pairs=PAIRS):
    """Worm, learnt from and paired with Dots."""
    ob = learn(add_target(), add_dots())
    pair(ob, *pairs)
    return ob


def add_live(pairs=PAIRS):
    ob = add_ready(pairs)
    toggle(ob)
    return ob


def status(ob):
    return live.status(ob, "map")


def healthy(ob, workflow="map"):
    """Whether it is live, and all its frames are up to date."""
    found = live.status(ob, workflow)
    return found is not None and found.problem is None and found.track == "READY"


def problem(ob, workflow="map"):
    """What is wrong with it where the scene is."""
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    return live.status(ob, workflow).problem


def shown(ob, frames=FRAMES):
    """World vertices (F, V, 3) of an object at frames, as Blender evaluates them."""
    vertices, worlds = map_scenes.seen(ob, frames)
    return vertices @ np.swapaxes(worlds[:, :3, :3], 1, 2) + worlds[:, None, :3, 3]


def shuffled(ob, frames=FRAMES, seed=0):
    """The same of the live copy, visited in another order."""
    order = np.random.default_rng(seed).permutation(len(frames))
    return shown(ob.motion_loom_map.live_copy, np.asarray(frames)[order])[np.argsort(order)]


def now(ob, settings="motion_loom_map"):
    """World vertices (V, 3) of the live copy, where the scene is."""
    bpy.context.view_layer.update()
    evaluated = getattr(ob, settings).live_copy.evaluated_get(bpy.context.evaluated_depsgraph_get())
    world = np.array(evaluated.matrix_world)
    return map_scenes.positions(evaluated.data) @ world[:3, :3].T + world[:3, 3]


def everything():
    """All that a user has made: to see that it is the same later."""
    found = {}
    for ob in bpy.data.objects:
        visibility = ob.hide_viewport, ob.hide_render, ob.hide_get(), ob.select_get()
        collections = sorted(collection.name for collection in ob.users_collection)
        found[ob.name] = (*visibility, collections, [tuple(row) for row in ob.matrix_basis], len(ob.modifiers))
        if ob.type == "MESH":
            blocks = ob.data.shape_keys.key_blocks if ob.data.shape_keys else []
            shapes = [_points(block.points).tobytes() for block in blocks]
            found[ob.name] += (map_scenes.positions(ob.data).tobytes(), shapes)
    found["actions"] = {action.name: fingerprint(action) for action in bpy.data.actions}
    active = bpy.context.view_layer.objects.active
    return found | {"active": active and active.name}


def _points(points):
    out = np.empty(3 * len(points), np.float32)
    points.foreach_get("co", out)
    return out
