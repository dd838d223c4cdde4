"""The demos, run as users run them but with tiny pictures; and the walk it makes up."""

import os
import re
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
from bl_ext.devrepo.motion_loom.solvers.core.errors import OutputError
from bl_ext.devrepo.motion_loom.workflows.core import live

from tests import limits
from tests.map_scenes import world_positions

ROOT = Path(__file__).resolve().parents[2]
WIDTH, PICTURES, GAP = 16, 2, 4
# A state of the set: how far the motion has moved, and how far what is live is from what is baked, metres.
MEASURED = re.compile(r"^ .+? ([\d.]+) +([\d.]+e[+-]\d+) +[\d.]+$", re.MULTILINE)


def run_demo(out: Path, *words: str, script: str = "demo_adapt.py") -> subprocess.CompletedProcess:
    command = [sys.executable, str(ROOT / "examples" / script), "--out", str(out), *words]
    command += ["--pictures", str(PICTURES), "--width", str(WIDTH), "--samples", "1"]
    environment = {k: v for k, v in os.environ.items() if k not in ("CLIP", "BLENDER_USER_RESOURCES")}
    return subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=environment | {"OPENBLAS_NUM_THREADS": "1"}
    )


def shown_by(out: Path, *words: str, **script: str) -> str:
    """What a demo that ends well prints."""
    done = run_demo(out, *words, **script)
    assert done.returncode == 0, done.stderr
    return done.stdout


def size_of(picture: Path) -> tuple[int, int]:
    return tuple(bpy.data.images.load(str(picture)).size)


def figure_of(output: str, label: str) -> float:
    return float(re.search(rf"^ *{label} +([\d.]+(?:e[+-]\d+)?)", output, re.MULTILINE)[1])


@pytest.fixture
def examples(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))


def export_walk(path: Path, end: int, monkeypatch) -> Path:
    """The demo's walk as a BVH file in centimetres, Y up."""
    import walker

    # The exporter keeps the armature's own axes: here Z ahead, X to the left.
    monkeypatch.setattr(walker, "TO_LOCAL", np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))
    rig = walker.make_walker()
    bpy.ops.export_anim.bvh(filepath=str(path), global_scale=100.0, frame_start=1, frame_end=end, rotate_mode="NATIVE")
    assert rig.animation_data.action
    return path


@pytest.fixture
def own_clip(examples, monkeypatch, tmp_path) -> Path:
    return export_walk(tmp_path / "my own walk.bvh", 110, monkeypatch)


def test_makes_a_file_and_a_strip_and_keeps_contacts(tmp_path):
    out = shown_by(tmp_path / "out")
    assert figure_of(out, "contacts kept") > 95.0
    assert figure_of(out, "frames with penetration") < 2.0
    assert size_of(tmp_path / "out" / "adapt.png") == (PICTURES * WIDTH + GAP, 3 * 24 + 2 * GAP)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "out" / "adapt.blend"))
    rig = bpy.data.objects["Walker"]
    assert rig.animation_data.action.name == "WalkerAction adapted"
    assert bpy.data.actions["WalkerAction"].use_fake_user
    assert rig.motion_loom_adapt.binding is not None


def test_takes_a_clip_of_the_users(own_clip, tmp_path):
    out = shown_by(tmp_path / "out", "--clip", str(own_clip))
    assert "taken as 1.78 m" in out
    assert figure_of(out, "contacts kept") > 95.0
    assert (tmp_path / "out" / "adapt.png").stat().st_size > 0


def test_walks_a_captured_clip(data, tmp_path):
    out = shown_by(tmp_path, "--clip", str(data / "mocap_bvh/cmu/03_01_uneven_terrain_30fps.bvh"))
    assert "taken as 1.67 m" in out
    assert figure_of(out, "contacts kept") > 95.0


def test_live_follows_each_change_and_is_saved_live(tmp_path):
    out = shown_by(tmp_path, script="demo_live.py")
    assert "live vs bake, largest difference" in out and "'WalkerAction' untouched        true" in out
    moved, off_bake = (np.array(column, float) for column in zip(*MEASURED.findall(out), strict=True))
    assert moved[0] < 1e-4 and (moved[1:] > 0.1).all()
    assert len(off_bake) == 5 and off_bake.max() < 1e-6
    assert size_of(tmp_path / "live.png") == (PICTURES * WIDTH + GAP, 5 * 21 + 4 * GAP)
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "live.blend"))
    rig = bpy.data.objects["Walker"]
    assert {ob.name for ob in bpy.data.objects if ob.type == "ARMATURE"} == {"Walker"}
    status = live.status(rig, "adapt")
    assert status.track == "READY" and status.problem is None and status.source_untouched
    bpy.context.scene.frame_set(113)
    hand = rig.matrix_world @ rig.pose.bones["hand.L"].head
    bpy.data.objects["Table"].animation_data_clear()
    bpy.data.objects["Table"].location.z += 0.1
    bpy.context.view_layer.update()
    assert (rig.matrix_world @ rig.pose.bones["hand.L"].head - hand).length > 0.05


