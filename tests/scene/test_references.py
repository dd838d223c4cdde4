"""What is pointed at another object stays as it was bound."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene.references import point_to
from mathutils import Matrix

from tests.objects import add_object
from tests.rig_scenes import add_chain


def holders():
    """Something of each kind that an object can have and that refers to another, each with an object of its own."""
    kinds = [("modifiers", each) for each in bpy.types.Modifier.bl_rna.properties["type"].enum_items]
    kinds += [("constraints", each) for each in bpy.types.Constraint.bl_rna.properties["type"].enum_items]
    mesh = bpy.data.meshes.new("Mesh")
    for where, kind in kinds:
        ob = bpy.data.objects.new(kind.identifier, mesh)
        args = (kind.name, kind.identifier) if where == "modifiers" else (kind.identifier,)
        try:
            yield ob, getattr(ob, where).new(*args)
        except (TypeError, RuntimeError):
            continue  # none that a mesh can have


def settings_of(holder):
    plain = [each for each in holder.bl_rna.properties if not each.is_readonly and each.type in {"FLOAT", "STRING"}]
    values = {each.identifier: getattr(holder, each.identifier) for each in plain}
    return {name: value if isinstance(value, str) else repr(value) for name, value in values.items()}


def test_nothing_else_of_a_modifier_or_a_constraint_changes():
    """A hook was reset to the pose of the moment, so that a tail on a hooked curve came out 0.8 m off."""
    rig = add_chain(("hip", "chest"))
    rig.location = (1.0, 2.0, 3.0)
    bpy.context.view_layer.update()
    seen = set()
    for ob, holder in filter(lambda each: each[1] is not None, holders()):
        pointers = [each.identifier for each in holder.bl_rna.properties if each.type == "POINTER"]
        for name in [name for name in pointers if not holder.is_property_readonly(name)]:
            try:
                setattr(holder, name, rig)
            except TypeError:
                continue
            for each in ("subtarget", "matrix_inverse", "inverse_matrix"):
                if hasattr(holder, each):
                    setattr(holder, each, "hip" if each == "subtarget" else Matrix.Translation((4.0, 5.0, 6.0)))
            before = settings_of(holder)
            point_to(holder, name, add_object("Other") if getattr(holder, name) is None else rig.copy())
            assert settings_of(holder) == before, (ob.name, name)
            seen.add(ob.name)
    assert {"HOOK", "CHILD_OF", "ARMATURE"} <= {name.partition(".")[0] for name in seen}


@pytest.mark.parametrize("kind", ["OBJECT", "BONE"])
def test_a_child_keeps_its_place_by_another_parent(kind):
    rig, child = add_chain(("hip", "chest")), add_object("Child")
    child.parent, child.parent_type, child.parent_bone = rig, kind, "chest"
    child.matrix_parent_inverse = Matrix.Translation((1.0, 2.0, 3.0))
    other = rig.copy()
    point_to(child, "parent", other)
    assert (child.parent, child.parent_type, child.parent_bone) == (other, kind, "chest")
    assert child.matrix_parent_inverse == Matrix.Translation((1.0, 2.0, 3.0))
