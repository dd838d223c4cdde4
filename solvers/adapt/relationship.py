"""Relationship descriptors: joints as weighted sums of vectors from points on the environment.

Al-Ashqar, Komura and Choi 2013, sections 4 and 7.1. The weights are computed once at bind. A descriptor i whose frame
goes from (d, M) to (d', M') carries a point p rigidly to d' + Q (p - d), with Q = M' M^T; the target of a joint is the
weighted sum, in displacement form so that an unchanged environment gives back p exactly:

    target = p + sum w (d' - Q d) + sum w (Q - I) p

One sparse (F J, N) matrix applied to the (N, 12) carries [d' - Q d | Q - I] therefore gives all targets and, beside
them, the blended rotation of every joint's surroundings.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.ndimage import gaussian_filter1d

# Measured on captured climbs: shorter windows let the weights' changes through as jerk.
WEIGHT_SMOOTHING = 0.067
# Weights below this share of a joint's total move a target by less than a tenth of a millimetre per decimetre.
NEGLIGIBLE_WEIGHT = 1e-3
_CHUNK = 1 << 15


def window_weights(
    points: np.ndarray, origins: np.ndarray, normals: np.ndarray, inner: float, outer: float
) -> np.ndarray:
    """Unnormalised weights w'' of N descriptors for one joint over F frames (eq. 3-5, amended).

    points: (F, 3) effective joint positions; origins, normals: (S, N, 3) with S = 1 or F, metres, world.
    The cosine of eq. 3 is clamped at zero, and the window of eq. 5 starts at the nearest descriptor that faces the
    joint and is as wide as that distance, within [inner, outer] metres.  Returns (F, N).
    """
    out = np.empty((len(points), origins.shape[1]))
    step = max(1, _CHUNK // max(origins.shape[1], 1))
    for start in range(0, len(points), step):
        part = slice(start, start + step)
        at, facing = (array if len(array) == 1 else array[part] for array in (origins, normals))
        out[part] = _window_weights(points[part], at, facing, inner, outer)
    return out


def _window_weights(points, origins, normals, inner, outer):
    x, y, z = (points[:, None, k] - origins[..., k] for k in range(3))
    distance = np.sqrt(x * x + y * y + z * z)
    x *= normals[..., 0]
    y *= normals[..., 1]
    z *= normals[..., 2]
    cosine = np.maximum(np.add(np.add(x, y, out=x), z, out=x), 0.0, out=x)
    cosine /= np.maximum(distance, 1e-9, out=y)
    facing = np.where(cosine > 0, distance, np.inf)
    near = facing.min(axis=1, keepdims=True)
    near[~np.isfinite(near)] = 0.0
    distance -= near
    distance /= np.clip(near, inner, outer)
    falloff = np.subtract(1.0, distance, out=distance)
    cosine *= np.clip(falloff, 0.0, 1.0, out=falloff)
    return cosine


def normalised_over_time(weights: np.ndarray, dt: float) -> np.ndarray:
    """Weights (F, N) normalised to sum to one a frame (eq. 6), then smoothed over time (sums stay one).

    A frame that no descriptor faces takes the weights of the nearest frame that has some: a joint that lets go of
    everything for a while would be torn from its body. All zeros where no descriptor ever faces the joint.
    """
    total = weights.sum(axis=1)
    related = np.flatnonzero(total > 0)
    if not related.size:
        return np.zeros_like(weights)
    between = 0.5 * (related[1:] + related[:-1])
    nearest = related[np.searchsorted(between, np.arange(len(weights)))]
    weights = weights[nearest] / total[nearest, None]
    used = np.flatnonzero(weights.any(axis=0))
    out = np.zeros_like(weights)
    out[:, used] = gaussian_filter1d(weights[:, used], WEIGHT_SMOOTHING / dt, axis=0, mode="nearest", truncate=3.0)
    return out


@dataclass(frozen=True)
class Relations:
    """The bind-time relation of F x J joints to N descriptors.

    weights: sparse (F J, N), rows ordered frame by frame.  frames, joints: F and J.
    """

    weights: sparse.csr_matrix
    frames: int
    joints: int

    def weighted(self, influence: np.ndarray) -> Relations:
        """With the weight of each descriptor multiplied by its influence (N,) or (N, F), 0 to 1.

        What an object loses goes to the others: a row keeps sum(w i^2) / sum(w i), the mean influence of what is left.
        """
        if (influence == 1.0).all():
            return self
        each = self._of_entries(influence)
        out, squares = (self._with(self.weights.data * each**power) for power in (1, 2))
        left, kept = (np.asarray(part.sum(axis=1)).ravel() for part in (out, squares))
        share = np.divide(kept, left**2, out=np.zeros_like(left), where=left > 0)
        return Relations(sparse.csr_matrix(sparse.diags(share) @ out), self.frames, self.joints)

    def _of_entries(self, influence: np.ndarray) -> np.ndarray:
        """Of each entry of the weights what its descriptor has at its frame. influence: (N,) or (N, F)."""
        influence, frame = influence.reshape(len(influence), -1), np.zeros(1, int)
        if influence.shape[1] > 1:
            frame = np.repeat(np.arange(self.frames), np.diff(self.weights.indptr[:: self.joints]))
        return influence[self.weights.indices, frame]

    def _with(self, data: np.ndarray) -> sparse.csr_matrix:
        return sparse.csr_matrix((data, self.weights.indices, self.weights.indptr), shape=self.weights.shape)

    def sums(self) -> np.ndarray:
        """(F, J) total weight of each joint."""
        return np.asarray(self.weights.sum(axis=1)).reshape(self.frames, self.joints)

    def among(self, columns: np.ndarray, width: int) -> Relations:
        """The same relations, its descriptors being those numbered ``columns`` (N,) of ``width`` in all."""
        matrix = self.weights
        shape = (matrix.shape[0], width)
        wide = sparse.csr_matrix((matrix.data, columns[matrix.indices], matrix.indptr), shape=shape)
        return Relations(wide, self.frames, self.joints)

    def completed(self, other: Relations) -> Relations:
        """With other relations in place of what is missing from a sum of one."""
        left = 1.0 - self.sums().ravel()
        left[left < 1e-12] = 0.0
        total = sparse.csr_matrix(self.weights + sparse.diags(left) @ other.weights)
        return Relations(total, self.frames, self.joints)

    def masked(self, influence: np.ndarray) -> Relations:
        """With the weight of each descriptor multiplied by its influence (N,) or (N, F), nothing given to others."""
        return Relations(self._with(self.weights.data * self._of_entries(influence)), self.frames, self.joints)

    def part(self, rows: slice) -> Relations:
        """The relations of some frames that follow each other."""
        start, stop, _ = rows.indices(self.frames)
        if stop - start == self.frames:
            return self
        matrix = self.weights
        pointer = matrix.indptr[start * self.joints : stop * self.joints + 1]
        entries = slice(pointer[0], pointer[-1])
        shape = (len(pointer) - 1, matrix.shape[1])
        parts = (matrix.data[entries], matrix.indices[entries], pointer - pointer[0])
        return Relations(sparse.csr_matrix(parts, shape=shape), stop - start, self.joints)

    def mean_normals(self, normals: np.ndarray) -> np.ndarray:
        """Blended unit normals (F, J, 3) of each joint's descriptors; zero where there are none. normals: (S, N, 3)."""
        normals = np.ascontiguousarray(normals)
        mean = (self.spread(len(normals)) @ normals.reshape(-1, 3)).reshape(self.frames, self.joints, 3)
        length = np.linalg.norm(mean, axis=-1, keepdims=True)
        return np.divide(mean, length, out=np.zeros_like(mean), where=length > 1e-9)

    def claimed(self, share: np.ndarray, objects: np.ndarray) -> Relations:
        """With the weight of each descriptor multiplied by the share (O, F, J) that its object, objects (N,), has of
        the joint, and every sum kept; a joint whose descriptors would all go keeps them."""
        matrix, share = self.weights, share.reshape(len(share), -1)
        touched = np.flatnonzero((share < 1.0).any(axis=0))
        length = np.diff(matrix.indptr)[touched]
        row = np.repeat(np.arange(len(touched)), length)
        entry = np.arange(len(row)) - np.repeat(np.cumsum(length) - length, length) + matrix.indptr[touched][row]
        old = matrix.data[entry]
        new = old * share[objects[matrix.indices[entry]], touched[row]]
        before, after = (np.bincount(row, values, len(touched)) for values in (old, new))
        kept = after > 1e-9
        factor = np.divide(before, after, out=np.ones_like(before), where=kept)
        data = matrix.data.copy()
        data[entry] = np.where(kept[row], new * factor[row], old)
        parts = (data, matrix.indices, matrix.indptr)
        return Relations(sparse.csr_matrix(parts, shape=matrix.shape), self.frames, self.joints)

    def counting(self, share: np.ndarray) -> Relations:
        """With the weight of each descriptor multiplied by its share (N,), and every sum kept; shares are above 0."""
        before = np.asarray(self.weights.sum(axis=1)).ravel()
        out = sparse.csr_matrix(self.weights @ sparse.diags(share))
        after = np.asarray(out.sum(axis=1)).ravel()
        factor = np.divide(before, after, out=np.ones_like(before), where=after > 0)
        return Relations(sparse.csr_matrix(sparse.diags(factor) @ out), self.frames, self.joints)

    def used(self) -> np.ndarray:
        """(F, N) bool: the descriptors that hold any joint at each frame."""
        out = np.zeros((self.frames, self.weights.shape[1]), bool)
        frame = np.repeat(np.arange(self.frames), np.diff(self.weights.indptr[:: self.joints]))
        out[frame, self.weights.indices] = True
        return out

    def spread(self, states: int) -> sparse.csr_matrix:
        """The weights with one block of columns a state, for descriptors that move."""
        if states == 1:
            return self.weights
        matrix, count = self.weights, self.weights.shape[1]
        block = np.repeat(np.arange(self.frames) * count, self.joints)
        indices = matrix.indices + np.repeat(block, np.diff(matrix.indptr))
        return sparse.csr_matrix((matrix.data, indices, matrix.indptr), shape=(matrix.shape[0], states * count))

    def blended(self, carry: np.ndarray) -> np.ndarray:
        """Carries (S, N, K) of the descriptors, S = 1 or F, blended for each joint: (F, J, K)."""
        return (self.spread(len(carry)) @ carry.reshape(-1, carry.shape[-1])).reshape(self.frames, self.joints, -1)


