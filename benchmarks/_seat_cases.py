"""Clips in which somebody sits, kneels or leans, and edits that raise and lower what they rest on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from solvers.core.types import MeshTrack

from . import edits
from .climbs import climb
from .datasets import Scene
from .props import box
from .scenes import playground, sitting

# By which seats are raised.
METRES = (-0.3, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.3)
# In the last ones nobody sits: a man stands and bends over what is raised.
LOOKED_AT, HELD_OUT, STANDS = "looked at", "held-out", "stands"


@dataclass(frozen=True)
class Joints:
    """What is measured of a skeleton, by name; all but the pelvis in pairs, hips are the upper ends of thighs."""

    pelvis: str
    hips: tuple[str, str]
    knees: tuple[str, str]
    ankles: tuple[str, str]
    toes: tuple[str, str]


_KAYKIT = Joints(
    "hips", ("upperleg.l", "upperleg.r"), ("lowerleg.l", "lowerleg.r"), ("foot.l", "foot.r"), ("toes.l", "toes.r")
)
_CMU = Joints("root", ("lfemur", "rfemur"), ("ltibia", "rtibia"), ("lfoot", "rfoot"), ("ltoes", "rtoes"))
_CLIMB = Joints(
    "Hips",
    ("LeftUpLeg", "RightUpLeg"),
    ("LeftLeg", "RightLeg"),
    ("LeftFoot", "RightFoot"),
    ("LeftToeBase", "RightToeBase"),
)


@dataclass(frozen=True)
class Case:
    """A scene, the names of its joints, and the objects that are raised and lowered together."""

    build: Callable[[], Scene]
    joints: Joints
    raised: tuple[str, ...]
    mark: str


def on_cube() -> Scene:
    """The sitting of ``scenes.sitting`` on a cube as wide as the chair."""
    scene = sitting()
    chair = scene.environment["Chair"].vertices[0]
    hips = scene.track.positions[150, scene.track.skeleton.names.index("hips")]
    seat = box("Cube", [*chair.min(axis=0)[:2], 0.0], [*chair.max(axis=0)[:2], hips[2] - 0.06])
    return replace(scene, name="barbarian_cube", environment={"Ground": scene.environment["Ground"], "Cube": seat})


CASES: dict[str, Case] = {
    "chair": Case(sitting, _KAYKIT, ("Chair",), LOOKED_AT),
    "cube": Case(on_cube, _KAYKIT, ("Cube",), LOOKED_AT),
    "cmu_01_06": Case(lambda: playground("01_06"), _CMU, ("Seat", "Bar5", "Bar6"), LOOKED_AT),
    "cmu_01_10": Case(lambda: playground("01_10"), _CMU, ("Seat",), LOOKED_AT),
    "cmu_01_03": Case(lambda: playground("01_03"), _CMU, ("Seat",), STANDS),
    "cmu_01_08": Case(lambda: playground("01_08"), _CMU, ("Seat", "Bar7"), HELD_OUT),
    "climb_0": Case(lambda: climb(0), _CLIMB, ("Box1",), LOOKED_AT),
    "climb_1": Case(lambda: climb(1), _CLIMB, ("Box1",), HELD_OUT),
}


def environment(scene: Scene, case: Case, metres: float) -> list[MeshTrack]:
    """The objects of a scene with those that are sat on raised."""
    return list(edits.applied(scene.environment, dict.fromkeys(case.raised, edits.lifted(metres))).values())
