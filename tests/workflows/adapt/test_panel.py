"""The panel of Adapt, drawn on a layout that checks what it is given against Blender: properties, icons, operators.

How it looks is seen in the program with windows only.
"""

from __future__ import annotations

import bpy
import pytest
from bl_ext.devrepo.motion_loom.scene import actions
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.core.live import LiveStatus
from bl_ext.devrepo.motion_loom.workflows.interface import panel_parts

from tests import adapt_play as play
from tests import adapt_scenes as scenes
from tests.panel_layout import Context, Layout


def drawn(ob, opened=True) -> list[str]:
    out = []
    registry.by_id("adapt").draw(Layout(out, opened), Context(ob))
    return out


def status(monkeypatch, **what):
    usual = {
        "ms": 3.14, "track": "READY", "progress": 0.4, "problem": None, "remedy": None, "source_untouched": True,
        "note": None,
    }  # fmt: skip
    monkeypatch.setattr(panel_parts.live, "status", lambda ob, workflow: LiveStatus(**usual | what))


def test_nothing_and_other_objects():
    assert drawn(None) == ["Select an armature"]
    assert drawn(bpy.data.objects.new("Empty", None)) == ["Select an armature"]


def test_an_instanced_character_tells_how_to_get_at_its_rig(rig):
    """What linking a collection gives: an empty, behind which nothing can be selected."""
    character, props = (bpy.data.collections.new(name) for name in ("Character", "Props"))
    character.objects.link(rig)
    empty = bpy.data.objects.new("Hero", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", character
    text = " ".join(drawn(empty))
    assert "'Hero' is an instance" in text and "its rig 'Rig'" in text and "library override" in text
    empty.instance_collection = props
    assert drawn(empty) == ["Select an armature"]


def test_a_linked_character_that_is_called_as_its_rig_is_named_once(rig, tmp_path):
    character = bpy.data.collections.new("Rig")
    bpy.context.scene.collection.children.link(character)
    character.objects.link(rig)
    path = play.save(tmp_path / "library.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(path, link=True) as (_, there):
        there.collections = ["Rig"]
    empty = bpy.data.objects.new("Rig", None)
    empty.instance_type, empty.instance_collection = "COLLECTION", there.collections[0]
    text = " ".join(drawn(empty))
    assert text.startswith("'Rig' is an instance of a collection. To use its rig, make a library override")


def test_a_linked_rig_is_offered_a_local_copy(rig, tmp_path):
    texts = drawn(*play.brought(play.save(tmp_path / "library.blend"), "Rig", link=True))
    assert texts[-1] == "Make Local Copy" and "'Rig' is linked" in texts[0]
    assert not [text for text in texts if text[:1].isdigit()]


def test_steps_stand_in_their_order(rig):
    texts = drawn(rig, opened=False)
    steps = [text for text in texts if text[:1].isdigit()]
    assert steps == ["1   Environment", "2   Bind", "3   Live", "4   Bake"]
    assert texts[-3:] == ["Options", "Pins", "Bone Hold"]
    assert "Select what the motion deals with," in " ".join(texts)


def test_after_bind_it_says_what_is_bound(bound):
    texts = drawn(bound)
    assert {"Rig clip", "Update Binding", "Bind Again", "Floor", "Step", "mode", "influence"} <= set(texts)
    assert any("on 2 objects" in text for text in texts)
    bound.motion_loom_adapt.surfaces.add().target = scenes.add_wall()
    assert "1 object is not bound yet" in drawn(bound)
    bpy.data.objects.remove(bpy.data.objects["Floor"])
    bound.motion_loom_adapt.surfaces.remove(1)
    text = " ".join(drawn(bound))
    assert "'Floor' was deleted" in text and "'Step' was taken off the list after bind" in text


def test_upright_is_in_sight_beside_influence(bound):
    """It was in the closed Options, though a result hangs on it as on nothing else where the ground is sloped."""
    for opened in (False, True):
        texts = drawn(bound, opened)
        at = texts.index("upright")
        assert texts[at - 1] == "influence" and texts.count("upright") == 1
        assert texts.index("3   Live") < at < texts.index("4   Bake")


def test_joints_are_listed_and_a_choice_asks_for_bind(rig):
    assert any("Bind lists what is solved" in text for text in drawn(rig, opened=True))
    play.bind(rig)
    joints = rig.motion_loom_adapt.joints
    texts = drawn(rig, opened=True)
    assert {"arm.L", "elbow.L", f"Joints ({len(joints)})"} <= set(texts)
    assert f"'{joints[0].name}' is solved" in texts and not any("The chosen joints are not" in text for text in texts)
    joints[3].mode = "RIDE"
    assert any("The chosen joints are not" in text for text in drawn(rig))


def test_deleted_objects_are_named_in_the_list(bound):
    bpy.data.objects.remove(bpy.data.objects["Step"])
    bpy.context.scene.collection.objects.unlink(bpy.data.objects["Floor"])
    texts = drawn(bound)
    assert "Step (deleted)" in texts and "Floor (deleted)" in texts


def test_a_long_name_is_written_out_where_it_is_chosen(bound):
    step, settings = bpy.data.objects["Step"], bound.motion_loom_adapt
    step.name = "set_dressing_harbour_wall_north_001"
    for chosen in (0, 1):
        settings.active_surface = chosen
        pieces = "".join(text for text in drawn(bound) if text != step.name)
        assert (step.name in pieces) == bool(chosen)


@pytest.mark.parametrize(
    ("start", "end", "warning"),
    [
        (1, 24, None),
        (5, 9, None),
        (9, 5, "The range is empty"),
        (100, 200, "The range lies outside the animation"),
        (-5, 9, "Part of the range has no keys"),
    ],
)
def test_a_range_that_does_not_fit_is_told(rig, start, end, warning):
    settings = rig.motion_loom_adapt
    settings.use_range, settings.start, settings.end = True, start, end
    text = " ".join(drawn(rig))
    assert ("animation runs from 1 to 24" in text) == (warning is not None)
    assert warning is None or warning in text


def test_a_range_beyond_keys_that_repeat_is_no_fault(rig):
    settings = rig.motion_loom_adapt
    settings.use_range, settings.start, settings.end = True, 1, 60
    assert "Part of the range has no keys" in " ".join(drawn(rig))
    for curve in actions.all_curves(*actions.assigned(rig)):
        curve.modifiers.new("CYCLES")
    assert "animation runs" not in " ".join(drawn(rig))


def test_a_range_on_a_rig_without_motion(rig):
    rig.animation_data_clear()
    rig.motion_loom_adapt.use_range = True
    assert "animation runs" not in " ".join(drawn(rig))


@pytest.mark.parametrize(
    ("what", "texts"),
    [
        ({}, {"3.1 ms a frame", "Every frame is up to date", "Source untouched"}),
        ({"track": "SOLVING"}, {"Solving all frames 40%"}),
        ({"track": "WAITING", "ms": None}, {"Other frames follow in a moment"}),
        ({"track": "SWEEP", "remedy": "REFRESH"}, {"Other frames need a refresh", "Refresh"}),
        ({"problem": "The live action was edited", "remedy": "RESUME"}, {"The live action was edited", "Resume"}),
        ({"problem": "'Step' was deleted", "remedy": "BIND", "note": "Keys kept"}, {"'Step' was deleted", "Keys kept"}),
    ],
)
def test_live_says_how_it_stands(rig, monkeypatch, what, texts):
    status(monkeypatch, **what)
    assert texts <= set(drawn(rig))


def test_a_problem_hides_what_is_no_longer_true(rig, monkeypatch):
    status(monkeypatch, problem="'Step' was deleted", remedy="BIND")
    texts = drawn(rig)
    assert "3.1 ms a frame" not in texts and "Every frame is up to date" not in texts
    assert "Bind Again" in texts


def test_where_the_rest_can_stay_bound_that_is_offered(rig, monkeypatch):
    status(monkeypatch, problem="'Step' was deleted", remedy="UPDATE")
    assert "Update Binding" in drawn(rig)


def test_lists_of_pins_and_bones_and_user_thresholds(rig):
    settings = rig.motion_loom_adapt
    settings.pins.add()
    settings.bones.add()
    texts = drawn(rig)
    assert {"Pins (1)", "Bone Hold (1)", "clearance", "contact", "factor"} <= set(texts)
    assert "clearance_distance" not in texts and "contact_distance" not in texts
    settings.clearance = settings.contact = "USER"
    assert {"clearance_distance", "contact_distance"} <= set(drawn(rig))
