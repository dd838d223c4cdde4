"""Captured bodies that perform each other's motion: people who dance, and a horse and a camel that gallop."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from solvers.core.steps import result_of
from solvers.transfer.clip_pair import ClipRows
from solvers.transfer.correspondence import densify
from solvers.transfer.part_matching import match_parts
from solvers.transfer.part_suggestion import suggest_parts
from solvers.transfer.regression_inputs import with_velocity
from solvers.transfer.subject import Subject
from solvers.transfer.subject_track import SubjectTrack
from solvers.transfer.surface_transfer import SurfaceTransfer, bodies_of
from solvers.transfer.torso_frame import to_local
from tests.transfer_pairs import SAMBA_CRANE_STANDING, SAMBA_CRANE_STEPPING, horse_and_camel, person

FPS = 30.0
NAMES = ("torso", "limb 1", "limb 2", "limb 3", "limb 4")


@dataclass(frozen=True)
class Captured:
    """vertices (F, V, 3), Z up.  triangles (T, 3).  memberships (K, V)."""

    name: str
    vertices: np.ndarray
    triangles: np.ndarray
    memberships: np.ndarray
    subject: Subject
    track: SubjectTrack

    @property
    def local(self) -> np.ndarray:
        """(F, V, 3) in the torso's frame."""
        return to_local(self.vertices, self.track.rotations, self.track.translations)


def captured_pair(clips: dict[str, tuple[np.ndarray, np.ndarray]]) -> tuple[Captured, Captured]:
    """Two bodies by name, vertices and triangles, with suggested parts that answer to each other."""
    masks = [suggest_parts(vertices[0], triangles) for vertices, triangles in clips.values()]
    firsts = [vertices[0] for vertices, _ in clips.values()]
    masks[1] = masks[1][match_parts(firsts[0], masks[0], firsts[1], masks[1])]
    found = []
    for (name, (vertices, triangles)), mask in zip(clips.items(), masks, strict=True):
        subject = result_of(Subject.learn_steps([vertices], triangles, mask, NAMES))
        found.append(Captured(name, vertices, triangles, mask, subject, subject.read(vertices)))
    return tuple(found)


@functools.cache
def dancers() -> tuple[Captured, Captured]:
    """Samba and crane."""
    return captured_pair({name: person(f"human_{name}") for name in ("samba", "crane")})


@functools.cache
def gallopers() -> tuple[Captured, Captured]:
    """Horse and camel, one cycle; the camel is synthetic."""
    horse, camel, _, _ = horse_and_camel()
    return captured_pair({"horse": horse, "camel": camel})


@functools.cache
def dance(backward: bool = False) -> tuple[Captured, Captured, SurfaceTransfer, SubjectTrack]:
    """Who is watched, who performs, what was learnt of them, and the performer's track of the whole clip."""
    source, target = dancers()[::-1] if backward else dancers()
    clips = []
    for pairs in (SAMBA_CRANE_STANDING, SAMBA_CRANE_STEPPING):
        pairs = (pairs[:, ::-1] if backward else pairs).astype(float)
        clips.append(ClipRows(source.track.rows, target.track.rows, pairs))
    dense = [(source.track, target.track, pairs) for pairs in densify(clips)]
    learnt = result_of(SurfaceTransfer.learn_steps(dense, FPS, bodies=bodies_of(source.subject, target.subject)))
    return source, target, learnt, learnt.track(source.track, FPS)


def moving(body: Captured) -> tuple[np.ndarray, ...]:
    """Poses and velocities of each part."""
    return tuple(with_velocity(rows, FPS) for rows in body.track.rows)


def shown(target: Subject, track: SubjectTrack, correct: bool = True, stitch: bool = True) -> np.ndarray:
    """(F, V, 3) local meshes of a track."""
    frames = range(len(track))
    return np.stack([target.assemble(tuple(rows[f] for rows in track.rows), correct, stitch) for f in frames])
