"""Pairs of poses that a map or a regression is learnt from."""

from __future__ import annotations

import numpy as np

from ..core.errors import InputError


def finite_pairs(inputs: np.ndarray, outputs: np.ndarray, what: str) -> tuple[np.ndarray, np.ndarray]:
    """inputs (n, P) of the source and outputs (n, M) of the target as floats.

    what: is learnt from them, which begins a sentence.
    Raises InputError for numbers of rows that differ, fewer than two, and numbers that are not finite.
    """
    inputs, outputs = np.asarray(inputs, float), np.asarray(outputs, float)
    if inputs.ndim != 2 or outputs.ndim != 2 or len(inputs) != len(outputs):
        raise InputError(f"Pairs came with shapes {inputs.shape} and {outputs.shape}; give one row a pair to both.")
    if len(inputs) < 2:
        raise InputError(f"{what} needs at least two pairs and has {len(inputs)}; add a pair.")
    for values, side in ((inputs, "source"), (outputs, "target")):
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if bad.size:
            raise InputError(f"The {side} pose of pair {bad[0] + 1} has numbers that are not finite; remove the pair.")
    return inputs, outputs
