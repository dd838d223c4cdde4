"""What Adapt says of a result."""

from __future__ import annotations

from ..command_line.words import counted
from ..rig.bake import key_summary

_FIGURES = (
    ("contacts_kept_pct", "contacts kept {:.1f} %"),
    ("penetration_pct", "penetration {:.1f} % of frames"),
    ("clearance_lost_pct", "clearance lost {:.1f} % of frames"),
    ("jerk_mean_ratio", "jerk {:.2f} x"),
)
_NOTHING_TOUCHES = "no hand or foot rests on anything"
_COVERED = "what hands and feet rested on is inside other objects now"
# Percent of frames; a source that is inside its environment for longer usually has faces that point the wrong way.
_SUSPECT_PENETRATION = 50.0


def figures_in_words(measures: dict) -> list[str]:
    """What a result is like on the whole, a few words each. measures: of the report, empty where it has none."""
    out = [form.format(measures[key]) for key, form in _FIGURES if measures.get(key) is not None]
    if measures and not measures["contact_frames"]:
        hidden = any(limb["covered"] for limb in measures["contacts"].values())
        out.insert(0, f"no contact: {_COVERED if hidden else _NOTHING_TOUCHES}")
    if measures.get("penetration_original_pct", 0.0) > _SUSPECT_PENETRATION:
        out.append("the source itself is inside the environment: do its faces point outwards?")
    return out


def summary(report: dict) -> str:
    """The line that says what a result is like."""
    frames = counted(report["frames"], "frame")
    text = f"Adapted '{report['source']}' into '{report['action']}', {frames}, {key_summary(report)}"
    figures = figures_in_words(report.get("measures", {}))
    if "controls" in report:
        figures.append("bones within {away_mm:.1f} mm and {turned_deg:.1f} degrees".format(**report["controls"]))
    silenced = report["silenced_constraints"]
    if silenced:
        some = ", ".join(silenced[:3] + ["..."] * (len(silenced) > 3))
        figures.append(f"constraints that would override it are switched off in it ({some})")
    doubts = len(report.get("warnings", ()))
    if doubts:
        figures.append(f"{counted(doubts, 'warning')}, see the report")
    return ": ".join(filter(None, (text, ", ".join(figures))))
