"""What a result does worst, measured on what is written, as JSON and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...scene.motion import BoneMotion
from ...solvers.adapt import findings, measures
from ...solvers.adapt.findings import Findings
from ...solvers.adapt.worst_events import Event
from ..environment.problem import Problem
from ..rig.write_back import added_turns

# Seconds of contact in all, below which a limb's share of kept ones says nothing.
_BRIEF = 0.1


@dataclass(frozen=True)
class Remark:
    """Something to look at. text: what, in a few words.  bone, frame: where.  doubt: where it is too much a sentence
    without its full stop of that and of what to try, else empty."""

    text: str
    bone: str
    frame: float
    doubt: str


def measure_written(problem: Problem, motion: BoneMotion) -> tuple[dict, Findings]:
    """Figures that JSON can hold, and findings, of a motion of the rig as its keys play it."""
    binding, size = problem.binding, problem.options.scale
    positions = motion.joints().positions[:, problem.source.solved.joints]
    turns = added_turns(problem.source, motion, problem.turned)
    found = findings.find(binding, positions, turns, problem.environment, size)
    figures = measures.measure_bound(binding, positions, problem.environment, size)
    return figures | _as_json(found), found


def bone_of(found: Findings, joint: int) -> str:
    """The bone that a joint belongs to."""
    return found.names[joint].removesuffix("/tail")


def joints_of_limbs(found: Findings) -> dict[str, list[int]]:
    """The joints of each bone that touches anything, in their order."""
    out: dict[str, list[int]] = {}
    for joint in np.flatnonzero((found.contacts.counted | found.contacts.covered).any(axis=0)):
        out.setdefault(bone_of(found, joint), []).append(int(joint))
    return out


def remarks(found: Findings, is_thinned: bool = False) -> list[Remark]:
    """The worst events and every limb's contacts. is_thinned: keys were left out, which may be what is wrong."""
    first = "set Frame Step to 1, switch Reduce Keys off or lower its Error; else " if is_thinned else ""
    return [
        *_jump(found, first),
        *_turn(found, first),
        *_tilt(found),
        *_balance(found),
        *_stretch(found),
        *_limbs(found),
    ]


def _jump(found, first):
    event = found.jump
    if event is None:
        return
    cm, bone, doubt = 100.0 * event.size, bone_of(found, event.joint), ""
    if event.size > findings.JUMP * found.scale:
        doubt = (
            f"Bone '{bone}' jumps by {cm:.1f} cm at frame {event.frame:g} beyond the source: {first}change what is "
            "around it there by less, pin the bone over that time, or set the object that it is caught between to "
            "Avoid or Ignore"
        )
    yield Remark(f"Jump {cm:.1f} cm", bone, event.frame, doubt)


def _turn(found, first):
    event = found.turn
    if event is None:
        return
    bone, doubt = bone_of(found, event.joint), ""
    if event.size > findings.TURN:
        doubt = (
            f"Bone '{bone}' turns by {event.size:.0f} degrees at frame {event.frame:g} beyond the source: {first}pin "
            "the end of its limb there, turn the set by less, or lower the influence of the object that it holds to"
        )
    yield Remark(f"Turn {event.size:.1f} degrees", bone, event.frame, doubt)


def _tilt(found):
    event, clear = found.tilt, found.clear_tilt
    if event is None:
        return
    doubt, ends = "", " to ".join(f"'{bone_of(found, joint)}'" for joint in found.trunk)
    if clear and clear.size > findings.TILT:
        event = clear
        doubt = (
            f"The trunk, {ends}, tilts by up to {clear.size:.0f} degrees, at frame {clear.frame:g}, where nothing is "
            "near it: turn and move what it stands on and holds to by less"
        )
    text = f"Tilt {event.size:.1f} degrees, mean {np.nanmean(found.tilts):.1f}"
    yield Remark(text, bone_of(found, event.joint), event.frame, doubt)


def _balance(found):
    event = found.shift
    if event is not None:
        text = f"Balance {100 * event.size:.1f} cm off, mean {100 * np.nanmean(found.balance):.1f}"
        yield Remark(text, bone_of(found, event.joint), event.frame, "")


def _stretch(found):
    event = found.stretch
    if event is None:
        return
    percent, bone, doubt = 100.0 * event.size, bone_of(found, event.joint), ""
    if event.size > findings.STRETCHED:
        doubt = (
            f"The knee or elbow at the head of '{bone}' is straight in {percent:.0f} % of frames, from frame "
            f"{event.frame:g} on, in which the source bends it: change what the limb rests on by less, or pin the body "
            "nearer to it"
        )
    yield Remark(f"Straight {percent:.0f} % of frames", bone, event.frame, doubt)


def _limbs(found):
    for bone, joints in joints_of_limbs(found).items():
        counted, kept, covered = contacts_at(found, joints)
        count, hidden = int(counted.sum()), int(covered.sum())
        share = float(kept.sum() / count) if count else 1.0
        lost = np.flatnonzero(counted & ~kept)
        first = lost[0] if len(lost) else (counted | covered).argmax()
        text, frame, doubt = f"Contact {100 * share:.0f} % of {count} frames", float(found.frames[first]), ""
        if share < findings.CONTACTS and count * found.dt >= _BRIEF:
            doubt = (
                f"Bone '{bone}' keeps {100 * share:.0f} % of {count} frames of contact, the first one lost at frame "
                f"{frame:g}: raise its Bone Hold, set what it touches to Attach with its whole influence, or change "
                "that by less"
            )
        yield Remark(f"{text}, {hidden} covered" if hidden else text, bone, frame, doubt)


def contacts_at(found: Findings, joints: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Frames (F,) bool in which the joints of a bone have contacts that count, in which all of these are kept, and in
    which they have covered ones alone."""
    contacts = found.contacts
    counted = contacts.counted[:, joints].any(axis=1)
    lost = (contacts.counted & ~contacts.kept)[:, joints].any(axis=1)
    return counted, counted & ~lost, contacts.covered[:, joints].any(axis=1) & ~counted


def _as_json(found: Findings) -> dict:
    clear = np.where(found.clear, found.tilts, np.nan)
    names = "counted", "kept", "covered"
    return {
        "contacts": {
            bone: dict(zip(names, (int(part.sum()) for part in contacts_at(found, joints)), strict=True))
            for bone, joints in joints_of_limbs(found).items()
        },
        "worst": {
            "jump": _event(found, found.jump, "cm", 100.0),
            "turn": _event(found, found.turn, "degrees"),
            "tilt": _over_time(found, found.tilt, found.tilts, "degrees"),
            "clear_tilt": _over_time(found, found.clear_tilt, clear, "degrees"),
            "stretch": _event(found, found.stretch, "pct", 100.0),
            "balance": _over_time(found, found.shift, found.balance, "cm", 100.0),
        },
        "trunk": [bone_of(found, joint) for joint in found.trunk],
    }


def _event(found: Findings, event: Event | None, unit: str, factor: float = 1.0) -> dict | None:
    """None where there is nothing to measure. factor: how many of the unit make a metre, or a degree."""
    return event and {unit: factor * event.size, "bone": bone_of(found, event.joint), "frame": event.frame}


def _over_time(found: Findings, event: Event | None, sizes: np.ndarray, unit: str, factor: float = 1.0) -> dict | None:
    """As ``_event``, with the mean of (F,) measures."""
    return event and _event(found, event, unit, factor) | {f"mean_{unit}": factor * float(np.nanmean(sizes))}
