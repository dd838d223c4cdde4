"""Rigs with controls that a few lines of NumPy evaluate, as oracles for the fit of controls.

A toy body: a trunk whose carriers mix torso, hips and chest; an arm by forward kinematics whose rotation is the root's
and whose place is the chest's; a leg by inverse kinematics with a pole and a control that swings it; a foot that hangs
on the root or on the torso, as a switch says at each frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.controls.channels import Stepper
from solvers.controls.control_rig import ControlRig
from solvers.controls.trial import ControlChannels, FitProblem
from solvers.rotations import rotation_vectors as rotvec
from solvers.skeleton.rig import Rig

CONTROLS = {
    # name: (head, rotation mode, location free, rotation free)
    "torso": ((0, 0, 1.0), "QUATERNION", True, True),
    "hips": ((0, 0, 1.1), "QUATERNION", False, True),
    "chest": ((0, 0, 1.2), "XYZ", False, True),
    "neck": ((0, 0, 1.5), "ZXY", False, True),
    "upper_arm": ((0.2, 0, 1.4), "QUATERNION", False, True),
    "forearm": ((0.5, 0, 1.4), "XYZ", False, (True, False, False)),
    "hand": ((0.8, 0, 1.4), "AXIS_ANGLE", False, True),
    "foot": ((0.1, 0, 0.1), "XYZ", True, True),
    "pole": ((0.1, -0.8, 0.55), "XYZ", True, False),
    "swing": ((0.1, 0, 1.0), "XYZ", False, (False, True, False)),
}
CARRIERS = {
    # name: (head, hangs on)
    "pelvis": ((0, 0, 1.0), None),
    "waist": ((0, 0, 1.1), "pelvis"),
    "ribs": ((0, 0, 1.25), "waist"),
    "head": ((0, 0, 1.5), "ribs"),
    "o_upper": ((0.2, 0, 1.4), "ribs"),
    "o_fore": ((0.5, 0, 1.4), "o_upper"),
    "o_hand": ((0.8, 0, 1.4), "o_fore"),
    "o_thigh": ((0.1, 0, 1.0), "pelvis"),
    "o_shin": ((0.1, -0.2, 0.55), "o_thigh"),
    "o_foot": ((0.1, 0, 0.1), "o_shin"),
}
RIDERS = {"neck": "head", "upper_arm": "o_upper", "forearm": "o_fore", "hand": "o_hand", "foot": "o_foot"}
_ARM, _LEG = ("o_upper", "o_fore", "o_hand"), ("o_thigh", "o_shin")
_TRUNK = ("waist", "ribs", "head", *_ARM)
MOVES = {
    "torso": ("pelvis", *_TRUNK, *_LEG), "hips": ("pelvis", *_TRUNK, *_LEG), "chest": _TRUNK, "neck": ("head",),
    "upper_arm": _ARM, "forearm": _ARM[1:], "hand": _ARM[2:], "foot": (*_LEG, "o_foot"), "pole": _LEG, "swing": _LEG,
}  # fmt: skip
SIZE = 1.7


@dataclass(frozen=True)
class Toy:
    """A rig, its controls, and the switch of its foot (0: the root carries it, 1: the torso)."""

    controls: ControlRig
    stepper: Stepper

    @classmethod
    def build(cls) -> Toy:
        names = [*CONTROLS, *CARRIERS]
        rest = np.tile(np.eye(4), (len(names), 1, 1))
        rest[:, :3, 3] = [(CONTROLS.get(name) or CARRIERS[name])[0] for name in names]
        modes = [CONTROLS[name][1] if name in CONTROLS else "XYZ" for name in names]
        some = np.ones(len(names), bool)
        rig = Rig(
            tuple(names), np.full(len(names), -1), rest, np.full(len(names), 0.1), ~some, some,
            ("FULL",) * len(names), some, tuple(modes), "Toy",
        )  # fmt: skip
        free = np.array([np.r_[np.broadcast_to(c[2], 3), np.broadcast_to(c[3], 3)] for c in CONTROLS.values()], bool)
        order = list(CARRIERS)
        carriers = np.array([names.index(name) for name in order])
        rides = np.full(len(names), -1)
        rides[carriers] = np.arange(len(order))
        riders = np.full((2, len(CONTROLS)), -1)
        for control, carrier in RIDERS.items():
            riders[:, list(CONTROLS).index(control)] = order.index(carrier)
            rides[list(CONTROLS).index(control)] = order.index(carrier)
        moves = np.array([[[name in MOVES[control] for name in order] for control in CONTROLS]] * 2)
        moves[1, 0, order.index("o_foot")] = True  # the torso carries it
        controls = ControlRig(
            rig, np.arange(len(CONTROLS)), free, carriers,
            np.array([order.index(on) if on else -1 for _, on in CARRIERS.values()]), rides, ('["hang"]',),
            np.array([[0.0], [1.0]]), riders, moves, carriers,
        )  # fmt: skip
        return cls(controls, Stepper.of(controls, free, SIZE))

    def neutral(self, frames: int) -> ControlChannels:
        """Channels at rest."""
        rotation = np.zeros((frames, len(CONTROLS), 4))
        for k, (_, mode, *_) in enumerate(CONTROLS.values()):
            rotation[:, k, 0] = mode == "QUATERNION"
        zero = np.zeros((frames, len(CONTROLS), 3))
        return ControlChannels(zero, rotation, zero + 1.0)

    def moved(self, rng, frames: int, location=0.08, angle=0.4) -> ControlChannels:
        """Smooth channels about rest."""
        t = np.linspace(0.0, 1.0, frames)[:, None, None]
        shape = (1, len(CONTROLS), 6)
        wave = rng.normal(size=shape) * np.sin(2 * np.pi * (t + rng.uniform(size=shape))) + 0.3 * rng.normal(size=shape)
        wave *= np.r_[np.full(3, location), np.full(3, angle)]
        return self.stepper.step(self.neutral(frames), wave)

    def evaluate(self, channels: ControlChannels, switch: np.ndarray) -> np.ndarray:
        """(n, B, 4, 4) pose of channels of n frames and the switch (n,)."""
        names = self.controls.rig.names
        rest = {name: self.controls.rig.rest[k] for k, name in enumerate(names)}
        basis = dict(zip(CONTROLS, np.moveaxis(self.stepper.basis(channels), 1, 0), strict=True))
        pose: dict[str, np.ndarray] = {}

        def hang(name, on, parent=None):
            """A bone at its rest offset from a bone at `on`, whose own rest is the parent's."""
            own = rest[name] if parent is None else np.linalg.inv(rest[parent]) @ rest[name]
            pose[name] = on @ own @ basis.get(name, np.eye(4))

        still = np.broadcast_to(np.eye(4), (len(switch), 4, 4))
        hang("torso", still)
        hang("hips", pose["torso"], "torso")
        hang("chest", pose["torso"], "torso")
        hang("pelvis", pose["hips"], "hips")
        hang("waist", _mix(pose["hips"], pose["chest"], 0.3), "hips")
        waist = np.linalg.inv(rest["hips"]) @ rest["waist"]
        pose["waist"][:, :3, 3] = (pose["hips"] @ waist)[:, :3, 3]
        hang("ribs", _mix(pose["hips"], pose["chest"], 0.9), "hips")
        pose["ribs"][:, :3, 3] = (pose["waist"] @ np.linalg.inv(rest["waist"]) @ rest["ribs"])[:, :3, 3]
        hang("neck", pose["ribs"], "ribs")
        hang("head", pose["neck"], "neck")
        hang("upper_arm", still)
        away = rest["upper_arm"][:3, 3] - rest["ribs"][:3, 3]
        pose["upper_arm"][:, :3, 3] = pose["ribs"][:, :3, 3] + pose["ribs"][:, :3, :3] @ away
        hang("forearm", pose["upper_arm"], "upper_arm")
        hang("hand", pose["forearm"], "forearm")
        for carrier, control in (("o_upper", "upper_arm"), ("o_fore", "forearm"), ("o_hand", "hand")):
            pose[carrier] = pose[control].copy()
        torso = pose["torso"] @ np.linalg.inv(rest["torso"])
        base = np.where((switch > 0.5)[:, None, None], torso, still)
        hang("foot", base)
        hang("pole", base)
        hang("swing", pose["pelvis"], "pelvis")
        pose["o_foot"] = pose["foot"].copy()
        hip = (pose["pelvis"] @ np.linalg.inv(rest["pelvis"]) @ rest["o_thigh"])[:, :3, 3]
        swing = channels.rotation[:, list(CONTROLS).index("swing"), 1]
        pose["o_thigh"], pose["o_shin"] = _two_bones(rest, hip, pose["foot"][:, :3, 3], pose["pole"][:, :3, 3], swing)
        return np.stack([pose[name] for name in names], axis=1)

    def problem(
        self, source: ControlChannels, wanted: ControlChannels, switch: np.ndarray, variables: np.ndarray | None = None
    ) -> FitProblem:
        """Source to be changed so that carriers come to where `wanted` channels put them."""
        pose = self.evaluate(source, switch)
        targets = self.evaluate(wanted, switch)[:, self.controls.carriers]
        variables = self.controls.free if variables is None else variables
        return FitProblem(source, pose, targets, variables, switch.astype(int), SIZE)

    def run(self, steps, switch: np.ndarray):
        """What a generator of trials returns when each is evaluated, and how many evaluations of frames it took."""
        sent, count = None, 0
        while True:
            try:
                trial = steps.send(sent)
            except StopIteration as end:
                return end.value, count
            sent = self.evaluate(trial.channels, switch[trial.frames])
            count += len(trial.frames)