def displaced(positions: np.ndarray, blended: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Displacements and blended rotations of joints in the changed environment.

    positions: (F, J, 3) source joints.  blended: (F, J, 12) ``carries`` blended for each.
    Returns displacements (F, J, 3) and rotation changes sum w (Q - I) (F, J, 3, 3).
    """
    turn = blended[..., 3:].reshape(*blended.shape[:2], 3, 3)
    return blended[..., :3] + np.einsum("fjab,fjb->fja", turn, positions), turn


def carries(origins: np.ndarray, new_origins: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """(S, N, 12): [d' - Q d | Q - I] of every descriptor; see the module's docstring.

    origins, new_origins: (S, N, 3) at bind and now.  turn: (S, N, 3, 3) from one to the other.
    """
    shift = new_origins - np.einsum("snab,snb->sna", turn, origins)
    delta = turn - np.eye(3)
    return np.concatenate((shift, delta.reshape(*delta.shape[:2], 9)), axis=-1)


def relate(
    points: np.ndarray, origins: np.ndarray, normals: np.ndarray, dt: float, height: float
) -> Relations:
    """Bind joints to descriptors.

    points: (F, J, 3) effective joints (see ``clearance.effective_joints``); origins, normals: (S, N, 3).
    dt: seconds a frame; height: of the body, metres.
    """
    frames, joints = points.shape[:2]
    inner, outer = 0.1 * height / 1.8, 0.25 * height
    counts, columns, values = np.zeros((frames, joints), int), [], []
    if not origins.shape[1]:
        return Relations(sparse.csr_matrix((frames * joints, 0)), frames, joints)
    number = np.broadcast_to(np.arange(origins.shape[1], dtype=np.int32), (frames, origins.shape[1]))
    for joint in range(joints):
        weights = window_weights(points[:, joint], origins, normals, inner, outer)
        weights = normalised_over_time(weights, dt)
        # Where thousands of descriptors share a joint, each weight is small and none is negligible.
        least = np.minimum(NEGLIGIBLE_WEIGHT, 0.1 * weights.max(axis=1, keepdims=True))
        used = (weights >= least) & (weights > 0)
        weights[~used] = 0.0
        total = weights.sum(axis=1, keepdims=True)
        np.divide(weights, total, out=weights, where=total > 0)
        counts[:, joint] = np.count_nonzero(used, axis=1)
        columns.append(number[used])
        values.append(weights[used])
    return Relations(_by_frame(counts, columns, values, origins.shape[1]), frames, joints)


def _by_frame(counts, columns, values, width):
    """Rows of every joint over all frames, (J lists), to rows ordered frame by frame. counts: (F, J) entries a row."""
    pointer = np.append(0, np.cumsum(counts))
    data, indices = np.empty(pointer[-1]), np.empty(pointer[-1], np.int32)
    start = pointer[:-1].reshape(counts.shape)
    for joint, (column, value) in enumerate(zip(columns, values, strict=True)):
        count = counts[:, joint]
        place = np.repeat(start[:, joint] - (np.cumsum(count) - count), count) + np.arange(len(value))
        data[place], indices[place] = value, column
    return sparse.csr_matrix((data, indices, pointer), shape=(counts.size, width))
