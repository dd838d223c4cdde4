"""How deep the bodies that Adapt solves are in their surroundings, against the source, measured by itself.

``python benchmarks/clearance.py climb_1:lifted`` prints rows; ``--page`` writes docs/manual/clearance_measures.md.

A capsule of 5 cm lies around each bone. Its axis is sampled every centimetre, four times as densely as the solver does,
and each sample is measured against the meshes themselves. A capsule may be as deep as it is in the source, or 1 mm.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks._adapt_looks_rows import BUILDERS  # noqa: E402
from benchmarks._rows import print_rows  # noqa: E402
from benchmarks.edits import sub_clip  # noqa: E402
from benchmarks.metrics import BODY, capsule_depths, measure  # noqa: E402
from solvers.adapt.binding import fit  # noqa: E402
from solvers.adapt.findings import held_joints  # noqa: E402
from solvers.adapt.solve import adapt  # noqa: E402
from solvers.adapt.worst_events import jumps  # noqa: E402
from solvers.core.types import JointTrack  # noqa: E402

PAGE = ROOT / "docs" / "manual" / "clearance_measures.md"
SPACING, ALLOWED, FRAMES = 0.01, 0.001, 1500
TUNED = "climb_0"
CASES = {
    "climb_0": ("lifted", "tilted", "moved", "set_turned_45", "run_together"),
    "climb_1": ("lifted", "widened", "moved", "tilted", "lifted_and_tilted"),
    "climb_1_walled": ("wall_pushed_in",),
    "walker": ("hills", "stairs_up", "up_20"),
    "cmu_02_01": ("hills", "stairs_down"),
    "cmu_01_10": ("raised_10", "lowered_10", "seat_lifted"),
    "cmu_01_06": ("raised_10", "tilted"),
    "horse": ("bent",),
}


@dataclass(frozen=True)
class Row:
    """Of one change. over: (n,) percent of frames in which a capsule is deeper by more than each of the bounds, mm.
    most: mm.  bone: of that.  jump: cm a frame beyond the source.  kept, jerk: see ``metrics``."""

    case: str
    frames: int
    over: tuple[float, ...]
    most: float
    bone: str
    kept: float | None
    jerk: tuple[float, float]
    jump: float
    unsettled: int
    held: float | None


BOUNDS = (0.0, 1.0, 5.0)


def row(scene_name: str, edit: str, frames: int = FRAMES) -> Row:
    """Solve the frames in the middle of a scene under one of its changes, and measure."""
    scene = BUILDERS[scene_name]()
    start = max(0, (len(scene.track.positions) - frames) // 2)
    track = sub_clip(scene.track, start, min(start + frames, len(scene.track.positions)))
    before, after = list(scene.environment.values()), list(scene.changed(edit).values())
    held = [joint for group in scene.effectors.values() for joint in group]
    binding = fit(track, before, np.isin(track.skeleton.names, held), scene.height)
    motion = adapt(binding, after)
    solved = JointTrack(track.skeleton, motion.positions, track.fps, track.frames)
    depths = [capsule_depths(*each, scene.height, SPACING) for each in ((track, before), (solved, after))]
    unit = scene.height / BODY
    beyond = 1000.0 * (depths[1] - np.maximum(depths[0], ALLOWED * unit)) / unit
    place = np.unravel_index(beyond.argmax(), beyond.shape)
    child = np.flatnonzero(track.skeleton.parents >= 0)[place[1]]
    over, deepest = beyond.max(axis=1) > 1000.0 * ALLOWED, beyond.argmax(axis=1)
    held = held_joints(binding)[np.arange(len(beyond)), np.flatnonzero(track.skeleton.parents >= 0)[deepest]]
    figures = measure(track, solved, before, after, scene.effectors, scene.height)
    return Row(
        f"{scene_name} {edit}",
        len(beyond),
        tuple(100.0 * float((beyond.max(axis=1) > bound).mean()) for bound in BOUNDS),
        max(float(beyond.max()), 0.0),
        track.skeleton.names[child] if beyond.max() > 0.0 else "–",
        figures["contacts_kept_pct"],
        (figures["jerk_mean_ratio"], figures["jerk_p95_ratio"]),
        100.0 * float(jumps(track.positions, motion.positions).max()) / unit,
        int((~motion.converged).sum()),
        100.0 * float(held[over].mean()) if over.any() else None,
    )


def line(found: Row) -> str:
    kept = "–" if found.kept is None else f"{found.kept:.1f}"
    over = " | ".join(f"{share:.1f}" for share in found.over)
    jerk = f"{found.jerk[0]:.2f} / {found.jerk[1]:.2f}"
    held = "–" if found.held is None else f"{found.held:.0f}"
    tail = f"{kept} | {jerk} | {found.jump:.1f} | {found.unsettled} | {held}"
    return f"| {found.case} | {found.frames} | {over} | {found.most:.1f} ({found.bone}) | {tail} |"


def page(rows: list[Row]) -> str:
    """The manual's page, Markdown."""
    head = " | ".join(f"> {bound:g} mm %" for bound in BOUNDS)
    table = [
        f"| case | frames | {head} | most mm (bone) | contacts % | jerk mean / p95 x | jump cm | unsettled | held % |",
        "|---" * (5 + len(BOUNDS) + 2) + "|",
    ]
    parts = [("Tuned on", True), ("Not looked at while tuning", False)]
    out = [
        "# Adapt: clearance",
        "",
        "Generated by `python benchmarks/clearance.py --page`; do not edit.",
        "",
        "A capsule of 5 cm lies around each bone (of a body of 1.8 m). How deep it is in its surroundings is measured "
        "apart from the solver: its axis is sampled every centimetre and each sample measured against the meshes. A "
        "capsule may be as deep as it is in the source, or 1 mm, whichever is more. The columns tell in which share of "
        "the frames any capsule is deeper than that by more than 0, 1 and 5 mm, and how much at most. What is less "
        "than a millimetre is what the solver takes for done. *Jump*: the step of a joint beyond the source's. "
        "*Held*: of the frames over 1 mm, those in which the hand or foot that is deepest is in contact. The walker on "
        "*stairs_up* has the most: its ground is bent into stairs under a stride that does not fit them, so that a "
        "foot stands on one tread with its toe on the next, and the toe's capsule passes through the edge. Contacts "
        "come before clearance, so nothing moves it; *Replaced By* puts such a foot on one tread as a whole.",
        "",
    ]
    for title, tuned in parts:
        of_part = [found for found in rows if found.case.startswith(f"{TUNED} ") == tuned]
        out += [f"## {title}", "", *table, *(line(found) for found in of_part), ""]
    return "\n".join(out)


def main() -> None:
    known = [(name, edit) for name, edits in CASES.items() for edit in edits]
    print_rows(__doc__, known, row, line, page, PAGE)


if __name__ == "__main__":
    main()
