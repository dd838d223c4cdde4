"""The same steps cover the same ground at every tempo, and where small components are missing: from the coefficients.

Stumps that walk on the spot, as a target's pose space makes them again.
"""

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from solvers.core.steps import result_of
from solvers.mapping.stance import stance_velocity
from solvers.mapping.travel import integrated
from solvers.mapping.travel_estimators import TravelChoices, TravelEstimators
from solvers.shapes.feet_readout import FeetReadout
from solvers.shapes.target_space import learn_target_steps
from tests.stepping_bodies import DUTY, STROKE, TRIANGLES, stepper


def learnt(cycle, fps):
    """Coefficients of two cycles, times, what tells how far coefficients go, and metres that their own feet ask for."""
    vertices = stepper(np.arange(2 * cycle + 1) / cycle)
    times, still = np.arange(len(vertices)) / fps, np.zeros((len(vertices), 2))
    space = result_of(learn_target_steps(vertices, TRIANGLES))
    travel = TravelEstimators.learn(space.coefficients, times, still, still[:, 0], vertices, TRIANGLES)
    feet_at = FeetReadout.build(space, travel.strokes.feet, np.eye(4)).of

    def gone(coefficients, times):
        ways = travel.track(coefficients, times, still, still[:, 0], TravelChoices(), feet_at)[0]
        return float(np.linalg.norm(ways[-1]))

    asked = np.linalg.norm(integrated(stance_velocity(vertices, times), still[:, 0], times)[-1])
    return space.coefficients, times, gone, float(asked)


@pytest.mark.parametrize(("cycle", "fps"), ((12, 24), (12, 60), (25, 30), (8, 24)))
def test_it_goes_as_far_as_its_standing_feet_ask_for(cycle, fps):
    """Within a tenth, poses smoothed by up to an eighth of a cycle."""
    coefficients, times, gone, ideal = learnt(cycle, fps)
    asked = pytest.approx(ideal, rel=0.1)
    assert ideal == pytest.approx(2 * STROKE / DUTY, rel=0.03)
    for slower in (0.5, 1.0, 2.0, 3.0):
        assert gone(coefficients, slower * times) == asked, slower
    for frames in (0.5, 1.0, 1.5, 2.0):
        if frames < 0.125 * cycle:
            assert gone(gaussian_filter1d(coefficients, frames, axis=0), times) == asked, frames


def test_truly_shorter_steps_go_as_far_as_they_are():
    coefficients, times, gone, _ = learnt(12, 24)
    middle = coefficients.mean(axis=0)
    short = middle + 0.8 * (coefficients - middle)
    smooth = gaussian_filter1d(short, 1.0, axis=0)
    assert gone(short, times) == pytest.approx(0.8 * gone(coefficients, times), rel=0.03)
    assert gone(smooth, times) == pytest.approx(0.8 * gone(coefficients, times), rel=0.1)
