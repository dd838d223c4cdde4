"""What deform bones follow in a generated rig: mechanisms between them, and bones in several parts."""

import numpy as np

from solvers.skeleton.followed_bones import followed_bones
from tests.random_rigs import plain_rig

# Name, parent, head and tail along the rig's height; those of the second layer deform.
BONES = [
    ("root", None, 0.0, 0.1), ("org hips", "root", 1.0, 1.2), ("org thigh", "org hips", 1.0, 0.5),
    ("org shin", "org thigh", 0.5, 0.1), ("mechanism", "org shin", 0.3, 0.2),
    ("hips", "root", 1.0, 1.2), ("thigh", "org hips", 1.0, 0.75), ("thigh.001", "thigh", 0.75, 0.5),
    ("shin", "thigh.001", 0.5, 0.1), ("foot", "mechanism", 0.1, 0.0),
]  # fmt: skip
DEFORMING = ("hips", "thigh", "thigh.001", "shin", "foot")


def test_followed_bones_are_found_through_mechanisms_and_parts_count_as_one():
    names = tuple(name for name, *_ in BONES)
    rest = np.tile(np.eye(4), (len(BONES), 1, 1))
    for matrix, (_, _, head, tail) in zip(rest, BONES, strict=True):
        up = np.sign(tail - head)
        matrix[:3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, -up], [0.0, up, 0.0]]
        matrix[2, 3] = head
    parents = [names.index(parent) if parent else -1 for _, parent, *_ in BONES]
    rig = plain_rig(parents, rest, np.array([abs(tail - head) for _, _, head, tail in BONES]), names=names)
    found = followed_bones(rig, np.array([names.index(name) for name in DEFORMING]))
    told = {name: DEFORMING[at] if at >= 0 else None for name, at in zip(DEFORMING, found, strict=True)}
    assert told == {"hips": None, "thigh": "hips", "thigh.001": "thigh", "shin": "thigh", "foot": "shin"}
