"""Damped steps of one block, on functions that can be written down."""

import numpy as np
import pytest

from solvers.controls.damped import DampedBlock

FRAMES = 7


def descended(function, jacobian, start, steps, patience=1e-3, weights=1.0):
    """Variables (n, v) and the block after some steps on a function of them; jacobian: (n, r, v) at the start."""
    variables = start.copy()
    errors = function(variables)
    block = DampedBlock(errors, np.zeros_like(start), np.full_like(errors, weights), patience)
    block.learn(jacobian, np.arange(FRAMES))
    count = 0
    for _ in range(steps):
        frames = np.flatnonzero(block.active)
        if not len(frames):
            break
        tried = block.steps(frames)
        kept = block.judge(frames, tried, function(variables[frames] + tried))
        variables[frames[kept]] += tried[kept]
        count += 1
    return variables, block, count


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_linear_errors_are_taken_away(rng):
    matrix, goal = rng.normal(size=(6, 4)), rng.normal(size=4)
    jacobian = np.repeat(matrix[None], FRAMES, 0)
    found, block, count = descended(lambda x: (x - goal) @ matrix.T, jacobian, np.zeros((FRAMES, 4)), 20)
    assert np.allclose(found, goal, atol=1e-4)
    assert block.settled.all()
    assert not block.open().any()
    assert count < 12


def test_a_poor_jacobian_is_mended_on_the_way(rng):
    matrix = np.eye(3) + 0.2 * rng.normal(size=(3, 3))
    poor = np.repeat((matrix + 0.15 * rng.normal(size=(3, 3)))[None], FRAMES, 0)

    def bent(x):
        return (x - 0.3) @ matrix.T + 0.2 * np.sin(x)

    found, block, _ = descended(bent, poor, np.zeros((FRAMES, 3)), 30)
    assert np.abs(bent(found)).max() < 1e-4
    assert block.settled.all()


def test_least_squares_end_where_nothing_can_be_gained(rng):
    """Three errors and one variable: what is left is not mistaken for something to go on with."""
    matrix = rng.normal(size=(3, 1))
    jacobian = np.repeat(matrix[None], FRAMES, 0)
    goal = rng.normal(size=3)
    found, block, count = descended(lambda x: x @ matrix.T - goal, jacobian, np.zeros((FRAMES, 1)), 40)
    assert np.allclose(found, np.linalg.lstsq(matrix, goal, rcond=None)[0], atol=1e-3)
    assert block.settled.all()
    assert count < 15


def test_what_the_errors_leave_open_stays_where_it_began():
    jacobian = np.repeat(np.array([[1.0, 0.0]])[None], FRAMES, 0)
    found, _, _ = descended(lambda x: x[:, :1] - 1.0, jacobian, np.zeros((FRAMES, 2)), 20)
    assert np.allclose(found, (1.0, 0.0), atol=1e-4)


def test_a_frame_is_solved_by_itself(rng):
    matrix = rng.normal(size=(4, 3))
    goals = rng.normal(size=(FRAMES, 3))
    jacobian = np.repeat(matrix[None], FRAMES, 0)
    block = DampedBlock(-goals @ matrix.T, np.zeros((FRAMES, 3)), np.ones((FRAMES, 4)), 1e-3)
    block.learn(jacobian, np.arange(FRAMES))
    order = rng.permutation(FRAMES)
    assert np.allclose(block.steps(order), block.steps(np.arange(FRAMES))[order], atol=1e-12)


def test_errors_that_others_made_worse_open_a_block_again():
    block = DampedBlock(np.zeros((2, 3)), np.zeros((2, 1)), np.ones((2, 3)), 1e-3)
    assert block.settled.all()
    block.correct(np.array([1]), np.full((1, 3), 0.01))
    assert list(block.open()) == [False, True]


def test_a_refused_jump_teaches_nothing(rng):
    """What a neighbour has, and is no use here, says nothing on what steps of one's own can gain."""
    matrix, goal = rng.normal(size=(6, 4)), rng.normal(size=4)

    def function(x):
        return (x - goal) @ matrix.T

    block = DampedBlock(function(np.zeros((FRAMES, 4))), np.zeros((FRAMES, 4)), np.ones((FRAMES, 6)), 1e-3)
    block.learn(np.repeat(matrix[None], FRAMES, 0), np.arange(FRAMES))
    block.damping[:] = 1e-6
    frames, before = np.array([1, 4]), block.steps(np.arange(FRAMES))
    away = np.stack((-3.0 * goal, 0.9 * goal))
    assert list(block.judge_jumps(frames, away, function(away))) == [False, True]
    assert block.open().all()
    others = np.arange(FRAMES) != 4
    assert np.array_equal(block.steps(np.arange(FRAMES))[others], before[others])
    assert np.allclose(block.errors[4], function(away[1]), atol=1e-12)


def test_a_jump_that_is_kept_opens_a_frame_that_was_at_rest():
    block = DampedBlock(np.full((2, 1), 0.5), np.zeros((2, 1)), np.ones((2, 1)), 1e-3)
    block.settled[:] = True
    assert block.judge_jumps(np.arange(2), np.full((2, 1), 0.1), np.array([[0.4], [0.6]])).tolist() == [True, False]
    assert list(block.open()) == [True, False]
