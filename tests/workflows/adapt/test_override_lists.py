"""Lists of a rig that is a library override: what the library has is not removed, and is not doubled."""

import bpy
import pytest

from tests import adapt_scenes as scenes
from tests import commands
from tests.adapt_play import activate, brought, press, reopen, save
from tests.commands import adapt


def quad(name, height):
    ob = scenes.add_mesh(name, [(x, y, height) for y in (-2, 3) for x in (-2, 2)], [(0, 1, 3, 2)])
    bpy.context.view_layer.update()
    return ob


def entry(rig, name="Floor"):
    return next(item for item in rig.motion_loom_adapt.surfaces if item.bound_name.startswith(name))


def targets(rig):
    return [each.target and each.target.name for each in entry(rig).replacements]


@pytest.fixture
def overridden(bound, tmp_path):
    """The bound rig, whose floor the library has replaced by two planks."""
    for name, height in (("Plank", 0.05), ("Board", 0.1)):
        each = entry(bound).replacements.add()
        each.target = quad(name, height)
    path = save(tmp_path / "library.blend")
    brought(path, "Rig", "Floor", "Step", "Plank", "Board", link=True)
    rig = next(ob for ob in bpy.context.scene.objects if ob.name == "Rig")
    rig = rig.override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    activate(rig)
    return rig


def test_other_objects_replace_those_of_the_library(overridden, capsys, tmp_path):
    quad("New", 0.02)
    report = adapt(capsys, "--replace", "Floor=New", "--no-assign")
    assert [each["by"] for each in report["replaced"]] == [["New"]]
    assert targets(overridden) == ["New", None]
    again = reopen(tmp_path / "own.blend")
    assert targets(again) == ["New", None]


def test_more_objects_than_the_library_has(overridden, capsys):
    for name in "ABC":
        quad(name, 0.02)
    adapt(capsys, "--replace", "Floor=A,B,C", "--no-assign")
    assert targets(overridden) == ["A", "B", "C"]
    adapt(capsys, "--replace", "Floor=C", "--no-assign")
    assert targets(overridden) == ["C", None]


def test_a_replacement_of_the_library_is_not_removed(overridden):
    settings = overridden.motion_loom_adapt
    settings.active_surface = list(settings.surfaces).index(entry(overridden))
    with pytest.raises(RuntimeError, match="Replacement 1 of 'Floor' of 'Rig' comes from its library"):
        bpy.ops.motion_loom.adapt_remove_replacement(index=0)
    bpy.ops.motion_loom.adapt_add_replacement()
    bpy.ops.motion_loom.adapt_remove_replacement(index=2)
    assert targets(overridden) == ["Plank", "Board"]


def test_bound_again_nothing_is_listed_twice(overridden):
    press(overridden, "fit")
    names = [item.bound_name for item in overridden.motion_loom_adapt.surfaces]
    assert [name.split(" ")[0] for name in names] == ["Floor", "Step"]
    assert targets(overridden) == ["Plank", "Board"]


def test_fewer_objects_than_the_library_has_leave_the_others_unbound(overridden, capsys, tmp_path):
    commands.run(capsys, "bind", "--rig", "Rig", "--environment", "Step")
    for rig in (overridden, None):
        rig = rig or reopen(tmp_path / "own.blend")
        listed = [(item.target.name, bool(item.bound_name)) for item in rig.motion_loom_adapt.surfaces]
        assert listed == [("Step", True), ("Floor", False)]


def test_contacts_that_are_added_come_back_once(overridden, capsys, tmp_path):
    report = adapt(capsys, "--no-assign", "--contact", "toe.L@Floor:2-4=off", "ankle.L@Step:16-20=on")
    reopen(tmp_path / "once.blend")
    rig = reopen(tmp_path / "twice.blend")
    listed = [(item.bone, item.object, item.start, item.end) for item in rig.motion_loom_adapt.contacts]
    assert listed == [(each["bone"], each["object"], each["from"], each["to"]) for each in report["contact_list"]]


def contact_rows(rig):
    return [(c.bone, c.object, c.start, c.end, c.state, c.is_found) for c in rig.motion_loom_adapt.contacts]


def choose_contact(rig, bone):
    settings = rig.motion_loom_adapt
    settings.active_contact = next(k for k, item in enumerate(settings.contacts) if item.bone == bone)
    return settings.contacts[settings.active_contact]


def mirror(rig):
    """Adds what is off on one side to the other one, where the bone is too far away to be held."""
    choose_contact(rig, "toe.L").state = "OFF"
    bpy.ops.motion_loom.adapt_mirror_contact()
    place = rig.motion_loom_adapt.active_contact
    choose_contact(rig, "toe.L").state = "AUTO"
    rig.motion_loom_adapt.active_contact = place


def test_contacts_of_the_library_are_edited_and_added_to(overridden, tmp_path):
    """The list is sorted by bone: what is added comes between what the library has."""
    before = contact_rows(overridden)
    choose_contact(overridden, "toe.R").state = "OFF"
    mirror(overridden)
    edited = contact_rows(overridden)
    assert len(edited) == len(before) + 1 and edited != before
    again = reopen(tmp_path / "own.blend")
    assert contact_rows(again) == edited
    assert contact_rows(reopen(tmp_path / "once more.blend")) == edited


def test_a_contact_of_the_library_is_switched_off_and_an_own_one_removed(overridden):
    before = contact_rows(overridden)
    mirror(overridden)
    bpy.ops.motion_loom.adapt_remove_contact()
    assert contact_rows(overridden) == before
    choose_contact(overridden, "toe.L")
    bpy.ops.motion_loom.adapt_remove_contact()
    assert choose_contact(overridden, "toe.L").state == "OFF" and len(contact_rows(overridden)) == len(before)
    bpy.ops.motion_loom.adapt_reset_contacts()
    assert contact_rows(overridden) == before


def test_an_added_contact_of_the_library_says_that_it_cannot_be_removed(bound, tmp_path):
    mirror(bound)
    brought(save(tmp_path / "library.blend"), "Rig", "Floor", "Step", link=True)
    rig = next(ob for ob in bpy.context.scene.objects if ob.name == "Rig").override_create(remap_local_usages=True)
    activate(rig)
    rows = contact_rows(rig)
    settings = rig.motion_loom_adapt
    settings.active_contact = next(k for k, item in enumerate(settings.contacts) if not item.is_found)
    with pytest.raises(RuntimeError, match="come from its library and cannot be fewer"):
        bpy.ops.motion_loom.adapt_remove_contact()
    assert contact_rows(rig) == rows


def test_an_appended_rig_brings_its_contacts_with_their_edits(bound, tmp_path):
    choose_contact(bound, "toe.R").state = "OFF"
    mirror(bound)
    edited = contact_rows(bound)
    brought(save(tmp_path / "library.blend"), "Rig", "Floor", "Step")
    rig = bpy.data.objects["Rig"]
    activate(rig)
    assert contact_rows(rig) == edited
    bpy.ops.motion_loom.adapt_reset_contacts()
    assert all(row[4] == "AUTO" for row in contact_rows(rig))