@pytest.mark.slow
def test_live_follows_under_a_clip_of_the_users(examples, monkeypatch, tmp_path):
    clip = export_walk(tmp_path / "short walk.bvh", 40, monkeypatch)
    out = shown_by(tmp_path, "--clip", str(clip), script="demo_live.py")
    assert "untouched" in out and (tmp_path / "live.png").stat().st_size > 0


# What both did over a part: metres and degrees of source and target, and the target's lowest point, least and most.
PART = re.compile(r"^  (\w[\w ]+?) {2,}" + " +".join([r"(-?[\d.]+)"] * 6) + "$", re.MULTILINE)


def parts_of(output: str) -> dict[str, np.ndarray]:
    return {name: np.array(numbers, float) for name, *numbers in PART.findall(output)}


def test_a_caterpillar_follows_a_performance(tmp_path):
    """And plays where its files are moved to."""
    out = shown_by(tmp_path / "out", script="demo_map.py")
    parts = parts_of(out)
    for walk in ("walks", "walks along a bend"):
        assert parts[walk][0] > 3.0 and parts[walk][1] > 0.2
    assert all(parts[name][1] < 0.08 for name in ("leans to the left", "leans to the right", "raises its arms"))
    assert parts["walks along a bend"][3] > 40.0
    assert parts["hops"][5] > 0.15
    lowest = {name: numbers[4:] for name, numbers in parts.items()}
    assert min(low for low, _ in lowest.values()) > -0.001
    assert max(high for name, (_, high) in lowest.items() if name != "hops") < 0.03
    assert figure_of(out, "live vs cache file, largest difference") < 1e-5
    assert size_of(tmp_path / "out" / "map.png") == (PICTURES * WIDTH + GAP, 22 + 14 + GAP)
    (tmp_path / "out").rename(tmp_path / "moved")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "moved" / "map.blend"))
    cat = bpy.context.object
    assert cat.name == "Caterpillar" and cat.visible_get() and not cat.motion_loom_map.live
    assert len(cat.motion_loom_map.pairs) == 8 and cat.motion_loom_map.learnt and cat.motion_loom_map.clip
    played = bpy.data.objects["Caterpillar (mapped)"]
    assert played.modifiers[0].filepath.startswith("//")
    heads = []
    for frame in (220, 234):  # it stands, its arms are up
        bpy.context.scene.frame_set(frame)
        heads.append(world_positions(played)[:, 2].max())
    assert heads[1] > 0.5


@pytest.mark.slow
def test_a_caterpillar_follows_a_clip_of_the_users(own_clip, tmp_path):
    out = shown_by(tmp_path, "--clip", str(own_clip), script="demo_map.py")
    assert figure_of(out, "One cycle of the clip takes") == pytest.approx(1.08, abs=0.1)
    (went,) = (numbers[:2] for numbers in parts_of(out).values())
    assert went[0] > 3.0 and went[1] > 0.15


