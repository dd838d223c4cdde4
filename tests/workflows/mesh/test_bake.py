"""Live shows what every kind of bake and the command line write, at whatever frames, and the target stays as it is."""

import json

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs

from tests.map_play import MAP
from tests.mesh_play import put
from tests.mesh_steps import SAME, everything, saved, shown

pytestmark = [pytest.mark.usefixtures("silent"), pytest.mark.versions]

KINDS = "PC2", "PCA_KEYS", "ABSOLUTE_KEYS"


def without(state, *names):
    return {name: value for name, value in state.items() if name not in names}


@pytest.mark.versions
@pytest.mark.parametrize("kind", KINDS)
def test_live_is_bake_is_command(play, ob, tmp_path, capfd, kind):
    play.settings(ob).bake_kind = kind
    followed, path, before = play.followed(ob), saved(tmp_path), everything()
    new = play.bake(ob, kind)
    baked, after = shown(new, play.frames), without(everything(), new.name)
    assert new != ob and new.data != ob.data
    assert without(after, "active", "actions") == without(before, "active", "actions")
    assert after["actions"].items() >= before["actions"].items()
    assert play.settings(ob).live and play.healthy(ob)
    np.testing.assert_array_equal(play.followed(ob), followed)
    bpy.ops.wm.open_mainfile(filepath=path)
    words = [play.workflow, "--target", play.target, "--output", str(tmp_path / "done.blend"), "--json"]
    assert jobs.main(words) == 0
    report = json.loads(capfd.readouterr().out.splitlines()[-1])
    assert (report["frames"], report["kind"]) == (len(play.frames), kind)
    assert report["pairs"] == 4 if play is MAP else report["trained_as_set"]
    commanded = shown(bpy.data.objects[report["object"]], play.frames)
    allowed = SAME + report["error_max"]
    assert (report["error_max"] > 0) == (kind == "PCA_KEYS") and report["error_max"] < 0.01
    assert np.linalg.norm(baked - followed, axis=-1).max() < allowed
    assert np.linalg.norm(commanded - followed, axis=-1).max() < allowed


def test_a_frame_is_the_same_however_it_is_reached(play, ob):
    played = shown(play.copy(ob), play.frames)
    for seed in (1, 2):
        np.testing.assert_array_equal(play.followed(ob, seed=seed), played)
    np.testing.assert_array_equal(shown(play.copy(ob), play.frames[::-1])[::-1], played)


def test_outside_the_range_the_ends_are_held(play, ob):
    first, last = play.frames[[0, -1]]
    ends = shown(play.copy(ob), [first, last])
    beyond = shown(play.copy(ob), [first - 31, first - 1, last + 1, last + 460])
    assert play.healthy(ob)
    np.testing.assert_array_equal(beyond, ends[[0, 0, 1, 1]])


@pytest.mark.parametrize("kind", ("PC2", "ABSOLUTE_KEYS"))
@pytest.mark.parametrize("play", [MAP])
def test_between_frames_live_is_near_the_bake(play, ob, tmp_path, kind):
    """Live maps the pose between; a bake goes straight from frame to frame."""
    saved(tmp_path)
    frames = np.linspace(play.frames[0], play.frames[-1], 97)
    followed, baked = play.followed(ob, frames), shown(play.bake(ob, kind), frames)
    step = np.linalg.norm(np.diff(shown(play.copy(ob), play.frames), axis=0), axis=-1).max()
    assert np.linalg.norm(baked - followed, axis=-1).max() < 0.05 * step


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("start", "end", "step"), ((-4, 50, 3), (9, 9, 1)))
def test_another_step_and_range_of_the_bake(play, ob, tmp_path, kind, start, end, step):
    saved(tmp_path)
    put(play.settings(ob), {"use_bake_range": True, "bake_start": start, "bake_end": end, "bake_step": step})
    frames = np.arange(start, end + 1, step)
    followed, baked = play.followed(ob, frames), shown(play.bake(ob, kind), frames)
    allowed = 0.01 if kind == "PCA_KEYS" and len(frames) > 1 else 2 * SAME
    assert np.linalg.norm(baked - followed, axis=-1).max() < allowed
