"""The action of a private copy of a rig: what its source says, but for curves that hold trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import bpy
import numpy as np

from . import actions


class TrialAction:
    """A copy of an action, some of whose properties get curves with a key at each frame, written over and over.

    A property has such curves from the first trial on in which it is not as in the source: the program copies an action
    that has changed as a whole, keys and all.
    action, slot: to be played by the copy; the caller removes the action.
    """

    def __init__(
        self,
        copy: bpy.types.Object,
        source: tuple,
        properties: Sequence[tuple[str, int]],
        start: np.ndarray,
        switches: Sequence[str],
        held: Mapping[str, float],
        times: np.ndarray,
    ):
        """source: action and slot, or None for both.  properties: path and size of those of trials, N values together.
        start: (F, N) what the source makes of them, not a number where that is not known.  switches: paths of P
        properties, written once they are given values.  held: values of properties at all times.  times: (F,) action
        times."""
        if source[0] is None:
            self.action, self.slot = actions.create(copy, ".trial")
        else:
            self.action, self.slot = actions.copy(*source, ".trial")
        self._holder = actions.curve_list(self.action, self.slot, create=True)
        self._times = times.astype(np.float32)
        self._remove({*held, "hide_viewport"})
        for path, value in held.items():
            actions.write_curve(self._holder, path, 0, None, times[:1], [value], actions.CONSTANT)
        self._properties = properties
        self._columns = np.repeat(np.arange(len(properties)), [size for _, size in properties])  # of which property
        self._values = start.astype(np.float32)
        self._curves: list = [None] * self._values.shape[1]
        self._switches, self._switch_values = switches, None
        self._switch_curves: list = []

    def write(self, rows: np.ndarray, values: np.ndarray, switches: np.ndarray | None) -> None:
        """Key values (n, N) of properties at rows (n,) of the times, and (n, P) of switches unless they are None."""
        self._add_where(values.astype(np.float32) != self._values[rows])
        _rekey(self._curves, self._times, self._values, rows, values)
        if switches is not None:
            if self._switch_values is None:
                self._remove(set(self._switches))
                self._switch_values = np.zeros((len(self._times), len(self._switches)), np.float32)
                self._switch_curves = [
                    actions.write_curve(self._holder, path, 0, None, self._times, self._times * 0.0, actions.CONSTANT)
                    for path in self._switches
                ]
            _rekey(self._switch_curves, self._times, self._switch_values, rows, switches)

    def _add_where(self, differs: np.ndarray) -> None:
        """Give curves to properties that differ (n, N) from what they were and have none yet."""
        for number in np.unique(self._columns[differs.any(axis=0)]):
            columns = np.flatnonzero(self._columns == number)
            if self._curves[columns[0]] is not None:
                continue
            path = self._properties[number][0]
            self._remove({path})
            for index, column in enumerate(columns):
                known = np.nan_to_num(self._values[:, column])
                self._curves[column] = actions.write_curve(self._holder, path, index, None, self._times, known)

    def _remove(self, paths: set[str]) -> None:
        for curve in [curve for curve in self._holder.fcurves if curve.data_path in paths]:
            self._holder.fcurves.remove(curve)


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
