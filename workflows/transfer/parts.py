"""Body parts: suggested for both subjects as vertex groups that can be painted over, listed, added and removed."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...scene import live_mesh
from ...scene.mesh_sequence import mesh_sequence_steps
from ...scene.modifier_split import kept_switched_off
from ...scene.part_groups import remove_parts, write_parts
from ...scene.present import shape_now
from ...scene.rigs import require_editable
from ...scene.topology import read_triangles
from ...solvers.core.errors import InputError, SceneError
from ...solvers.core.steps import result_of
from ...solvers.transfer.part_matching import match_parts
from ...solvers.transfer.part_suggestion import Suggestion, suggestion
from ..command_line.words import counted
from ..core.list_entries import EntryList, entry_index, remove_chosen, resized
from ..mesh.target import target_in, why_no_target
from .read import source_subject, world_vertices
from .standing import axis_of_shapes, require_alike

TORSO = "Torso"
_PREFIX = "Transfer "  # of the groups that are suggested
_POSES = 12  # of the clips, that tell with which part a loose piece moves


def why_no_suggestion(context) -> str | None:
    """Why parts cannot be suggested, or None."""
    reason = why_no_target(context)
    if reason is None and target_in(context).motion_loom_transfer.source is None:
        return "Choose the source subject first."
    return reason


def why_no_part(context) -> str | None:
    """Why there is no part to remove, or None."""
    reason = why_no_target(context)
    return reason or (None if len(target_in(context).motion_loom_transfer.parts) else "There are no parts.")


def suggest_for(context, ob) -> str:
    """Suggest parts of both subjects, by their shapes as they are now, which should be alike.

    Writes vertex groups, those of the names it gives anew, and the list of parts.  Raises InputError where a subject
    has fewer limbs than asked for, SceneError where its mesh cannot be changed.
    """
    settings, source = ob.motion_loom_transfer, source_subject(context, ob)
    found = []
    for subject in (source, ob):
        require_editable(subject)
        found.append(_suggested(context, subject, settings))
    shapes = [(vertices[one.body], one.parts[:, one.body]) for vertices, one in found]
    require_alike(source.name, ob.name, axis_of_shapes(*shapes), "suggest again")
    order = match_parts(*shapes[0], *shapes[1])
    from_masks, to_masks = (one.parts for _, one in found)
    names = [TORSO, *(f"Limb {number}" for number in range(1, len(from_masks)))]
    groups = [f"{_PREFIX}{name}" for name in names]
    of_subjects = (source, "source_group"), (ob, "target_group")
    before = [(subject, [getattr(part, of) for part in settings.parts]) for subject, of in of_subjects]
    parts = resized(settings, "parts", len(names), "parts")
    for subject, old in before:
        remove_parts(subject, [group for group in old if group.startswith(_PREFIX) and group not in groups])
    write_parts(source, groups, from_masks)
    write_parts(ob, groups, to_masks[order])
    for part, name, group in zip(parts, names, groups, strict=True):
        part.name, part.source_group, part.target_group = name, group, group
    settings.active_part = 0
    if settings.parts_read:
        settings.parts_read = "suggested since"
    told = f"Suggested {counted(len(names), 'part')} of '{source.name}' and '{ob.name}'"
    worn = [
        f"{counted(one.carried, 'loose piece')} of '{subject.name}'"
        for subject, (_, one) in zip((source, ob), found, strict=True)
        if one.carried
    ]
    if worn:
        told += f"; {' and '.join(worn)}, taken for what it wears or holds, went to the parts that they go along with"
    return f"{told}: look at them; choose other groups, or paint over them"


def _suggested(context, subject, settings) -> tuple[np.ndarray, Suggestion]:
    """World vertices (V, 3) of a subject as it is now, and its parts."""
    with live_mesh.shown(context, subject), kept_switched_off(context.scene, subject):
        shape = shape_now(context.evaluated_depsgraph_get(), subject)
    if shape is None:
        raise SceneError(f"'{subject.name}' is hidden or has no surface; show it.")
    if len(shape.positions) != len(subject.data.vertices):
        raise InputError(f"The modifiers of '{subject.name}' add or remove vertices; switch those off in viewports.")
    vertices = shape.positions @ shape.world[:3, :3].T + shape.world[:3, 3]
    try:
        found = suggestion(vertices, read_triangles(subject.data), settings.part_count)
    except InputError as error:
        raise InputError(f"'{subject.name}': {error}") from error
    poses = _poses(context, subject, settings) if found.carried else None
    return vertices, found if poses is None else found.moving_along(vertices, poses)


def _poses(context, subject, settings) -> np.ndarray | None:
    """(F, V, 3) some poses of a subject in the clips of the list, those that can be read; None where there are none."""
    of = "target" if subject == settings.id_data else "source"
    clips = [clip for clip in settings.clips if clip.use and getattr(clip, of) is not None]
    found, count = [], len(subject.data.vertices)
    for clip in clips[:_POSES]:
        owner, ends = getattr(clip, of), (getattr(clip, f"{of}_start"), getattr(clip, f"{of}_end"))
        frames = np.unique(np.round(np.linspace(*ends, max(2, _POSES // len(clips)))))
        # What cannot be read is refused with its reason by Read Clips.
        with live_mesh.shown(context, settings.id_data), suppress(InputError, SceneError):
            poses = world_vertices(result_of(mesh_sequence_steps(context, owner, frames, may_rest=True)))
            if poses.shape[1] == count:
                found.append(poses)
    return np.concatenate(found) if found else None


def add_part(context) -> str:
    """Add a part to the list, of groups that are chosen next; the first one is the torso."""
    settings = target_in(context).motion_loom_transfer
    part = settings.parts.add()
    part.name = TORSO if len(settings.parts) == 1 else f"Limb {len(settings.parts) - 1}"
    settings.active_part = len(settings.parts) - 1
    return f"'{part.name}': choose its vertex group of each subject"


def remove_part(context, index: int) -> None:
    """Remove a part from the list, the active one for -1; its groups stay. Raises InputError where there is none."""
    settings = target_in(context).motion_loom_transfer
    index = entry_index(settings.parts, settings.active_part, index, f"'{settings.id_data.name}'", "part")
    remove_chosen(settings, "parts", "active_part", index, f"Part '{settings.parts[index].name}'")


PARTS = EntryList(
    "part", "Part", add_part, remove_part, why_no_target, why_no_part,
    add_tip="Add a body part, to be given a vertex group of each subject",
    remove_tip="Remove the body part from the list; its vertex groups stay",
)  # fmt: skip
