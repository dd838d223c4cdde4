"""What a result does worst, measured on what is written, as JSON."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...scene.motion import BoneMotion
from ...solvers.adapt import findings
from ...solvers.adapt.findings import Findings, Ride
from ...solvers.adapt.worst_events import Event, jumps, worst
from ...solvers.skeleton.hierarchy import carriers
from ..core.frame_spans import frame_runs
from ..environment.problem import Problem
from ..rig.source import Source
from ..rig.write_back import added_turns
from .own_contacts import own_as_json, own_kept

# Metres at 1.8 m: what is less is rounding, of the solver and of how a surface is sampled.
_TOLD = 0.001


def measure_written(problem: Problem, motion: BoneMotion) -> tuple[dict, Findings]:
    """Figures that JSON can hold, and findings, of a motion of the rig as its keys play it."""
    binding, options = problem.binding, problem.options
    size = options.scale
    positions = motion.joints().positions
    turns = added_turns(problem.source, motion, problem.turned)
    solved = positions[:, problem.source.solved.joints]
    chosen = {"uses": options.surfaces, "clear": options.clearance}
    found = findings.find(binding, solved, turns, problem.environment, size, **chosen)
    found = replace(found, ride=_ride(problem.source, positions))
    own = {"own_contacts": own_as_json(own_kept(binding, solved, size))}
    return found.comparison.figures() | _as_json(found) | own, found


def _ride(source: Source, positions: np.ndarray) -> Ride | None:
    """The largest jump of what rides on a solved bone, of all joints (F, J, 3) of a rig; None where nothing does."""
    names, rig = source.whole.skeleton.names, source.motion.rig
    others = np.setdiff1d(np.arange(len(names)), source.solved.joints)
    bones = np.array([rig.names.index(names[joint].removesuffix("/tail")) for joint in others], int)
    if source.controls is not None:  # controls and mechanisms ride too, and nobody sees them
        seen = np.isin(bones, source.controls.verified)
        others, bones = others[seen], bones[seen]
    heads = source.bones[source.bones >= 0]
    carrier = carriers(source.motion_parents, heads)[bones]
    # The tail of a solved bone is that bone's own.
    rides = (carrier < len(heads)) & ~np.isin(bones, heads)
    others, bones, carrier = (part[rides] for part in (others, bones, carrier))
    if not len(others):
        return None
    # The rig as it is now has its size already.
    event = worst(jumps(source.whole.positions[:, others], positions[:, others]), source.whole.frames)
    return event and Ride(event, rig.names[bones[event.joint]], rig.names[heads[carrier[event.joint]]])


def bone_of(found: Findings, joint: int) -> str:
    """The bone that a joint belongs to."""
    return found.names[joint].removesuffix("/tail")


def joints_of_limbs(found: Findings) -> dict[str, list[int]]:
    """The joints of each bone that touches anything, in their order."""
    out: dict[str, list[int]] = {}
    for joint in np.flatnonzero((found.contacts.counted | found.contacts.covered).any(axis=0)):
        out.setdefault(bone_of(found, joint), []).append(int(joint))
    return out


def contacts_at(found: Findings, joints: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frames (F,) bool in which the joints of a bone have contacts that count, in which all of these are kept, and in
    which they have covered ones alone."""
    contacts = found.contacts
    counted = contacts.counted[:, joints].any(axis=1)
    lost = (contacts.counted & ~contacts.kept)[:, joints].any(axis=1)
    return counted, counted & ~lost, contacts.covered[:, joints].any(axis=1) & ~counted


@dataclass(frozen=True)
class GivenUp:
    """A contact that a result does not keep: of a bone with an object. covered: whether another object covers its place
    there.  count: of frames.  spans: the first and the last frame of each run of them."""

    bone: str
    obj: str
    covered: bool
    count: int
    spans: tuple[tuple[float, float], ...]


def given_up(found: Findings) -> list[GivenUp]:
    """The contacts that a result does not keep, those of most frames first."""
    contacts, out = found.contacts, []
    for bone, joints in joints_of_limbs(found).items():
        for number, obj in enumerate(found.objects):
            those = contacts.given_up & (contacts.partner == number)
            for covered in (False, True):
                rows = (those & (contacts.covered == covered))[:, joints].any(axis=1)
                if rows.any():
                    out.append(GivenUp(bone, obj, covered, int(rows.sum()), tuple(frame_runs(found.frames, rows))))
    return sorted(out, key=lambda each: -each.count)


