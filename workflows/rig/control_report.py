"""How near a rig comes to what was solved once it is posed by its controls: figures for JSON, and the worst of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ...scene.motion import BoneMotion
from ...scene.motion_changes import changed_bones
from ...solvers.controls.between_frames import astray
from ...solvers.controls.channels import Stepper
from ...solvers.controls.control_rig import ControlRig
from ...solvers.controls.deviation import Deviation, deviation
from ...solvers.controls.plan import Plan
from ...solvers.controls.trunk_place import first_carrier
from ...solvers.controls.unreached import Why, unplaced, unreached, unwritten, where_it_begins
from ...solvers.core.vectors import mean_scale
from .control_result import ControlResult

# Metres of a body of 1.8 m, and degrees, from which on a bone counts as missing its place, and is a doubt.
_AWAY, _TURNED = 0.005, 2.0
_FAR, _FAR_TURNED = 0.01, 5.0
_HEIGHT = 1.8
# Degrees by which a control has to turn otherwise between frames, to be named.
_ASTRAY = 2.0
_MODES = {"QUATERNION": "quaternions", "AXIS_ANGLE": "an axis and an angle"}
_NOT_REACHED = "the controls that are written do not reach it"
_WAYS_OUT = (
    "have more written (Write To, Trunk, the list of controls), key a control of it in the source, or change what is "
    "around it by less"
)
_TURNED_ALONE = "in its rotation alone (key its location in the source, or Write To: IK)"
_LEFT_OUT = "there is no key of its controls there"
_NO_STRETCH = "set IK Stretch (Rigify's IK_Stretch) to 0 in the source, or Write To: FK"
_KEYS = "write more keys (a Frame Step of 1, a smaller Error, or without Keys at Source Keys)"


@dataclass(frozen=True)
class ControlReport:
    """Of one result. found: of the bones that are judged, distances in metres.  names: of all bones.  frames: (F,).
    scale: of the body, height / 1.8 m.  written: names of controls.  evaluations: to a frame.  unsettled: frames.
    why: of the bones that miss their places most why that is, a clause each.
    between: whether the largest distance and the largest angle come of keys that are left out."""

    found: Deviation
    names: tuple[str, ...]
    frames: np.ndarray
    scale: float
    written: list[str]
    evaluations: float
    unsettled: list[float]
    why: dict[str, str]
    between: tuple[bool, bool] = (False, False)

    @property
    def over(self) -> np.ndarray:
        """(D,) bool, the bones that miss their places anywhere."""
        away, turned = self.found.away.max(axis=0), np.degrees(self.found.turned.max(axis=0))
        return (away > _AWAY * self.scale) | (turned > _TURNED)

    def where(self, place: tuple[int, int]) -> tuple[str, float]:
        """Bone and frame of a place in what was found."""
        row, bone = place
        return self.names[self.found.bones[bone]], float(self.frames[row])

    @property
    def doubt(self) -> str:
        """A sentence without its full stop of the bone that is farthest from its place, "" where none is far."""
        found = self.found
        if found.away.max() > _FAR * self.scale:
            bone, frame = self.where(found.farthest)
            how, between = f"misses the place that was solved for it by {1000.0 * found.away.max():.0f} mm", 0
        elif np.degrees(found.turned.max()) > _FAR_TURNED:
            bone, frame = self.where(found.most_turned)
            how = f"is turned {np.degrees(found.turned.max()):.0f} degrees away from what was solved for it"
            between = 1
        else:
            return ""
        if self.between[between]:
            why, ways_out = _LEFT_OUT, _KEYS
        else:
            why = self.why.get(bone, _NOT_REACHED)
            ways_out = _NO_STRETCH if why == Why.STRETCHED.value else _WAYS_OUT
        return f"Bone '{bone}' {how} at frame {frame:g}: {why}; {ways_out}"

    def figures(self) -> dict:
        """As JSON can hold them."""
        found = self.found
        (bone, frame), (turned, at) = self.where(found.farthest), self.where(found.most_turned)
        return {
            "written": self.written,
            "bones": len(found.bones),
            "away_mm": 1000.0 * float(found.away.max()),
            "away_mean_mm": 1000.0 * float(found.away.mean()),
            "away_bone": bone,
            "away_frame": frame,
            "turned_deg": float(np.degrees(found.turned.max())),
            "turned_bone": turned,
            "turned_frame": at,
            "over": [self.names[bone] for bone in found.bones[self.over]],
            "evaluations_per_frame": self.evaluations,
            "unsettled": self.unsettled,
        }


def control_report(written: ControlResult, whole: BoneMotion, posed: np.ndarray | None = None) -> ControlReport:
    """What became of a motion of bones apart that was solved.

    posed: (F, B, 4, 4) what the rig plays, where that is not what was fitted, as where keys are left out.  At frames
    that the influence leaves between that and the source, it is what was fitted that is judged.
    """
    bones = judged(written.controls)
    fitted = deviation(whole.pose, written.fit.pose, bones)
    found = fitted if posed is None else deviation(whole.pose, _shown(written, posed), bones)
    names = written.controls.rig.names
    unit = mean_scale(whole.object_world[:, :3, :3])[:, None]
    doubtful = {int(found.bones[place[1]]) for place in (found.farthest, found.most_turned)}
    return ControlReport(
        Deviation(found.bones, found.away * unit, found.turned),
        names,
        whole.frames,
        written.controls.size * float(unit.mean()) / _HEIGHT,
        changed_bones(written.original, written.motion),
        float(written.fit.evaluations.mean()),
        whole.frames[~written.fit.converged].tolist(),
        {names[bone]: why for bone, why in _reasons(written, doubtful)},
        _are_between(fitted, found),
    )


def _shown(written: ControlResult, posed: np.ndarray) -> np.ndarray:
    """Poses (F, B, 4, 4) with what was fitted at the frames of less than the whole influence."""
    return np.where(written.is_whole[:, None, None, None], posed, written.fit.pose)


def _are_between(fitted: Deviation, found: Deviation) -> tuple[bool, bool]:
    """Whether keys that are left out do most of what is farthest, and of what is most turned."""
    away, turned = found.farthest, found.most_turned
    return (
        bool(fitted.away[away] < 0.5 * found.away[away]),
        bool(fitted.turned[turned] < 0.5 * found.turned[turned]),
    )


def astray_notes(written: ControlResult) -> Iterator[str]:
    """A sentence of each control that turns otherwise between two frames than these say, by more than in the source."""
    controls, problem = written.controls, written.problem
    stepper = Stepper.of(controls, problem.variables, controls.size)
    found = astray(stepper, written.fit.channels.rotation)
    more = np.where(stepper.variables[:, 3:].any(axis=1), found - astray(stepper, written.own.rotation), 0.0)
    for control in np.flatnonzero((np.degrees(more) > _ASTRAY).any(axis=0)):
        row = int(more[:, control].argmax())
        first, last = written.original.frames[row : row + 2]
        name, mode = controls.rig.names[controls.controls[control]], stepper.rig.rotation_modes[control]
        yield (
            f"Control '{name}' turns by up to {np.degrees(found[row, control]):.0f} degrees otherwise between frames "
            f"{first:g} and {last:g} than these say, as {_MODES.get(mode, 'Euler angles')} go; key it in another "
            "rotation mode in the source"
        )


def flip_notes(
    controls: ControlRig, plan: Plan, shown: np.ndarray, flipped: np.ndarray, like: BoneMotion
) -> Iterator[str]:
    """A sentence where a limb that is switched to its other controls moves a bone. shown, flipped: (F, B, 4, 4) poses
    before and after.  like: a motion over the same frames."""
    found = deviation(shown, flipped, judged(controls))
    unit = float(mean_scale(like.object_world[:, :3, :3]).mean())
    is_away = found.away.max() > _AWAY * controls.size / _HEIGHT
    row, bone = found.farthest if is_away else found.most_turned
    away, turned = 1000.0 * unit * found.away[row, bone], np.degrees(found.turned[row, bone])
    if is_away or turned > _TURNED:
        what = ", ".join(f"{controls.switches[k]} at {plan.values[0, k]:g}" for k in plan.switched)
        yield (
            f"Switched over ({what}), bone '{controls.rig.names[found.bones[bone]]}' moves by {away:.0f} mm and "
            f"{turned:.0f} degrees at frame {like.frames[row]:g}: the other controls do not reach its pose"
        )


def _reasons(written: ControlResult, bones: Iterable[int]) -> Iterator[tuple[int, str]]:
    """Why bones are missed, of those that are: a control that would move them and is not written is named."""
    controls, problem = written.controls, written.problem
    least = _AWAY * controls.size / _HEIGHT
    missed, names = unreached(controls, problem, written.fit, least, np.radians(_TURNED)), controls.rig.names
    for bone in bones:
        carrier = int(controls.owners[bone])
        begins = where_it_begins(controls, missed, carrier) if carrier >= 0 else None
        if begins is None:
            continue
        goal = written.outside.get(names[controls.carriers[begins.carrier]], written.outside.get(names[bone]))
        if goal is not None:
            yield bone, f"'{goal}', to which IK pulls it, is no bone of the rig (have a bone as goal)"
            continue
        goal = unplaced(controls, problem, written.fit, begins, least)
        if goal is not None:
            what = _told(controls, begins.carrier, carrier)
            yield bone, f"'{names[controls.controls[goal]]}', which moves {what}, is keyed {_TURNED_ALONE}"
            continue
        own = (int(written.fit.misses[:, carrier].argmax()), carrier)
        for frame, moved in ((begins.frame, begins.carrier), own):
            found = unwritten(controls, problem, frame, moved)
            if found is not None:
                name = names[controls.controls[found]]
                yield bone, f"'{name}', which moves {_told(controls, moved, carrier)}, is not written"
                break
        else:
            locked = _locked(written, names[bone])
            if locked is not None:
                yield bone, f"'{locked}', which moves it, is keyed but locked (unlock it)"
            elif begins.why != Why.OUT_OF_REACH:
                what = _told(controls, begins.carrier, carrier)
                yield bone, what.join(re.split(r"\bit\b", begins.why.value))


def _locked(written: ControlResult, bone: str) -> str | None:
    """The keyed and locked bone that moves one of a name, and fewest others beside; None where none does but what
    moves the whole body."""
    body = written.controls.rig.names[written.controls.carriers[first_carrier(written.controls)]]
    movers = [name for name, reached in written.locked.items() if bone in reached and body not in reached]
    return min(movers, key=lambda name: len(written.locked[name]), default=None)


def _told(controls: ControlRig, missed: int, carrier: int) -> str:
    """A carrier that is missed, as it is told of another."""
    return "it" if missed == carrier else f"'{controls.rig.names[controls.carriers[missed]]}'"


def judged(controls: ControlRig) -> np.ndarray:
    """(D,) bones by which a result is judged: those that deform meshes, and instead of any that bends or stretches
    between carriers, so that where it should be is not told by one, the carrier that it lies at."""
    verified = controls.verified
    rides = controls.rides[verified] >= 0
    at = controls.owners[verified[~rides]]
    return np.union1d(verified[rides], controls.carriers[at[at >= 0]])
