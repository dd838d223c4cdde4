"""Objects of the environment that others have taken the place of since bind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...scene.interference import refuse_dependent
from ...scene.names import is_in_scene
from ...scene.surfaces import expand
from ...solvers.adapt.binding import Binding
from ...solvers.adapt.footholds import HALF
from ...solvers.adapt.ground_doubts import GroundDoubt, ground_doubts
from ...solvers.adapt.lost_ground import LostGround, lost_ground
from ...solvers.adapt.options import SurfaceUse
from ...solvers.adapt.present_places import present_places
from ...solvers.adapt.standing import Standing
from ...solvers.adapt.swings import STROLL, Swings, swings
from ...solvers.adapt.worst_events import DOWN
from ...solvers.core.errors import SceneError
from ...solvers.core.types import MeshTrack, TriangleMesh
from ..command_line.words import counted
from ..core.frame_spans import frame_runs, frame_span
from ..core.list_entries import library_entries, remove_entry, resized
from ..core.naming import listed
from .ground_doubts import ground_doubt_words

_RUNS = 3  # stretches of frames that are named


def is_replaced(item) -> bool:
    """Whether something has taken the place of an entry of the list; an entry that was never filled in is nothing."""
    return any(map(is_filled, item.replacements))


def is_filled(each) -> bool:
    """Whether one of what replaces an entry stands for an object."""
    return each.target is not None or (bool(each.name) and not each.is_left_out)


def replace_objects(ob, item, targets: Sequence, along: str | None = None) -> None:
    """Let objects take the place of an entry's one, in place of those that do.

    Raises SceneError for an object that cannot, by name, and changes nothing then.
    """
    for target in targets:
        _require_fit(ob, item, target)
    expand(targets)
    refuse_dependent(list(targets), ob)
    fill_replacements(item, [(target.name, target) for target in dict.fromkeys(targets)])
    if along is not None:
        item.along = along


def fill_replacements(item, chosen: Sequence[tuple]) -> None:
    """Give an entry what replaces it, names and objects. Entries of a library that are too many are left out."""
    count = max(len(chosen), library_entries(item, "replacements"))
    padded = [*chosen, *[("", None)] * (count - len(chosen))]
    for each, (name, target) in zip(resized(item, "replacements", count, "Replacements"), padded, strict=True):
        each.target = target
        each.name, each.is_left_out = name, not name


def remove_replacement(item, index: int) -> None:
    """Remove one of what replaces an entry; raises SceneError where there is none, or where it is the library's."""
    if not 0 <= index < len(item.replacements):
        raise SceneError(f"There is no replacement {index + 1} of '{item.name}'; choose one of the list.")
    name = f"Replacement {index + 1} of '{_name_of(item)}'"
    remove_entry(item, "replacements", index, name, "choose another object for it, or select what is there now, the "
                 "rig last, and Replace by Selected")


def _require_fit(ob, item, target) -> None:
    name = _name_of(item)
    if target == ob:
        raise SceneError(f"'{ob.name}' cannot be its own environment; choose another object to replace '{name}'.")
    if target == item.target:
        raise SceneError(f"'{name}' cannot be replaced by itself; choose another object.")
    others = [other for other in _list_of(item) if other != item and other.target == target]
    if others:
        raise SceneError(
            f"'{target.name}' is in the list of '{ob.name}' itself, it cannot also replace '{name}'; choose a copy of "
            "it, or take it off the list and Update Binding."
        )


def _list_of(item):
    """The entries of the list that an entry is in."""
    path = item.path_from_id().rpartition("[")[0]
    return item.id_data.path_resolve(path)


def _name_of(item) -> str:
    return item.bound_name or item.name


def present_objects(scene, ob, item) -> list:
    """The objects that are there now for an entry of the list: itself, or those that replace it.

    Raises SceneError for one that cannot be used, by name.
    """
    if not is_replaced(item):
        return [item.target]
    found = []
    for each in item.replacements:
        if not is_filled(each):
            continue
        gone = "was deleted" if each.target is None else None
        if gone is None and not is_in_scene(scene, each.target):
            gone = "is no longer in the scene"
        if gone:
            name = each.target.name if each.target else each.name
            raise SceneError(
                f"'{name}', which replaces '{_name_of(item)}' for '{ob.name}', {gone}; undo that, choose another "
                "object, or take it off the list Replaced By."
            )
        _require_fit(ob, item, each.target)
        found.append(each.target)
    return found


