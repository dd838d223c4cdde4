"""Targets whose vertices are split at seams and hard edges, as the importers leave them: nothing comes apart."""

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.workflows.core import registry
from bl_ext.devrepo.motion_loom.workflows.map import learn
from bl_ext.devrepo.motion_loom.workflows.map.model import target_of

from tests import map_play as play
from tests import map_scenes, mesh_steps
from tests.map_play import FRAMES, PAIRS
from tests.panel_layout import Context, Layout

pytestmark = pytest.mark.usefixtures("no_traceback")
_EXAGGERATED = 1.8


def make(split, ground="NONE"):
    """The worm, with a vertex for each corner of its faces or not, and (V,) the vertex of the whole one each is."""
    bpy.ops.wm.read_homefile(use_empty=True)
    shapes, faces = play.worm_shapes()
    source = faces.ravel() if split else np.arange(shapes.shape[1])
    if split:
        shapes, faces = shapes[:, source], np.arange(faces.size).reshape(-1, 4)
    places = play.dots()
    places[FRAMES > 20] = places.mean(axis=0) + _EXAGGERATED * (places[FRAMES > 20] - places.mean(axis=0))
    ob = play.add_target("Worm", shapes, faces)
    ob.motion_loom_map.target_ground = ground
    play.learn(ob, play.add_dots(places=places))
    play.pair(ob, *PAIRS)
    return ob, source


def widest_gap(vertices, source):
    first = np.unique(source, return_index=True)[1][source]
    return np.abs(vertices - vertices[:, first]).max()


def test_a_split_target_is_whole_live_and_baked():
    """At all frames, some of them beyond every pair; it is what its welded twin is."""
    ob, source = make(True)
    play.toggle(ob)
    seen = play.MAP.follows_as_baked(ob)
    assert seen.shape[1] == len(source) and widest_gap(seen, source) == 0.0
    twin, _ = make(False)
    play.toggle(twin)
    size = np.linalg.norm(np.ptp(seen[0], axis=0))
    assert np.abs(seen - play.followed(twin)[:, source]).max() < 1e-6 * size


def test_a_seam_weighs_no_more_where_the_target_is_found_on_the_ground():
    """Way and heading are taken off as off the welded twin, but for which of its points are looked at."""
    targets = []
    for split in (True, False):
        ob, source = make(split, "FULL")
        targets.append((target_of(ob), source))
    (found, source), (twin, _) = targets
    np.testing.assert_allclose(found.pivot, twin.pivot, atol=1e-6)
    frames = [space.vertices_of(space.coefficients) for space in (found.space, twin.space)]
    assert np.abs(frames[0] - frames[1][:, source]).max() < 0.02


def panel_texts(ob):
    out = []
    registry.by_id("map").draw(Layout(out, True), Context(ob))
    return " ".join(map(str, out))


def test_a_file_from_before_opens_and_says_that_it_may_tear(monkeypatch, tmp_path, capfd):
    """Learnt by vertices, without the array that newer ones have; until it is learnt again."""
    with monkeypatch.context() as before:
        before.setattr(learn, "staying_together", lambda frames: np.arange(frames.shape[1]))
        ob, source = make(True)
    settings = ob.motion_loom_map
    arrays, header = binding_store.load(settings.learnt)
    arrays.pop("space same")
    settings.learnt = binding_store.save(ob.name, arrays, header)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "before.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "before.blend"))
    ob = bpy.data.objects["Worm"]
    play.toggle(ob)
    assert play.healthy(ob) and widest_gap(play.followed(ob), source) > 1e-3
    play.toggle(ob)
    told = f"{len(source) - len(np.unique(source))} lie where others do"
    assert told in panel_texts(ob)
    capfd.readouterr()
    command = ["map", "--target", "Worm", "--bake", "absolute-keys", "--json"]
    assert jobs.main(command) == 0 and told in capfd.readouterr().out
    play.learn(ob)
    assert told not in panel_texts(ob)
    assert jobs.main(command) == 0 and told not in capfd.readouterr().out
    assert widest_gap(mesh_steps.shown(ob.motion_loom_map.result, FRAMES), source) == 0.0


def test_what_stays_together_is_damaged():
    ob, _ = make(True)
    settings = ob.motion_loom_map
    arrays, header = binding_store.load(settings.learnt)
    for wrong in (arrays["space same"] + 10**6, arrays["space same"][:-1], np.arange(len(arrays["space same"]))):
        settings.learnt = binding_store.save(ob.name, arrays | {"space same": wrong}, header)
        play.activate(ob)
        with pytest.raises(RuntimeError, match="damaged.*learn the target again"):
            bpy.ops.motion_loom.live(workflow="map")
    assert map_scenes.positions(ob.data).shape == (len(arrays["space same"]), 3)
