"""The steps of a user with a workflow that moves a mesh, and what is then seen of it; also in Blender with windows."""

import contextlib

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import map_scenes
from tests.rig_scenes import fingerprint

SAME = 1e-6


class MeshPlay:
    """A workflow that moves a mesh, on a small scene in which all is ready to go live.

    workflow: its id.  target: the name of the mesh that it moves.  source: the name of an object that drives it.
    frames: (F,) all frames of the source.  make: makes the scene in an empty file and returns its target, active.
    edit: edit(back=False) changes what the source does at frame ``at`` most of all, or takes that back.
    buttons: all that can be pressed for a target, names of operators or of steps.
    """

    def __init__(self, workflow, target, source, frames, make, edit, at, buttons):
        self.workflow, self.target, self.source, self.frames = workflow, target, source, frames
        self.edit, self.at, self.buttons, self._make = edit, at, buttons, make

    def add_ready(self, *choices):
        """The target, ready, in a new file."""
        return once(self._make, *choices)

    def add_live(self, *choices):
        ob = self.add_ready(*choices)
        self.toggle(ob)
        return ob

    def settings(self, ob):
        return getattr(ob, f"motion_loom_{self.workflow}")

    def copy(self, ob):
        """The live copy."""
        return self.settings(ob).live_copy

    def press(self, ob, button):
        """A button of every workflow, with what is shown of the target active."""
        activate(self.copy(ob) or ob)
        press(button, workflow=self.workflow)

    def toggle(self, ob):
        self.press(ob, "live")

    def bake(self, ob, kind="ABSOLUTE_KEYS"):
        """The new object."""
        self.settings(ob).bake_kind = kind
        self.press(ob, "bake")
        return self.settings(ob).result

    def status(self, ob):
        return live.status(ob, self.workflow)

    def healthy(self, ob):
        """Whether it is live, and all its frames are up to date."""
        found = self.status(ob)
        return found is not None and found.problem is None and found.track == "READY"

    def problem(self, ob):
        return problem(ob, self.workflow)

    def now(self, ob):
        """World vertices (V, 3) of the live copy, where the scene is."""
        bpy.context.view_layer.update()
        return map_scenes.world_positions(self.copy(ob))

    def followed(self, ob, frames=None, seed=0):
        """World vertices (F, V, 3) of the live copy, the frames visited in another order."""
        frames = np.asarray(self.frames if frames is None else frames)
        order = np.random.default_rng(seed).permutation(len(frames))
        return shown(self.copy(ob), frames[order])[np.argsort(order)]

    def follows_as_baked(self, ob, frames=None):
        """The same, after seeing that a bake shows it too, at every third frame and the last."""
        frames = np.asarray(self.frames if frames is None else frames)
        found, some = self.followed(ob, frames), np.unique([*range(0, len(frames), 3), len(frames) - 1])
        assert self.healthy(ob) and np.isfinite(found).all()
        size = max(1.0, float(np.abs(found).max()))
        np.testing.assert_allclose(shown(self.bake(ob), frames[some]), found[some], atol=2 * SAME * size)
        assert self.healthy(ob)
        return found


def problem(ob, workflow):
    """What is wrong with what is live, where the scene is."""
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    return live.status(ob, workflow).problem


_made = {}


def once(make, *choices):
    """What make(*choices) returned in an empty file, in a new file: made the first time, read back every time."""
    key = make, choices
    if key not in _made:
        bpy.ops.wm.read_homefile(use_empty=True)
        name, path = make(*choices).name, f"{bpy.app.tempdir}once_{len(_made)}.blend"
        bpy.ops.wm.save_as_mainfile(filepath=path, copy=True)
        _made[key] = name, path
    name, path = _made[key]
    # As a startup file: one that has never been saved.
    bpy.ops.wm.read_homefile(filepath=path, load_ui=False)
    return bpy.data.objects[name]


def reopened(ob, folder):
    """The object in its file, saved and opened again."""
    name, path = ob.name, saved(folder)
    bpy.ops.wm.open_mainfile(filepath=path)
    return next(ob for ob in bpy.context.scene.objects if ob.name == name and ob.library is None)


def saved(folder, name="scene.blend"):
    """The path of the file, saved."""
    path = str(folder / name)
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def activate(ob):
    for other in bpy.context.selected_objects:
        other.select_set(False)
    bpy.context.view_layer.objects.active = ob
    ob.select_set(True)


@contextlib.contextmanager
def edited(ob):
    """A block in which an object is in Edit Mode."""
    activate(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    yield
    bpy.ops.object.mode_set(mode="OBJECT")


def delete(ob, how="operator"):
    """As X in the viewport does, or a script by the data."""
    if how == "data":
        bpy.data.objects.remove(ob)
    else:
        activate(ob)
        bpy.ops.object.delete()
    bpy.context.view_layer.update()


def to_another_scene(ob):
    bpy.data.scenes.new("Other").collection.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)


def hide(ob, how):
    """By what a user has for it: "object", "collection", "in this view layer" or "excluded"; returns what shows it."""
    kept = bpy.data.collections.new("Kept")
    bpy.context.scene.collection.children.link(kept)
    kept.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    activate(ob)
    layer = bpy.context.view_layer.layer_collection.children["Kept"]
    owner, name = {
        "object": (ob, "hide_viewport"),
        "collection": (kept, "hide_viewport"),
        "in this view layer": (layer, "hide_viewport"),
        "excluded": (layer, "exclude"),
    }[how]
    setattr(owner, name, True)
    bpy.context.view_layer.update()
    return lambda: setattr(owner, name, False)


def press(button, **arguments):
    assert getattr(bpy.ops.motion_loom, button)(**arguments) == {"FINISHED"}


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


def shown(ob, frames):
    """World vertices (F, V, 3) of an object at frames, as Blender evaluates them."""
    vertices, worlds = map_scenes.seen(ob, frames)
    return vertices @ np.swapaxes(worlds[:, :3, :3], 1, 2) + worlds[:, None, :3, 3]


def everything():
    """All that a user has made: to see that it is the same later."""
    found = {}
    for ob in bpy.data.objects:
        visibility = ob.hide_viewport, ob.hide_render, ob.hide_get(), ob.select_get()
        collections = sorted(collection.name for collection in ob.users_collection)
        found[ob.name] = (*visibility, collections, [tuple(row) for row in ob.matrix_basis], len(ob.modifiers))
        if ob.type == "MESH":
            blocks = ob.data.shape_keys.key_blocks if ob.data.shape_keys else []
            shapes = [map_scenes.positions(block).tobytes() for block in blocks]
            found[ob.name] += (map_scenes.positions(ob.data).tobytes(), shapes)
    found["actions"] = {action.name: fingerprint(action) for action in bpy.data.actions}
    active = bpy.context.view_layer.objects.active
    return found | {"active": active and active.name}
