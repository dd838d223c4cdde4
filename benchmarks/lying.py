"""Bodies that lie on a bed or lean against a wall which is raised, tilted or moved: whether they stay on it.

``python benchmarks/lying.py`` prints a line a row; ``--case NAME ...`` chooses; ``--strip DIR`` draws each row;
``--page`` writes docs/manual/lying_measures.md and its strips.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Before NumPy comes in: a second thread makes small solves wait for each other on a busy machine.
os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1"))
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402

from benchmarks import _adapt_looks_strip as strip  # noqa: E402
from benchmarks import _adapt_speed as speed  # noqa: E402
from benchmarks import edits  # noqa: E402
from benchmarks._adapt_looks_measures import Result  # noqa: E402
from benchmarks._adapt_looks_rows import SEAT, Row  # noqa: E402
from benchmarks.datasets import Scene, data_file  # noqa: E402
from benchmarks.glb import GlbFile  # noqa: E402
from benchmarks.metrics import without_joints  # noqa: E402
from benchmarks.props import box, flat_ground  # noqa: E402
from solvers.adapt import clearance, findings  # noqa: E402
from solvers.adapt.binding import Binding, fit  # noqa: E402
from solvers.adapt.measures import compare  # noqa: E402
from solvers.adapt.solve import AdaptOptions, adapt  # noqa: E402
from solvers.core.types import JointTrack  # noqa: E402
from solvers.skeleton.solved_joints import effectors  # noqa: E402
from solvers.surface.track import SurfaceTrack  # noqa: E402

PAGE = ROOT / "docs" / "manual" / "lying_measures.md"
PICTURES = (("side", "+20 cm"), ("back", "tilted 10"), ("wall", "10 cm away"))
HEIGHT, FPS = 1.5, 60.0
# Metres of the radii of the body's bones, by the joints that they lead to, as Bind measures them on its skin.
_RADII = {"hips": 0.184, "spine": 0.184, "chest": 0.33, "head": 0.152, "upperarm": 0.152, "lowerarm": 0.108}
_RADII |= {"wrist": 0.115, "hand": 0.081, "upperleg": 0.184, "lowerleg": 0.099, "foot": 0.098, "toes": 0.108}
# What is measured, and metres and m/s of a 1.8 m body: what is nearer and slower rests; kept within the last.
PARTS = ("hips", "chest", "head", "upperarm.l", "upperarm.r")
NEAR, SLOW, KEPT = 0.42, 0.25, 0.02


@dataclass(frozen=True)
class Case:
    """A scene; what of it is moved, and how, by name.  seen: whether rules were set on it."""

    build: Callable[[], Scene]
    moved: str
    changes: dict[str, edits.Edit]
    seen: bool


def _clip(action: str, first: int = 0, held: int = 0) -> JointTrack:
    """An action from one of its frames on, with its last pose held for some more."""
    track = GlbFile(data_file("biped_rigs/kaykit/Barbarian.glb")).track(action, FPS)
    names = track.skeleton.names
    track = without_joints(track, [n for n in names if "IK" in n or n.startswith(("control", "handslot", "root"))])
    positions = np.concatenate((track.positions[first:], np.repeat(track.positions[-1:], held, axis=0)))
    return JointTrack(track.skeleton, positions, FPS, np.arange(len(positions)))


def _on_halves(name: str, track: JointTrack) -> Scene:
    """A bed in two halves that meet beyond the hips, under the trunk and under the legs."""
    joints, names = track.positions[-1], track.skeleton.names
    hips, head = (joints[names.index(joint), 1] for joint in ("hips", "head"))
    way = np.sign(head - hips)
    seam = hips - 0.12 * way
    parts = {"Bed": sorted((seam, seam + 2.0 * way)), "Foot": sorted((seam, seam - 2.0 * way))}
    environment = {"Ground": flat_ground(track.positions, -0.5)}
    for part, (near, far) in parts.items():
        environment[part] = box(part, [-1.5, near, -0.25], [1.5, far, 0.0])
    return Scene(name, track, environment, {}, HEIGHT, {"seam": seam, "way": way})


def _before_wall() -> Scene:
    """Somebody sits on the floor, with a wall that his back touches."""
    track = _clip("Sit_Floor_Idle")
    chest = track.positions[0, track.skeleton.names.index("chest")]
    wall = box("Wall", [-2.0, chest[1] + 0.3, 0.0], [2.0, chest[1] + 0.6, 2.0])
    return Scene("wall", track, {"Ground": flat_ground(track.positions), "Wall": wall}, {}, HEIGHT, {})


def _tilted(scene: Scene, degrees: float) -> edits.Edit:
    seam, way = scene.edits["seam"], scene.edits["way"]
    return edits.about((0.0, seam, 0.0), edits.turning(degrees * way, "x"))


_BUILDERS = {
    "side": lambda: _on_halves("side", _clip("Lie_Idle")),
    "back": lambda: _on_halves("back", _clip("Death_A", 40, 60)),
    "slumped": lambda: _on_halves("slumped", _clip("Death_B", 130, 40)),
}
_LIFTS = {f"{100 * metres:+.0f} cm": metres for metres in (-0.2, -0.1, 0.1, 0.2)}
_WALL = {"10 cm nearer": (0.0, -0.1, 0.0), "10 cm away": (0.0, 0.1, 0.0)}


def cases() -> dict[str, Case]:
    """All of them by name."""
    out = {}
    for name, build in _BUILDERS.items():
        scene = build()
        changes = {label: edits.lifted(metres) for label, metres in _LIFTS.items()}
        changes |= {f"tilted {degrees:g}": _tilted(scene, degrees) for degrees in (-10.0, 10.0)}
        out[name] = Case(build, "Bed", changes, name != "slumped")
    out["wall"] = Case(_before_wall, "Wall", {name: edits.moved(way) for name, way in _WALL.items()}, False)
    return out


def bound(scene: Scene) -> Binding:
    """As a rig with this skin is bound."""
    names = scene.track.skeleton.names
    radii = np.array([_RADII[name.partition(".")[0]] for name in names])
    return fit(scene.track, list(scene.environment.values()), effectors(scene.track.skeleton.parents), HEIGHT, radii)


def row(scene: Scene, case: Case, binding: Binding, change: str):
    """The figures, in percent of the frames in which each part rests and in cm; the motion, the environment then."""
    after = edits.applied(scene.environment, {case.moved: case.changes[change]})
    motion = adapt(binding, list(after.values()), AdaptOptions())
    number, scale, names = list(after).index(case.moved), binding.scale, scene.track.skeleton.names
    moved = SurfaceTrack(after[case.moved])
    now = clearance.clearances(motion.positions, [moved], clearance.REACH * scale)[0][0]
    then = binding.joint_distance
    velocity = np.linalg.norm(np.gradient(scene.track.positions, 1.0 / FPS, axis=0), axis=-1)
    rests = (then.argmin(axis=0) == number) & (then[number] < NEAR * scale) & (velocity < SLOW * scale)
    shares = {}
    for part in PARTS:
        k = names.index(part)
        frames = rests[:, k]
        kept = np.abs(now[frames, k] - then[number, frames, k]) <= KEPT * scale
        shares[part] = 100.0 * float(kept.mean()) if frames.any() else None
    found = compare(binding, motion.positions, list(after.values()), 1.0).figures()
    events = findings.find(binding, motion.positions, motion.turns, list(after.values()), 1.0)
    worst = {"jump": 100.0 * float(np.nanmax(events.jumps)), "turn": float(np.nanmax(events.turns))}
    return shares | worst | {"contacts": found["contacts_kept_pct"]}, motion, after


def _line(name: str, change: str, case: Case, figures: dict) -> str:
    cells = ["–" if value is None else f"{value:.0f}" for value in (figures[part] for part in PARTS)]
    cells += [f"{figures['jump']:.1f}", f"{figures['turn']:.0f}", f"{figures['contacts']:.1f}"]
    return f"| {name}{'' if case.seen else ' (held out)'} | {change} | " + " | ".join(cells) + " |"


def _picture(name: str, change: str) -> str:
    return f"lying_{name}_{change.replace(' ', '_').replace('+', 'up_').replace('-', 'down_')}.png"


def _draw(scene, change, motion, after, path):
    track, step = scene.track, len(motion.positions) // 2
    whole = JointTrack(track.skeleton, motion.positions, track.fps, track.frames)
    figures = {"jump_bone": "hips", "turn_bone": "hips", "jump_index": step}
    path.parent.mkdir(parents=True, exist_ok=True)
    strip.draw(Result(Row(scene.name, change, SEAT), scene, list(after.values()), whole, figures, step), path)


_FAILS = (
    "What fails: legs are too short, or trunks too stiff, to keep all of it where the bed's half goes up by 20 cm; a "
    "head turns with the trunk under it; a trunk follows a wall that goes away by less than the wall goes."
)


def _page(lines: list[str]) -> str:
    about = speed.machine()
    columns = ["case", "change", *(f"{part} %" for part in PARTS), "jump cm", "turn deg", "contacts %"]
    head = [
        "# Measures of lying and leaning",
        "",
        "Generated by `python benchmarks/lying.py --page`; do not edit. Measured on: "
        f"{about['processor']}, one thread, Python {about['python']}, NumPy {about['numpy']}.",
        "",
        "A thick-set body (1.5 m) lies on its *side*, on its *back* and *slumped* on a bed in two halves, of which "
        "the one under its trunk is raised, lowered or tilted about the seam and the one under its legs stays; before "
        "a *wall* it sits on the floor and leans back, and the wall is moved. Percent of the frames in which a part "
        "rests on what is moved that it is within 2 cm (of a body of 1.8 m) of its distance; a part that never rests "
        "there has none. *Jump* and *turn*: worst step of a joint and worst turn of a bone, a frame beyond the source. "
        "All contacts count in the last column. Rules were set on *side* and *back*. The poses hold all but still, "
        "so that a part is kept in all frames or in none.",
        "",
        "| " + " | ".join(columns) + " |",
        "|---" * len(columns) + "|",
    ]
    pictures = [f"![{name} {change}](images/{_picture(name, change)})\n" for name, change in PICTURES]
    return "\n".join([*head, *lines, "", _FAILS, "", "In the strips the source is grey.", "", *pictures])


def main() -> None:
    known = cases()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", choices=known, default=list(known))
    parser.add_argument("--strip", type=Path, metavar="DIR", help="draw each row there")
    parser.add_argument("--page", action="store_true", help="write the manual's page")
    args = parser.parse_args()
    lines = []
    for name in list(known) if args.page else args.case:
        case = known[name]
        scene = case.build()
        binding = bound(scene)
        for change in case.changes:
            figures, motion, after = row(scene, case, binding, change)
            lines.append(_line(name, change, case, figures))
            print(lines[-1], flush=True)
            if args.strip:
                _draw(scene, change, motion, after, args.strip / _picture(name, change))
            if args.page and (name, change) in PICTURES:
                _draw(scene, change, motion, after, PAGE.parent / "images" / _picture(name, change))
    if args.page:
        PAGE.write_text(_page(lines))
        print(f"Wrote {PAGE.relative_to(ROOT)}.")


if __name__ == "__main__":
    main()
