"""What each joint is attached to: its relations to the objects that attach, as far as they do."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .binding import Binding
from .options import ATTACH, SurfaceUse, influences
from .pushes import smoothed
from .relationship import Relations
from .standing import Standing

# Seconds over which a joint that touches one object leaves the others, and goes back to them as it takes off.
OWNER_SMOOTHING = 0.3
# Carries of one object's descriptors that differ by no more, metres and cosines, are alike: it has moved rigidly.
_RIGID = 1e-10
# Below so many frames, or above so many objects, sums over objects take longer than sums over descriptors.
_FEW_FRAMES, _FEW_OBJECTS = 8, 8


@dataclass(frozen=True)
class Attachment:
    """relations: of F x J joints to N descriptors.  objects: (N,) index of the object of each descriptor.
    origins: (S, N, 3) of the descriptors at bind, world, metres."""

    relations: Relations
    objects: np.ndarray
    origins: np.ndarray

    def over(self, rows: slice, share: np.ndarray | None, standing: Standing | None) -> Attachment:
        """Of some frames, each descriptor counting by its share (N,), see ``Relations.counting``, and feet holding to
        the M places where they stand, which come after the N descriptors."""
        if share is None and standing is None and rows == slice(None):
            return self
        relations = self.relations.part(rows)
        relations = relations if share is None else relations.counting(share)
        if standing is None:
            return Attachment(relations, self.objects, self.origins)
        origins = np.broadcast_to(standing.origins, (len(self.origins), *standing.origins.shape))
        return Attachment(
            standing.standing(relations, rows),
            np.concatenate((self.objects, standing.stances.number)),
            np.concatenate((self.origins, origins), axis=1),
        )

    def part(self, rows: slice) -> Relations:
        """The relations of some frames that follow each other."""
        return self.relations.part(rows)

    def blended(self, rows: slice, carry: np.ndarray) -> np.ndarray:
        """Carries (S, N, 12 or 24) of ``AdaptTerms.carries``, of some frames, blended for each joint: (f, J, 12 or 24).

        A few objects that have moved rigidly count as a whole, which takes a tenth of the time.
        """
        relations = self.part(rows)
        is_long = relations.frames > _FEW_FRAMES and len(carry) == 1
        rigid = self._rigid(carry) if is_long and len(self._numbers[0]) <= _FEW_OBJECTS else None
        if rigid is None:
            return relations.blended(carry)
        sums = self._sums[rows]
        out = sums[..., 0] @ rigid
        if rigid.shape[1] > 12:
            out[..., 12:15] += sums[..., 1:].reshape(*out.shape[:2], -1) @ _tilts(rigid).reshape(-1, 3)
        return out

    def _rigid(self, carry):
        """(O, 12 or 24) one carry an object, that of a descriptor at the world's origin; None where one is deformed."""
        _, first, number = self._numbers
        of_objects = carry[0, first]
        if of_objects.shape[1] > 12:
            # A heading leaves the descriptors of a tilted object each its own way to go.
            of_objects[:, 12:15] = of_objects[:, :3]
            ways = np.einsum("nij,ni->nj", _tilts(of_objects)[number], self.origins[0])
            carry = carry.copy()
            carry[0, :, 12:15] -= ways
        alike = np.abs(carry[0] - of_objects[number]) <= _RIGID
        return of_objects if alike.all() else None

    @cached_property
    def _numbers(self):
        """The numbers of the objects that have descriptors, the first descriptor of each, and (N,) which of them each
        descriptor's is."""
        numbers, first, number = np.unique(self.objects, return_index=True, return_inverse=True)
        return numbers, first, number.reshape(-1)

    @cached_property
    def _sums(self) -> np.ndarray:
        """(F, J, O, 4) total weight of each object that has descriptors, and the weighted sum of their origins."""
        numbers, _, number = self._numbers
        values = np.zeros((len(number), len(numbers), 4))
        values[np.arange(len(number)), number] = np.column_stack((np.ones(len(number)), self.origins[0]))
        total = self.relations.weights @ values.reshape(len(number), -1)
        return total.reshape(self.relations.frames, self.relations.joints, len(numbers), 4)


def _tilts(carry):
    """(O, 3, 3) transposed turns less their headings, of carries (O, 24)."""
    return np.swapaxes((carry[:, 3:12] - carry[:, 15:24]).reshape(-1, 3, 3), 1, 2)


def owned(binding: Binding, uses: Sequence[SurfaceUse], choice: Hashable, contact: np.ndarray) -> Attachment:
    """Joints that touch something are attached to that alone, as far as it attaches: what else is near only repels.

    choice: by what else of the options the contact is what it is.  contact: (O, F, J) in [0, 1].
    """
    influence = influences(uses, ATTACH)
    key = (influence.tobytes(), choice)
    if key in binding.owned:
        return binding.owned[key]
    contact = contact * influence[..., None]
    share = 1.0 - contact.max(axis=0) + contact
    relations = _attached(binding, influence)
    if (share < 1.0).any():
        share = np.moveaxis(smoothed(np.moveaxis(share, 1, -1), binding.dt, OWNER_SMOOTHING), -1, 1)
        # What rounding leaves of a smoothed one.
        share[share > 1.0 - 1e-6] = 1.0
        relations = relations.claimed(share, binding.points.object_index)
    # A slider that is dragged asks again at every step; another choice takes the one before's memory.
    binding.owned.clear()
    binding.owned[key] = out = Attachment(relations, binding.points.object_index, binding.origins)
    return out


def _attached(binding, influence):
    """The joints' relations to the objects that they are attached to, by influence (O, 1 or F).

    What an object of less influence leaves of a joint follows the objects of full influence.
    """
    relations = binding.relations_to((influence > 0).any(axis=1)).weighted(influence[binding.points.object_index])
    whole = (influence == 1.0).all(axis=1)
    if whole.all() or not whole.any():
        return relations
    return relations.completed(binding.relations_to(whole))
