"""All real scenes by name: a clip, what it was captured on (where that is unknown, must have been), and edits of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from solvers.core.types import JointTrack, MeshTrack, Skeleton

from . import edits
from .bvh import Z_UP, read_bvh, read_bvh_track
from .climbs import climb, climb_gap, climb_mirrored, climb_part, climb_reversed, climb_split
from .datasets import Scene, data_file, read_obj
from .glb import GlbFile
from .metrics import without_joints
from .props import bar, bars_under, box, carried, clear_of, flat_ground, rests, terrain

EFFECTORS_CMU = {
    "toe": ("ltoes", "rtoes"),
    "ankle": ("lfoot", "rfoot"),
    "wrist": ("lhand", "rhand"),
    "knuckle": ("lfingers", "rfingers"),
}
EFFECTORS_PLAYGROUND = EFFECTORS_CMU | {"seat": ("root",)}
EFFECTORS_CMU_FULL = {
    "toe": ("LeftToeBase", "RightToeBase"),
    "ankle": ("LeftFoot", "RightFoot"),
    "wrist": ("LeftHand", "RightHand"),
}
EFFECTORS_BANDAI = {"toe": ("Toes_L", "Toes_R"), "ankle": ("Foot_L", "Foot_R"), "wrist": ("Hand_L", "Hand_R")}
EFFECTORS_QUADRUPED = {"toe": ("FF.L", "FF.R", "FFB.L", "FFB.R")}
EFFECTORS_KAYKIT = {"toe": ("toes.l", "toes.r"), "ankle": ("foot.l", "foot.r"), "seat": ("hips",)}
_FINGERTIPS = tuple(
    f"{finger}_{end}/tail"
    for finger, end in (
        ("THUMB", "IP_FE"),
        ("INDEX", "DIP_FE"),
        ("MIDDLE", "DIP_FE"),
        ("RING", "DIP_FE"),
        ("PINKY", "DIP_FE"),
    )
)
EFFECTORS_HANDS = {"fingertip": tuple(f"{side}:{tip}" for side in ("left", "right") for tip in _FINGERTIPS)}


def jumps() -> Scene:
    """CMU 01_01, 120 fps: jumps forward, landing on five slabs above a sunken ground."""
    track = _bvh("mocap_bvh/cmu/01_01_playground_jump.bvh", 0.056444, CMU_FULL_DROPPED)
    track = edits.sub_clip(track, 10, 1080)
    environment = {"Ground": flat_ground(track.positions, -0.3)}
    for i, y in enumerate((0.9, 0.15, -0.78, -1.67, -2.6)):
        environment[f"Slab{i + 1}"] = box(f"Slab{i + 1}", [-0.1, y - 0.3, -0.3], [1.15, y + 0.35, 0.0])
    changes = edits.climb_changes([name for name in environment if name != "Ground"])
    changes["stairs"] = {f"Slab{i + 1}": edits.lifted(0.12 * i) for i in range(5)}
    return Scene("cmu_01_01", track, environment, EFFECTORS_CMU_FULL, 1.8, changes)


def uneven(clip: str) -> Scene:
    """CMU 03_01 or 03_03, 30 fps: walking over uneven ground, rebuilt as a height field from the feet."""
    track = _bvh(f"mocap_bvh/cmu/{clip}_uneven_terrain_30fps.bvh", 0.01, _CMU_DROPPED)
    soles = {
        "ltoes": 0.05,
        "rtoes": 0.05,
        "ltoes/tail": 0.02,
        "rtoes/tail": 0.02,
        "lfoot": 0.07,
        "rfoot": 0.07,
    }
    environment = {"Terrain": terrain(track, soles, ["ltoes", "rtoes"])}
    changes = {
        "bent": {"Terrain": edits.bent()},
        "sloped": {"Terrain": edits.sloped()},
        "exaggerated": {"Terrain": edits.widened(1.6, "z")},
        "flattened": {"Terrain": edits.widened(0.2, "z")},
        "moved": {"Terrain": edits.moved((0.25, 0.1, 0))},
    }
    return Scene(f"cmu_{clip}", track, environment, EFFECTORS_CMU, 1.75, changes)


def playground(clip: str) -> Scene:
    """CMU 01_03, 01_06, 01_08 or 01_10, 30 fps: climbing, hanging, sitting on bars and a seat at the contacts."""
    file, axis, seat = _PLAYGROUNDS[clip]
    track = _bvh(f"mocap_bvh/cmu/{file}.bvh", 0.01, _CMU_DROPPED)
    high = [rest.place for rest in rests(track, ["ltoes", "rtoes"]) if rest.place[2] > 0.2]
    hands = [rest.place for rest in rests(track, ["lfingers", "rfingers"]) if rest.place[2] > 1.0]
    bars = bars_under(np.array(high), axis, 0.06) + bars_under(np.array(hands), axis, 0.03)
    bars = clear_of(bars, track, ("root", "upperback", "thorax", "lowerneck", "head"), 0.1)
    environment = {"Ground": flat_ground(track.positions, track.positions[..., 2].min())}
    for i, mesh in enumerate(bars):
        environment[f"Bar{i + 1}"] = replace(mesh, name=f"Bar{i + 1}")
    environment["Seat"] = bar("Seat", np.array(seat) - [0, 0, 0.14], axis, 0.4, 0.03)
    frame = [name for name in environment if name != "Ground"]
    changes = {
        "lifted": dict.fromkeys(frame, edits.lifted(0.15)),
        "moved": dict.fromkeys(frame, edits.moved((0.2, 0.1, 0))),
        "shrunk": dict.fromkeys(frame, edits.about((*seat[:2], 0), edits.scaling(0.9))),
        "tilted": dict.fromkeys(frame, edits.about(seat, edits.turning(8, axis))),
        "raised_10": dict.fromkeys(frame, edits.lifted(0.1)),
        "lowered_10": dict.fromkeys(frame, edits.lifted(-0.1)),
        "seat_lifted": {"Seat": edits.lifted(0.1)},
        "seat_lowered": {"Seat": edits.lifted(-0.1)},
    }
    return Scene(f"cmu_{clip}", track, environment, EFFECTORS_PLAYGROUND, 1.75, changes)


def obstacles() -> Scene:
    """Bandai walk_giant, 30 fps: a heavy walk under a beam, between posts and past a low block."""
    track = _bvh("mocap_bvh/bandai/dataset-1_walk_giant_001.bvh", 0.01, ("joint_Root",))
    positions = track.positions
    top = positions[..., 2].max()
    middle = np.median(positions[:, 0, 0])
    y = np.median(positions[:, 0, 1])
    half = np.abs(positions[..., 0] - middle).max() + 0.12
    environment = {
        "Ground": flat_ground(positions),
        "Beam": box("Beam", [middle - 1, y - 0.1, top + 0.1], [middle + 1, y + 0.1, top + 0.3]),
        "PostL": box("PostL", [middle + half, y - 1.1, 0], [middle + half + 0.2, y - 0.9, 1.8]),
        "PostR": box("PostR", [middle - half - 0.2, y - 1.1, 0], [middle - half, y - 0.9, 1.8]),
        "Block": box("Block", [middle + half - 0.1, y + 0.8, 0], [middle + half + 0.3, y + 1.4, 0.4]),
    }
    changes = {
        "beam_lowered": {"Beam": edits.moved((0, 0, -0.25))},
        "posts_closer": {"PostL": edits.moved((-0.15, 0, 0)), "PostR": edits.moved((0.15, 0, 0))},
        "block_in_the_way": {"Block": edits.moved((-0.25, 0, 0))},
        "ground_sloped": {"Ground": edits.sloped(6)},
        "all_moved": dict.fromkeys(environment, edits.moved((0.5, 0.3, 0.1))),
    }
    return Scene("walk_giant", track, environment, EFFECTORS_BANDAI, 1.7, changes)


def quadruped(animal: str) -> Scene:
    """Horse, Husky or Fox, 60 fps: four cycles of the walk in place, given the travel that its hooves ask for."""
    size = {"Horse": 0.4, "Husky": 0.25, "Fox": 0.25}[animal]
    track = GlbFile(data_file(f"quadruped_rigs/quaternius/{animal}.glb")).track(
        "AnimalArmature|Walk", 60.0, size
    )
    track = _joined_hooves(track)
    feet = [track.skeleton.names.index(name) for name in EFFECTORS_QUADRUPED["toe"]]
    height = track.positions[..., 2].max()
    track = _travelling(track, feet, 4)
    environment = {"Ground": flat_ground(track.positions, 0.0, 1.0, 0.1)}
    changes = {
        "bent": {"Ground": edits.bent(0.08, 1.5)},
        "sloped": {"Ground": edits.sloped(8, "x")},
        "sloped_sideways": {"Ground": edits.sloped(8, "y")},
        "steep": {"Ground": edits.sloped(20, "x")},
        "steep_sideways": {"Ground": edits.sloped(20, "y")},
    }
    return Scene(animal.lower(), track, environment, EFFECTORS_QUADRUPED, height, changes)


def sitting() -> Scene:
    """KayKit Barbarian, 60 fps: sits down on a chair scaled to him, waits and stands up."""
    glb = GlbFile(data_file("biped_rigs/kaykit/Barbarian.glb"))
    parts = [glb.track(f"Sit_Chair_{part}", 60.0) for part in ("Down", "Idle", "StandUp")]
    positions = np.concatenate([part.positions for part in parts])
    track = JointTrack(parts[0].skeleton, positions, 60.0, np.arange(len(positions)))
    controls = [n for n in track.skeleton.names if "IK" in n or n.startswith(("control", "handslot", "root"))]
    track = without_joints(track, controls)
    hips = track.positions[150, track.skeleton.names.index("hips")]
    chair = GlbFile(data_file("scene_props/quaternius/Chair_1.glb")).mesh("Chair")
    environment = {"Ground": flat_ground(positions), "Chair": _seated(chair, hips)}
    changes = {
        "lifted": {"Chair": edits.lifted(0.08)},
        "lowered": {"Chair": edits.lifted(-0.06)},
        "raised_10": {"Chair": edits.lifted(0.1)},
        "lowered_10": {"Chair": edits.lifted(-0.1)},
        "moved": {"Chair": edits.moved((0.15, 0.1, 0))},
        "widened": {"Chair": edits.widened(1.3)},
        "tilted": {"Chair": edits.tilted(8)},
    }
    return Scene("barbarian", track, environment, EFFECTORS_KAYKIT, 1.5, changes)


def mug() -> Scene:
    """Two hands and the mug that they handle, 60 fps, 3 s: an environment that moves."""
    start, stop = 1300, 1480
    folder = "hand_object/mug1"
    hands = {side: read_bvh_track(data_file(f"{folder}/{side}Hand.bvh"), 0.1) for side in ("left", "right")}
    names = tuple(f"{side}:{name}" for side, hand in hands.items() for name in hand.skeleton.names)
    left = hands["left"].skeleton.parents
    parents = np.concatenate([left, np.where(left >= 0, left + len(left), -1)])
    positions = np.concatenate([hand.positions[start:stop] for hand in hands.values()], axis=1)
    track = JointTrack(Skeleton(names, parents), positions, 60.0, np.arange(stop - start))
    motion = read_bvh(data_file(f"{folder}/mug1.bvh"))
    places, turns = (values[start:stop, 0] for values in motion.world())
    shape = read_obj(data_file("hand_object/objects/mug1.obj"), "Mug")
    shape = replace(shape, vertices=shape.vertices * 0.1)
    environment = {"Mug": carried(shape, Z_UP @ turns, places @ Z_UP.T * 0.1)}
    changes = {
        "larger": {"Mug": edits.widened(1.2, "xyz")},
        "smaller": {"Mug": edits.widened(0.85, "xyz")},
        "moved": {"Mug": edits.moved((0.1, 0.05, 0.05))},
    }
    return Scene("mug", track, environment, EFFECTORS_HANDS, 1.8, changes)


SCENES: dict[str, Callable[[], Scene]] = {
    "climb_0": lambda: climb(0),
    "climb_1": lambda: climb(1),
    "climb_0_mirrored": climb_mirrored,
    "climb_0_part": climb_part,
    "climb_0_split": climb_split,
    "climb_1_reversed": climb_reversed,
    "climb_1_gap": climb_gap,
    "cmu_01_01": jumps,
    "cmu_03_01": lambda: uneven("03_01"),
    "cmu_03_03": lambda: uneven("03_03"),
    "cmu_01_06": lambda: playground("01_06"),
    "cmu_01_10": lambda: playground("01_10"),
    "walk_giant": obstacles,
    "horse": lambda: quadruped("Horse"),
    "husky": lambda: quadruped("Husky"),
    "fox": lambda: quadruped("Fox"),
    "barbarian": sitting,
    "mug": mug,
}
_CMU_DROPPED = ("lhipjoint", "rhipjoint", "lowerback", "lfingers/tail", "rfingers/tail", "lthumb", "rthumb")
_CMU_DROPPED += ("lthumb/tail", "rthumb/tail", "head/tail")
CMU_FULL_DROPPED = ("LHipJoint", "RHipJoint", "LowerBack", "LeftFingerBase", "RightFingerBase", "LFingers")
CMU_FULL_DROPPED += (
    "RFingers",
    "LThumb",
    "RThumb",
    "LFingers/tail",
    "RFingers/tail",
    "LThumb/tail",
    "RThumb/tail",
)
_PLAYGROUNDS = {
    "01_06": ("01_06_climb_sit_dangle_legs_30fps", "x", (0.75, -2.24, 1.47)),
    "01_10": ("01_10_climb_swing_leanback_30fps", "y", (-0.55, 0.48, 1.55)),
    "01_03": ("01_03_climb_hang_swing_30fps", "y", (-0.75, 0.52, 1.71)),
    "01_08": ("01_08_climb_sit_rock_lower_30fps", "y", (-0.81, 0.27, 1.55)),
}


def _bvh(relative, metres, dropped):
    return without_joints(read_bvh_track(data_file(relative), metres), dropped)


def _joined_hooves(track):
    """Hooves hang on their lower legs instead of on controls, as the eye sees them; controls go."""
    names = list(track.skeleton.names)
    parents = track.skeleton.parents.copy()
    order = sorted(range(len(names)), key=lambda j: names[j].startswith("FF"))
    for hoof, leg in (("FFB", "BackLowerLeg"), ("FF", "FrontLowerLeg")):
        for side in "LR":
            parents[names.index(f"{hoof}.{side}")] = names.index(f"{leg}.{side}")
    rank = np.argsort(order)
    parents = np.array([rank[parents[j]] if parents[j] >= 0 else -1 for j in order])
    skeleton = Skeleton(tuple(names[j] for j in order), parents)
    track = JointTrack(skeleton, track.positions[:, order], track.fps, track.frames)
    return without_joints(track, [n for n in names if n.startswith(("IK", "PoleTarget", "Body"))])


def _travelling(track, feet, cycles):
    """Cycles of a walk in place, moved by the speed at which its lowest feet slide backwards."""
    positions = track.positions[:-1]
    velocity = np.diff(track.positions, axis=0)
    low = positions[:, feet, 2] < positions[:, feet, 2].min() + 0.05 * np.ptp(positions[:, feet, 2])
    step = -np.median(velocity[:, feet, :2][low], axis=0)
    frames = np.arange(cycles * len(positions))
    travel = np.concatenate([frames[:, None] * step, np.zeros((len(frames), 1))], axis=1)
    return JointTrack(track.skeleton, np.tile(positions, (cycles, 1, 1)) + travel[:, None], track.fps, frames)


def _seated(chair, hips):
    """The chair scaled so that its seat lies 6 cm below the hips, which are a little before its middle."""
    vertices = chair.vertices[0] - [*chair.vertices[0, :, :2].mean(axis=0), chair.vertices[0, :, 2].min()]
    size = (hips[2] - 0.06) / 0.79
    return MeshTrack("Chair", (vertices * size + [hips[0], hips[1] + 0.1, 0])[None], chair.triangles)