@dataclass(frozen=True)
class Deeper:
    """A bone whose capsule is deeper in an object than in the source, or than 1 mm. metres: by how much more at most.
    count: of frames.  spans: the first and the last frame of each run of them.  held: in how many of them the bone, or
    the hand or foot that it is of, is in contact."""

    bone: str
    obj: str
    metres: float
    count: int
    spans: tuple[tuple[float, float], ...]
    held: int


def deeper(found: Findings) -> list[Deeper]:
    """The bones that are deeper in something by more than a measure tells, those that are deepest first."""
    amounts, out = found.comparison.deeper, []
    nearest = found.comparison.after.argmin(axis=0)
    names = np.array([bone_of(found, joint) for joint in found.sample_joints])
    is_deeper = amounts > _TOLD * found.scale
    for bone in dict.fromkeys(names[is_deeper.any(axis=0)]):
        own = names == bone
        held = found.held[:, found.sample_joints[own]].any(axis=1)
        for number, obj in enumerate(found.objects):
            those = (is_deeper & (nearest == number))[:, own]
            if those.any():
                most, rows = float(amounts[:, own][those].max()), those.any(axis=1)
                spans, count = tuple(frame_runs(found.frames, rows)), int(rows.sum())
                out.append(Deeper(str(bone), obj, most, count, spans, int((rows & held).sum())))
    return sorted(out, key=lambda each: -each.metres)


def _plain(obj: str) -> str:
    """Names of several objects without the quotation marks that sentences have between them."""
    return obj.replace("', '", ", ")


def _as_json(found: Findings) -> dict:
    names = "counted", "kept", "covered"
    return {
        "contacts": {
            bone: dict(zip(names, (int(part.sum()) for part in contacts_at(found, joints)), strict=True))
            for bone, joints in joints_of_limbs(found).items()
        },
        "given_up": [
            {
                "bone": each.bone,
                "object": _plain(each.obj),
                "covered": each.covered,
                "count": each.count,
                "frames": each.spans,
            }
            for each in given_up(found)
        ],
        "deeper": [
            {
                "bone": each.bone,
                "object": _plain(each.obj),
                "mm": 1000 * each.metres,
                "count": each.count,
                "held": each.held,
                "frames": each.spans,
            }
            for each in deeper(found)
        ],
        "worst": {
            "jump": _event(found, found.jump, "cm", 100.0),
            "ride": _ride_as_json(found),
            "turn": _event(found, found.turn, "degrees"),
            "tilt": _over_time(found, found.tilt, found.tilts, "degrees"),
            "clear_tilt": _over_time(found, found.clear_tilt, found.clear_tilts, "degrees"),
            "stretch": _event(found, found.stretch, "pct", 100.0),
            "slide": _slide_as_json(found),
            "balance": _over_time(found, found.shift, found.balance, "cm", 100.0),
        },
        "trunk": [bone_of(found, joint) for joint in found.trunk],
    }


def _slide_as_json(found: Findings) -> dict | None:
    slide = found.slide
    return slide and _event(found, slide.event, "cm", 100.0) | {"object": _plain(slide.obj)}


def _ride_as_json(found: Findings) -> dict | None:
    ride = found.ride
    return ride and {
        "cm": 100.0 * ride.event.size,
        "bone": ride.bone,
        "carrier": ride.carrier,
        "frame": ride.event.frame,
    }


def _event(found: Findings, event: Event | None, unit: str, factor: float = 1.0) -> dict | None:
    """None where there is nothing to measure. factor: how many of the unit make a metre, or a degree."""
    return event and {unit: factor * event.size, "bone": bone_of(found, event.joint), "frame": event.frame}


def _over_time(found: Findings, event: Event | None, sizes: np.ndarray, unit: str, factor: float = 1.0) -> dict | None:
    """As ``_event``, with the mean of (F,) measures."""
    return event and _event(found, event, unit, factor) | {f"mean_{unit}": factor * float(np.nanmean(sizes))}
