"""Where the feet of a target are in a pose, read from its coefficients without making the mesh."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_matrix

from ..core.subsampling import evenly_spaced
from ..rotations import rotation_vectors
from .mesh_feet import MeshFeet
from .target_space import TargetSpace

# Faces that turn nearly alike are turned as one; their number, and of how many components their likeness is told.
_GROUPS, _TOLD_BY = 96, 12
# Of the weight of all: what less hangs on is in no piece with a foot.
_NOTHING = 1e-9
_AT_ONCE = 256  # frames
# Learnt frames that are looked at, and how far off groups may be there, of the body's diagonal.
_CHECKED, _OFF = 24, 0.01


@dataclass(frozen=True)
class FeetReadout:
    """Means of a target's vertices over the soles of its K feet, and over whole feet: P = 2K points.

    Vertices are the solution of one linear system, so a mean of some is one row of its inverse times what all faces
    ask for.  The faces are sorted into G groups that turn alike: a group's rotation times what its faces ask for in
    that frame, which is linear in the coefficients, and in which what a face turns beside its group is there to first
    order.  Of one gait that is off by a hundredth of the body's height, in a thirtieth of the time; where some of the
    learnt frames are farther off, as of targets whose poses turn faces over, all faces are asked.

    turn_mean (3, G) and turn_basis (3, G, D): rotation vectors of the groups, against their connected component.
    component_mean (3, C) and component_basis (3, C, D): of those, and group_component (G,): which each group is in.
    asked_mean (P, G, 3) and asked_basis (P, G, 3, D): what groups ask for in their own frames.  mean (P, 3) and basis
    (P, 3, D): what is linear anyway.  place (4, 4): to the world.  whole: the target's space and the rows (P, W) of the
    inverse where all faces are asked.
    """

    turn_mean: np.ndarray
    turn_basis: np.ndarray
    component_mean: np.ndarray
    component_basis: np.ndarray
    group_component: np.ndarray
    asked_mean: np.ndarray
    asked_basis: np.ndarray
    mean: np.ndarray
    basis: np.ndarray
    place: np.ndarray
    whole: tuple[TargetSpace, np.ndarray] | None = None

    @classmethod
    def build(cls, space: TargetSpace, feet: MeshFeet, place: np.ndarray) -> FeetReadout:
        """Of the feet of a target, and its world matrix (4, 4)."""
        count = space.place_mean.shape[1]
        picked = [foot.sole for foot in feet.feet] + [foot.vertices for foot in feet.feet]
        shares = np.array([np.bincount(space.welded[of], minlength=count) / len(of) for of in picked])
        basis = np.tensordot(shares, space.place_basis.reshape(3, count, -1), axes=(1, 1))
        rows = space.system.solve(shares)
        faces = _Faces.of(space, rows)
        asked_mean, asked_basis = faces.asked()
        found = cls(
            faces.turn_mean, faces.turn_basis, *faces.of_components, faces.group_component, asked_mean, asked_basis,
            shares @ space.place_mean.T, basis, place,
        )  # fmt: skip
        exact = replace(found, whole=(space, rows))
        some = evenly_spaced(space.coefficients, _CHECKED)
        away = np.abs(found._points(some) - exact._points(some)).max()
        size = np.linalg.norm(np.ptp(space.rest, axis=0))
        return exact if away > _OFF * size else found

    def of(self, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Soles and whole feet, both (F, K, 3), world, of coefficients (F, D)."""
        coefficients = np.asarray(coefficients, float)
        starts = range(0, max(len(coefficients), 1), _AT_ONCE)
        points = np.concatenate([self._points(coefficients[start : start + _AT_ONCE]) for start in starts])
        world = points @ self.place[:3, :3].T + self.place[:3, 3]
        half = world.shape[1] // 2
        return world[:, :half], world[:, half:]

    def _points(self, coefficients: np.ndarray) -> np.ndarray:
        linear = self.mean + np.tensordot(coefficients, self.basis, axes=(1, 2))
        if self.whole is None:
            return linear + self._of_groups(coefficients)
        space, rows = self.whole
        for points, row in zip(linear, coefficients, strict=True):
            points += rows @ space.shape.divergence(space.face_pose(row)).T
        return linear

    def _of_groups(self, coefficients: np.ndarray) -> np.ndarray:
        turns = _turned(self.turn_mean, self.turn_basis, coefficients)
        of_components = _turned(self.component_mean, self.component_basis, coefficients)
        turns = of_components[:, self.group_component] @ turns
        rows = coefficients.astype(np.float32)
        asked = self.asked_mean + np.tensordot(rows, self.asked_basis, axes=(1, 3))
        return (turns @ asked.transpose(0, 2, 3, 1)).sum(axis=1).transpose(0, 2, 1)