def test_a_stout_figure_performs_what_a_slim_one_does(tmp_path):
    out = shown_by(tmp_path / "out", script="demo_transfer.py")
    assert "6 parts" in out
    off, nearest = (figure_of(out, f"{label} off, mean") for label in ("poses", "nearest captured pose"))
    assert off < 10.0 and off < 0.25 * nearest
    _, went, himself = three_of(out, "went, m")
    assert went == pytest.approx(himself, rel=0.03)
    _, turned, himself = three_of(out, "turned, degrees")
    assert turned == pytest.approx(himself, abs=8.0)
    assert figure_of(out, "live vs cache file, largest difference") < 1e-5
    assert size_of(tmp_path / "out" / "transfer.png") == (PICTURES * WIDTH + GAP, 3 * 20 + 2 * GAP)
    (tmp_path / "out").rename(tmp_path / "moved")
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "moved" / "transfer.blend"))
    stout = bpy.data.objects["Stout"]
    settings, status = stout.motion_loom_transfer, live.status(stout, "transfer")
    assert settings.live and status.problem is None and status.note is None and status.track == "READY"
    assert [len(clip.pairs) for clip in settings.clips] == [6, 5, 5]
    assert settings.live_copy.visible_get() and not stout.visible_get()
    # The new clip can still be changed.
    bpy.context.scene.frame_set(60)
    shown = world_positions(settings.live_copy)
    assert np.ptp(shown[:, 2]) > 1.3 and abs(shown[:, 2].min()) < 0.03
    forearm = settings.performed.parent.pose.bones["forearm.R"]
    forearm.id_data.animation_data_clear()
    forearm.rotation_quaternion = (1.0, 0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert np.linalg.norm(world_positions(settings.live_copy) - shown, axis=1).max() > 0.1


@pytest.mark.slow
def test_a_stout_figure_performs_a_clip_of_the_users(own_clip, tmp_path):
    out = shown_by(tmp_path, "--clip", str(own_clip), script="demo_transfer.py")
    assert figure_of(out, "poses off, mean") < figure_of(out, "nearest captured pose off, mean")
    _, went, himself = three_of(out, "went, m")
    assert went == pytest.approx(himself, rel=0.1)


def three_of(output: str, label: str) -> tuple[float, ...]:
    """Of the source, the target, and the target by himself."""
    found = re.search(rf"^ *{label} +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+)$", output, re.MULTILINE)
    return tuple(map(float, found.groups()))


HEADER = "HIERARCHY\nROOT Hips\n{\nOFFSET 0 90 0\nCHANNELS 3 Xposition Yposition Zposition\n"
BROKEN = {
    "missing": None,
    "not a BVH": "hello\n",
    "empty": "",
    "cut in the hierarchy": HEADER,
    "no frames": HEADER + "End Site\n{\nOFFSET 0 90 0\n}\n}\nMOTION\nFrames: 0\nFrame Time: 0.033\n",
    "cut in a frame": HEADER + "End Site\n{\nOFFSET 0 90 0\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.033\n0 0 0\n0 0\n",
    "not numbers": HEADER + "End Site\n{\nOFFSET 0 90 0\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.033\n0 0 0\n0 x 0\n",
    "binary": "\0\1\2\3",
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_clip_is_named(text, examples, tmp_path):
    import clip

    path = tmp_path / "broken.bvh"
    if text is not None:
        path.write_text(text)
    with pytest.raises(clip.ClipError, match="broken.bvh"):
        clip.load(str(path))


def test_a_useless_clip_ends_with_its_name_and_1(tmp_path):
    path = tmp_path / "useless.bvh"
    done = run_demo(tmp_path, "--clip", str(path))
    assert done.returncode == 1
    assert "useless.bvh" in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "adapt.png").exists()


def test_planted_feet_do_not_slide_and_nothing_is_entered(examples):
    """What the demo starts from must itself be sound: true contacts, no body inside a thing."""
    import walker

    rig, scene = walker.make_walker(), bpy.context.scene
    body = next(ob for ob in rig.children if ob.type == "MESH")
    toes, skins = [], []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        toes.append([rig.matrix_world @ rig.pose.bones[f"toe.{side}"].head for side in "LR"])
        skins.append(world_positions(body))
    toes, skins = np.array(toes), np.array(skins)
    ground = np.vectorize(walker.ground, otypes=[float])(toes[..., 0])
    planted = toes[..., 2] - ground < 0.0255  # the ball's own height, 25 mm
    still = planted[1:] & planted[:-1]
    assert still.sum() > 0.4 * still.size
    assert np.linalg.norm(np.diff(toes, axis=0), axis=2)[still].max() < 1e-3
    x, y, z = np.moveaxis(skins, -1, 0)
    assert z.min() > -4e-3
    for start, stop, top in walker.SLABS.values():
        assert not ((x > start) & (x < stop) & (z < top - 4e-3)).any()
    (x0, x1), (y0, _) = walker.TABLE_X, walker.TABLE_Y
    on_table = (x > x0) & (x < x1) & (y > y0)
    depth = np.minimum(walker.TABLE_TOP - z, z - walker.TABLE_TOP + 0.05)[on_table]
    assert -0.02 < depth.max() < 4e-3
    assert z[np.abs(x - walker.BEAM_X) < 0.07].max() < walker.BEAM_BOTTOM


def test_a_full_disk_leaves_no_part_of_a_file(examples, tmp_path, monkeypatch):
    import outputs

    scene, picture = tmp_path / "demo.blend", tmp_path / "demo.png"
    outputs.save_scene(str(scene), 1)
    noise = np.random.default_rng(0).uniform(size=(64, 64, 4))
    outputs.save_picture(noise, str(picture))
    before = picture.read_bytes()
    with limits.largest_file(3000):
        with pytest.raises(OutputError, match="'.*demo.png' cannot be written.*choose another --out"):
            outputs.save_picture(noise[::-1], str(picture))
        for compress in (False, True):
            monkeypatch.setattr(bpy.context.preferences.filepaths, "use_file_compression", compress)
            with pytest.raises(OutputError, match="'.*new.blend' cannot be saved.*choose another --out"):
                outputs.save_scene(str(tmp_path / "new.blend"), 1)
    assert picture.read_bytes() == before and sorted(os.listdir(tmp_path)) == ["demo.blend", "demo.png"]
