"""The action of a private copy of a rig: what its source says, but for curves that hold trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from . import actions


class TrialAction:
    """A copy of an action, whose curves of some properties have a key at each frame, and are written over and over.

    action, slot: to be played by the copy; the caller removes the action.
    """

    def __init__(
        self,
        copy: bpy.types.Object,
        source,
        source_slot,
        curves: Sequence[tuple[str, int]],
        switches: Sequence[str],
        held: Mapping[str, float],
        times: np.ndarray,
    ):
        """curves: path and index of N.  switches: paths of P properties, written once they are given values.
        held: values of properties at all times.  times: (F,) action times."""
        if source is None:
            self.action, self.slot = actions.create(copy, "trial")
        else:
            self.action, self.slot = actions.copy(source, source_slot, "trial")
        self._holder = actions.curve_list(self.action, self.slot, create=True)
        self._times = times.astype(np.float32)
        self._remove({path for path, _ in curves} | set(held) | {"hide_viewport"})
        for path, value in held.items():
            actions.write_curve(self._holder, path, 0, None, times[:1], [value], actions.CONSTANT)
        self._curves, self._values = self._add(curves)
        self._switches, self._switch_values = switches, None
        self._switch_curves: list = []

    def write(self, rows: np.ndarray, values: np.ndarray, switches: np.ndarray | None) -> None:
        """Key values (n, N) of the curves at rows (n,) of the times, (n, P) of the switches unless they are None."""
        if switches is not None and self._switch_values is None:
            self._remove(set(self._switches))
            added = [(path, 0) for path in self._switches]
            self._switch_curves, self._switch_values = self._add(added, actions.CONSTANT)
        _rekey(self._curves, self._times, self._values, rows, values)
        if switches is not None:
            _rekey(self._switch_curves, self._times, self._switch_values, rows, switches)

    def _remove(self, paths: set[str]) -> None:
        for curve in [curve for curve in self._holder.fcurves if curve.data_path in paths]:
            self._holder.fcurves.remove(curve)

    def _add(self, curves: Sequence[tuple[str, int]], interpolation: int = actions.LINEAR) -> tuple[list, np.ndarray]:
        """The curves, all zero, and their values (F, N)."""
        nothing = np.zeros(len(self._times), np.float32)
        made = [
            actions.write_curve(self._holder, path, index, None, self._times, nothing, interpolation)
            for path, index in curves
        ]
        return made, np.zeros((len(self._times), len(made)), np.float32)


def _rekey(curves: list, times: np.ndarray, known: np.ndarray, rows: np.ndarray, values: np.ndarray) -> None:
    """Give curves other values (n, N) at some rows; known: (F, N) what they have, kept up to date."""
    wanted = values.astype(np.float32)
    changed = np.flatnonzero((known[rows] != wanted).any(axis=0))
    known[rows] = wanted
    points = np.empty((len(times), 2), np.float32)
    points[:, 0] = times
    for number in changed:
        points[:, 1] = known[:, number]
        curves[number].keyframe_points.foreach_set("co", points.ravel())
    if changed.size:
        # One tags the action; the handles of all, which linear keys do not heed, would take most of the time.
        curves[changed[-1]].update()
