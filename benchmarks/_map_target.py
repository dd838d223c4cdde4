"""Speed of a target's space: learning it, and the parts of one frame from coefficients to vertices.

The problem: 100 frames of one horse (8,431 vertices, 16,843 faces): the 24 that its gallop has, its 10 poses, its
collapse of 27 frames, and one side, end or upper half of one of these with the rest of another; the gallop alone has
21 components, all of it has the 50 that the problem asks for.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from solvers.core.steps import result_of
from solvers.shapes.target_space import TargetSpace, learn_target_steps

from .mesh_sequences import mesh_sequence

FRAMES, COMPONENTS = 100, 50
ROUNDS, REPEATS = 3, 200
clock = time.perf_counter


def horse_frames() -> tuple[np.ndarray, np.ndarray]:
    """Vertices (100, V, 3) and triangles (T, 3)."""
    gallop, triangles = mesh_sequence("horse_gallop")
    real = np.concatenate((gallop[:24], mesh_sequence("horse_poses")[0], mesh_sequence("horse_collapse")[0]))
    rng = np.random.default_rng(0)
    first, second = rng.integers(len(real), size=(2, FRAMES - len(real)))
    share = (real[0] - real[0].min(axis=0)) / np.ptp(real[0], axis=0)
    share = (share * share * (3.0 - 2.0 * share)).T[np.arange(len(first)) % 3, :, None]
    return np.concatenate((real, share * real[first] + (1 - share) * real[second])), triangles


def target_figures() -> dict[str, float]:
    """learn_target_s, learn_step_s (the longest wait for Esc), target_mb, and milliseconds of a frame's parts."""
    vertices, triangles = horse_frames()

    def learn() -> TargetSpace:
        return result_of(learn_target_steps(vertices, triangles, components=COMPONENTS, variance=1.0))

    learning = [_timed(learn) for _ in "123"]
    space = learning[0][1]
    return {
        "learn_target_s": statistics.median(seconds for seconds, _ in learning),
        "learn_step_s": _longest_step(vertices, triangles),
        "target_mb": sum(array.nbytes for array in space.to_arrays().values()) / 1e6,
        "components": space.components,
    } | frame_parts(space)


def frame_parts(space: TargetSpace) -> dict[str, float]:
    """Milliseconds of the whole way from coefficients to vertices, and of its parts."""
    coefficients = space.coefficients[len(space.coefficients) // 2]
    pose = space.face_pose(coefficients)
    parts = space.shape.parts(pose)
    divergence = space.shape.divergence(pose)
    exponential = _median_ms(lambda: space.shape.gradients(parts.rotations, parts.stretches))
    return {
        "target_frame_ms": _median_ms(lambda: space.vertices_of(coefficients)),
        "back_projection_ms": _median_ms(lambda: space.face_pose(coefficients)),
        "exponential_ms": exponential,
        "divergence_ms": _median_ms(lambda: space.shape.divergence(pose)) - exponential,
        "poisson_ms": _median_ms(lambda: space.system.solve(divergence)),
        "positions_ms": _median_ms(lambda: space.placed(coefficients)),
        "box_ms": _median_ms(lambda: space.box.keep(coefficients)),
    }


def _longest_step(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """Seconds between two looks at Esc, at most."""
    steps = learn_target_steps(vertices, triangles, components=COMPONENTS, variance=1.0)
    moments = [clock()]
    for _ in steps:
        moments.append(clock())
    moments.append(clock())
    return float(np.diff(moments).max())


def _median_ms(call: Callable) -> float:
    """Of the fastest round's median: a busy machine only ever adds."""
    rounds = [[_timed(call)[0] for _ in range(REPEATS)] for _ in range(ROUNDS)]
    return 1000 * min(statistics.median(times) for times in rounds)


def _timed(call: Callable) -> tuple[float, object]:
    start = clock()
    result = call()
    return clock() - start, result
