"""Which variables belong together, and against what each carrier is judged, from how carriers answered to steps.

A block is a set of variables and of errors that no variable outside it changes, so blocks are solved apart: an arm's
controls are not solved together with the trunk's where the arm can be judged against the chest.
K carriers, V variables.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ..rotations import rotation_vectors as rotvec
from .measuring import STEP, Samples
from .misfit import References, against

# An answer below this part of the step is none.
_STILL = 1e-3


@dataclass(frozen=True)
class Block:
    """columns: (v,) indices into the 6 C channels of controls.  rows: (r,) indices into the 6 K errors of carriers."""

    columns: np.ndarray
    rows: np.ndarray


def blocks_of(
    samples: Samples, base: np.ndarray, columns: np.ndarray, parents: np.ndarray, size: float
) -> tuple[list[Block], References]:
    """Blocks of variables, from samples of single ones.

    base: (n, K, 4, 4) rigid carriers before the steps.  columns: (V,) what samples' groups are among the 6 C channels.
    parents: (K,) carriers' tree.  A carrier is judged first against the one below which the fewest variables move it,
    which makes the blocks; then, in its block, against the highest that nothing outside of the block moves.
    """
    chains = _chains(parents)
    patterns = np.stack([_moved(samples, base, chain, size, len(columns)) for chain in chains])
    count = patterns.sum(axis=1)
    fewest = len(chains) - 1 - count[::-1].argmin(axis=0)
    carrier, kind = np.indices(fewest.shape)
    pattern = patterns[fewest, :, carrier, kind].reshape(-1, len(columns))
    label = _labels(pattern)
    member = np.where(pattern.any(axis=1), label[pattern.argmax(axis=1)], -1).reshape(fewest.shape)
    for k in np.flatnonzero(parents >= 0):  # what nothing moves by itself goes with what it hangs on
        member[k] = np.where(member[k] < 0, member[parents[k], 1], member[k])
    inside = label == member[..., None]
    fits = ~(np.moveaxis(patterns, 1, -1) & ~inside).any(axis=-1)
    highest = len(chains) - 1 - fits[::-1].argmax(axis=0)
    answered = patterns[highest, :, carrier, kind].any(axis=-1)
    member = np.where(answered, member, -1)
    moving = patterns.any(axis=(0, 2, 3))
    rows = np.repeat(member, 3, axis=1).ravel()
    blocks = [Block(columns[(label == k) & moving], np.flatnonzero(rows == k)) for k in np.unique(label[moving])]
    reference = chains[highest, carrier]
    return [block for block in blocks if len(block.rows)], References(reference[:, 0], reference[:, 1])


def _chains(parents: np.ndarray) -> np.ndarray:
    """(D, K) what carriers hang on, then what that hangs on and so on, at last the armature (-1)."""
    chains = [parents]
    while (chains[-1] >= 0).any():
        chains.append(np.where(chains[-1] >= 0, parents[chains[-1]], -1))
    return np.stack(chains)


def _moved(samples: Samples, base: np.ndarray, reference: np.ndarray, size: float, variables: int) -> np.ndarray:
    """(V, K, 2) whether a variable moves location and rotation of carriers against their references (K,)."""
    before, after = against(base[samples.frames], reference), against(samples.carried, reference)
    shift = np.linalg.norm(after[..., :3, 3] - before[..., :3, 3], axis=-1) / size
    turn = np.linalg.norm(rotvec.log(np.swapaxes(before[..., :3, :3], -1, -2) @ after[..., :3, :3]), axis=-1)
    out = np.zeros((variables, len(reference), 2))
    np.maximum.at(out, samples.groups, np.stack((shift, turn), axis=-1))
    return out > _STILL * STEP


def _labels(pattern: np.ndarray) -> np.ndarray:
    """(V,) label of the block of each variable: those that move the same error (any row of (R, V)) share one."""
    row, column = np.nonzero(pattern)
    rows, columns = pattern.shape
    graph = coo_matrix((np.ones(len(row)), (row, rows + column)), (rows + columns,) * 2)
    return connected_components(graph, directed=False)[1][rows:]
