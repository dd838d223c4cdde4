"""What belongs to one body, as files of other programs leave it: nested empties, sockets, caches without a parent."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.workflows.mesh.other_meshes import other_meshes


def add(name, data=None, parent=None):
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    ob.parent = parent
    return ob


def mesh(name, count, parent=None):
    data = bpy.data.meshes.new(name)
    data.from_pydata([(i, 0, 0) for i in range(count)], [], [])
    return add(name, data, parent)


def cached(ob):
    ob.modifiers.new("Cache", "MESH_CACHE")
    return ob


def rigged():
    rig = add("Rig", bpy.data.armatures.new("Rig"))
    body = mesh("Body", 10)
    body.modifiers.new("Armature", "ARMATURE").object = rig
    return rig, body


def nested_caches():
    root = add("Root")
    cached(mesh("Hair", 5, add("Hair Group", parent=root)))
    return cached(mesh("Body", 10, add("Body Group", parent=root)))


def rigid_beside_a_cache():
    root = add("Root")
    mesh("Hair", 5, root).keyframe_insert("location", frame=1)
    return cached(mesh("Body", 10, root))


def rides_on_a_root():
    root = add("Root")
    root.keyframe_insert("location", frame=1)
    mesh("Hair", 5, root)
    return cached(mesh("Body", 10, root))


def on_a_socket():
    rig, body = rigged()
    mesh("Hair", 5, add("Socket", parent=rig))
    return body


def held_by_a_constraint():
    rig, body = rigged()
    mesh("Hair", 5).constraints.new("CHILD_OF").target = rig
    return body


def bound_to_the_surface():
    _, body = rigged()
    mesh("Hair", 5).modifiers.new("Bind", "SURFACE_DEFORM").target = body
    return body


def below_the_rigs_root():
    rig, body = rigged()
    rig.parent = add("Root")
    rig.parent.keyframe_insert("location", frame=1)
    mesh("Hair", 5, rig.parent)
    return body


CASES = {
    nested_caches: "'Root' also carries 'Hair'",
    rigid_beside_a_cache: "'Root' also carries 'Hair'",
    rides_on_a_root: "'Root' also carries 'Hair'",
    on_a_socket: "'Rig' also moves 'Hair'",
    held_by_a_constraint: "'Rig' also moves 'Hair'",
    bound_to_the_surface: "'Body' carries 'Hair'",
    below_the_rigs_root: "'Root' also carries 'Hair'",
}


@pytest.mark.parametrize("made", CASES, ids=lambda made: made.__name__)
def test_what_moves_with_a_mesh_is_named(made):
    """Of all of these no word was said."""
    body = made()
    bpy.context.view_layer.update()
    assert other_meshes(bpy.context.scene, body) == CASES[made]
    left_out = bpy.data.collections.new("Left Out")
    bpy.context.scene.collection.children.link(left_out)
    hair = bpy.data.objects["Hair"]
    left_out.objects.link(hair)
    bpy.context.scene.collection.objects.unlink(hair)
    bpy.context.view_layer.update()
    assert other_meshes(bpy.context.scene, body) == CASES[made]
    bpy.context.view_layer.layer_collection.children["Left Out"].exclude = True
    bpy.context.view_layer.update()
    assert other_meshes(bpy.context.scene, body) is None


def test_parts_of_one_cache_file_are_named_without_a_parent(tmp_path):
    file = str(tmp_path / "both.abc")
    for name, count in (("Body", 10), ("Hair", 5)):
        ob = mesh(name, count)
        for frame in (1, 5):
            ob.location.x = frame
            ob.keyframe_insert("location", frame=frame)
    bpy.ops.wm.alembic_export(filepath=file, start=1, end=5)
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.alembic_import(filepath=file)
    body = bpy.data.objects["Body"]
    assert other_meshes(bpy.context.scene, body) == "'both.abc' also carries 'Hair'"
    body.parent = add("Another Body")
    assert other_meshes(bpy.context.scene, body) is None


def test_what_others_move_or_stands_still_is_not_named():
    """Another character below the same root, and the set around both."""
    rig, body = rigged()
    rig.parent = root = add("Root")
    mesh("Floor", 4, root)
    other = add("Other Rig", bpy.data.armatures.new("Other"), root)
    other.keyframe_insert("location", frame=1)
    mesh("Other Body", 12, other)
    bpy.context.view_layer.update()
    assert other_meshes(bpy.context.scene, body) is None
