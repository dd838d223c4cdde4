"""What a user may count on in every live workflow; see ``tests.live_contract`` for how one more is added."""

import importlib
from dataclasses import replace

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import SceneError
from bl_ext.devrepo.motion_loom.state.live_runs import live_runs
from bl_ext.devrepo.motion_loom.workflows.core import live, registry

import checkout
from tests import live_contract, mesh_play
from tests.commands import run

STEP = 12
pytestmark = pytest.mark.versions


@pytest.fixture(scope="module", autouse=True)
def _with_all(motion_loom):
    """The extension runs with all workflows that there are, the proof among them."""
    registration = importlib.import_module(f"{checkout.PACKAGE}.registration")
    registration.unregister()
    registration.register(live_contract.ALL)
    yield
    registration.unregister()
    registration.register()


@pytest.fixture(scope="module")
def files(_with_all, tmp_path_factory):
    """A file of each case, made once."""
    folder, found = tmp_path_factory.mktemp("contract"), {}
    for case in live_contract.CASES:
        bpy.ops.wm.read_homefile(use_empty=True)
        case.build()
        bpy.context.scene.frame_set(STEP)
        found[case.id] = mesh_play.saved(folder, f"{case.id}.blend")
    return found


@pytest.fixture(params=live_contract.CASES, ids=lambda case: case.id)
def case(request, files):
    """Ready to go live."""
    bpy.ops.wm.open_mainfile(filepath=files[request.param.id])
    return request.param


def same(case, seen, other):
    np.testing.assert_allclose(seen, other, atol=case.tolerance)


def test_live_is_bake_is_command_is_render(case, tmp_path, capsys):
    live_contract.set_stage(case)
    source = case.seen()
    case.go_live()
    followed = case.seen()
    assert case.is_healthy and np.abs(followed - source).max() > 0.01
    bpy.context.scene.frame_set(STEP)
    picture = mesh_play.still(tmp_path, "live")
    path = mesh_play.saved(tmp_path, "live.blend")
    same(case, case.seen(case.bake()), followed)
    bpy.context.scene.frame_set(STEP)
    baked = mesh_play.still(tmp_path, "baked")
    assert np.abs(picture - baked).max() < 0.02 and baked[..., :3].std() > 0.01
    bpy.ops.wm.open_mainfile(filepath=path)
    run(capsys, *case.command)
    same(case, case.seen(case.result()), followed)


def test_live_and_an_edit_are_undone_and_redone(case):
    mesh_play.start_undo()
    case.activate()
    source, made = case.seen(), case.made()
    case.press("live")
    mesh_play.step("live")
    before = case.seen()
    case.change()
    after = case.seen()
    mesh_play.step("edit")
    assert np.abs(after - before).max() > 0.01
    mesh_play.undo(case.name)
    same(case, case.seen(), before)
    assert case.is_healthy
    mesh_play.undo(case.name)
    assert not case.settings.live and case.status is None and case.made() == made
    same(case, case.seen(), source)
    mesh_play.redo(case.name, 2)
    same(case, case.seen(), after)
    assert case.is_healthy


def test_goes_on_after_save_and_reopen(case, tmp_path):
    case.go_live()
    followed = case.seen()
    bpy.ops.wm.open_mainfile(filepath=mesh_play.saved(tmp_path))
    same(case, case.seen(), followed)
    assert case.is_healthy
    case.change()
    further = case.seen()
    assert np.abs(further - followed).max() > 0.01 and case.is_healthy
    same(case, case.seen(case.bake()), further)


def test_what_it_needs_is_deleted_and_comes_back(case):
    mesh_play.start_undo()
    case.go_live()
    followed = case.seen()
    mesh_play.step("live")
    bpy.data.objects.remove(bpy.data.objects[case.needs])
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(STEP + 1)
    assert case.needs in case.status.problem or "delete" in case.status.problem
    mesh_play.step("deleted")
    mesh_play.undo(case.name)
    same(case, case.seen(), followed)
    assert case.is_healthy


def test_what_is_live_is_deleted(case):
    case.go_live()
    bpy.data.objects.remove(case.ob)
    bpy.context.view_layer.update()
    bpy.context.scene.frame_set(STEP + 1)
    assert not live_runs.runs


def test_a_duplicate_leaves_it_alone(case):
    source = case.seen()
    case.go_live()
    followed = case.seen()
    case.activate()
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy != case.shown()
    same(case, case.seen(), followed)
    assert case.is_healthy
    bpy.data.objects.remove(copy)
    case.press("live")
    bpy.context.scene.frame_set(STEP)
    assert case.status is None
    same(case, case.seen(), source)


def test_names_do_not_matter(case):
    case.go_live()
    followed = case.seen()
    bpy.data.objects[case.needs].name, case.ob.name = "Needed", "Another"
    renamed = replace(case, name="Another", needs="Needed")
    same(renamed, renamed.seen(), followed)
    assert renamed.is_healthy
    same(renamed, renamed.seen(renamed.bake()), followed)


def test_what_the_user_made_stays_as_it_is(case):
    case.activate()
    made = case.made()
    case.press("live")
    bpy.context.scene.frame_set(STEP + 1)
    assert case.status.source_untouched
    case.press("live")
    bpy.context.scene.frame_set(STEP)
    assert case.made() == made and not live_runs.runs


def test_nothing_is_followed_while_it_is_baked(case, monkeypatch):
    case.go_live()
    case.activate()
    follower, calls = type(live_runs.runs[case.ob.session_uid, case.id].follower), []
    monkeypatch.setattr(follower, "check", lambda *_args: calls.append(1))
    for number, _ in enumerate(live.while_paused(case.workflow.bake(bpy.context))):
        bpy.context.scene.frame_set(STEP + number % 2)
        assert not calls


def test_another_workflow_is_refused_by_name(case):
    case.go_live()
    case.activate()
    followed = case.seen()
    rival = registry.by_id(case.rival)
    text = f"'{case.name}' is live in {case.workflow.label}; switch that off first"
    with pytest.raises(SceneError, match=text):
        list(live.while_paused(rival.live_on(bpy.context)))
    same(case, case.seen(), followed)
    assert case.is_healthy and not rival.settings_of(case.ob).live
