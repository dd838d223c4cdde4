"""Values that only a result animates are kept and put back, of choices among several as well."""

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene import playback


@pytest.fixture
def ob():
    found = bpy.data.objects.new("Thing", None)
    found["space"], found["amount"] = 2, 0.5
    choices = [("WORLD", "World", "", 0), ("ROOT", "Root", "", 1), ("CHEST", "Chest", "", 2)]
    found.id_properties_ui("space").update(items=choices)
    found.rotation_mode, found.location.y = "YXZ", 3.0
    return found


KEYS = [('["space"]', 0), ('["amount"]', 0), ("rotation_mode", 0), ("location", 1)]


def state(ob):
    return ob["space"], ob["amount"], ob.rotation_mode, ob.location.y


def test_choices_are_kept_by_their_numbers_and_put_back(ob):
    before = state(ob)
    kept = playback.values_without_curves(ob, KEYS, None, None)
    assert [value.value for value in kept] == [2.0, 0.5, 3.0, 3.0]
    ob["space"], ob["amount"], ob.rotation_mode, ob.location.y = 0, 0.25, "XYZ", 1.0
    playback.put_back(ob, kept)
    assert state(ob) == before


def test_what_is_gone_is_left_out(ob):
    kept = playback.values_without_curves(ob, [('["none"]', 0), ('["space"]', 0)], None, None)
    del ob["space"]
    playback.put_back(ob, kept)
    assert [value.path for value in kept] == ['["space"]'] and "space" not in ob
