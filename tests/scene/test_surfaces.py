"""Which objects count as surfaces, and how they are found by name."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene import surfaces
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError

from tests.mesh_scenes import live, read
from tests.objects import add_box, add_line, add_object


def test_collections_give_their_surfaces_once_and_in_order():
    outer, inner = bpy.data.collections.new("Outer"), bpy.data.collections.new("Inner")
    bpy.context.scene.collection.children.link(outer)
    outer.children.link(inner)
    boxes = [add_box("A", outer), add_box("B", inner)]
    add_object("Camera", bpy.data.cameras.new("Camera"), collection=outer)
    for ob in (add_object("Empty"), add_line()):
        inner.objects.link(ob)
    assert set(surfaces.expand([outer])) == set(boxes)
    assert surfaces.expand([boxes[1], outer, boxes[1]]) == boxes[::-1]
    assert [track.name for track in read(boxes[1], outer)] == ["B", "A"]


def refused(words, *objects, look=read):
    with pytest.raises(SceneError, match=words):
        look(*objects)


def test_kinds_without_a_surface_are_refused():
    empty, bare, filled = add_object("Empty"), bpy.data.collections.new("Bare"), bpy.data.collections.new("Filled")
    refused("'Empty' is of type EMPTY", empty)
    refused("'Bare' holds no object", bare)
    add_box("Inside", filled)
    empty.instance_type, empty.instance_collection = "COLLECTION", filled
    refused("'Empty' is an instance.*Make Instances Real", empty)
    bare.objects.link(empty)
    refused("'Empty' is an instance", bare)


def test_deleted_objects_are_refused():
    box = add_box()
    bpy.data.objects.remove(box)
    refused("deleted", box)
    refused("deleted", None, look=live)


@pytest.mark.parametrize("name", ['Box "quoted"', "it's.001", "箱子 Ящик", "a[0].b\\c", ".hidden"])
def test_odd_names(name):
    box = add_box(name)
    assert surfaces.find(bpy.context, [name]) == [box]
    assert read(box)[0].name == live(box)[0].name == name


def test_find_gives_collections_and_suggests_close_names():
    boxes = bpy.data.collections.new("Boxes")
    bpy.context.scene.collection.children.link(boxes)
    floor = add_box("Floor", boxes)
    bpy.data.objects.new("Elsewhere", None)
    assert surfaces.find(bpy.context, ["Boxes", "Floor"]) == [boxes, floor]
    for name, words in (
        ("flor", "no object or collection 'flor'.*did you mean 'Floor'"),
        ("Zebra", "'Zebra'.*renamed or deleted"),
        ("Elsewhere", "'Elsewhere' is not in the scene"),
    ):
        refused(words, bpy.context, [name], look=surfaces.find)
