"""Pins: bones held at objects for some frames; and how much bones hold to their places."""

from __future__ import annotations

import numpy as np

from ...scene.evaluation import evaluated_object
from ...scene.points import places_by_curves
from ...solvers.adapt.clearance import smoothstep
from ...solvers.adapt.solve import Pin
from ...solvers.core.errors import InputError
from ...solvers.core.types import JointTrack
from ..rig.live_source import untold

PIN_RAMP = 0.3  # seconds beside its frames in which a pin holds less and less


def joint_of(ob, track: JointTrack, bone: str) -> int:
    """Which of the solved joints a bone is; raises InputError where it is none."""
    if bone in track.skeleton.names:
        return track.skeleton.names.index(bone)
    if bone in ob.data.bones:
        raise InputError(f"Bone '{bone}' of '{ob.name}' is not solved by itself, it rides on another; choose that one.")
    raise InputError(f"'{ob.name}' has no bone '{bone}'.")


def pin_targets(ob, workflow) -> list:
    """The objects of the pins; raises InputError for a pin that makes no sense."""
    for pin in workflow.settings_of(ob).pins:
        if pin.target is None:
            raise InputError(f"The pin of bone '{pin.bone}' has no object; choose one or remove the pin.")
        if pin.end < pin.start:
            raise InputError(f"The pin of bone '{pin.bone}' ends at frame {pin.end}, before it starts at {pin.start}.")
    return [pin.target for pin in workflow.settings_of(ob).pins]


def present_pin_places(ob, workflow, scene, depsgraph, track: JointTrack) -> np.ndarray:
    """(pins, F, 3) where the pins hold, without stepping.

    Raises LiveProblem where only that would tell, SceneError for an object that Blender does not update.
    """
    targets = pin_targets(ob, workflow)
    places = places_by_curves(scene, depsgraph, targets, track.frames)
    if places is None:
        raise untold(ob)
    for target, weight in zip(targets, pin_weights(ob, workflow, track), strict=True):
        if weight.any():
            evaluated_object(target, depsgraph)
    return places


def pins(ob, workflow, track: JointTrack, places) -> tuple[Pin, ...]:
    """The pins as the solver takes them. places: (pins, F, 3)."""
    held = zip(workflow.settings_of(ob).pins, places, pin_weights(ob, workflow, track), strict=True)
    return tuple(Pin(joint_of(ob, track, pin.bone), place, weight) for pin, place, weight in held)


def pin_weights(ob, workflow, track: JointTrack) -> np.ndarray:
    """(pins, F) how much each pin holds: fully within its frames, less and less beside them."""
    rate = _rows_a_frame(track) / track.fps
    seconds = track.frames * rate
    out = np.empty((len(workflow.settings_of(ob).pins), len(seconds)))
    for k, pin in enumerate(workflow.settings_of(ob).pins):
        outside = np.maximum(np.maximum(pin.start * rate - seconds, seconds - pin.end * rate), 0.0)
        out[k] = smoothstep(1.0 - outside / PIN_RAMP)
    return out


def _rows_a_frame(track: JointTrack) -> float:
    """Rows of the track in one scene frame."""
    return 1.0 / float(np.median(np.diff(track.frames))) if len(track.frames) > 1 else 1.0


def joint_weight(ob, workflow, track: JointTrack) -> np.ndarray | None:
    """(K,) how much each joint holds to its place, None where the user has not changed that."""
    bones = workflow.settings_of(ob).bones
    if not len(bones):
        return None
    weight = np.ones(len(track.skeleton.names))
    for item in bones:
        weight[joint_of(ob, track, item.bone)] = item.factor
    return weight