def why_not_replaced(scene, ob, item) -> list[str]:
    """Why what replaces an entry of the list cannot be used, a sentence or none."""
    try:
        present_objects(scene, ob, item)
    except SceneError as error:
        return [str(error)]
    return []


def known_objects(item) -> list:
    """As ``present_objects`` as far as they are there, whatever is wrong with them."""
    objects = [each.target for each in item.replacements] if is_replaced(item) else [item.target]
    return [target for target in objects if target is not None]


def together(parts: Sequence[MeshTrack]) -> MeshTrack:
    """Several surfaces as one; states are repeated for those that stand still."""
    if len(parts) == 1:
        return parts[0]
    states = max(len(part.vertices) for part in parts)
    vertices = [np.broadcast_to(part.vertices, (states, *part.vertices.shape[1:])) for part in parts]
    return MeshTrack(_names(parts), np.concatenate(vertices, axis=1), _triangles(parts))


def together_now(parts: Sequence[TriangleMesh], triangles: np.ndarray) -> TriangleMesh:
    """As ``together``, of one moment. triangles: of all, as they were made then."""
    if len(parts) == 1:
        return parts[0]
    return TriangleMesh(_names(parts), np.concatenate([part.vertices for part in parts]), triangles)


def _names(parts) -> str:
    return "', '".join(part.name for part in parts)


def _triangles(parts) -> np.ndarray:
    starts = np.cumsum([0, *(part.vertices.shape[-2] for part in parts)])
    return np.concatenate([part.triangles + start for part, start in zip(parts, starts[:-1], strict=True)])


@dataclass(frozen=True)
class GroundReport:
    """What became of each object that is replaced. lost: its points.  doubts: what somebody may not expect.
    standing: the feet on all; None without any.  swings: between their stances."""

    lost: Sequence[LostGround] = ()
    doubts: Sequence[GroundDoubt] = ()
    standing: Standing | None = None
    swings: Swings | None = None


def ground_report(binding: Binding, environment: Sequence[MeshTrack], uses: Sequence[SurfaceUse]) -> GroundReport:
    """Of a problem's environment."""
    if not any(use.replaced for use in uses):
        return GroundReport()
    places = present_places(binding, environment, uses)
    doubts, standing = ground_doubts(binding, uses, places.replaced), places.standing
    found = swings(binding, standing, standing.frames(environment)[0], DOWN)
    return GroundReport(lost_ground(binding, places.replaced), doubts, standing, found)


def ground_notes(binding: Binding, environment: Sequence[MeshTrack], found: GroundReport) -> list[str]:
    """A sentence of each replacement that leaves points without ground, or feet half over an edge, or goes another way
    than somebody may expect."""
    out = []
    for each in found.doubts:
        out += ground_doubt_words(binding, each, environment[each.number].name)
    for each in found.lost:
        if each.lost:
            share = 100.0 * each.lost / each.points
            lost = f"{counted(each.lost, 'point')} of {each.points} ({share:.0f} %)"
            by, name = environment[each.number].name, binding.objects[each.number]
            out.append(f"'{by}' has no ground for {lost} of '{name}', which do not count{_where(binding, each)}")
        edges = _over_edges(binding, found.standing, each.number)
        if edges:
            some = [f"'{edge['bone']}' {frame_span(*edge['frames'])}" for edge in edges[:_RUNS]]
            more = f" and {len(edges) - _RUNS} times more" if len(edges) > _RUNS else ""
            out.append(f"Half over an edge of '{environment[each.number].name}' stand {', '.join(some)}{more}")
        out += _fast(binding, environment[each.number].name, _fast_swings(binding, found.swings, each.number))
    return out


