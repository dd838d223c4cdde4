"""The readers on hand-made files, the edits on a box, and every real scene where the captures are there."""

import json

import numpy as np
import pytest

from benchmarks import datasets, edits, props
from benchmarks.bvh import read_bvh, read_bvh_track
from benchmarks.climbs import climb, climb_gap, climb_mirrored
from benchmarks.glb import GlbFile, sample
from benchmarks.metrics import measure
from benchmarks.props import bar, rests
from benchmarks.scenes import SCENES
from solvers.core.errors import InputError
from solvers.core.types import JointTrack, Skeleton
from solvers.surface.closest_point import SurfaceIndex

BVH = """HIERARCHY
ROOT hip
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT knee
  {
    OFFSET 0 -40 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 -45 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.025
0 90 0 0 0 0 0 0 0
10 90 0 90 0 0 0 90 0
"""


def test_bvh_angles_apply_in_channel_order(tmp_path):
    """Turned by 90 degrees about Z the thigh points along +X; the shin's X turn then acts in that frame."""
    file = tmp_path / "leg.bvh"
    file.write_text(BVH)
    track = read_bvh_track(file)
    assert track.skeleton.names == ("hip", "knee", "knee/tail") and track.fps == pytest.approx(40)
    assert np.allclose(track.positions[0], [[0, 0, 0.9], [0, 0, 0.5], [0, 0, 0.05]])
    assert np.allclose(track.positions[1], [[0.1, 0, 0.9], [0.5, 0, 0.9], [0.5, 0.45, 0.9]])


def test_broken_bvh_is_named(tmp_path):
    file = tmp_path / "cut.bvh"
    file.write_text(BVH[:-6])
    with pytest.raises(InputError, match="cut.bvh"):
        read_bvh(file)
    file.write_text("HIERARCHY ROOT hip {")
    with pytest.raises((InputError, ValueError)):
        read_bvh(file)


def write_glb(file, document, binary):
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = [
        len(text).to_bytes(4, "little"),
        b"JSON",
        text,
        len(binary).to_bytes(4, "little"),
        b"BIN\0",
        binary,
    ]
    body = b"".join(chunks)
    file.write_bytes(b"glTF" + (2).to_bytes(4, "little") + (12 + len(body)).to_bytes(4, "little") + body)


def test_glb_nodes_turn_their_children(tmp_path):
    """A parent turning by 90 degrees about Z carries its child, half way at half time."""
    half = np.sqrt(0.5)
    values = [np.array([0, 1], "<f4"), np.array([[0, 0, 0, 1], [0, 0, half, half]], "<f4")]
    binary = b"".join(v.tobytes() for v in values)
    document = {
        "nodes": [{"name": "a", "children": [1]}, {"name": "b", "translation": [1, 0, 0]}],
        "skins": [{"joints": [1, 0]}],
        "bufferViews": [{"byteLength": 8}, {"byteOffset": 8, "byteLength": 32}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC4"},
        ],
        "animations": [
            {
                "name": "turn",
                "samplers": [{"input": 0, "output": 1}],
                "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}],
            }
        ],
    }
    write_glb(tmp_path / "two.glb", document, binary)
    track = GlbFile(tmp_path / "two.glb").track("turn", 2.0)
    assert track.skeleton.names == ("a", "b") and list(track.skeleton.parents) == [-1, 0]
    assert np.allclose(track.positions[:, 1], [[1, 0, 0], [half, 0, half], [0, 0, 1]], atol=1e-6)
    with pytest.raises(InputError, match="'walk'.*turn"):
        GlbFile(tmp_path / "two.glb").track("walk", 30.0)


def test_glb_samplers():
    keys, times = np.array([0.0, 1.0]), np.array([-1, 0, 0.25, 1, 2])
    points = np.array([[0.0], [4.0]])
    assert np.allclose(sample(keys, points, "LINEAR", times, False)[:, 0], [0, 0, 1, 4, 4])
    assert np.allclose(sample(keys, points, "STEP", times, False)[:, 0], [0, 0, 0, 4, 4])
    cubic = np.array([[0], [0], [4], [4], [4], [0]], float)
    straight = sample(keys, cubic, "CUBICSPLINE", times, False)[:, 0]
    assert np.allclose(straight, [0, 0, 1, 4, 4])


def test_obj_polygons_and_negative_indices(tmp_path):
    file = tmp_path / "quad.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1 2/2/2 3//1 4\nf -4 -3 -2\n")
    assert datasets.read_obj(file, "Quad").triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 2]]


@pytest.mark.parametrize(
    "mesh", [props.box("Box", [0, 0, 0], [1, 2, 3]), bar("Bar", [0.5, 1, 1.5], "x", 1.0)]
)
def test_props_face_outwards(mesh):
    inside, outside = np.array([[0.5, 1, 1.5]]), np.array([[0.5, 1, 4.0]])
    index = SurfaceIndex(mesh.vertices[0], mesh.triangles)
    assert index.query(inside, np.inf).distance[0] < 0 < index.query(outside, np.inf).distance[0]


