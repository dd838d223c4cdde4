"""What Adapt says of a result."""

from __future__ import annotations

from ..rig.bake import key_summary

_FIGURES = (
    ("contacts_kept_pct", "contacts kept {:.1f} %"),
    ("penetration_pct", "penetration {:.1f} % of frames"),
    ("clearance_lost_pct", "clearance lost {:.1f} % of frames"),
    ("jerk_mean_ratio", "jerk {:.2f} x"),
)
# Percent of frames; a source that is inside its environment for longer usually has faces that point the wrong way.
_SUSPECT_PENETRATION = 50.0


def summary(report: dict) -> str:
    """The line that says what a result is like."""
    text = f"Adapted '{report['source']}' into '{report['action']}', {report['frames']} frames, {key_summary(report)}"
    found = report.get("measures", {})
    figures = [form.format(found[key]) for key, form in _FIGURES if found.get(key) is not None]
    if found and not found["contact_frames"]:
        figures.insert(0, "no contact: no hand or foot rests on anything")
    if found.get("penetration_original_pct", 0.0) > _SUSPECT_PENETRATION:
        figures.append("the source itself is inside the environment: do its faces point outwards?")
    silenced = report["silenced_constraints"]
    if silenced:
        some = ", ".join(silenced[:3] + ["..."] * (len(silenced) > 3))
        figures.append(f"constraints that would override it are switched off in it ({some})")
    return ": ".join(filter(None, (text, ", ".join(figures))))