def _fast(binding: Binding, by: str, found: list[dict]) -> list[str]:
    """A sentence, or none, of swings that are too fast, the fastest first."""
    if not found:
        return []
    worst, others = found[0], len(found) - 1
    way = "up" if worst["rise_cm"] > 0 else "down"
    more = f", and {counted(others, 'swing')} more" if others else ""
    return [
        f"Feet go {way} '{by}' too fast for a walk: '{worst['bone']}' by {abs(worst['rise_cm']):.0f} cm at frames "
        f"{frame_span(*worst['frames'])}, {worst['m_s']:.1f} m/s{more}; people take stairs at "
        f"{STROLL * binding.scale:.1f} m/s: slow the motion down, or make steps lower or longer"
    ]


def _fast_swings(binding: Binding, swings: Swings, number: int) -> list[dict]:
    """Those onto an object that are too fast, the fastest first."""
    rows = swings.fast(binding.scale)
    names, frames = binding.track.skeleton.names, binding.track.frames
    return [
        {
            "bone": names[swings.joints[row]],
            "frames": (float(frames[swings.first[row]]), float(frames[swings.last[row]])),
            "rise_cm": 100.0 * float(swings.rises[row]),
            "m_s": float(swings.speeds[row]),
        }
        for row in rows[swings.numbers[rows] == number]
    ]


def _over_edges(binding: Binding, standing: Standing, number: int) -> list[dict]:
    """The stances on an object in which much of a sole has nothing below it, in order of time."""
    found, names = standing.stances, binding.track.skeleton.names
    rows = np.flatnonzero((found.number == number) & standing.found & (standing.borne < HALF))
    frames = binding.track.frames
    return [
        {
            "bone": names[found.joints[row].argmax()],
            "frames": (float(frames[found.first[row]]), float(frames[found.last[row]])),
            "borne_pct": 100.0 * float(standing.borne[row]),
        }
        for row in rows[np.argsort(found.first[rows], kind="stable")]
    ]


def _stances_as_json(binding: Binding, standing: Standing, number: int) -> dict:
    mine = standing.stances.number == number
    moved = np.abs(standing.moved[mine])
    return {
        "count": int(mine.sum()),
        "without_ground": int((mine & ~standing.found).sum()),
        "moved_along_foot": int((moved > 1e-6).sum()),
        "moved_most_cm": 100.0 * float(moved.max(initial=0.0)),
        "over_edge": _over_edges(binding, standing, number),
    }


def ground_as_json(
    binding: Binding, environment: Sequence[MeshTrack], uses: Sequence[SurfaceUse], found: GroundReport
) -> list[dict]:
    """The same for a report."""
    return [
        {
            "object": binding.objects[each.number],
            "by": environment[each.number].name.split("', '"),
            "along": uses[each.number].replaced,
            "points": each.points,
            "without_ground": each.lost,
            "bones": _bones(binding, each),
            "frames": frame_runs(binding.track.frames, each.missing.any(axis=1)),
            "stances": _stances_as_json(binding, found.standing, each.number),
            "fast_swings": _fast_swings(binding, found.swings, each.number),
        }
        for each in found.lost
    ]


def _where(binding: Binding, each: LostGround) -> str:
    runs = frame_runs(binding.track.frames, each.missing.any(axis=1))
    if not runs:
        return ""
    spans = [frame_span(*run) for run in runs[:_RUNS]]
    more = ", ..." if len(runs) > _RUNS else ""
    bones = _bones(binding, each)
    named = listed(bones[:_RUNS]) + (f" and {len(bones) - _RUNS} more" if len(bones) > _RUNS else "")
    return f": {named} at frames {', '.join(spans)}{more}"


def _bones(binding: Binding, each: LostGround) -> list[str]:
    """Bones that miss the ground, those for most frames first."""
    frames = each.missing.sum(axis=0)
    order = [joint for joint in np.argsort(-frames, kind="stable") if frames[joint]]
    return list(dict.fromkeys(binding.track.skeleton.names[joint].removesuffix("/tail") for joint in order))


def set_hidden(ob, hidden: bool) -> None:
    """Hide an object in viewports and renders, or show it; raises SceneError for one that is linked."""
    if not ob.is_editable:
        raise SceneError(f"'{ob.name}' is linked from another file; hide it there, or its collection in the Outliner.")
    ob.hide_viewport = ob.hide_render = hidden