def test_edits_do_what_they_say():
    vertices = props.box("Box", [0, 0, 0], [1, 2, 1]).vertices
    assert np.ptp(edits.stretched()(vertices)[0], axis=0) == pytest.approx([1, 2, 1.2])
    assert edits.lifted()(vertices)[0].min(axis=0) == pytest.approx([0, 0, 0.2])
    assert edits.widened()(vertices)[0].max(axis=0) == pytest.approx([1.15, 2.3, 1])
    assert edits.moved()(vertices)[0].mean(axis=0) == pytest.approx([0.8, 1, 0.5])
    tilted = edits.tilted(10, "x")(vertices)[0]
    assert tilted.mean(axis=0) == pytest.approx([0.5, 1, 0.5])
    assert np.degrees(np.arctan2(*(tilted[2] - tilted[0])[[2, 1]])) == pytest.approx(10)


def test_widened_keeps_a_moving_object_rigid():
    """Each state grows about its own centre: an object that moves still moves rigidly."""
    box = props.box("Box", [0, 0, 0], [1, 2, 1]).vertices
    path = np.linspace(0, 3, 5)[:, None, None] * [1, 0, 0]
    grown = edits.widened(1.5, "xyz")(box + path)
    assert np.allclose(grown - path, grown[0])


def test_scaled_character_keeps_the_root_path():
    positions = np.cumsum(np.random.default_rng(0).normal(size=(5, 3, 3)), axis=0)
    track = JointTrack(Skeleton(("a", "b", "c"), np.array([-1, 0, 1])), positions, 30.0, np.arange(5))
    small = edits.scaled_character(track, 0.8).positions
    assert np.allclose(small[:, 0], positions[:, 0])
    assert np.allclose(small[:, 2] - small[:, 1], 0.8 * (positions[:, 2] - positions[:, 1]))


def test_rests_are_found():
    positions = np.zeros((60, 1, 3))
    positions[:20, 0, 0] = np.linspace(1, 0, 20)
    positions[40:, 0, 0] = np.linspace(0, 1, 20)
    track = JointTrack(Skeleton(("toe",), np.array([-1])), positions, 30.0, np.arange(60))
    (rest,) = rests(track, ["toe"])
    assert 19 <= rest.start <= 21 and 39 <= rest.stop <= 41 and np.allclose(rest.place, 0, atol=0.01)


@pytest.mark.captures
@pytest.mark.parametrize("name", list(SCENES))
def test_scene_is_usable(name):
    """Each scene loads, touches what it was captured on, keeps its bones, and all its edits apply."""
    scene = SCENES[name]()
    track, names = scene.track, scene.track.skeleton.names
    assert np.isfinite(track.positions).all() and len(track.frames) == len(track.positions)
    assert 0.3 < scene.height < 2.2 and all(
        joint in names for group in scene.effectors.values() for joint in group
    )
    for edit in scene.edits:
        changed = scene.changed(edit)
        assert changed.keys() == scene.environment.keys()
        assert any(not np.allclose(changed[k].vertices, scene.environment[k].vertices) for k in changed)
    part = edits.sub_clip(track, 0, min(len(track.frames), 600), 4)
    meshes = [
        m if m.is_static else type(m)(m.name, m.vertices[:600:4], m.triangles)
        for m in scene.environment.values()
    ]
    figures = measure(part, part, meshes, meshes, scene.effectors, scene.height)
    assert figures["contact_frames"] > 20 and figures["contacts_kept_pct"] == 100
    assert figures["penetration_pct"] < 35 and figures["bone_error_max_pct"] < 1e-6


@pytest.mark.captures
def test_climb_gap_closes_to_a_quarter_metre():
    scene = climb_gap()

    def gap(environment):
        near, far = environment["Box1"].vertices[0], environment["Slab"].vertices[0]
        return far[:, 1].min() - near[:, 1].max()

    assert gap(scene.environment) == pytest.approx(0.92, abs=0.02)
    assert gap(scene.changed("widened")) == pytest.approx(0.26, abs=0.05)


@pytest.mark.captures
def test_mirrored_climb_mirrors_the_measures():
    plain, mirrored = climb(0), climb_mirrored()
    left = plain.track.positions[:, plain.track.skeleton.names.index("LeftToeBase")]
    right = mirrored.track.positions[:, mirrored.track.skeleton.names.index("RightToeBase")]
    assert np.allclose(left * [-1, 1, 1], right)
    top = SurfaceIndex(mirrored.environment["Box1"].vertices[0], mirrored.environment["Box1"].triangles)
    assert top.query(mirrored.environment["Box1"].vertices[0].mean(axis=0)[None], np.inf).distance[0] < 0
