"""What there is to look at in a result, and what is wrong with it, in words: with bone, frame and what to try."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...solvers.adapt import findings
from ...solvers.adapt.findings import Findings
from ..command_line import words
from ..core.frame_spans import frame_span
from ..rig.control_report import ControlReport
from .findings import Deeper, GivenUp, bone_of, contacts_at, deeper, given_up, joints_of_limbs

# Seconds of contact in all, below which a limb's share of kept ones says nothing, unless too many are lost of all.
_BRIEF = 0.1
# So many contacts, and runs of frames of each, a note names at most.
_NAMED, _RUNS = 3, 3
# Metres at 1.8 m by which a bone is deeper in something that the notes name; the report has all.
_DEEP = 0.005


@dataclass(frozen=True)
class Remark:
    """Something to look at. text: what, in a few words.  bone, frame: where.  doubt: where it is too much a sentence
    without its full stop of that and of what to try, else empty."""

    text: str
    bone: str
    frame: float
    doubt: str


def remarks(found: Findings, is_thinned: bool = False, upright: float | np.ndarray = 1.0) -> list[Remark]:
    """The worst events and every limb's contacts; of what has a figure of its own only what is too much.

    is_thinned: keys were left out, which may be what is wrong.  upright: what that was set to, one number or (F,).
    """
    first = "set Frame Step to 1, switch Reduce Keys off or lower its Error; else " if is_thinned else ""
    upright = np.broadcast_to(np.asarray(upright, float), found.clear.shape)
    steps = *_jump(found, first, upright), *_ride(found, first, upright)
    moves = *steps, *_turn(found, first, upright), *_jerk(found, first, upright)
    body = *_tilt(found, upright), *_balance(found), *_stretch(found)
    near = *_depth(found), *_loss(found), *_slide(found)
    return [*moves, *body, *near, *_limbs(found), *_given_up(found), *_deeper(found)]


def control_remarks(report: ControlReport | None) -> list[Remark]:
    """How far the rig is from what was solved, where it is moved by controls."""
    if report is None:
        return []
    found, doubt = report.found, report.doubt
    (bone, frame), (turned, at) = report.where(found.farthest), report.where(found.most_turned)
    away, degrees = 1000.0 * found.away.max(), np.degrees(found.turned.max())
    first = Remark(f"Controls {away:.1f} mm off, mean {1000.0 * found.away.mean():.1f}", bone, frame, "")
    second = Remark(f"Controls {degrees:.1f} degrees off", turned, at, "")
    is_turn = "degrees away" in doubt
    return [replace(first, doubt="" if is_turn else doubt), replace(second, doubt=doubt if is_turn else "")]


def note_of_given_up(found: Findings) -> list[str]:
    """A sentence that names the contacts that the result does not keep; empty where it keeps all."""
    lost = given_up(found)
    if not lost:
        return []
    some = [f"{_contact(each)} at {_in_words(each)}{_reason(each)}" for each in lost[:_NAMED]]
    more = [f"{len(lost) - _NAMED} more, see the report"] if len(lost) > _NAMED else []
    return [f"Contacts that the result gives up: {'; '.join([*some, *more])}"]


def _jump(found, first, upright):
    event = found.jump
    if event is None:
        return
    cm, bone, doubt = 100.0 * event.size, bone_of(found, event.joint), ""
    if event.size > findings.JUMP * found.scale:
        ways_out = [
            *_level(found, event, upright),
            "change what is around it there by less",
            "pin the bone over that time",
        ]
        if len(found.objects) > 1:
            ways_out.append("set the object that it is caught between to Avoid or Ignore")
        doubt = f"Bone '{bone}' jumps by {cm:.1f} cm at frame {event.frame:g} beyond the source: {first}{_or(ways_out)}"
    yield Remark(f"Jump {cm:.1f} cm", bone, event.frame, doubt)


def _ride(found, first, upright):
    """Of a bone that jumps further than all that are solved, as what is far from its carrier does."""
    ride = found.ride
    if ride is None or ride.event.size <= max(findings.JUMP * found.scale, found.jump.size):
        return
    cm, frame = 100.0 * ride.event.size, ride.event.frame
    ways_out = [
        *_level(found, ride.event, upright),
        "change the set by less there",
        f"pin '{ride.carrier}' over that time",
        "leave it where nothing is seen to go with it",
    ]
    doubt = (
        f"Bone '{ride.bone}', which rides on '{ride.carrier}', jumps by {cm:.1f} cm at frame {frame:g} beyond the "
        f"source: {first}{_or(ways_out)}"
    )
    yield Remark(f"Riding bone jumps {cm:.1f} cm", ride.bone, frame, doubt)


def _turn(found, first, upright):
    event = found.turn
    if event is None:
        return
    bone, doubt = bone_of(found, event.joint), ""
    if event.size > findings.TURN:
        ways_out = [
            *_level(found, event, upright),
            "pin the end of its limb there",
            "turn the set by less",
            "lower the influence of the object that it holds to",
        ]
        doubt = (
            f"Bone '{bone}' turns by {event.size:.0f} degrees at frame {event.frame:g} beyond the source: "
            f"{first}{_or(ways_out)}"
        )
    yield Remark(f"Turn {event.size:.1f} degrees", bone, event.frame, doubt)


def _jerk(found, first, upright):
    event, ratio = found.jerk, found.comparison.figures()["jerk_mean_ratio"] or 1.0
    if event is None or ratio <= findings.JERK[found.is_resized]:
        return
    bone = bone_of(found, event.joint)
    ways_out = [
        *_level(found, event, upright),
        "change the set by less there",
        "lower the influence of what the bone is close to",
    ]
    doubt = (
        f"The motion is {ratio:.2f} times as rough as the source, most of all bone '{bone}' at frame {event.frame:g}: "
        f"{first}{_or(ways_out)}"
    )
    yield Remark(f"Jerk {ratio:.2f} x", bone, event.frame, doubt)


def _level(found, event, upright):
    """What to try where a body stays upright on tilted ground, which its legs have to make up for."""
    row = np.abs(found.frames - event.frame).argmin()
    if upright[row] > 0.0 and found.clear[row] and found.sloped[row]:
        yield "lower Upright there"


def _or(ways_out):
    *some, last = ways_out
    return f"{', '.join(some)}, or {last}"


def _tilt(found, upright):
    event, clear = found.tilt, found.clear_tilt
    if event is None:
        return
    first = "raise Upright; else " if upright.min() < 1.0 else ""
    doubt, ends = "", " to ".join(f"'{bone_of(found, joint)}'" for joint in found.trunk)
    if clear and clear.size > findings.TILT:
        event = clear
        doubt = (
            f"The trunk, {ends}, tilts by up to {clear.size:.0f} degrees, at frame {clear.frame:g}, where nothing is "
            f"near it: {first}turn and move what it stands on and holds to by less"
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


def _depth(found):
    near, figures = found.depth, found.comparison.figures()
    percent, before = figures["penetration_pct"], figures["penetration_original_pct"]
    if near is None or percent <= before + findings.DEEPER[found.is_resized]:
        return
    cm, frame, bone = 100.0 * near.event.size, near.event.frame, bone_of(found, near.event.joint)
    doubt = (
        f"The body is inside something in {percent:.0f} % of frames, the source in {before:.0f} %; deepest is bone "
        f"'{bone}', {cm:.1f} cm inside '{near.obj}' at frame {frame:g}: raise Keep Clear, lower the influence of what "
        "pulls the body in, or change that object by less"
    )
    yield Remark(f"Inside {percent:.0f} % of frames, {cm:.1f} cm", bone, frame, doubt)


def _loss(found):
    near, percent = found.loss, found.comparison.figures()["clearance_lost_pct"]
    if near is None or percent <= findings.NEARER:
        return
    cm, frame, bone = 100.0 * near.event.size, near.event.frame, bone_of(found, near.event.joint)
    doubt = (
        f"The body has less room than in the source in {percent:.0f} % of frames; most of all bone '{bone}', {cm:.1f} "
        f"cm less to '{near.obj}' at frame {frame:g}: raise Keep Clear, or change that object by less"
    )
    yield Remark(f"Nearer {percent:.0f} % of frames, {cm:.1f} cm", bone, frame, doubt)


def _slide(found):
    near = found.slide
    if near is None:
        return
    cm, frame, bone, doubt = 100.0 * near.event.size, near.event.frame, bone_of(found, near.event.joint), ""
    if near.event.size > findings.SLIDE * found.scale:
        doubt = (
            f"Bone '{bone}' slides by {cm:.1f} cm along '{near.obj}' by frame {frame:g}, beyond the source, in one "
            "contact: raise its Bone Hold, or change that object by less"
        )
    yield Remark(f"Slide {cm:.1f} cm", bone, frame, doubt)


def _limbs(found):
    all_kept = found.comparison.figures()["contacts_kept_pct"]
    too_few = all_kept is not None and all_kept < findings.ALL_CONTACTS
    least, brief = (1.0, 0.0) if too_few else (findings.CONTACTS, _BRIEF)
    for bone, joints in joints_of_limbs(found).items():
        counted, kept, covered = contacts_at(found, joints)
        count, hidden = int(counted.sum()), int(covered.sum())
        share = float(kept.sum() / count) if count else 1.0
        lost = np.flatnonzero(counted & ~kept)
        first = lost[0] if len(lost) else (counted | covered).argmax()
        of_frames = f"{100 * share:.0f} % of {words.counted(count, 'frame')}"
        shares = [of_frames] * (count > 0) + [f"{hidden} covered"] * (hidden > 0)
        frame, doubt = float(found.frames[first]), ""
        if share < least and count * found.dt >= brief:
            doubt = (
                f"Bone '{bone}' keeps {of_frames} of contact, the first one lost at frame {frame:g}, with "
                f"'{_partner(found, joints, first)}': raise its Bone Hold, set that object to Attach with its whole "
                "influence, or change it by less"
            )
        yield Remark(f"Contact {', '.join(shares)}", bone, frame, doubt)


def _partner(found, joints, row):
    """The object whose contact joints of a bone lose first at a frame."""
    lost = found.contacts.given_up[row, joints]
    return found.objects[found.contacts.partner[row, joints[int(lost.argmax())]]]


def _given_up(found):
    for each in given_up(found):
        text = f"Gives up {_contact(each)} in {words.counted(each.count, 'frame')}{_reason(each)}"
        yield Remark(text, each.bone, each.spans[0][0], "")


def _deeper(found):
    for each in deeper(found):
        depth = words.millimetres(1000.0 * each.metres)
        text = f"{depth} deeper in '{each.obj}' in {words.counted(each.count, 'frame')}"
        yield Remark(text + _held(each), each.bone, each.spans[0][0], "")


def note_of_deeper(found: Findings) -> list[str]:
    """A sentence that names the bones that are much deeper in something than in the source; empty where none is."""
    those = [each for each in deeper(found) if each.metres > _DEEP * found.scale]
    if not those:
        return []
    some = [
        f"'{each.bone}' in '{each.obj}' by {words.millimetres(1000.0 * each.metres)} at {_in_words(each)}{_held(each)}"
        for each in those
    ]
    more = [f"{len(those) - _NAMED} more, see the report"] if len(those) > _NAMED else []
    return [f"Bones that are deeper inside than in the source: {'; '.join([*some[:_NAMED], *more])}"]


def _held(each: Deeper) -> str:
    """Why nothing moves it out, where that is so in most of the frames."""
    return ", where its contacts hold it" if 2 * each.held > each.count else ""


def _contact(each: GivenUp) -> str:
    return f"'{each.bone}' on '{each.obj}'"


def _reason(each: GivenUp) -> str:
    return ", where that is covered" if each.covered else ""


def _in_words(each: GivenUp | Deeper) -> str:
    runs = [frame_span(*span) for span in each.spans[:_RUNS]]
    more = ["..."] if len(each.spans) > _RUNS else []
    return f"frames {', '.join([*runs, *more])}" if each.count > 1 else f"frame {runs[0]}"