@dataclass(frozen=True)
class _Faces:
    """The T faces of a target that the points hang on, in groups.

    weights (P, 2, T): of the in-plane gradients' columns in the points.  rotation, stretch: means (3, T) and bases
    (3, T, D).  frames (3, 3, T).  group (T,), and of groups: as in ``FeetReadout``.  of_components: mean and basis.
    """

    weights: np.ndarray
    rotation: tuple[np.ndarray, np.ndarray]
    stretch: tuple[np.ndarray, np.ndarray]
    frames: np.ndarray
    group: np.ndarray
    turn_mean: np.ndarray
    turn_basis: np.ndarray
    of_components: tuple[np.ndarray, np.ndarray]
    group_component: np.ndarray

    @classmethod
    def of(cls, space: TargetSpace, rows: np.ndarray) -> _Faces:
        """rows (P, W): of the inverse of the target's system."""
        surface, length = space.shape.surface, space.shape.face_length
        weights = (surface.divergence.T @ rows.T).T.reshape(len(rows), 2, -1)
        weight = np.abs(weights).sum(axis=(0, 1))
        used = np.flatnonzero(weight > _NOTHING * weight.sum())
        mean = space.shape.parts(space.mean[:length].astype(float))
        basis = space.shape.parts(space.basis[:, :length])
        bases = [np.ascontiguousarray(np.moveaxis(part, 0, -1)) for part in (basis.rotations, basis.stretches)]
        means = mean.rotations, mean.stretches
        rotation, stretch = ((of[0][:, used], of[1][:, used]) for of in zip(means, bases, strict=True))
        component = surface.face_component[used]
        alike = rotation[1][..., :_TOLD_BY] * space.coefficients.std(axis=0)[:_TOLD_BY]
        group = _groups(alike.transpose(1, 0, 2).reshape(len(used), -1), component, weight[used])
        mean_of = _averaging(group, weight[used])
        turn_mean = (mean_of @ rotation[0].T).T
        turn_basis = np.stack([mean_of @ part for part in rotation[1]])
        of_components = mean.turns, np.moveaxis(basis.turns, 0, -1)
        firsts = np.unique(group, return_index=True)[1]
        return cls(
            weights[..., used], rotation, stretch, surface.frames[..., used], group, turn_mean, turn_basis,
            of_components, component[firsts],
        )  # fmt: skip

    def asked(self) -> tuple[np.ndarray, np.ndarray]:
        """What groups ask for at the points: mean (P, G, 3) and basis (P, G, 3, D)."""
        turned, own = _matrices(self.rotation[0]), _matrices(self.turn_mean)[self.group]
        axes = np.einsum("tij,jkt->tik", turned, self.frames[:, :2])
        back = np.swapaxes(own, 1, 2)
        # What a face turns beside its group: a small change of a rotation vector turns by the left Jacobian times it.
        of_face, of_group = _left_jacobians(self.rotation[0]), _left_jacobians(self.turn_mean)[self.group]
        means, bases = [], []
        for first, second in self.weights:
            stretched = np.stack(
                (first * axes[..., 0].T, second * axes[..., 0].T + first * axes[..., 1].T, second * axes[..., 1].T)
            ).transpose(2, 1, 0)
            turning = -back @ _crossing(np.einsum("tik,kt->ti", stretched, self.stretch[0]))
            mean, basis = (self._sums(back @ stretched, values) for values in self.stretch)
            beside = self._sums(turning @ of_face, self.rotation[1])
            means.append(mean)
            bases.append(basis + beside - self._sums(turning @ of_group, self.turn_basis[:, self.group]))
        return np.array(means), np.array(bases, np.float32)

    def _sums(self, matrices: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Sums over groups (G, 3, ...) of matrices (T, 3, 3) times values (3, T, ...)."""
        faces, groups = len(self.group), self.turn_mean.shape[1]
        rows = np.broadcast_to(3 * self.group[:, None, None] + np.arange(3)[:, None], matrices.shape)
        columns = np.broadcast_to(np.arange(faces)[:, None, None] + faces * np.arange(3), matrices.shape)
        summing = csr_matrix((matrices.ravel(), (rows.ravel(), columns.ravel())), (3 * groups, 3 * faces))
        return (summing @ values.reshape(3 * faces, -1)).reshape(groups, 3, *values.shape[2:])


def _groups(alike: np.ndarray, component: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """(T,) the group of each face: of the seed that is most like it (T, Q), in its own component (T,).

    One seed a component, where it weighs most, then those that are least like the seeds there are, by weight (T,).
    """
    heaviest = np.lexsort((-weight, component))
    seeds = heaviest[np.unique(component[heaviest], return_index=True)[1]]
    nearest, group = np.full(len(alike), np.inf), np.zeros(len(alike), int)
    for number in range(min(max(_GROUPS, len(seeds)), len(alike))):
        seed = seeds[number] if number < len(seeds) else int(np.argmax(nearest * weight))
        away = np.where(component == component[seed], ((alike - alike[seed]) ** 2).sum(axis=1), np.inf)
        nearer = away < nearest
        nearest[nearer], group[nearer] = away[nearer], number
    return np.unique(group, return_inverse=True)[1].reshape(-1)


def _averaging(group: np.ndarray, weight: np.ndarray) -> csr_matrix:
    """(G, T) that takes weighted means over groups (T,)."""
    shares = weight / np.bincount(group, weight)[group]
    return csr_matrix((shares, (group, np.arange(len(group)))))


def _turned(mean: np.ndarray, basis: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Rotations (F, G, 3, 3) of coefficients (F, D)."""
    vectors = mean[:, :, None] + basis @ coefficients.T
    return np.moveaxis(_matrices(vectors.reshape(3, -1)).reshape(*vectors.shape[1:], 3, 3), 1, 0)


def _matrices(vectors: np.ndarray) -> np.ndarray:
    """(N, 3, 3) of rotation vectors (3, N)."""
    return rotation_vectors.exp(vectors.T)


def _crossing(vectors: np.ndarray) -> np.ndarray:
    """(N, 3, 3) that take the cross product of vectors (N, 3) with another one."""
    x, y, z = vectors.T
    zero = np.zeros_like(x)
    return np.moveaxis(np.array(((zero, -z, y), (z, zero, -x), (-y, x, zero))), 2, 0)


def _left_jacobians(vectors: np.ndarray) -> np.ndarray:
    """(N, 3, 3) of rotation vectors (3, N); Sola 2017, "Quaternion kinematics", equation 183."""
    angle = np.maximum(np.linalg.norm(vectors, axis=0), 1e-12)
    axis = _crossing((vectors / angle).T)
    turning, along = (1.0 - np.cos(angle)) / angle, 1.0 - np.sin(angle) / angle
    return np.eye(3) + turning[:, None, None] * axis + along[:, None, None] * (axis @ axis)
