"""What tests of workflows that move a mesh share: refusals, odd places, undo by hand, and small renders."""

from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.linked import linked
from tests.mesh_steps import activate, edited, everything, saved

PIXELS = 32
PLACES = {
    "scaled": Matrix.Diagonal((2.0, 0.5, 3.0, 1.0)),
    "small": Matrix.Diagonal((0.01, 0.01, 0.01, 1.0)),
    "rotated": Matrix.Rotation(1.2, 4, (1, 2, 3)) @ Matrix.Translation((3, 4, 5)),
    "mirrored": Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0)),
    "turned inside out": Matrix.Diagonal((-1.0, -1.0, -1.0, 1.0)),
}


def values_of(group):
    """All that a property group holds, groups and lists inside it too, to see that it is the same later."""
    found = {}
    for prop in group.bl_rna.properties:
        if prop.identifier in ("rna_type", "bl_rna"):
            continue
        value = getattr(group, prop.identifier)
        if prop.type == "COLLECTION":
            value = [values_of(item) for item in value]
        elif prop.type == "POINTER":
            value = value and value.name
        found[prop.identifier] = repr(value)  # NaN is not itself
    return found


def refused(play, ob, button, match, **arguments):
    """A button of a workflow (a MeshPlay) says why it does nothing, and has changed nothing; all that it says."""
    settings = play.settings(ob)
    activate(settings.live_copy or ob)
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)

    def state():
        data = bpy.data
        blocks = [set(held.keys()) for held in (data.objects, data.meshes, data.node_groups, data.images)]
        return values_of(settings), everything(), bpy.context.scene.frame_current, blocks

    before = state()
    text = says(play, button, match, **arguments)
    assert state() == before and "Internal" not in text
    return text


def says(play, button, match, **arguments):
    """A button of a workflow says why it does nothing for the active object; all that it says."""
    if not button.startswith(play.workflow):
        arguments["workflow"] = play.workflow
    with pytest.raises(RuntimeError, match=match) as error:
        getattr(bpy.ops.motion_loom, button)(**arguments)
    return str(error.value)


def put(settings, changes):
    """Set properties by their paths within the settings; a pointer to an object or a collection takes its name."""
    for path, value in changes.items():
        owner, _, name = path.rpartition(".")
        owner = settings.path_resolve(owner) if owner else settings
        prop = owner.bl_rna.properties[name]
        if prop.type == "POINTER" and value is not None:
            value = {"Object": bpy.data.objects, "Collection": bpy.data.collections}[prop.fixed_type.identifier][value]
        setattr(owner, name, value)


def put_in_reverse(ob):
    """As Mesh > Sort Elements does in Edit Mode; shape keys go along."""
    with edited(ob):
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.mesh.sort_elements(type="REVERSE", elements={"VERT"})


# ---------------------------------------------------------------------------------------------------------- undo


def start_undo():
    """A first step to go back to; skips where the program has no undo without a window."""
    bpy.context.preferences.edit.use_global_undo = True
    if not bpy.ops.ed.undo_push.poll():
        pytest.skip("this program has no undo without a window")
    bpy.ops.ed.undo_push(message="start")


def step(name):
    bpy.ops.ed.undo_push(message=name)


def undo(name, count=1):
    """The object of that name, after as many steps back."""
    for _ in range(count):
        assert bpy.ops.ed.undo() == {"FINISHED"}
    return bpy.data.objects[name]


def redo(name, count=1):
    """The object of that name, after as many steps forth."""
    for _ in range(count):
        assert bpy.ops.ed.redo() == {"FINISHED"}
    return bpy.data.objects[name]


# --------------------------------------------------------------------------------------------------------- render


def set_stage(location, rotation):
    """A camera there, a sun, and renders of a few pixels."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    camera.location, camera.rotation_euler = location, rotation
    scene.camera = camera
    lamp = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    lamp.rotation_euler = (0.6, 0.3, 0.0)
    scene.collection.objects.link(lamp)
    scene.render.engine = "CYCLES"
    scene.cycles.samples, scene.cycles.use_denoising, scene.cycles.device = 2, False, "CPU"
    scene.cycles.use_adaptive_sampling = False
    scene.render.resolution_x = scene.render.resolution_y = PIXELS
    scene.render.resolution_percentage = 100
    scene.render.image_settings.file_format = "OPEN_EXR"
    scene.render.image_settings.color_depth = "32"


def _pixels(path):
    image = bpy.data.images.load(str(path))
    out = np.array(image.pixels[:]).reshape(PIXELS, PIXELS, -1)
    bpy.data.images.remove(image)
    return out


def still(folder, name):
    """Pixels (H, W, C) of a render of the present frame."""
    bpy.context.scene.render.filepath = str(folder / name)
    bpy.ops.render.render(write_still=True)
    return _pixels(folder / f"{name}.exr")


def three_frames(folder, name):
    """Pixels (3, H, W, C) of an animation of three frames."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.frame_step = 8, 32, 12
    scene.render.filepath = str(folder / f"{name}_")
    bpy.ops.render.render(animation=True)
    return np.stack([_pixels(path) for path in sorted(Path(folder).glob(f"{name}_*.exr"))])


# -------------------------------------------------------------------------------------------------------- libraries


def link(folder, *names):
    """Objects of the present file in an empty one, linked."""
    path = saved(folder, "library.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    return linked(path, *names)


def override(folder, *names):
    """Objects of the present file and what they need, overridden in an empty one, by name."""
    cast = bpy.data.collections.new("Cast")
    bpy.context.scene.collection.children.link(cast)
    for child in list(bpy.context.scene.collection.children):
        if child != cast:
            bpy.context.scene.collection.children.unlink(child)
            cast.children.link(child)
    for name in names:
        for collection in bpy.data.objects[name].users_collection:
            collection.objects.unlink(bpy.data.objects[name])
        cast.objects.link(bpy.data.objects[name])
    path = saved(folder, "library.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    cast = linked(path, collection="Cast")
    cast.override_hierarchy_create(bpy.context.scene, bpy.context.view_layer)
    return {ob.name: ob for ob in bpy.context.scene.objects if ob.library is None}
