"""Keep a motion clear of its changed environment: by one side, and smoothly over time.

Frames that answer their collisions each by itself jump from side to side, so the last word has a pass that asks nothing
of the environment any more: it follows what the frames are pushed by, spread over time (``pushes``).
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from ..skeleton.joint_tree import TreePose
from ..warp.collision import Colliders
from ..warp.levenberg import MAX_ITERATIONS, TOLERANCE
from .no_jumps import kept_share
from .pushes import SPREAD_REACH, lasting, limited, spread
from .stood_pushes import stood_pushes

# Metres at 1.8 m: frames that lack more of their distances are solved again, with those within so many seconds of them.
STUCK, AGAIN = 0.03, 0.3
# Metres at 1.8 m: frames that lack more, or whose contacts are farther off, are touched up, by so much at most a round.
NEARLY, SLIPPED, TOUCH_UP = 0.001, 0.01, 0.02
# Rounds of that, after the first by what is small at so many seconds a frame; and metres at 1.8 m that samples
# which are too near are asked for more, as what follows falls short.
ROUNDS, SMALL, COARSE, BEYOND = 3, 0.003, 1.0 / 30.0, 0.001
# How often a round is taken back around frames at which the body jumps, before all of it is.
TAKEN_BACK = 3


class KeptClear:
    """Passes that keep a free pose clear of objects; ``steps`` takes them.

    first: the pose that answers each frame's collisions.  result: the one that follows it smoothly.  asked: (J, 3, F)
    the joints that it was asked for.  used: (F,) iterations.  unsettled: (F,) bool, too many in the last pass.
    refused: (F,) bool, frames at which a round was taken back, as the body would have jumped.
    """

    def __init__(self, problem, free: TreePose):
        """problem: of ``solve``, with its passes.  free: the pose that heeds targets alone."""
        self.problem, self.free = problem, free
        self._dt, self._unit = problem.terms.binding.dt, problem.terms.binding.scale
        self._batches = problem.batches()
        self._near = problem.colliders(self._batches)
        self.first = self.result = free
        frames = free.joints.shape[-1]
        self.used, self.asked = np.zeros(frames, int), free.joints
        self.unsettled, self.refused = np.zeros((2, frames), bool)

    def steps(self) -> Generator[float, None, None]:
        """All of it, yielding progress."""
        yield from self.follow_pushes()
        yield from self.solve_again()
        yield from self.touch_up()

    def follow_pushes(self):
        """Each frame by itself, then what it is pushed by, spread over time."""
        self.first = yield from self._run(self._batches, self.free, (0.3, 0.6), self._near)
        self.asked = self._carried() + self._spread(self.first.joints - self.free.joints)
        yield from self._follow(self._batches, (0.6, 0.8))

    def solve_again(self):
        """Frames that are still deep in something, from where the others around them have taken them: by one side."""
        stuck = lasting(self._lacking() > STUCK * self._unit, AGAIN, self._dt)
        if not stuck.any():
            return
        batches = self.problem.batches(stuck)
        for part in batches:
            self.first.put(part, self.result.take(part))
        self.first = yield from self._run(batches, self.first, (0.8, 0.85), self.problem.colliders(batches))
        self.asked = self._carried() + self._spread(self.first.joints - self.free.joints)
        yield from self._follow(self._around(stuck), (0.85, 0.9))

    def touch_up(self):
        """What smoothing has taken of the distances is added, a little at a time: more would change sides.

        So much, spread over time, adds no more than 2 cm to any step at 30 frames a second: no jump comes of it.
        Contacts come before clearance: each round also takes the frames whose contacts the one before has moved off.
        What is too near after the last round stays so, and what would jump: no jump comes before clearance.
        """
        marks = np.linspace(0.9, 1.0, 2 * ROUNDS + 1)
        for k in range(ROUNDS):
            near = self._lacking() > NEARLY * self._unit
            near |= self._slipping() > SLIPPED * self._unit
            if not near.any():
                return
            batches, obstacles = self._raised(near)
            span = marks[2 * k], marks[2 * k + 1]
            pose = yield from self._run(batches, self.result, span, obstacles, self._following())
            most = min(TOUCH_UP, SMALL * COARSE / self._dt) if k else TOUCH_UP
            missing = limited(pose.joints - self.result.joints, most * self._unit)
            before, asked = self.result, self.asked
            self.asked = asked + self._spread(missing)
            yield from self._follow(self._around(near), (marks[2 * k + 1], marks[2 * k + 2]))
            yield from self._take_back(before, asked, marks[2 * k + 2])

    def _take_back(self, before, asked, mark):
        """A round, where it makes the body jump that has been before, (J, 3, F) asked."""
        broken = self.problem.no_jumps.broken(before, self.result)
        for _ in range(TAKEN_BACK):
            if not broken.any():
                return
            self.refused = self.refused | broken
            share = kept_share(broken, self._dt)
            self.asked = asked + share * (self.asked - asked)
            changed = self.problem.batches(share < 1.0)
            for part in changed:
                self.result.put(part, before.take(part))
            yield from self._follow(changed, (mark, mark))
            broken = self.problem.no_jumps.broken(before, self.result)
        if broken.any():
            self.result, self.asked = before, asked

    def _raised(self, frames):
        """Batches of some frames (F,), and obstacles that ask what is too near for a little more."""
        batches, obstacles = [], []
        for near, part in zip(self._near, self._batches, strict=True):
            rows = np.flatnonzero(frames[part])
            if rows.size:
                batches.append(part[rows])
                obstacles.append(near.take(rows).raised(self.result.take(part[rows]), BEYOND * self._unit))
        return batches, obstacles

    def _follow(self, batches, span):
        before = self.used.copy()
        self.result = yield from self._run(batches, self.result, span, None, self._following())
        last = self.used - before
        self.unsettled = np.where(last > 0, last >= MAX_ITERATIONS, self.unsettled)

    def _run(self, batches, start, span, obstacles=None, asked=None):
        pose, used = yield from self.problem.run(batches, start, obstacles, span, asked)
        self.used = self.used + used
        return pose

    def _carried(self):
        """The free pose, smoothed against the carried one: what is carried rigidly is not smoothed itself."""
        carried = self.problem.carried
        return carried + self.problem.terms.smoothed(self.free.joints - carried)

    def _following(self):
        return self.problem.following(self.asked)

    def _spread(self, pushes):
        terms, out = self.problem.terms, spread(pushes, self._dt, TOLERANCE * self._unit)
        if terms.standing is None:
            return out
        return stood_pushes(terms.standing, terms.binding.tree, pushes, out, self._dt)

    def _around(self, frames):
        """Batches of all that moves with what is spread of some frames (F,)."""
        return self.problem.batches(lasting(frames, SPREAD_REACH, self._dt))

    def _slipping(self):
        return self._measured(Colliders.slipping)

    def _lacking(self):
        return self._measured(Colliders.lacking)

    def _measured(self, measure):
        """(F,) what the colliders of each batch measure of the result."""
        pairs = zip(self._near, self._batches, strict=True)
        return np.concatenate([measure(near, self.result.take(part)) for near, part in pairs])
