"""A binding is brought up to date: what was bound stays as it was, only what is new or edited is measured now."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.workflows.environment import store
from bl_ext.devrepo.motion_loom.workflows.environment.model import stored_of

from tests.adapt_scenes import add_shape_key, add_wall, edit, joints_of, raise_step, workflow
from tests.commands import adapt, bind, refused, run
from tests.objects import key

LIFT = 0.1
KEEP = ("bind", "--rig", "Rig", "--keep")


@pytest.fixture
def old_file(bound):
    """As bound before objects were kept as they were at bind."""
    settings = bound.motion_loom_adapt
    arrays, header = binding_store.load(settings.binding)
    kept = {name: array for name, array in arrays.items() if name.split()[0] not in ("vertices", "rotations", "shifts")}
    assert len(kept) < len(arrays)
    settings.binding = binding_store.save(bound.name, kept, header)
    return bound


def keep(capsys, *words):
    return run(capsys, *KEEP, *words)


def keep_with_wall(capsys):
    """The report, once there is a wall beside the left arm."""
    add_wall()
    return keep(capsys, "--environment", "Wall")


def delete(name):
    bpy.data.objects.remove(bpy.data.objects[name])


def adapted(rig, capsys):
    adapt(capsys)
    return joints_of(rig)


def same_binding(one, two):
    first, second = store.pack(one), store.pack(two)
    assert first[0].keys() == second[0].keys()
    for name, array in first[0].items():
        np.testing.assert_array_equal(array, second[0][name], err_msg=name)
    assert first[1] == second[1]


# ---------------------------------------------------------------------------------------------------- what is new


def test_an_object_added_in_an_unchanged_set_is_bound_as_if_from_the_start(bound, capsys):
    report = keep_with_wall(capsys)
    assert report["objects"] == ["Floor", "Step", "Wall"] and report["notes"] == ["'Wall' is bound as it is now"]
    updated = stored_of(bound, workflow())
    run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Step", "Wall")
    same_binding(updated, stored_of(bound, workflow()))


def test_what_was_moved_before_stays_moved(bound, capsys):
    """The foot goes with the step that was lifted before the wall came; the wall, unmoved, asks for nothing."""
    raise_step(LIFT)
    before = adapted(bound, capsys)
    add_wall().location.x += 30.0  # where it asks for nothing
    bpy.context.view_layer.update()
    keep(capsys, "--environment", "Wall")
    np.testing.assert_allclose(adapted(bound, capsys), before, atol=1e-5)


def test_a_new_object_that_moves_later_is_followed(bound, capsys):
    raise_step(LIFT)
    wall = add_wall()
    keep(capsys, "--environment", "Wall")
    ankle, wrist = (bound.data.bones.find(name) for name in ("ankle.R", "wrist.L"))
    first, still = joints_of(bound), adapted(bound, capsys)
    np.testing.assert_allclose((still - first)[-6:, ankle], np.tile([0, 0, LIFT], (6, 1)), atol=0.012)
    wall.location.x -= 0.2
    bpy.context.view_layer.update()
    assert (adapted(bound, capsys) - still)[:, wrist, 0].min() < -0.1


def test_the_set_as_it_was_bound_gives_the_source_again(bound, capsys):
    before = joints_of(bound)
    raise_step()
    keep_with_wall(capsys)
    raise_step(-0.12)
    assert adapt(capsys)["changed_bones"] == []
    np.testing.assert_allclose(joints_of(bound), before, atol=1e-5)


@pytest.mark.parametrize("kind", ["carried", "bent"])
def test_objects_that_move_are_kept_over_all_frames(rig, capsys, kind):
    """One that is carried rigidly and one that deforms, changed after bind."""
    step = bpy.data.objects["Step"]
    if kind == "carried":
        key(step, "location", {1: 0.0, 24: 0.05}, index=2)
    else:
        add_shape_key(step, lambda points: points * [1, 1, 1.2], keys=((1, 0.0), (24, 1.0)))
    bind(capsys)
    once = stored_of(rig, workflow())
    step.delta_location.z += LIFT
    add_wall()
    bpy.context.view_layer.update()
    keep(capsys, "--environment", "Wall")
    again = stored_of(rig, workflow())
    np.testing.assert_allclose(again.surface(1).vertices, once.surface(1).vertices, atol=1e-6)
    assert again.surface(1).vertices.shape[0] == 24
    own = [stored.binding.points.object_index == 1 for stored in (once, again)]
    assert own[0].sum() == own[1].sum()
    np.testing.assert_allclose(again.binding.origins[:, own[1]], once.binding.origins[:, own[0]], atol=1e-5)


# ---------------------------------------------------------------------------------------------------- what is gone


def test_a_deleted_object_is_let_go_and_the_rest_stays_as_it_was_bound(bound, capsys):
    once = stored_of(bound, workflow())
    raise_step(LIFT)
    lifted = adapted(bound, capsys)
    keep_with_wall(capsys)
    delete("Wall")
    assert "was deleted" in (said := refused(capsys, "adapt", "--rig", "Rig")) and "bind --keep" in said
    report = keep(capsys)
    assert report["objects"] == ["Floor", "Step"] and "'Wall' was deleted and is let go" in report["notes"]
    same_binding(stored_of(bound, workflow()), once)
    np.testing.assert_array_equal(adapted(bound, capsys), lifted)


def test_an_object_taken_off_the_list_is_let_go(bound, capsys):
    bound.motion_loom_adapt.surfaces.remove(0)
    report = keep(capsys)
    assert report["objects"] == ["Step"]
    assert "'Floor' was taken off the list after bind and is let go" in report["notes"]


def test_what_the_user_chose_of_the_others_stays(bound, capsys):
    item = bound.motion_loom_adapt.surfaces[0]
    item.mode, item.influence = "AVOID", 0.4
    delete("Step")
    keep(capsys)
    item = bound.motion_loom_adapt.surfaces[0]
    assert (item.bound_name, item.mode, round(item.influence, 3)) == ("Floor", "AVOID", 0.4)


def test_nothing_to_do_changes_nothing(bound, capsys):
    raise_step()
    mesh, notes = bound.motion_loom_adapt.binding, bound.motion_loom_adapt.notes
    keep(capsys)
    assert bound.motion_loom_adapt.binding == mesh and bound.motion_loom_adapt.notes == notes


# ---------------------------------------------------------------------------------------------------- what was edited


def test_an_edited_object_alone_is_bound_as_it_is(bound, capsys):
    once = stored_of(bound, workflow())
    bpy.data.objects["Floor"].location.z += LIFT
    edit("Step")
    report = keep(capsys)
    assert "'Step' was edited: this counts as the original now" in report["notes"]
    assert bound.motion_loom_adapt.notes.splitlines() == report["notes"]
    again = stored_of(bound, workflow())
    np.testing.assert_array_equal(again.surface(0).vertices, once.surface(0).vertices)
    assert again.surface(1).vertices.shape[1] == 9
    adapt(capsys)
    raise_step(0.15)
    edit("Step")
    said = "'Step' was edited and is up to 15 cm from where it was: this counts as the original now"
    assert said in keep(capsys)["notes"]


# ------------------------------------------------------------------------------------- files from before, large objects


def test_an_old_file_lets_go_of_what_is_gone(old_file, capsys):
    once = stored_of(old_file, workflow()).binding
    raise_step(LIFT)
    delete("Floor")
    assert keep(capsys)["notes"] == ["'Floor' was deleted and is let go"]
    binding = stored_of(old_file, workflow()).binding
    own = once.points.object_index == 1
    np.testing.assert_array_equal(binding.origins, once.origins[:, own])
    np.testing.assert_array_equal(binding.distance, once.distance[1:])
    adapt(capsys)


def test_an_old_file_takes_in_new_objects_while_the_rest_is_unmoved(old_file, capsys):
    keep_with_wall(capsys)
    updated = stored_of(old_file, workflow())
    run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Step", "Wall")
    same_binding(updated, stored_of(old_file, workflow()))


def test_an_old_file_says_what_it_does_not_know(old_file, capsys):
    raise_step(LIFT)
    add_wall()
    mesh = old_file.motion_loom_adapt.binding
    said = refused(capsys, *KEEP, "--environment", "Wall")
    assert "'Step' has moved by 10 cm since it was bound" in said and "put it back, or bind again" in said
    assert old_file.motion_loom_adapt.binding == mesh


def test_an_object_that_is_too_large_to_keep_is_named(rig, capsys, monkeypatch):
    monkeypatch.setattr(store, "LARGEST_SURFACE", 300)
    assert any("'Floor': too large to keep" in note for note in bind(capsys)["notes"])
    surfaces = stored_of(rig, workflow()).surfaces
    assert surfaces[0] is None and surfaces[1] is not None


# ---------------------------------------------------------------------------------------------------- refusals


def test_what_cannot_be_updated(rig, capsys):
    assert "'Rig' is not bound yet" in refused(capsys, *KEEP)
    bind(capsys)
    assert "leave out --start and --end" in refused(capsys, *KEEP, "--start", "3")
    delete("Step")
    delete("Floor")
    assert "None of the objects that 'Rig' is bound to is left" in refused(capsys, *KEEP)
