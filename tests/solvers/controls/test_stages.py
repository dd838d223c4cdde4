"""Trunks with controls that do again what others do, asked for what neither bring about."""

from dataclasses import replace

import numpy as np
import pytest

from solvers.controls.control_rig import MAIN, NO_TRUNK, SPINE_FK
from solvers.controls.fit import fit_steps
from solvers.rotations import rotation_vectors as rotvec
from tests.control_toys import CARRIERS, CONTROLS, SIZE, Toy

FRAMES = 30
SWITCH = np.zeros(FRAMES)


def index(*names):
    return [list(CONTROLS).index(name) for name in names]


@pytest.fixture(scope="module")
def fits():
    """Toy and problem; the fits with main controls alone, and with the chest too, told to be a finer one."""
    toy = Toy.build()
    trunk = np.full(len(CONTROLS), NO_TRUNK)
    trunk[index("torso", "hips", "neck")], trunk[index("chest")] = MAIN, SPINE_FK
    controls = replace(toy.controls, trunk=trunk)
    rng = np.random.default_rng(3)
    source = toy.moved(rng, FRAMES)
    wave = toy.stepper.between(toy.neutral(FRAMES), toy.moved(rng, FRAMES, 0.02, 0.2))
    wave[:, index("swing")] = 0.0
    more = controls.free.copy()
    more[index("swing")] = False
    problem = toy.problem(source, toy.stepper.step(source, wave), SWITCH, more)
    # A bent trunk, and a chest that is beside it.
    wide = np.sin(np.linspace(0.0, 2.0 * np.pi, FRAMES))[:, None]
    waist, ribs = (list(CARRIERS).index(name) for name in ("waist", "ribs"))
    turn = rotvec.exp(np.radians(30.0) * wide * np.array([0.6, 0.8, 0.0]))
    problem.targets[:, waist, :3, :3] = problem.targets[:, waist, :3, :3] @ turn
    problem.targets[:, ribs, 0, 3] += 0.02 * wide[:, 0]
    main = more.copy()
    main[index("chest")] = False
    found = [
        toy.run(fit_steps(controls, replace(problem, variables=variables)), SWITCH)[0] for variables in (main, more)
    ]
    return toy, problem, *found


def test_more_controls_are_about_as_near_to_the_places(fits):
    *_, main, more = fits
    away = [np.linalg.norm(fit.misses, axis=1) for fit in (main, more)]
    assert away[0].max() > 2e-3 * SIZE
    assert (away[1] < 1.1 * away[0] + 1e-4 * SIZE).all()


def test_what_is_as_near_as_can_be_counts_as_at_rest(fits):
    *_, main, more = fits
    assert main.converged.all() and more.converged.all()


def test_finer_controls_do_not_jump(fits):
    toy, problem, _, more = fits
    step = toy.stepper.between(problem.source, more.channels)
    trunk = np.diff(step[:, index("torso", "hips", "chest")], axis=0)
    assert np.abs(trunk).max() < 0.2
