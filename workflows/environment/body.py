"""The body that is solved: a bound rig as it is now, beside the pose that was bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...scene.interference import outside_of
from ...scene.motion import BoneMotion, placed_by_curves
from ...scene.rigs import require_uniform_scale
from ...solvers.adapt.binding import Binding
from ...solvers.core.errors import StaleBindingError
from ..rig.action import bound_action
from ..rig.live_source import present_motion
from ..rig.source import Source, bound_source, object_turns, resized_positions
from .store import Stored


@dataclass(frozen=True)
class Body:
    """source: the rig's motion now.  turned: (F, 3, 3) how its object has turned since bind.  resized: (F, K, 3) the
    bound pose with the rig's present bone lengths."""

    source: Source
    turned: np.ndarray
    resized: np.ndarray


def body_now(ob, workflow, scene, stored: Stored) -> Body:
    """The body of a rig that plays its live action; raises LiveProblem where only stepping would tell."""
    motion = present_motion(ob, workflow, scene, stored.binding.track.frames)
    return _body_of_motion(ob, scene, stored, motion)


def placed_body(ob, workflow, scene, stored: Stored, known: Source) -> Body:
    """The body of a rig whose motion curves tell, and whose object alone may have changed. known: its motion before."""
    motion = placed_by_curves(scene, ob, *bound_action(ob, workflow), known.motion)
    return _body_of_motion(ob, scene, stored, motion)


def _body_of_motion(ob, scene, stored: Stored, motion: BoneMotion) -> Body:
    names, height = stored.binding.track.skeleton.names, stored.binding.height
    controls = stored.controls and stored.controls.on(ob)
    source = bound_source(ob, motion, names, stored.solved, stored.hung, height, controls)
    return fit_body(ob, scene, stored, source)


def fit_body(ob, scene, stored: Stored, source: Source) -> Body:
    """The bound pose as the rig is now; raises StaleBindingError where it plays another motion than was bound,
    SceneError where its scale makes it another."""
    turned = object_turns(source, stored.object_world)
    track = stored.binding.track
    try:
        world, outside = stored.object_world, outside_of(ob)
        return Body(source, turned, resized_positions(source, turned, track, world, ob.name, outside))
    except StaleBindingError as error:
        require_uniform_scale(ob.name, source.motion.object_world, track.frames)
        if stored.stretch not in (None, time_stretch(scene)):
            raise StaleBindingError(
                f"The motion of '{ob.name}' is not the one that was bound: the scene's Time Stretching was changed. "
                "Set it back, or bind again."
            ) from error
        raise


def time_stretch(scene) -> float:
    """How much longer the scene plays its animation than it is keyed."""
    return scene.render.frame_map_new / scene.render.frame_map_old


def scale_since_bind(resized: np.ndarray, binding: Binding) -> float:
    """How much larger the character is than at bind: total bone length, 1 exactly where nothing has changed."""
    parents = binding.track.skeleton.parents
    child = np.flatnonzero(parents >= 0)

    def total(positions):
        return np.linalg.norm(positions[0, child] - positions[0, parents[child]], axis=-1).sum()

    scale = total(resized) / total(binding.track.positions)
    return 1.0 if abs(scale - 1.0) < 1e-5 else float(scale)
