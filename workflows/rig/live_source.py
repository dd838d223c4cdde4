"""The bound motion of a rig that plays its live action.

Where curves do not tell it, it was read by stepping through the frames, which no handler can do. It is kept with the
rig, so that live goes on without stepping also after the file was closed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ...scene import binding_store
from ...scene.discarding import discard
from ...scene.held_targets import HeldTargets
from ...scene.interference import reaches_out
from ...scene.live_action import keys_digest
from ...scene.motion import BoneMotion, motion_by_curves
from ...scene.object_motion import worlds_by_curves
from ...scene.rig_state import Animated, placing
from ...scene.rigs import read_rig
from ...scene.sampling import reason_to_sample
from ...solvers.skeleton.rig import separate
from ...state import cache
from ...state.live_states import Remedy
from ..core.follower import LiveProblem
from ..core.kept import unpacked
from ..core.stored_arrays import StoredKind, require_positive, require_shapes, require_texts
from .action import bound_action, played_action, values_of

_SHAPES = {
    "rest": "f B 4 4", "basis": "f F B 3 4", "object_world": "f F 4 4", "frames": "fi F",
    "rotation_start": "f B 4", "scale_signs": "f B 3",
}  # fmt: skip
_SAME = 1e-6  # of world matrices in single precision, beside a relative 1e-5


def untold(ob) -> LiveProblem:
    """To be raised where only stepping through the frames would tell what a rig's result depends on."""
    text = f"What '{ob.name}' depends on moves in a way that only stepping through it tells."
    return LiveProblem(text, Remedy.REFRESH)


def _kind(workflow) -> StoredKind:
    return StoredKind(f"{workflow.id} live source", 2, "frames kept of the motion", "bind again")


def is_sampled(ob, workflow) -> bool:
    """Whether the bound motion has to be stepped through to be read."""
    action, slot = bound_action(ob, workflow)
    return action is None or reason_to_sample(ob, action, slot) is not None


def live_source(ob, workflow, scene, frames: np.ndarray) -> BoneMotion | None:
    """The bound motion at scene frames (F,), or None where it would have to be stepped through.

    Where it was kept, the rig's object is nevertheless where it is now, as far as its bones do not mind.
    Raises StaleBindingError where what was kept is damaged.
    """
    values = {(value.path, value.index): value.value for value in values_of(workflow.settings_of(ob).live_before)}
    motion = motion_by_curves(scene, ob, *bound_action(ob, workflow), frames, values)
    if motion is not None:
        return motion
    kept = _kept(ob, workflow)
    motion = None
    if kept is not None and kept[1]["source"] == keys_digest(*bound_action(ob, workflow)):
        motion = _unpack(ob, frames, *kept)
    if motion is None:
        return None
    worlds = worlds_by_curves(scene, ob, frames)
    if worlds is None:
        return motion if kept[1]["placed"] == _placed(ob) else None
    if np.allclose(worlds, motion.object_world, atol=_SAME):
        return motion
    return None if reaches_out(ob) else replace(motion, object_world=np.broadcast_to(worlds, motion.object_world.shape))


def present_motion(ob, workflow, scene, frames: np.ndarray) -> BoneMotion:
    """As ``live_source``; raises LiveProblem where it would have to be stepped through."""
    motion = live_source(ob, workflow, scene, frames)
    if motion is None:
        raise untold(ob)
    return motion


def has_kept(ob, workflow) -> bool:
    """Whether a motion is kept; whether it still fits is for ``live_source`` to say."""
    return workflow.settings_of(ob).live_sampled is not None


def held_then(ob, workflow) -> list | None:
    """World matrices of what constraints held to when the motion was kept, None where that is not known."""
    kept = _kept(ob, workflow)
    return kept and kept[1].get("held")


def keep_motion(ob, workflow, motion: BoneMotion, depsgraph) -> None:
    """Keep what was sampled of a live rig, in place of what was kept before; what curves tell is read from them."""
    settings, block = workflow.settings_of(ob), None
    if motion.sampled_because is not None:
        arrays, header = _pack(ob, workflow, motion)
        header["held"] = HeldTargets.of(ob, depsgraph).worlds.tolist()
        block = binding_store.save(f"{ob.name} live", arrays, header)
    old, settings.live_sampled = settings.live_sampled, block
    discard(old)


def forget_motion(ob, workflow) -> None:
    """Keep nothing any more."""
    settings = workflow.settings_of(ob)
    old, settings.live_sampled = settings.live_sampled, None
    discard(old)


def _placed(ob) -> str:
    """Digest of what places the object beside what moves it."""
    return cache.fingerprint(*placing(ob, Animated.by(ob, *played_action(ob))))


def _pack(ob, workflow, motion: BoneMotion) -> tuple[dict[str, np.ndarray], dict]:
    """Double precision: in single, joints far from the origin would be off by more than live and bake may differ."""
    arrays = {
        "rest": motion.rig.rest,
        "basis": motion.basis[..., :3, :],
        "object_world": motion.object_world,
        "frames": motion.frames,
        "rotation_start": motion.rotation_start,
        "scale_signs": motion.scale_signs,
    }
    return arrays, _kind(workflow).header(
        names=list(motion.rig.names),
        fps=motion.fps,
        because=motion.sampled_because,
        apart=workflow.controls_of(ob) is not None,
        placed=_placed(ob),
        source=keys_digest(*bound_action(ob, workflow)),
    )


def _kept(ob, workflow) -> tuple[dict[str, np.ndarray], dict] | None:
    """What was kept as arrays and a header, read once a session."""
    block = workflow.settings_of(ob).live_sampled
    if block is None:
        return None
    kind = _kind(workflow)
    return unpacked(ob, kind.name, block, partial(_checked, kind), "")


def _checked(kind: StoredKind, arrays: dict[str, np.ndarray], header: dict) -> tuple[dict[str, np.ndarray], dict]:
    with kind.checked(header):
        sizes = require_shapes(arrays, _SHAPES)
        require_positive(header, "fps")
        require_texts(header["names"], sizes["B"], "names")
        require_texts([header[name] for name in ("because", "placed", "source")], 3, "texts")
        return arrays, header


def _unpack(ob, frames: np.ndarray, arrays, header) -> BoneMotion | None:
    """None where it is of other frames, or the rig has other bones by now."""
    rig = separate(read_rig(ob)) if header.get("apart") else read_rig(ob)
    if list(rig.names) != header["names"] or not np.allclose(rig.rest, arrays["rest"], atol=1e-6):
        return None
    if not np.array_equal(frames, arrays["frames"]):
        return None
    basis = np.zeros((*arrays["basis"].shape[:2], 4, 4))
    basis[..., :3, :], basis[..., 3, 3] = arrays["basis"], 1.0
    return BoneMotion(
        rig,
        basis,
        arrays["object_world"],
        header["fps"],
        arrays["frames"],
        arrays["rotation_start"],
        arrays["scale_signs"],
        header["because"],
    )
