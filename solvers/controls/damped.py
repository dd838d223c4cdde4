"""Damped Gauss-Newton steps of one block of variables at many frames, each with a Jacobian of its own.

Levenberg 1944, Marquardt 1963; Jacobians are kept up by Broyden's rank-one update (Broyden 1965).  n frames, r errors,
v variables.
"""

from __future__ import annotations

import numpy as np

# How strongly variables are drawn to where they began: settles what the errors leave open, and hardly anything else.
HOME = 1e-4
_DAMPING, _LEAST, _LIGHT, _MOST = 1e-3, 1e-7, 1e-5, 1e2
_LONGEST = 0.5
# Errors below this are none (single precision); a step below this part changes nothing that can be seen.
_EXACT, _SHORT = 2e-6, 2e-5
# Where errors are as small as this nobody sees them: a block is left as it is once its Jacobian has served.
UNSEEN = 1e-5


class DampedBlock:
    """What is known of a block at n frames.

    errors: (n, r), weighted.  away: (n, v) of the variables, from where they began.  jacobian: (n, r, v).
    active: (n,) bool, where to step.  settled: (n,) bool, where nothing is left to gain.
    """

    def __init__(self, errors: np.ndarray, away: np.ndarray, weights: np.ndarray, patience: float, home: float = HOME):
        """weights: (n, r) of errors.  patience: where less than this part of the cost can be gained, as the Jacobian
        has it, the least squares are found, whatever is left of them.  home: how strongly variables are drawn to where
        they began.
        """
        self.weights, self._patience, self._home = weights, patience, home**2
        self.errors, self.away = errors * weights, away
        self.jacobian = np.zeros((*errors.shape, away.shape[1]))
        self.damping = np.full(len(errors), _DAMPING)
        self.active = np.zeros(len(errors), bool)
        self.settled = self.worst() < _EXACT

    def worst(self) -> np.ndarray:
        """(n,) the largest error of each frame."""
        return np.abs(self.errors).max(axis=1, initial=0.0)

    def open(self) -> np.ndarray:
        """(n,) bool, where there may be something to gain that can be seen."""
        return ~self.settled & (self.worst() > UNSEEN)

    def learn(self, jacobian: np.ndarray, frames: np.ndarray) -> None:
        """Begin anew at frames (m,) with Jacobians (m, r, v)."""
        self.jacobian[frames] = jacobian * self.weights[frames, :, None]
        self.damping[frames] = np.clip(self.damping[frames], _LIGHT, _DAMPING)
        self.active[frames] = self.worst()[frames] > _EXACT
        self.settled[frames] = ~self.active[frames]

    def correct(self, frames: np.ndarray, errors: np.ndarray) -> None:
        """Errors (m, r) that were found at frames (m,), more than what was thought where other blocks meddled."""
        errors = errors * self.weights[frames]
        meddled = _squares(errors) > 1.1 * _squares(self.errors[frames]) + _EXACT**2
        self.errors[frames] = errors
        self.settled[frames[meddled]] = False

    def steps(self, frames: np.ndarray) -> np.ndarray:
        """(m, v) the next step at frames (m,)."""
        jacobian, across = self.jacobian[frames], np.swapaxes(self.jacobian[frames], -1, -2)
        normal = across @ jacobian
        normal[:, *np.diag_indices(normal.shape[-1])] += self._home + self.damping[frames, None]
        pull = (across @ self.errors[frames, :, None])[..., 0] + self._home * self.away[frames]
        step = -np.linalg.solve(normal, pull[..., None])[..., 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        return step * np.minimum(1.0, _LONGEST / np.maximum(longest, 1e-30))

    def judge(self, frames: np.ndarray, steps: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """(m,) bool, which of the steps (m, v) tried at frames (m,) are kept, as errors (m, r) are less with them."""
        errors = errors * self.weights[frames]
        before, away = self.errors[frames], self.away[frames]
        cost = self._cost(frames)
        foretold = before + (self.jacobian[frames] @ steps[..., None])[..., 0]
        expected = cost - _squares(foretold) - self._home * _squares(away + steps)
        along = steps / np.maximum(_squares(steps), 1e-30)[:, None]
        self.jacobian[frames] += (errors - foretold)[..., None] * along[:, None]
        gain = self._take(frames, steps, errors)
        kept = gain > 0.0
        ratio = gain / np.maximum(expected, 1e-30)
        self.damping[frames] *= np.where(kept, np.where(ratio > 0.5, 0.1, 1.0), 10.0)
        np.maximum(self.damping, _LEAST, out=self.damping)
        exact = self.worst()[frames] < _EXACT
        # A short step says that there is nothing to gain only where it is not damping that made it short.
        idle = kept & (np.abs(steps).max(axis=1) < _SHORT) & (self.damping[frames] <= _LIGHT)
        found = (expected < self._patience * cost) & (self.damping[frames] <= 10.0 * _LIGHT)
        self.settled[frames] = exact | idle | found
        self.active[frames] = ~self.settled[frames] & (self.damping[frames] < _MOST)
        return kept

    def judge_jumps(self, frames: np.ndarray, steps: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """As ``judge`` of steps that no Jacobian foretold: where they are refused, nothing is learnt from it."""
        kept = self._take(frames, steps, errors * self.weights[frames]) > 0.0
        self.settled[frames[kept]] = False
        return kept

    def _take(self, frames: np.ndarray, steps: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """(m,) what the cost loses by steps (m, v) to weighted errors (m, r); those that lose any are taken."""
        away = self.away[frames] + steps
        gain = self._cost(frames) - _squares(errors) - self._home * _squares(away)
        kept = gain > 0.0
        self.errors[frames[kept]], self.away[frames[kept]] = errors[kept], away[kept]
        return gain

    def cost(self) -> np.ndarray:
        """(n,) squares of errors and of what variables are away, as the latter count."""
        return self._cost(np.arange(len(self.errors)))

    def _cost(self, frames: np.ndarray) -> np.ndarray:
        return _squares(self.errors[frames]) + self._home * _squares(self.away[frames])


def _squares(values: np.ndarray) -> np.ndarray:
    return np.einsum("nk,nk->n", values, values)