def _mix(a: np.ndarray, b: np.ndarray, share: float) -> np.ndarray:
    """(n, 4, 4) with a's place and a rotation between those of a and b."""
    out = a.copy()
    turn = rotvec.log(np.swapaxes(a[:, :3, :3], -1, -2) @ b[:, :3, :3])
    out[:, :3, :3] = a[:, :3, :3] @ rotvec.exp(share * turn)
    return out


def _two_bones(rest, hip, ankle, pole, swing) -> tuple[np.ndarray, np.ndarray]:
    """Thigh and shin (n, 4, 4) whose chain ends at the ankle, bent towards the pole, then swung about hip to ankle."""
    knee_rest = rest["o_shin"][:3, 3]
    upper = np.linalg.norm(knee_rest - rest["o_thigh"][:3, 3])
    lower = np.linalg.norm(rest["o_foot"][:3, 3] - knee_rest)
    way = ankle - hip
    length = np.linalg.norm(way, axis=1, keepdims=True)
    way = way / length
    reach = np.clip(length, abs(upper - lower) + 1e-6, upper + lower - 1e-6)
    along = (upper**2 - lower**2 + reach**2) / (2.0 * reach)
    bend = pole - hip
    bend -= (bend * way).sum(axis=1, keepdims=True) * way
    bend /= np.linalg.norm(bend, axis=1, keepdims=True)
    bend = (rotvec.exp(way * swing[:, None]) @ bend[..., None])[..., 0]
    knee = hip + along * way + np.sqrt(np.maximum(upper**2 - along**2, 0.0)) * bend
    out = []
    for head, tail in ((hip, knee), (knee, hip + reach * way)):
        down = (tail - head) / np.linalg.norm(tail - head, axis=1, keepdims=True)
        side = np.cross(bend, down)
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        matrix = np.tile(np.eye(4), (len(head), 1, 1))
        matrix[:, :3, :3] = np.stack((side, np.cross(-down, side), -down), axis=-1)
        matrix[:, :3, 3] = head
        out.append(matrix)
    return out[0], out[1]
