"""What Adapt knows of a motion and its environment (Al-Ashqar et al. 2013, sections 4 to 6, amended)."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..core.errors import InputError
from ..core.steps import result_of
from ..core.types import JointTrack, MeshTrack
from ..skeleton.joint_tree import JointTree
from ..surface.descriptor_frames import DescriptorPoints, descriptor_frames
from ..surface.occlusion import hidden_surfaces
from ..surface.track import SurfaceTrack
from ..surface.turned_away import turned_away
from ..warp.collision import SPACING, BodySamples
from . import clearance
from .body_contacts import RULES, body_parts, hung_joints, resting_joints
from .contact_edits import ContactEdit, states, windows, with_what_hangs
from .contacts import touched
from .covered_places import covered_over_time
from .descriptor_candidates import RADIUS, SAMPLING_REACH, TOUCH, candidates
from .descriptor_sampling import sample_descriptors
from .leg_reach import Legs
from .out_of_reach import nothing_near
from .pushes import smoothed
from .relationship import Relations, relate
from .self_contacts import LimbEnd, SelfContact, as_rows, limb_ends_of, self_contacts
from .straight_limbs import StraightLimbs

CONTACT_WEIGHT = 5.0
# Seconds over which what a body sits or lies on begins and ceases to hold it.
RESTING = 0.1
# Times what holds an effector to what it touches, of a trunk that rests.
LOAD = 4.0
# Metres at 1.8 m within which points between joints are measured; joints are within clearance.REACH.
BETWEEN_REACH = 0.35

# What ``Binding.edited`` takes over.
_UNEDITED = ("tree", "samples", "joint_distance", "offsets", "load", "legs", "straight_limbs", "relations", "_partial")


@dataclass(frozen=True)
class Binding:
    """A motion bound to an environment: all that cannot be computed again once the environment has changed.

    track: the joints that are solved, F frames.  effectors: (J,) bool, joints whose contacts are held.
    height: of the body, metres.  objects: names of the O meshes.
    points: the N descriptor points.  origins (S, N, 3), axes (S, N, 3, 3): their frames at bind, S = 1 or F.
    effective: (F, J, 3) joints as the descriptors see them.
    distance: (O, F, P) signed distances of the body's samples, divided by ``scale``.
    side: (O, F, P) the triangles that they face, -1 beyond reach.
    hidden: (O, F, J) objects that lie behind another one.
    slow: (O, F, J) bool, joints that hardly move against the places of an object that they are nearest to.
    radii: (J,) of the capsule around the bone that leads to each joint, metres.
    covered: (N,) bool, points that were inside another object at some frame; None where that is not known of objects
    that moved, and where nothing did.
    rests: (O, F, J) bool, where joints that are no effectors rest, see ``body_contacts``; None in what was stored
    before that was looked for: only effectors touch then.
    rest_rules: number of the rules by which rests were found, 0 in what was stored before they had one.
    edits: of the contacts that were found, see ``edited``; of those that overlap the later one counts.
    own: (K, 4) joint, part, first and last row of contacts of the body with itself that are held, see
    ``self_contacts``; None in what was stored before they were looked for: none is held then.
    """

    track: JointTrack
    effectors: np.ndarray
    height: float
    objects: tuple[str, ...]
    points: DescriptorPoints
    origins: np.ndarray
    axes: np.ndarray
    effective: np.ndarray
    distance: np.ndarray
    side: np.ndarray
    hidden: np.ndarray
    slow: np.ndarray
    radii: np.ndarray
    covered: np.ndarray | None = None
    rests: np.ndarray | None = None
    edits: tuple[ContactEdit, ...] = ()
    rest_rules: int = 0
    own: np.ndarray | None = None

    @property
    def scale(self) -> float:
        """Body height / 1.8 m: every length constant is multiplied by it."""
        return self.height / 1.8

    @property
    def dt(self) -> float:
        """Seconds a frame."""
        return 1.0 / self.track.fps

    @cached_property
    def tree(self) -> JointTree:
        return JointTree.build(self.track.skeleton.parents)

    @cached_property
    def samples(self) -> BodySamples:
        return body_samples(self.tree, self.track, self.scale)

    @cached_property
    def joint_distance(self) -> np.ndarray:
        """(O, F, J) signed distances of the joints."""
        return self.distance[:, :, self.samples.at_joints[self.tree.rank]].astype(float) * self.scale

    @cached_property
    def offsets(self) -> np.ndarray:
        """(O, J) distance at which each effector touches each object, metres; NaN where it never does."""
        offsets = clearance.contact_offsets(self.joint_distance, self.slow, self.scale)
        offsets[:, ~self.effectors] = np.nan
        return offsets

    @cached_property
    def contact(self) -> np.ndarray:
        """(O, F, J) in [0, 1]: how much each joint touches each object."""
        return self.touching(clearance.CONTACT_FAR * self.scale)

    def touching(self, reach: float) -> np.ndarray:
        """(O, F, J) in [0, 1]: as ``contact``, rising from ``reach`` metres from where each effector touches."""
        strength = clearance.contact_strength(self.joint_distance, self.offsets, self.scale, reach)
        strength = np.where(self.hidden, 0.0, strength)
        if reach == 0:
            return strength
        if self.rests is not None:
            strength = np.maximum(strength, self._rest_strength)
        if self.own_contacts:
            strength = strength * (1.0 - smoothed(self._on_itself.T.astype(float), self.dt, RESTING).T)
        if not self.edits:
            return strength
        off, on = self._windows
        return np.maximum(strength * (1.0 - off), on)

    @cached_property
    def _rest_strength(self) -> np.ndarray:
        """(O, F, J) in [0, 1]: how much joints that are no effectors rest, which begins and ends smoothly."""
        rests = np.moveaxis(self.rests, 1, -1).astype(float)
        return np.moveaxis(smoothed(rests, self.dt, RESTING), -1, 1)

    @cached_property
    def touched(self) -> np.ndarray:
        """(O, F, J) bool: contacts as they are counted."""
        found = touched(self.joint_distance, self.slow, self.hidden, self.effectors, self.scale)
        found = found if self.rests is None else found | self.rests
        if self.own_contacts:
            found &= ~self._on_itself
        if not self.edits:
            return found
        edited = states(self.edits, found.shape)
        return (found & (edited >= 0)) | (edited > 0)

    @cached_property
    def resting(self) -> np.ndarray:
        """(O, F, J) in [0, 1]: how much each joint rests on each object, smooth over time. A foot that swings past a
        surface as low as it stands on it does not."""
        slow = np.moveaxis(self.slow, 1, -1).astype(float)
        found = np.moveaxis(np.minimum(2.0 * smoothed(slow, self.dt), 1.0), -1, 1)
        return np.maximum(found, self._windows[1]) if self.edits else found

    @cached_property
    def _windows(self) -> tuple[np.ndarray, np.ndarray]:
        return windows(self.edits, self.slow.shape, self.dt)

    def edited(self, edits: tuple[ContactEdit, ...], own: np.ndarray | None = None) -> Binding:
        """The binding with other contacts than were found; what does not depend on them is not computed again.

        own: of the body with itself, None for those that were found.
        """
        own = self.own if own is None else own
        edits = with_what_hangs(edits, self.hung) if edits else ()
        if edits == self.edits and np.array_equal(own, self.own):
            return self
        if self._last_edited.get("edits") != edits or not np.array_equal(own, self._last_edited["binding"].own):
            out = replace(self, edits=edits, own=own)
            vars(out).update({name: getattr(self, name) for name in _UNEDITED})
            self._last_edited.update(edits=edits, binding=out)
        return self._last_edited["binding"]

    @cached_property
    def own_contacts(self) -> list[SelfContact]:
        """Contacts of the body with itself that are held; those of what is no hand or foot are left out."""
        if self.own is None or not len(self.own):
            return []
        ends = {end.joint: end for end in self.limb_ends}
        return [SelfContact(ends[row[0]], *row[1:]) for row in self.own.tolist() if row[0] in ends]

    @property
    def _on_itself(self) -> np.ndarray:
        """(F, J) bool: hands and feet that rest on the body, which is nearer then than all else."""
        out = np.zeros(self.track.positions.shape[:2], bool)
        for each in self.own_contacts:
            out[each.first : each.last + 1, each.end.held] = True
        return out

    @cached_property
    def _last_edited(self) -> dict[str, object]:
        return {}

    @cached_property
    def last_places(self) -> dict[str, object]:
        """See ``present_places.known_places``."""
        return {}

    @cached_property
    def _trunk(self) -> np.ndarray:
        return body_parts(self.track, self.effectors, self.scale)[0]

    @cached_property
    def hung(self) -> np.ndarray:
        """(K, 2) hips and shoulders, and what of the trunk they hang on, see ``body_contacts.hung_joints``."""
        return hung_joints(self.track.skeleton.parents, self._trunk, self.legs)

    @cached_property
    def limb_ends(self) -> list[LimbEnd]:
        """Hands and feet that may rest on the body itself."""
        return limb_ends_of(self.track, self.effectors, self._trunk, self.scale)

    @cached_property
    def load(self) -> np.ndarray:
        """(J,) how much more than an effector each joint holds to what it rests on: a trunk that sits carries more than
        a hand beside it."""
        return np.where(self._trunk, LOAD, 1.0)

    @cached_property
    def legs(self) -> Legs:
        """Of the body as it was bound."""
        return Legs.of(self.tree, self.track.positions, self.effectors)

    @cached_property
    def straight_limbs(self) -> StraightLimbs:
        """Of the body as it was bound."""
        return StraightLimbs.of(self.legs, self.tree, self.track.positions, self.dt)

    @cached_property
    def open(self) -> np.ndarray:
        """(N,) bool: points that were never inside another object; those of objects at rest never are."""
        if self.covered is None:
            return np.full(len(self.points), len(self.origins) == 1)
        return ~self.covered

    @cached_property
    def relations(self) -> Relations:
        """Of the joints to all descriptors."""
        return relate(self.effective, self.origins, self.axes[..., 0], self.dt, self.height)

    def relations_to(self, chosen: np.ndarray) -> Relations:
        """Of the joints to the descriptors of some objects, chosen (O,) bool, as if there were no others."""
        columns = np.flatnonzero(chosen[self.points.object_index])
        if len(columns) == len(self.points):
            return self.relations
        key = columns.tobytes()
        if key not in self._partial:
            normals = self.axes[..., 0][:, columns]
            found = relate(self.effective, self.origins[:, columns], normals, self.dt, self.height)
            self._partial[key] = found.among(columns, len(self.points))
        return self._partial[key]

    @cached_property
    def _partial(self) -> dict[bytes, Relations]:
        return {}

    @cached_property
    def owned(self) -> dict[tuple, object]:
        """What ``attachment.owned`` has made of the binding, by what the user chose."""
        return {}

    def among(self, kept: np.ndarray) -> Binding:
        """The binding to some of its objects alone, kept (K,) of their numbers in a new order: what is known of them as
        it was found beside the others."""
        number = np.full(len(self.objects), -1)
        number[kept] = np.arange(len(kept))
        chosen = np.flatnonzero(number[self.points.object_index] >= 0)
        objects = number[self.points.object_index[chosen]]
        return replace(
            self,
            objects=tuple(self.objects[k] for k in kept),
            points=DescriptorPoints(objects, self.points.triangle[chosen], self.points.barycentric[chosen]),
            origins=self.origins[:, chosen],
            axes=self.axes[:, chosen],
            covered=None if self.covered is None else self.covered[chosen],
            rests=None if self.rests is None else self.rests[kept],
            edits=(),
            **{name: getattr(self, name)[kept] for name in ("distance", "side", "hidden", "slow")},
        )


def body_samples(tree: JointTree, track: JointTrack, scale: float) -> BodySamples:
    """The samples of a skeleton; bone lengths are the medians over the track."""
    lengths = np.linalg.norm(tree.offsets(tree.from_track(track.positions)), axis=1)
    return BodySamples.of(tree, np.median(lengths, axis=-1), SPACING * scale)


def fit(
    track: JointTrack,
    environment: list[MeshTrack],
    effectors: np.ndarray,
    height: float,
    radii: np.ndarray | None = None,
) -> Binding:
    """Bind a motion to its environment; see ``fit_steps``."""
    return result_of(fit_steps(track, environment, effectors, height, radii))


def fit_steps(
    track: JointTrack,
    environment: list[MeshTrack],
    effectors: np.ndarray,
    height: float,
    radii: np.ndarray | None = None,
) -> Generator[float, None, Binding]:
    """Bind, yielding progress from 0 to 1.

    environment: meshes as they were during the motion, one state or one a frame.  effectors: (J,) bool.
    height: of the body, metres.  radii: (J,) of the capsules around the bones that lead to the joints, 0 where
    None.
    Raises InputError where the environment is empty, or no joint comes near any of it.
    """
    _check(track, environment, effectors, height)
    scale = height / 1.8
    tree = JointTree.build(track.skeleton.parents)
    surfaces = [SurfaceTrack(mesh) for mesh in environment]
    samples = body_samples(tree, track, scale)
    points = np.moveaxis(samples.positions(tree.from_track(track.positions)), -1, 0)
    at = samples.at_joints[tree.rank]
    between = np.setdiff1d(np.arange(points.shape[1]), at)
    joints, normal, closest, faces = clearance.clearances(track.positions, surfaces, clearance.REACH * scale)
    yield 0.2
    distance = np.empty((len(surfaces), *points.shape[:2]))
    side = np.empty(distance.shape, np.int32)
    distance[:, :, at], side[:, :, at] = joints, faces
    distance[:, :, between], _, _, side[:, :, between] = clearance.clearances(
        points[:, between], surfaces, BETWEEN_REACH * scale
    )
    yield 0.3
    effective = clearance.effective_joints(track.positions, joints, normal, scale)
    limit = 2.0 * clearance.OFFSET_LIMIT * scale
    hidden = hidden_surfaces(track.positions, joints, closest, surfaces, limit, TOUCH * scale)
    found, heights = candidates(effective, surfaces, scale)
    yield 0.6
    descriptors = sample_descriptors(found, heights, environment, RADIUS * scale)
    if not len(descriptors):
        away = turned_away(distance / scale)
        if away.any():
            raise InputError(
                f"The faces of '{environment[away.argmax()].name}' look away from the body; choose Mesh, Normals, "
                "Recalculate Outside or Flip in Edit Mode."
            )
        raise nothing_near(track, environment, joints, SAMPLING_REACH * scale)
    frames = descriptor_frames(descriptors, environment)
    yield 0.8
    names = tuple(mesh.name for mesh in environment)
    # Rounded before use, so that a binding that was stored and loaded gives the same result to the last bit; in units
    # of the body, so that a body in other units is rounded alike.
    stored = (distance / scale).astype(np.float32)
    speed = [
        clearance.speeds_over(surface, track.positions, closest[k], faces[k], 1.0 / track.fps)
        for k, surface in enumerate(surfaces)
    ]
    slow = np.stack(speed) < clearance.SLOW * scale
    if radii is None:
        radii = np.zeros(len(track.skeleton.names))
    covered = _covered_at_some_frame(descriptors, environment, surfaces, frames, scale)
    joints = stored[:, :, at].astype(float) * scale
    legs = Legs.of(tree, track.positions, effectors)
    rests = resting_joints(track, effectors, joints, normal, slow, hidden, legs, radii, scale)
    busy = rests | touched(joints, slow, hidden, effectors, scale)
    away = np.where(busy, joints, np.inf).min(axis=0)
    trunk, _ = body_parts(track, effectors, scale)
    own = as_rows(self_contacts(track, effectors, radii, trunk, away, scale))
    parts = (*frames, effective, stored, side, hidden, slow, radii, covered, rests)
    return Binding(track, effectors, height, names, descriptors, *parts, own=own, rest_rules=RULES)


def _covered_at_some_frame(points, environment, surfaces, frames, scale):
    """(N,) bool; None where nothing moves: what is covered then carries no point."""
    if len(frames[0]) == 1:
        return None
    asked = np.ones(frames[0].shape[:2], bool)
    found = covered_over_time(points, environment, surfaces, range(len(surfaces)), frames, asked, scale)
    return np.zeros(len(points), bool) if found is None else (found.share > 0).any(axis=0)


def _check(track, environment, effectors, height):
    if not environment:
        raise InputError("The environment is empty; choose at least one mesh object.")
    if not 0 < height < np.inf:
        raise InputError(f"The body's height must be above zero and finite, not {height}.")
    if not 0 < track.fps < np.inf:
        raise InputError(f"The motion has {track.fps} frames a second; give it a rate above zero.")
    if np.shape(effectors) != (len(track.skeleton.names),):
        raise InputError(f"{len(effectors)} effector marks were given for {len(track.skeleton.names)} joints.")
    for mesh in environment:
        if not mesh.is_static and len(mesh.vertices) != len(track.positions):
            raise InputError(
                f"'{mesh.name}' has {len(mesh.vertices)} states for {len(track.positions)} frames of motion."
            )
