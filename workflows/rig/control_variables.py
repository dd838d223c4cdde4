"""Which channels of a rig's controls a result may change."""

from __future__ import annotations

import numpy as np

from ...scene import actions
from ...scene.channels import SIZES
from ...scene.sampling import strip_curves
from ...solvers.controls.control_rig import ControlRig

# A control farther than this share of the body from where the body begins, and that carries all of it, is the rig's
# root: what places the character, which goes on as it is keyed.
_ROOT = 0.25


def variables_of(ob, controls: ControlRig, source: tuple) -> np.ndarray:
    """(C, 6) bool, see ``FitProblem.variables``: of the controls that the source keys.

    source: action and slot, None and None for NLA strips alone.  Where the place of a control is keyed it may move and
    turn, where its rotation alone is keyed it may turn: a foot that was keyed on flat ground turns with a slope.
    """
    placed, turned = keyed_controls(ob, controls, source)
    variables = np.repeat(np.stack((placed, placed | turned), axis=1), 3, axis=1) & controls.free
    variables[_roots(controls, variables.any(axis=1))] = False
    return variables


def keyed_controls(ob, controls: ControlRig, source: tuple) -> tuple[np.ndarray, np.ndarray]:
    """(C,) bool each: the controls whose location, and those whose rotation the source keys."""
    curves = strip_curves(ob) if source[0] is None else actions.playing_curves(*source)
    keyed = {bone for curve in curves if (bone := actions.bone_of_path(curve.data_path)) and bone[1] in SIZES}
    names = [controls.rig.names[bone] for bone in controls.controls]
    turning = [channel for channel in SIZES if channel.startswith("rotation")]
    placed = np.array([(name, "location") in keyed for name in names], bool)
    turned = np.array([any((name, channel) in keyed for channel in turning) for name in names], bool)
    return placed, turned


def _roots(controls: ControlRig, chosen: np.ndarray) -> np.ndarray:
    """(C,) bool, of chosen controls (C,) those that place the whole character, where others move its body too."""
    heads = controls.rig.rest[:, :3, 3]
    first = int(np.flatnonzero(controls.carrier_parents < 0)[0])
    away = np.linalg.norm(heads[controls.controls] - heads[controls.carriers[first]], axis=-1)
    moved = controls.moves[:, chosen].any(axis=(0, 1))
    carries_all = (controls.moves | ~moved).all(axis=(0, 2))
    roots = chosen & carries_all & (away > _ROOT * controls.size)
    others = chosen & ~roots & controls.moves[:, :, first].all(axis=0)
    return roots if others.any() else np.zeros_like(roots)
