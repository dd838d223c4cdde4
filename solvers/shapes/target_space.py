"""The poses of a target: a few coefficients that stand for all its vertices, learnt from its motion."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from ..core.errors import InputError
from ..core.steps import result_of, within
from ..regression.gram_pca import gram_pca_steps
from ..regression.latent_box import LatentBox
from ..surface.poisson import PoissonSystem
from ..surface.weld import staying_together
from .shape_space import ShapeSpace

# Of the variance, that components are to reach: 99.9 % leave out 5 % of how far single frames are from their mean.
VARIANCE = 0.99999
# Vertices that move less than this share of the mesh's radius do not move.
_STILL = 1e-6
# Columns of the precomputed places solved for between two looks at Esc.
_BATCH_COMPONENTS = 8


@dataclass(frozen=True)
class TargetSpace:
    """Principal components of a target's poses.

    rest (V, 3): the first frame, object space.  triangles (T, 3).  same (V,): the vertex that stands for each, itself
    unless others stay together with it in all learnt frames, as imported meshes have them along seams and hard edges;
    the W that stand for all are what the rest is about, and the others go where they go.  mean (K,) and basis (D, K),
    float32: of the numbers of ``shape_space``, gradients of faces with places (Rhodin et al. 2014, section 4).
    coefficients (F, D): the learnt frames.  left (F,): how much of each one's distance from the mean pose is in none of
    the components, 0 to 1.  box: the interval of each coefficient.
    """

    rest: np.ndarray
    triangles: np.ndarray
    same: np.ndarray
    mean: np.ndarray
    basis: np.ndarray
    coefficients: np.ndarray
    left: np.ndarray
    box: LatentBox
    shape: ShapeSpace
    system: PoissonSystem
    # (V,) of each vertex the number among the W.
    welded: np.ndarray
    # Those are where the faces ask for + place_mean + place_basis coefficients: (3, W) and (3 W, D).
    place_mean: np.ndarray
    place_basis: np.ndarray

    @property
    def components(self) -> int:
        """D."""
        return self.coefficients.shape[1]

    def vertices_of(self, coefficients: np.ndarray) -> np.ndarray:
        """Vertices (V, 3) of coefficients (D,), or (F, V, 3) of (F, D), object space."""
        coefficients = np.asarray(coefficients, float)
        if coefficients.ndim == 2:
            out = np.empty((len(coefficients), *self.rest.shape))
            for frame, row in enumerate(coefficients):
                out[frame] = self.vertices_of(row)
            return out
        vertices = self.placed(coefficients)
        vertices += self.system.solve(self.shape.divergence(self.face_pose(coefficients)))
        return vertices.T.take(self.welded, axis=0)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """All that is needed to build the same space again."""
        return {
            "edge": np.array(self.box.edge),
            "rest": self.rest,
            "triangles": self.triangles,
            "same": self.same,
            "mean": self.mean,
            "basis": self.basis,
            "coefficients": self.coefficients,
            "left": self.left,
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray]) -> TargetSpace:
        """Of what ``to_arrays`` gave; where that has no ``same``, as it once had not, each vertex moves by itself."""
        rest, triangles = arrays["rest"], arrays["triangles"]
        same = np.asarray(arrays.get("same", np.arange(len(rest))))
        kept = {name: np.asarray(arrays[name]) for name in ("mean", "basis", "coefficients")}
        kept["left"] = np.asarray(arrays.get("left", np.zeros(len(kept["coefficients"]))))
        box = LatentBox.around(kept["coefficients"], str(arrays["edge"]))
        mesh = _Mesh.of(rest, triangles, same)
        return result_of(_assembled(mesh, ShapeSpace.build(*mesh.welded_rest), box=box, **kept))

    def placed(self, coefficients: np.ndarray) -> np.ndarray:
        """The part (3, W) of the places that is linear in the coefficients."""
        moved = self.place_basis @ coefficients.astype(np.float32)
        return self.place_mean + moved.reshape(3, -1)

    def face_pose(self, coefficients: np.ndarray) -> np.ndarray:
        """The numbers of one pose that are not places, float32."""
        length = self.shape.face_length
        return self.mean[:length] + coefficients.astype(np.float32) @ self.basis[:, :length]


def learn_target_steps(
    vertices: np.ndarray,
    triangles: np.ndarray,
    *,
    components: int = 50,
    variance: float = VARIANCE,
    same: np.ndarray | None = None,
) -> Generator[float, None, TargetSpace]:
    """The space of a target's frames (F, V, 3), object space, with triangles (T, 3); yields shares of the way.

    same: (V,) what ``weld.staying_together`` finds in these frames, where it is known already.

    As many components as reach a share of the variance, at most ``components``.  Travel counts as variance like
    everything else: take it out of the vertices first where it is to be controlled otherwise.

    Raises InputError for fewer than two frames, NaN, no faces or none with an area, faces that name vertices which are
    not there, a target without motion.
    """
    vertices, triangles = _checked(vertices), np.asarray(triangles)
    _check_motion(vertices, triangles)
    mesh = _Mesh.of(vertices[0].astype(float), triangles, staying_together(vertices) if same is None else same)
    shape = ShapeSpace.build(*mesh.welded_rest)
    yield 0.05
    poses = yield from within(shape.poses_steps(mesh.welded(vertices)), 0.05, 0.5)
    yield from within(shape.unwrap_steps(poses), 0.5, 0.65)
    weights = shape.weights.astype(np.float32)
    poses *= weights
    pca = yield from within(gram_pca_steps(poses, components, variance), 0.65, 0.85)
    mean, basis = pca.mean / weights, pca.basis / weights
    box = LatentBox.around(pca.coefficients)
    steps = _assembled(mesh, shape, mean, basis, pca.coefficients, pca.left, box)
    return (yield from within(steps, 0.85, 1.0))


@dataclass(frozen=True)
class _Mesh:
    """rest (V, 3), triangles (T, 3), same (V,); kept (W,): the vertices that stand for all.  numbers (V,): of the one
    that stands for each, among those."""

    rest: np.ndarray
    triangles: np.ndarray
    same: np.ndarray
    kept: np.ndarray
    numbers: np.ndarray

    @classmethod
    def of(cls, rest: np.ndarray, triangles: np.ndarray, same: np.ndarray) -> _Mesh:
        kept, numbers = np.unique(same, return_inverse=True)
        return cls(rest, triangles, same, kept, numbers.reshape(-1))

    @property
    def welded_rest(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (W, 3) and triangles (T, 3); those that have become a line or a point have no area any more."""
        return self.rest[self.kept], self.numbers[self.triangles]

    def welded(self, vertices: np.ndarray) -> np.ndarray:
        """(F, W, 3) of vertices (F, V, 3)."""
        return vertices if len(self.kept) == len(self.same) else vertices[:, self.kept]


