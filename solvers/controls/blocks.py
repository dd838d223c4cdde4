"""Which variables belong together, and against what each carrier is judged, from how carriers answered to steps.

A block is a set of variables and of errors that no variable outside it changes, so blocks are solved apart: an arm's
controls are not solved together with the trunk's where the arm can be judged against the chest.
K carriers, V variables, C controls, D steps up the tree of carriers, the last of which leads to the armature.
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
_STILL = 5e-4


@dataclass(frozen=True)
class Block:
    """columns: (v,) indices into the 6 C channels of controls.  rows: (r,) indices into the 6 K errors of carriers.

    touches: (r, v) bool, which variable moves which error.  groups: (v,) int, variables with one number share no error.
    """

    columns: np.ndarray
    rows: np.ndarray
    touches: np.ndarray
    groups: np.ndarray


@dataclass(frozen=True)
class Blocks:
    """Blocks, and the frames of reference in which their errors are meant."""

    blocks: tuple[Block, ...]
    references: References

    def stepped_together(self, channels: int, wanted: list[bool]) -> np.ndarray:
        """(G, channels) bool: the variables of wanted blocks in groups of which no two move the same error."""
        blocks = [block for block, want in zip(self.blocks, wanted, strict=True) if want]
        out = np.zeros((max(block.groups.max() + 1 for block in blocks), channels), bool)
        for block in blocks:
            out[block.groups, block.columns] = True
        return out


@dataclass(frozen=True)
class Looks:
    """What a measurement of structure stepped.

    base: (n, K, 4, 4) rigid carriers before the steps.  columns: (V,) what may be stepped, among the 6 C channels.
    groups: (V,) int, the group of samples in which each was.  moves: (C, K) bool, the carriers that a control may move.
    """

    base: np.ndarray
    columns: np.ndarray
    groups: np.ndarray
    moves: np.ndarray


def groups_apart(columns: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """(V,) group of each variable: in none do two controls move the same carrier, see `Looks`."""
    control, part = columns // 6, columns % 6
    batch = _coloured(moves)
    return np.unique(6 * batch[control] + part, return_inverse=True)[1]


def blocks_of(samples: Samples, looks: Looks, parents: np.ndarray, size: float) -> tuple[Blocks, Blocks]:
    """The blocks of variables, their carriers judged in two ways.

    parents: (K,) carriers' tree.  Judged against the carrier below which the fewest variables move it, errors make the
    blocks.  Then, in its block, each is judged against the nearest carrier that will do (first result), which keeps
    errors small and few variables to one, and against the furthest (second), which is what is meant in the end.
    """
    chains = _chains(parents)
    patterns = np.stack([_moved(samples, looks, chain, size) for chain in chains])
    fewest = patterns.sum(axis=1).argmin(axis=0)
    carrier, kind = np.indices(fewest.shape)
    pattern = patterns[fewest, :, carrier, kind]
    label, member = _members(pattern)
    for k in np.flatnonzero(parents >= 0):  # what nothing moves by itself goes with what it hangs on
        member[k] = np.where(member[k] < 0, member[parents[k], 1], member[k])
    inside = label == member[..., None]
    fits = ~(np.moveaxis(patterns, 1, -1) & ~inside).any(axis=-1)
    # One at least fits wherever something is inside; where nothing is, nothing is judged.
    answers = patterns.any(axis=1) & fits
    nearest = np.where(answers.any(axis=0), answers.argmax(axis=0), fits.argmax(axis=0))
    furthest = len(chains) - 1 - fits[::-1].argmax(axis=0)
    return tuple(_judged(looks, chains, patterns, label, member, level) for level in (nearest, furthest))


def whole_blocks(samples: Samples, looks: Looks, parents: np.ndarray, size: float) -> Blocks:
    """The blocks of variables whose carriers are all judged against the armature."""
    chains = _chains(parents)[-1:]
    patterns = _moved(samples, looks, chains[0], size)[None]
    pattern = np.moveaxis(patterns[0], 0, -1)
    label, member = _members(pattern)
    return _judged(looks, chains, patterns, label, member, np.zeros(member.shape, int))


def _judged(looks: Looks, chains, patterns, label, member, level) -> Blocks:
    """Blocks whose carriers' errors (K, 2) are meant against the carrier so many steps up the tree."""
    carrier, kind = np.indices(level.shape)
    pattern = np.repeat(patterns[level, :, carrier, kind].reshape(-1, len(looks.columns)), 3, axis=0)
    owner = np.where(pattern.any(axis=1), np.repeat(member.ravel(), 3), -1)
    blocks = []
    for name in np.unique(owner[owner >= 0]):
        rows = np.flatnonzero(owner == name)
        mine = np.flatnonzero((label == name) & pattern[rows].any(axis=0))
        touches = pattern[np.ix_(rows, mine)]
        blocks.append(Block(looks.columns[mine], rows, touches, _coloured(touches.T)))
    reference = chains[level, carrier]
    return Blocks(tuple(blocks), References(reference[:, 0], reference[:, 1]))


def _chains(parents: np.ndarray) -> np.ndarray:
    """(D, K) what carriers hang on, then what that hangs on and so on, at last the armature (-1)."""
    chains = [parents]
    while (chains[-1] >= 0).any():
        chains.append(np.where(chains[-1] >= 0, parents[chains[-1]], -1))
    return np.stack(chains)


def _moved(samples: Samples, looks: Looks, reference: np.ndarray, size: float) -> np.ndarray:
    """(V, K, 2) whether a variable moves location and rotation of carriers against their references (K,)."""
    before, after = against(looks.base[samples.frames], reference), against(samples.carried, reference)
    shift = np.linalg.norm(after[..., :3, 3] - before[..., :3, 3], axis=-1) / size
    turn = np.linalg.norm(rotvec.log(np.swapaxes(before[..., :3, :3], -1, -2) @ after[..., :3, :3]), axis=-1)
    most = np.zeros((samples.groups.max() + 1, len(reference), 2))
    np.maximum.at(most, samples.groups, np.stack((shift, turn), axis=-1))
    may = looks.moves | np.where(reference >= 0, looks.moves[:, reference], False)
    return (most > _STILL * STEP)[looks.groups] & may[looks.columns // 6][..., None]


def _labels(pattern: np.ndarray) -> np.ndarray:
    """(V,) label of the block of each variable: those that move the same error (any row of (R, V)) share one."""
    row, column = np.nonzero(pattern)
    rows, columns = pattern.shape
    graph = coo_matrix((np.ones(len(row)), (row, rows + column)), (rows + columns,) * 2)
    return connected_components(graph, directed=False)[1][rows:]


def _members(pattern: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(V,) label of the block of each variable, and (K, 2) that of each error, -1 for one that nothing moves, of
    (K, 2, V) which variables move each."""
    label = _labels(pattern.reshape(-1, pattern.shape[-1]))
    return label, np.where(pattern.any(axis=-1), label[pattern.argmax(axis=-1)], -1)


def _coloured(touches: np.ndarray) -> np.ndarray:
    """(n,) int numbers from 0, few of them: of things (n, m) with one number no two touch the same."""
    out, taken = np.zeros(len(touches), int), []
    for thing in np.argsort(-touches.sum(axis=1), kind="stable"):
        colour = next((k for k, held in enumerate(taken) if not (held & touches[thing]).any()), len(taken))
        if colour == len(taken):
            taken.append(np.zeros(touches.shape[1], bool))
        taken[colour] |= touches[thing]
        out[thing] = colour
    return out
