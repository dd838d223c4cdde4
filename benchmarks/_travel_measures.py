"""How far mapped animals go against what their own feet ask for, and how far a captured person goes by its strokes."""

from __future__ import annotations

import numpy as np

from solvers.core.lag import rates
from solvers.mapping.travel import LAG

from ._travel_cases import clip, gait, learnt, mapped

RATES, TEMPOS = (24, 30, 60), (1 / 3, 0.5, 1.0, 2.0)
WAYS = ("strokes", "live", "before")


def case_figures(case: tuple[str, str, str, str]) -> dict[str, np.ndarray]:
    """By way (rates, tempos): percent off the distance that the target's own standing feet ask for at that tempo."""
    source, target = case[:2], case[2:]
    found = {way: np.empty((len(RATES), len(TEMPOS))) for way in WAYS}
    known = learnt(*target)
    # At its source's tempo a cycle takes as long as the source's does.
    own = known.own * gait(*target).seconds / clip(*source).seconds
    for row, fps in enumerate(RATES):
        for column, tempo in enumerate(TEMPOS):
            motion = mapped(source, target, fps, tempo)
            for way, speed in speeds(known, motion).items():
                found[way][row, column] = 100.0 * (speed / (own * tempo) - 1.0)
    return found


def speeds(known, motion) -> dict[str, float]:
    """Metres a second from the second cycle on: by strokes, by strokes live, and by the ridge over a lag."""
    times, strokes = motion.times, known.travel.strokes
    soles, whole = known.readout.of(motion.coefficients)
    stream = strokes.stream()
    live = np.array([stream.step(*moment) for moment in zip(soles, whole, times, strict=True)])
    old = known.before.velocity(rates(motion.coefficients, times, LAG))
    ways = strokes.velocity(soles, whole, times), live[1:], 0.5 * (old[1:] + old[:-1])
    first = motion.first
    spent = times[-1] - times[first]
    return {
        way: float(np.linalg.norm(np.diff(times)[first:] @ velocity[first:]) / spent)
        for way, velocity in zip(WAYS, ways, strict=True)
    }
