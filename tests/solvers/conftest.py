"""Small random skeletons and warps, shared by the tests of the tree solvers."""

import numpy as np
import pytest

from solvers.rotations import quaternions as quat
from solvers.skeleton.joint_tree import JointTree, TreePose
from solvers.warp.energy import Goals, SparseTerm, part
from solvers.warp.sparse_residuals import Halfspaces
from solvers.warp.terms import Bend, Facing, Targets

FORESTS = {
    "one root": [-1],
    "one bone": [-1, 0],
    "chain": [-1, 0, 1, 2, 3],
    "star": [-1, 0, 0, 0],
    "body": [-1, 0, 1, 2, 1, 4, 5, 1, 7, 8, 0, 10, 11, 0, 13, 14],
    "forest": [-1, -1, 0, 1, 2, 3, 0, -1],
    "deep chain": list(range(-1, 120)),
}


@pytest.fixture(params=FORESTS)
def parents(request):
    return np.array(FORESTS[request.param])


@pytest.fixture
def body_parents():
    return np.array(FORESTS["body"])


def random_track(rng, parents, frames):
    """Joint positions (F, J, 3) with bones of 10 to 40 cm that keep their lengths."""
    positions = np.zeros((frames, len(parents), 3))
    for joint, parent in enumerate(parents):
        if parent < 0:
            positions[:, joint] = rng.normal(0, 1, (frames, 3))
            continue
        bone = rng.normal(size=(frames, 3))
        bone *= rng.uniform(0.1, 0.4) / np.linalg.norm(bone, axis=1, keepdims=True)
        positions[:, joint] = positions[:, parent] + bone
    return positions


def random_turns(rng, *shape, angle=0.5):
    """Quaternions (..., 4, F) of turns of a typical angle."""
    return quat.exp(rng.normal(0, angle, (*shape[:-1], 3, shape[-1])))


class Planes(SparseTerm):
    """Each sample stays on the positive side of its own plane."""

    def __init__(self, body, child, fraction, normal, height, weight):
        self.body, self.child, self.fraction = body, child, fraction
        self.normal, self.height, self.weight = normal, height, weight

    def take(self, keep):
        normal, height = part(self.normal, keep), part(self.height, keep)
        return Planes(self.body, self.child, self.fraction, normal, height, self.weight)

    def among(self, samples):
        """The planes of some of the samples."""
        parts = (self.body, self.child, self.fraction, self.normal, self.height)
        return Planes(*(array[samples] for array in parts), self.weight)

    def residual(self, tree, pose, quats):
        joints = pose.joints.reshape(len(pose.joints), 3, -1)
        normal = self.normal.reshape(len(self.body), 3, joints.shape[-1])
        start = joints[self.body]
        at = start + self.fraction[:, None, None] * (joints[self.child] - start)
        short = self.height.reshape(len(at), joints.shape[-1]) - np.einsum("pkf,pkf->pf", normal, at)
        sample, frame = np.nonzero(short > 0)
        normal, short = normal[sample, :, frame], short[sample, frame]
        weight = np.full(len(sample), self.weight)
        return Halfspaces(self.body[sample], self.child[sample], self.fraction[sample], frame, normal, short, weight)


def random_planes(rng, tree, joints, weight=5.0):
    """Planes through the neighbourhood of samples on all bones; about half of them cut."""
    child = np.arange(len(tree.parents))
    parent = np.where(tree.parents < 0, child, tree.parents)
    body, child = np.tile(parent, 2), np.tile(child, 2)
    fraction = np.where(body == child, 0.0, np.repeat([1.0, 0.4], len(parent)))
    normal = rng.normal(size=(len(body), 3, joints.shape[-1]))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    start = joints[body]
    at = start + fraction[:, None, None] * (joints[child] - start)
    height = np.einsum("pkf,pkf->pf", normal, at) + rng.uniform(-0.1, 0.1, (len(body), joints.shape[-1]))
    return Planes(body, child, fraction, normal, height, weight)


def random_problem(rng, parents, frames, spread=0.1, angle=0.5, terms=("targets", "bend", "facing")):
    """A tree, goals and a pose away from their minimum."""
    tree = JointTree.build(parents)
    joints = tree.from_track(random_track(rng, parents, frames))
    offsets = tree.offsets(joints)
    every = {
        "targets": Targets(
            joints + rng.normal(0, spread, joints.shape), rng.uniform(0.02, 6.0, (len(parents), frames))
        ),
        "bend": Bend(
            random_turns(rng, tree.bodies, frames, angle=2.0 * spread)[tree.roots :],
            rng.uniform(0.01, 0.05, (tree.bodies, frames))[tree.roots :],
        ),
        "facing": Facing(
            random_turns(rng, tree.bodies, frames, angle=angle), rng.uniform(0.01, 0.1, (tree.bodies, frames))
        ),
    }
    goals = Goals(offsets, tuple(every[term] for term in terms))
    pose = TreePose.forward(tree, offsets, random_turns(rng, tree.bodies, frames, angle=angle), joints[: tree.roots])
    return tree, goals, pose


@pytest.fixture
def problems():
    """The module's functions, for tests that cannot import their neighbours."""
    return {
        "track": random_track,
        "turns": random_turns,
        "planes": random_planes,
        "problem": random_problem,
    }
