"""Rows of Adapt's looks in words: a line for the terminal, an entry for JSON, how many passed."""

from __future__ import annotations

import re

from ._adapt_looks_measures import broken
from ._adapt_looks_rows import KINDS, Row

NAMES = {
    "jump_cm": "jump",
    "turn_deg": "turn",
    "contacts_kept_pct": "contacts",
    "penetration_gain_pct": "penetration",
    "jerk_mean_ratio": "jerk mean",
    "jerk_p95_ratio": "jerk p95",
    "tilt_mean_deg": "trunk tilt",
    "bone_error_max_pct": "bone lengths",
    "clearance_lost_pct": "clearance",
}


def entry(row: Row, figures: dict) -> dict:
    """Everything that is known of a row, for JSON."""
    about = {"scene": row.scene, "edit": row.edit, "size": row.size, "kind": row.kind, "mark": row.mark}
    return about | figures | {"broken": list(broken(row, figures))}


def reasons(row: Row, figures: dict) -> str:
    """Each bar that is broken, with what was found: bone and frame where there is one."""
    return reasons_of(entry(row, figures))


def reasons_of(known: dict) -> str:
    """The same of an entry."""
    return "; ".join(_reason(key, known) for key in known["broken"])


def line(row: Row, figures: dict) -> str:
    """A row in one line: verdict, what broke, and the figures."""
    verdict = "FAIL " + reasons(row, figures) if broken(row, figures) else "pass"
    return f"{row.kind:12} {row.name:34} [{verdict}]\n{'':12} {_figures(figures)}"


def slug(row: Row) -> str:
    """The name of a file for a row."""
    return re.sub(r"[^a-z0-9]+", "_", row.name.lower()).strip("_")


def summary(found: list[dict]) -> str:
    """How many rows passed, of all and of each kind and mark."""
    lines = [f"passed {_share(found)}"]
    for kind in KINDS:
        of_kind = [each for each in found if each["kind"] == kind]
        if of_kind:
            lines.append(f"  {kind:12} {_share(of_kind)}")
    return "\n".join(lines)


def _share(found):
    passed = sum(not each["broken"] for each in found)
    return f"{passed} of {len(found)} ({100.0 * passed / max(len(found), 1):.0f} %)"


def _reason(key, figures):
    if key in ("jump_cm", "turn_deg"):
        name = NAMES[key]
        unit = "cm" if name == "jump" else "degrees"
        more = f", {figures[f'{name}_frames_over']} frames over" if figures[f"{name}_frames_over"] > 1 else ""
        return f"{name} {figures[key]:.1f} {unit} of {figures[f'{name}_bone']} at {figures[f'{name}_frame']:g}{more}"
    if key == "penetration_gain_pct":
        return f"penetration {figures['penetration_pct']:.1f} % of {figures['penetration_original_pct']:.1f}"
    return f"{NAMES[key]} {figures[key]:.3g}"


def _figures(figures):
    knees = figures["knees_straight_pct"]
    parts = (
        f"jump {figures['jump_cm']:.1f} cm {figures['jump_bone']}@{figures['jump_frame']:g}",
        f"turn {figures['turn_deg']:.1f} deg {figures['turn_bone']}@{figures['turn_frame']:g}",
        f"tilt {_pair(figures, 'tilt', 'deg')} deg",
        f"com {_pair(figures, 'com', 'cm')} cm",
        f"contacts {_number(figures['contacts_kept_pct'])} % of {figures['contact_frames']}",
        f"penetration {figures['penetration_pct']:.1f} ({figures['penetration_original_pct']:.1f}) %",
        f"jerk {figures['jerk_mean_ratio']:.2f}/{figures['jerk_p95_ratio']:.2f}",
        "" if knees is None else f"knees {knees:.0f} ({figures['knees_straight_original_pct']:.0f}) %",
        f"pops apart {figures['capture_pops']}" if figures["capture_pops"] else "",
        f"{figures['seconds']:.1f} s for {figures['frames']} frames",
    )
    return ", ".join(part for part in parts if part)


def _pair(figures, name, unit):
    return f"{_number(figures[f'{name}_mean_{unit}'])}/{_number(figures[f'{name}_max_{unit}'])}"


def _number(value):
    return "-" if value is None else f"{value:.1f}"
