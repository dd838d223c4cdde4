"""What somebody new to Transfer was told in words that did not help: each says what is wrong and the way out."""

import math

import bpy
import pytest

from tests import map_play, mesh_play
from tests import transfer_play as play

pytestmark = pytest.mark.usefixtures("no_traceback")


def step_refused(ob, step, match):
    return mesh_play.refused(ob, "motion_loom_transfer", step, match, workflow="transfer")


@pytest.mark.parametrize(("value", "said"), ((math.nan, "nan"), (math.inf, "endless"), (-math.inf, "endless")))
def test_a_travel_scale_that_is_no_number(value, said):
    _, bob, _ = play.add_live()
    settings = bob.motion_loom_transfer
    settings.bake_kind, settings.travel_scale = "ABSOLUTE_KEYS", value
    step_refused(bob, "bake", f"Travel Scale cannot be {said}; use a number")
    bpy.context.scene.frame_set(5)
    assert play.problem(bob) == f"Travel Scale cannot be {said}; use a number."
    settings.travel = "NONE"
    bpy.context.scene.frame_set(6)
    assert play.healthy(bob)


@pytest.mark.parametrize("name", ("travel_scale", "turn_ratio", "stride", "smoothing"))
def test_a_number_of_map_that_is_none(name):
    worm = map_play.add_live()
    settings = worm.motion_loom_map
    label = settings.bl_rna.properties[name].name
    settings.bake_kind = "ABSOLUTE_KEYS"
    setattr(settings, name, math.nan)
    mesh_play.refused(worm, "motion_loom_map", "bake", f"{label} cannot be nan; use a number", workflow="map")
    assert map_play.problem(worm) == f"{label} cannot be nan; use a number."
    setattr(settings, name, 1.0)
    bpy.context.scene.frame_set(6)
    assert map_play.healthy(worm)


def add_unread():
    ann, bob, _ = play.add_scene()
    play.add_clip(bob, ann, play.PAIRS)
    play.add_parts(bob)
    return ann, bob


@pytest.mark.parametrize("of", ("source", "target"))
def test_a_clip_that_ends_before_it_starts(of):
    _, bob = add_unread()
    clip = bob.motion_loom_transfer.clips[0]
    setattr(clip, f"{of}_start", 29)
    setattr(clip, f"{of}_end", 1)
    step_refused(bob, "fit", f"Clip 1, {of}: the range 29 to 1 is empty; let it end after it starts")


@pytest.mark.parametrize("of", ("source", "target"))
def test_the_part_whose_group_is_gone(of):
    _, bob = add_unread()
    part = bob.motion_loom_transfer.parts[2]
    part.name = "Flipper"
    setattr(part, f"{of}_group", "nope")
    name = {"source": "Ann", "target": "Bob"}[of]
    step_refused(bob, "fit", f"Part 'Flipper': '{name}' has no vertex group 'nope'; choose one that it has")


def test_its_own_source_is_what_is_said_first():
    _, bob = add_unread()
    settings = bob.motion_loom_transfer
    settings.source, settings.clips[0].source = bob, None
    step_refused(bob, "fit", "'Bob' cannot be its own source subject; choose another mesh")