def _assembled(mesh, shape, mean, basis, coefficients, left, box):
    """The space with everything prepared that does not change from frame to frame."""
    count, length = shape.rest.shape[0], shape.face_length
    place_mean, place_basis = (shape.radius * array[..., length:].astype(float) for array in (mean, basis))
    place_mean, place_basis = place_mean.reshape(-1, count), place_basis.reshape(len(basis), -1, count)
    system = PoissonSystem.build(shape.surface, shape.radius)
    place_mean = system.solve(positions=place_mean + shape.centre[:, None])
    for start in range(0, len(basis), _BATCH_COMPONENTS):
        rows = slice(start, start + _BATCH_COMPONENTS)
        place_basis[rows] = system.solve(positions=place_basis[rows])
        yield start / len(basis)
    return TargetSpace(
        rest=mesh.rest,
        triangles=mesh.triangles,
        same=mesh.same,
        mean=mean,
        basis=basis,
        coefficients=coefficients,
        left=left,
        box=box,
        shape=shape,
        system=system,
        welded=mesh.numbers,
        place_mean=place_mean,
        place_basis=np.ascontiguousarray(place_basis.reshape(len(basis), -1).T, np.float32),
    )


def _checked(vertices: np.ndarray) -> np.ndarray:
    vertices = np.asarray(vertices)
    if vertices.ndim != 3 or vertices.shape[2] != 3:
        raise InputError(f"The target's vertices have shape {vertices.shape}, expected (frames, vertices, 3).")
    bad = np.argwhere(~np.isfinite(vertices).all(axis=2))
    if bad.size:
        frame, vertex = bad[0]
        raise InputError(f"Vertex {vertex} of the target is not a number at frame {frame} of the range; repair it.")
    return vertices


def _check_motion(vertices: np.ndarray, triangles: np.ndarray) -> None:
    if len(vertices) < 2:
        raise InputError(f"The target's range has {len(vertices)} frame; choose a range of at least two.")
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not len(triangles):
        raise InputError("The target has no faces; choose a mesh with faces.")
    if triangles.min() < 0 or triangles.max() >= vertices.shape[1]:
        raise InputError(
            f"A face of the target names vertex {triangles.max()}, but there are {vertices.shape[1]}; repair the mesh."
        )
    size = np.ptp(vertices[0], axis=0).max()
    if max(np.abs(frame - vertices[0]).max() for frame in vertices[1:]) <= _STILL * size:
        raise InputError("The target does not move over the range; choose frames in which its shape changes.")
