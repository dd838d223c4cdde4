"""Keys that deform or place objects in a way that only stepping through the frames tells, as a digest to compare."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import bpy

from . import actions
from .instances import instanced_objects
from .live_action import keys_digest
from .reached import reached


@dataclass(frozen=True)
class DeformingKeys:
    """digest: the same in every session, "" where no key is found.  owners: ``session_uid`` of all that was looked
    through, whose evaluation may mean other keys."""

    digest: str
    owners: frozenset[int]

    @classmethod
    def of(cls, objects: Sequence[bpy.types.Object], stepped: Collection[str]) -> DeformingKeys:
        """Of the actions of the objects and of what moves them: shape keys, parents, and what modifiers, constraints
        and drivers refer to. NLA strips are left out.

        stepped: full names of the objects that deform or move in such a way, see ``environment_state.needs_sweep``.
        """
        found = dict.fromkeys((*objects, *reached([ob for ob in objects if ob.name_full in stepped], _referred)))
        played = [actions.assigned(owner) for owner in found if _plays(owner)] if stepped else []
        uids = [*(owner.session_uid for owner in found), *(action.session_uid for action, _ in played)]
        digests = sorted(keys_digest(*each) for each in played)
        digest = hashlib.blake2b(" ".join(digests).encode(), digest_size=8).hexdigest() if digests else ""
        return cls(digest, frozenset(uids))


def _plays(owner: bpy.types.ID) -> bool:
    """Whether an ID plays an action; one whose strip is tweaked counts as another state of things."""
    animation = getattr(owner, "animation_data", None)
    return animation is not None and not animation.use_tweak_mode and actions.plays_action(owner)


def _referred(owner: bpy.types.ID) -> Iterator[bpy.types.ID]:
    """What may move an ID or its geometry."""
    animation = getattr(owner, "animation_data", None)
    parts = [target for each in (animation.drivers if animation else ()) for target in _targets(each.driver)]
    named = [getattr(owner, name, None) for name in ("parent", "data", "shape_keys")]
    if isinstance(owner, bpy.types.Object):
        named += instanced_objects(owner)
        parts += [*owner.modifiers, *owner.constraints]
        parts += [constraint for bone in (owner.pose.bones if owner.pose else ()) for constraint in bone.constraints]
    for part in parts:
        named += [getattr(part, each.identifier) for each in part.bl_rna.properties if each.type == "POINTER"]
        named += [each.target for each in getattr(part, "targets", ())]
    yield from (each for each in named if isinstance(each, bpy.types.ID) and not isinstance(each, bpy.types.Scene))


def _targets(driver) -> Iterator:
    for variable in driver.variables:
        yield from variable.targets
