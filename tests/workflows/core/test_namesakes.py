"""Two objects of one name, which a library makes possible, are told apart: by pointer, and by Blender's full name."""

import importlib
import shlex

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs

from tests import adapt_scenes as scenes
from tests import map_play
from tests.commands import refused, run
from tests.linked import linked_instead

pytestmark = pytest.mark.versions

commands, map_model = (
    importlib.import_module(f"bl_ext.devrepo.motion_loom.workflows.{name}") for name in ("adapt.command", "map.model")
)

LINKED = "Step [set.blend]"


@pytest.fixture
def rig(tmp_path):
    """A walker on a linked step; the step of this file is far away."""
    rig = scenes.add_scene()
    linked_instead(bpy.data.objects["Step"], tmp_path / "set.blend")
    scenes.add_box("Step", (40, 0, 0), (41, 1, 1))
    bpy.context.view_layer.update()
    return rig


def linked_step():
    return next(ob for ob in bpy.context.scene.objects if ob.name_full == LINKED)


def test_the_full_name_chooses(rig, capsys):
    assert run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", LINKED)["notes"] == []
    assert [item.target for item in rig.motion_loom_adapt.surfaces] == [bpy.data.objects["Floor"], linked_step()]
    before = scenes.joints_of(rig)
    bpy.data.objects["Floor"].location.z += 0.1
    run(capsys, "adapt", "--rig", "Rig", "--environment", "Floor", LINKED)
    assert np.abs(scenes.joints_of(rig) - before).max() > 0.05
    assert f"without 'Step' ('Step' is the object of this file, not '{LINKED}')" in refused(
        capsys, "adapt", "--rig", "Rig", "--environment", "Step"
    )


def test_the_plain_name_is_the_object_of_this_file_and_that_is_said(rig, capsys):
    assert jobs.main(["bind", "--rig", "Rig", "--environment", "Floor", "Step"]) == 0
    assert f"Note: 'Step' is the object of this file, not '{LINKED}'" in capsys.readouterr().err
    assert rig.motion_loom_adapt.surfaces[1].target.library is None


def test_a_plain_name_that_linked_objects_share_is_refused(rig, capsys, tmp_path):
    linked_instead(next(ob for ob in bpy.data.objects if ob.name_full == "Step"), tmp_path / "other.blend")
    for words in (
        ("bind", "--rig", "Rig", "--environment", "Step"),
        ("adapt", "--rig", "Rig", "--environment", "Floor", "--pin", "wrist.L=Step:1:5"),
        ("bake", "--rig", "Step"),
        ("map", "--target", "Step"),
        ("map", "--target", "Floor", "--source", "Step"),
        ("transfer", "--target", "Floor", "--source", "Step"),
    ):
        told = refused(capsys, *words)
        for part in ("'Step' is the name of more than one", "'Step [other.blend]'", LINKED):
            assert part in told, words


def test_options_of_an_object(rig, capsys):
    run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Step", LINKED)
    pin = f"wrist.L={LINKED}:1:5"
    run(capsys, "adapt", "--rig", "Rig", "--mode", f"{LINKED}=AVOID", "--influence", "Step=0.5", "--pin", pin)
    settings = rig.motion_loom_adapt
    assert [item.mode for item in settings.surfaces] == ["ATTACH", "ATTACH", "AVOID"]
    assert [item.influence for item in settings.surfaces] == [1.0, 0.5, 1.0]
    assert settings.pins[0].target == linked_step()


def test_a_name_now_that_was_anothers_at_bind(rig, capsys):
    run(capsys, "bind", "--rig", "Rig", "--environment", "Floor", "Step")
    bpy.data.objects["Step"].name = "Podium"
    bpy.data.objects["Floor"].name = "Step"
    assert "'Step' is one object's name now and was another's" in refused(
        capsys, "adapt", "--rig", "Rig", "--mode", "Step=AVOID"
    )


def test_the_copied_command_gives_full_names(rig, tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"))
    rig.motion_loom_adapt.surfaces.add().target = linked_step()
    assert LINKED in shlex.split(commands.command_of(bpy.context, rig))


def test_an_object_that_shares_its_name_with_a_collection(rig, capsys):
    group = bpy.data.collections.new("Floor")
    bpy.context.scene.collection.children.link(group)
    notes = run(capsys, "bind", "--rig", "Rig", "--environment", "Floor")["notes"]
    assert notes == ["'Floor' is the object, not the collection of that name"]


def test_points_of_one_name(tmp_path):
    """Of a collection that Map learns from, one is linked and another of its name is not."""
    worm, dots = map_play.add_target(), map_play.add_dots()
    name = dots.objects[0].name
    linked = linked_instead(dots.objects[0], tmp_path / "dots.blend")
    here = bpy.data.objects.new(name, None)
    for ob in (here, linked):
        dots.objects.link(ob)
    pairs = [f"{source}={target}" for source, target in map_play.PAIRS]
    words = ("--target", "Worm", "--source", "Dots", "--bake", "absolute-keys", "--pair", *pairs)
    assert jobs.main(["map", *words]) == 0
    source = map_model.source_of_clip(worm)
    assert source.uids == tuple(ob.session_uid for ob in dots.all_objects)
    assert len(set(source.names)) == len(source.names) and {linked.name_full, here.name_full} < set(source.names)
