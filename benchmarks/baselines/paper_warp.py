"""Motion warping as Al-Ashqar et al. 2013 print it, the baseline that our own warp is compared with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from solvers.core.errors import InputError

_CHUNK = 4_000_000  # numbers in one (frames, joints, descriptors) temporary
_STATIC_ROUNDS = 400
_STATIC_TOLERANCE = 1e-7  # of body height, movement in one round


@dataclass(frozen=True)
class Verlet:
    """Constants of section 7.2: Ns, Nc, the elasticity of eq. 9 and the damping of eq. 10.

    A joint of no affinity keeps `free_damping` of its velocity, the one of the largest `held_damping`.
    """

    substeps: int = 3
    constraint_iterations: int = 3
    elasticity: float = 1.0
    free_damping: float = 0.8
    held_damping: float = 0.2


def paper_adapt(
    positions: np.ndarray,
    parents: np.ndarray,
    bind_descriptors: tuple[np.ndarray, np.ndarray],
    changed_descriptors: tuple[np.ndarray, np.ndarray],
    height: float,
    *,
    clamp_cosine: bool = False,
    resized: np.ndarray | None = None,
    braces: np.ndarray | None = None,
    verlet: Verlet | None = None,
) -> np.ndarray:
    """Adapt joint positions to a changed environment by relationship descriptors and Verlet warping.

    positions: (F, J, 3) world, metres.  parents: (J,), -1 for a root.  height: body height, metres.
    bind_descriptors, changed_descriptors: origins (S, N, 3) and axes (S, N, 3, 3) before and after the
    change, as `descriptor_frames` gives them; S is 1 or F.
    clamp_cosine: faces turned away weigh nothing; as printed they weigh negatively.
    resized: (F, J, 3), the same motion by the changed character, whose distances are the bone lengths;
    the character is unchanged without it.
    braces: (B, 2) pairs of joints held at their distance too (the inserted bones of section 8).

    Returns (F, J, 3), metres, world.  Each frame steps from the one before, so frames run in one Python
    loop and depend on the whole past; only the first is solved to rest.

    Departures from the print, each needed for it to work at all: eq. 11 with the sign that restores the
    length (as in chapter 3, eq. 10); one half each where both affinities are zero; affinities below zero,
    which unclamped cosines produce, count as zero; damping over s / max(s), for s itself stays near 1/J;
    a joint that no descriptor reaches has its own position as its target.  Bones that share no joint
    are corrected together.

    Raises InputError for empty, wrongly shaped or non-finite input.
    Source: Al-Ashqar, Komura and Choi 2013, eq. 2-11.
    """
    verlet = verlet or Verlet()
    lengths_of = positions if resized is None else resized
    _check(positions, parents, height, lengths_of)
    bind_descriptors = _per_frame("bind", bind_descriptors, len(positions))
    changed_descriptors = _per_frame("changed", changed_descriptors, len(positions))
    if bind_descriptors[0].shape[1] != changed_descriptors[0].shape[1]:
        raise InputError("The changed descriptors are not the bound ones; bind again.")

    targets, affinity = paper_targets(
        positions, bind_descriptors, changed_descriptors, height, clamp_cosine=clamp_cosine
    )
    bones = _bones(parents, braces)
    lengths = np.linalg.norm(lengths_of[:, bones[:, 0]] - lengths_of[:, bones[:, 1]], axis=2)
    return _warp(targets, affinity, lengths_of[0], bones, lengths, height, verlet)


def paper_targets(
    positions: np.ndarray,
    bind_descriptors: tuple[np.ndarray, np.ndarray],
    changed_descriptors: tuple[np.ndarray, np.ndarray],
    height: float,
    *,
    clamp_cosine: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Target positions (F, J, 3) of eq. 2 and affinities (F, J) of eq. 8; arguments as `paper_adapt`."""
    frames, joints, _ = positions.shape
    targets = np.empty_like(positions, dtype=float)
    pull = np.empty((frames, joints))
    carry = _carry(bind_descriptors, changed_descriptors)
    step = max(1, _CHUNK // (joints * bind_descriptors[0].shape[1]))
    for start in range(0, frames, step):
        part = slice(start, start + step)
        bind = tuple(_span(array, part) for array in bind_descriptors)
        raw = descriptor_weights(positions[part], *bind, height, clamp_cosine=clamp_cosine)
        pull[part] = raw.sum(axis=2)
        targets[part] = _blend(raw, pull[part], _span(carry, part), positions[part])
    total = pull.sum(axis=1, keepdims=True)
    affinity = np.divide(pull, total, out=np.zeros_like(pull), where=total > 0)
    return targets, np.maximum(affinity, 0.0)


def descriptor_weights(
    positions: np.ndarray, origins: np.ndarray, axes: np.ndarray, height: float, *, clamp_cosine: bool
) -> np.ndarray:
    """The weights w'' of eq. 3-5 before they are normalised, (F, J, N).

    positions: (F, J, 3).  origins: (S, N, 3), axes: (S, N, 3, 3), S = 1 or F.  A joint on a descriptor
    counts as straight above it.
    """
    facing = np.zeros(positions.shape[:2] + (origins.shape[1],))
    squared = np.zeros_like(facing)
    for k in range(3):
        offset = positions[:, :, None, k] - origins[:, None, :, k]
        facing += offset * axes[:, None, :, k, 0]
        squared += offset * offset
    distance = np.sqrt(squared, out=squared)
    cosine = np.divide(facing, distance, out=np.ones_like(facing), where=distance > 0)
    if clamp_cosine:
        np.maximum(cosine, 0.0, out=cosine)
    nearest = distance.min(axis=2, keepdims=True)
    fade = 1.0 - (distance - nearest) / (height / 4)
    return cosine * np.maximum(fade, 0.0)


def _span(array, part):
    return array if len(array) == 1 else array[part]


def _carry(bind, changed):
    """What each descriptor does to a point, p -> offset + turn p, as rows (S, N, 12)."""
    turn = changed[1] @ np.swapaxes(bind[1], -1, -2)
    offset = changed[0] - np.einsum("snij,snj->sni", turn, np.broadcast_to(bind[0], turn.shape[:3]))
    return np.concatenate([offset, turn.reshape(*turn.shape[:2], 9)], axis=2)


def _blend(raw, pull, carry, positions):
    reached = pull != 0
    weight = np.divide(raw, pull[..., None], out=np.zeros_like(raw), where=reached[..., None])
    rows = weight @ carry
    moved = rows[..., :3] + np.einsum("fjab,fjb->fja", rows[..., 3:].reshape(*reached.shape, 3, 3), positions)
    return np.where(reached[..., None], moved, positions)


def _warp(targets, affinity, start, bones, lengths, height, verlet):
    sets = _independent_sets(bones)
    share = _shares(affinity, bones)
    largest = affinity.max(axis=1, keepdims=True)
    held = np.divide(affinity, largest, out=np.zeros_like(affinity), where=largest > 0)
    damping = verlet.free_damping + (verlet.held_damping - verlet.free_damping) * held

    out = np.empty_like(targets)
    first = _Frame(targets[0], damping[0, :, None], bones, share[0], lengths[0], sets)
    current, previous = _settle(first, start, height, verlet)
    out[0] = current
    for f in range(1, len(targets)):
        frame = _Frame(targets[f], damping[f, :, None], bones, share[f], lengths[f], sets)
        current, previous = _round(frame, current, previous, verlet)
        out[f] = current
    return out


@dataclass(frozen=True)
class _Frame:
    target: np.ndarray
    damping: np.ndarray
    bones: np.ndarray
    share: np.ndarray
    lengths: np.ndarray
    sets: list[np.ndarray]


def _settle(frame, start, height, verlet):
    """Repeat one frame without velocity between rounds until it rests ("statically", section 7.2)."""
    current = np.array(start, float)
    for _ in range(_STATIC_ROUNDS):
        before = current
        current, _ = _round(frame, before, before, verlet)
        if np.linalg.norm(current - before, axis=1).max() <= _STATIC_TOLERANCE * height:
            break
    return current, current


def _round(frame, current, previous, verlet):
    gain = 0.5 * verlet.elasticity / verlet.substeps**2
    for _ in range(verlet.substeps):
        moved = current + frame.damping * (current - previous) + gain * (frame.target - current)
        for _ in range(verlet.constraint_iterations):
            _restore_lengths(frame, moved)
        previous, current = current, moved
    return current, previous


def _restore_lengths(frame, points):
    for rows in frame.sets:
        joint, other = frame.bones[rows, 0], frame.bones[rows, 1]
        along = points[joint] - points[other]
        length = np.sqrt(np.einsum("bk,bk->b", along, along))
        stretch = np.divide(frame.lengths[rows] - length, length, out=np.zeros_like(length), where=length > 0)
        along *= stretch[:, None]
        share = frame.share[rows, None]
        points[joint] += share * along
        points[other] -= (1.0 - share) * along


def _shares(affinity, bones):
    """Share (F, B) of a bone's correction that its first joint takes: s_k / (s_k + s_j), eq. 11."""
    own, other = affinity[:, bones[:, 0]], affinity[:, bones[:, 1]]
    both = own + other
    return np.divide(other, both, out=np.full_like(both, 0.5), where=both > 0)


def _bones(parents, braces):
    children = np.flatnonzero(parents >= 0)
    bones = np.stack([children, parents[children]], axis=1)
    return bones if braces is None else np.concatenate([bones, np.asarray(braces, int).reshape(-1, 2)])


def _independent_sets(bones):
    """Greedy edge colouring: rows of bones in sets within which no two bones share a joint."""
    sets, taken = [], []
    for row, ends in enumerate(bones.tolist()):
        free = next((k for k, joints in enumerate(taken) if not joints.intersection(ends)), len(sets))
        if free == len(sets):
            sets.append([])
            taken.append(set())
        sets[free].append(row)
        taken[free].update(ends)
    return [np.array(members) for members in sets]


def _check(positions, parents, height, lengths_of):
    if positions.ndim != 3 or positions.shape[2] != 3 or not positions.size:
        raise InputError(f"Joint positions have shape {positions.shape}, expected (F, J, 3) and not empty.")
    if parents.shape != (positions.shape[1],):
        raise InputError(f"{len(parents)} parents for {positions.shape[1]} joints.")
    if lengths_of.shape != positions.shape:
        raise InputError(f"The resized motion has shape {lengths_of.shape}, the motion {positions.shape}.")
    for what, track in (("motion", positions), ("resized motion", lengths_of)):
        bad = np.argwhere(~np.isfinite(track).all(axis=2))
        if bad.size:
            raise InputError(f"Joint {bad[0, 1]} of the {what} is not a number at frame {bad[0, 0]}.")
    if not height > 0:
        raise InputError(f"The body height is {height}; it must be positive.")


def _per_frame(which, descriptors, frames):
    origins, axes = descriptors
    if axes.shape != origins.shape + (3,) or origins.shape[-1] != 3:
        raise InputError(f"The {which} descriptors have shapes {origins.shape} and {axes.shape}.")
    if not origins.shape[1]:
        raise InputError("There are no descriptors; bind the motion to an environment near it.")
    if len(origins) not in (1, frames):
        raise InputError(f"The {which} descriptors have {len(origins)} states for {frames} frames.")
    if not (np.isfinite(origins).all() and np.isfinite(axes).all()):
        raise InputError(f"The {which} descriptors have coordinates that are not numbers; repair the meshes.")
    return origins, axes
