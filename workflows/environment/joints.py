"""The list of a rig's bones: what is solved, what rides on what, what stays, and what the user chose instead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...solvers.core.errors import InputError
from ...solvers.core.types import Skeleton
from ...solvers.skeleton.hierarchy import carriers
from ...solvers.skeleton.limbs import limbs
from ..core.list_entries import resized
from ..rig.choose_joints import RIDE, SOLVE
from ..rig.source import Source
from .model import stored_of

AUTO, LEAVE = "AUTO", "LEAVE"
SOLVED, RIDES, STAYS = "SOLVED", "RIDES", "STAYS"


def choices_of(ob, workflow) -> dict[str, str]:
    """What the user chose for bones that are not left to Bind, SOLVE or RIDE by bone."""
    return {item.name: item.mode for item in workflow.settings_of(ob).joints if item.mode not in (AUTO, LEAVE)}


def left_bones(settings) -> list[str]:
    """The bones that are left alone."""
    return [item.name for item in settings.joints if item.mode == LEAVE]


def leave(ob, workflow, bones: Sequence[str]) -> None:
    """Leave bones alone, as the list does; InputError, by name, for one that cannot be."""
    require_left(ob, workflow, stored_of(ob, workflow).binding.track.skeleton, bones)
    entries = {item.name: item for item in workflow.settings_of(ob).joints}
    for name in bones:
        item = entries.get(name) or workflow.settings_of(ob).joints.add()
        item.name, item.mode = name, LEAVE


def left_joints(ob, workflow, skeleton: Skeleton) -> np.ndarray | None:
    """(K,) bool of the solved joints, None where no bone is left alone; InputError as of ``leave``."""
    bones = left_bones(workflow.settings_of(ob))
    require_left(ob, workflow, skeleton, bones)
    return np.isin(skeleton.names, bones) if bones else None


def require_left(ob, workflow, skeleton: Skeleton, bones: Sequence[str]) -> None:
    """Raises InputError for a bone that cannot be left alone."""
    carriers = {item.name: item.carrier for item in workflow.settings_of(ob).joints}
    for bone in bones:
        if bone not in ob.data.bones:
            raise InputError(f"'{ob.name}' has no bone '{bone}'.")
        if bone not in skeleton.names:
            carrier = carriers.get(bone)
            on = f"rides on '{carrier}'; leave that one alone" if carrier else "is not solved and stays as it is"
            raise InputError(f"Bone '{bone}' of '{ob.name}' {on}.")
        if skeleton.parents[skeleton.names.index(bone)] < 0:
            raise InputError(f"Bone '{bone}' of '{ob.name}' has no solved parent: leave others alone.")


def choose(ob, workflow, solve: Sequence[str], ride: Sequence[str]) -> None:
    """Choose for bones by name, as the list does; InputError for a name that the rig has not, or chosen for both."""
    both = set(solve) & set(ride)
    if both:
        raise InputError(f"Bone '{sorted(both)[0]}' is to be solved and to ride; choose one.")
    for name in (*solve, *ride):
        if name not in ob.data.bones:
            raise InputError(f"'{ob.name}' has no bone '{name}'.")
    entries = {item.name: item for item in workflow.settings_of(ob).joints}
    for mode, names in ((SOLVE, solve), (RIDE, ride)):
        for name in names:
            item = entries.get(name) or workflow.settings_of(ob).joints.add()
            item.name, item.mode = name, mode


def is_chosen_anew(ob, workflow) -> bool:
    """Whether what the user chose differs from what is bound."""
    return any(item.mode not in (item.bound_mode, LEAVE) for item in workflow.settings_of(ob).joints)


def list_joints(ob, workflow, source: Source) -> None:
    """Write the list of a rig that is bound."""
    settings, names = workflow.settings_of(ob), source.motion.rig.names
    chosen, left = choices_of(ob, workflow), left_bones(settings)
    limb, carrier, rank = _limbs_of(source)
    is_solved = np.isin(np.arange(len(names)), source.bones)
    order = np.lexsort((np.arange(len(names)), ~is_solved, rank, limb < 0))
    for item, bone in zip(resized(settings, "joints", len(names), "Joints"), order, strict=True):
        item.name = names[bone]
        item.limb = names[limb[bone]] if limb[bone] >= 0 else ""
        item.carrier = names[carrier[bone]] if carrier[bone] >= 0 and not is_solved[bone] else ""
        item.role = SOLVED if is_solved[bone] else RIDES if carrier[bone] >= 0 else STAYS
        item.mode = item.bound_mode = chosen.get(names[bone], AUTO)
        if names[bone] in left:
            item.mode = LEAVE


def joints_report(ob, workflow) -> dict:
    """The list as JSON can hold it: solved bones by limb, what each other one rides on, and those that stay.

    Controls are none of these: what is keyed to move others neither rides nor stays.
    """
    settings = workflow.settings_of(ob)
    entries = _without_controls(settings)
    solved: dict[str, list[str]] = {}
    for item in entries:
        if item.role == SOLVED:
            solved.setdefault(item.limb, []).append(item.name)
    return {
        "solved": solved,
        "riding": {item.name: item.carrier for item in entries if item.role == RIDES},
        "staying": staying_names(settings),
        "left_alone": [item.name for item in settings.joints if item.mode == LEAVE],
    }


def staying_names(settings) -> list[str]:
    """The bones that no solved one carries, but for controls."""
    return [item.name for item in _without_controls(settings) if item.role == STAYS]


def _without_controls(settings) -> list:
    """Entries of solved bones, and of others that are no controls."""
    controls = {item.name for item in settings.controls}
    return [item for item in settings.joints if item.role == SOLVED or item.name not in controls]


def role_in_words(item) -> str:
    """What becomes of a bone as it is bound. item: of the list."""
    if item.role == RIDES:
        return f"'{item.name}' rides on '{item.carrier}'"
    return f"'{item.name}' " + ("is solved" if item.role == SOLVED else "stays: no solved bone carries it")


def _limbs_of(source: Source) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each bone (B,) the first bone of its limb, the solved one that carries it, and the limb's place in the order
    of the joints; -1 for none."""
    heads = np.flatnonzero(source.bones >= 0)
    first = limbs(source.solved.parents)[heads]
    own = carriers(source.motion_parents, source.bones[heads])
    carried = own < len(heads)
    own = np.where(carried, own, 0)
    limb = np.where(carried, source.bones[first[own]], -1)
    return limb, np.where(carried, source.bones[heads[own]], -1), np.where(carried, first[own], -1)
