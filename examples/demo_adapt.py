"""Adapt, from a script: a walk follows its changed surroundings, and a strip of pictures shows it.

    python examples/demo_adapt.py                     a scene of our own making
    python examples/demo_adapt.py --clip walk.bvh     a clip of yours, with stones put under its feet

Needs the bpy module; `make demo` sets that up. Writes adapt.blend and adapt.png into the folder --out.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

MEASURES = (
    ("contacts_kept_pct", "contacts kept", "%"),
    ("penetration_pct", "frames with penetration", "%"),
    ("penetration_original_pct", "  the same before the change", "%"),
    ("clearance_lost_pct", "frames with clearance lost", "%"),
    ("jerk_mean_ratio", "jerk, mean", "x"),
    ("jerk_p95_ratio", "jerk, 95th percentile", "x"),
)


def main(argv: list[str] | None = None) -> int:
    """Run the demo; 0 done, 1 failed with the reason on stderr."""
    args = _parser().parse_args(argv)
    import checkout

    try:
        package = checkout.enable()
        import clip

        errors = importlib.import_module(f"{package}.solvers.errors")
    except ImportError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    try:
        os.makedirs(args.out, exist_ok=True)
        _demo(args, importlib.import_module(f"{package}.workflows.adapt"))
    except (clip.ClipError, errors.MotionLoomError, OSError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Adapt a walk to changed surroundings and picture it.")
    parser.add_argument("--clip", default=os.environ.get("CLIP") or None, help="a BVH file to use instead")
    parser.add_argument("--out", default=str(ROOT / "demo"), help="folder for adapt.blend and adapt.png")
    parser.add_argument("--pictures", type=int, default=8, help="a row")
    parser.add_argument("--width", type=int, default=224, help="of one picture, in pixels")
    parser.add_argument("--samples", type=int, default=12, help="a pixel")
    return parser


def _demo(args, adapt) -> None:
    import bpy

    began = time.perf_counter()
    bpy.ops.wm.read_homefile(use_empty=True)
    rig, course, change, moments = _own_scene() if args.clip is None else _scene_of(args.clip)
    scene = bpy.context.scene
    show = _Show(rig, moments, args)

    source = rig.animation_data.action
    bound = adapt.bind_rig(bpy.context, rig, course, scene.frame_start, scene.frame_end)
    print(f"Bind: {bound['bound']}")
    before = show.row("as it was made", (0.80, 0.50, 0.28))
    change(course)
    unadapted = show.row("as made, in the new scene", (0.45, 0.45, 0.47))
    report = adapt.adapt_rig(bpy.context, rig, adapt.AdaptRigOptions(name=f"{source.name} adapted"))
    after = show.row("adapted", (0.80, 0.50, 0.28))

    picture, blend = (os.path.join(args.out, name) for name in ("adapt.png", "adapt.blend"))
    show.save([before, unadapted, after], picture)
    scene.frame_set(scene.frame_start)
    with show.strip.quiet():
        bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath(blend), check_existing=False)
    _print_report(report, [source.name, picture, blend], time.perf_counter() - began)


def _own_scene():
    import strip
    import walker

    rig, course = walker.make_walker(), walker.make_course()
    colours = ((0.16, 0.28, 0.46), (0.16, 0.28, 0.46), (0.36, 0.20, 0.11), (0.50, 0.10, 0.08))
    strip.checker(course[0], (0.30, 0.33, 0.29), (0.40, 0.43, 0.38))
    for ob, colour in zip(course[1:], colours, strict=True):
        strip.paint(ob, colour)
    return rig, course, walker.change_course, walker.MOMENTS


def _scene_of(path: str):
    import bpy
    import clip
    import strip

    (rig, height), scene = clip.load(path), bpy.context.scene
    course = clip.make_ground(rig, height)
    strip.checker(course[0], (0.30, 0.33, 0.29), (0.40, 0.43, 0.38))
    for ob in course[1:]:
        strip.paint(ob, (0.16, 0.28, 0.46))
    return rig, course, clip.change_ground, range(scene.frame_start, scene.frame_end + 1)


class _Show:
    """The rows of the strip: the same moments, seen from the same places."""

    def __init__(self, rig, moments, args):
        import bpy
        import numpy as np
        import strip

        self.strip, self.body = strip, next(ob for ob in rig.children if ob.type == "MESH")
        scene = bpy.context.scene
        self.frames = [moments[k] for k in np.linspace(0, len(moments) - 1, args.pictures).round().astype(int)]
        self.places = []
        for frame in self.frames:
            scene.frame_set(frame)
            bones = [rig.pose.bones[group.name] for group in self.body.vertex_groups]
            corners = np.array([rig.matrix_world @ bone.head for bone in bones])
            self.places.append((corners.min(axis=0) + corners.max(axis=0)) / 2.0)
        way = self.places[-1] - self.places[0]
        side = np.degrees(np.arctan2(way[1], way[0])) - 70.0
        self.studio = strip.Studio(side, size=(args.width, round(1.5 * args.width)), samples=args.samples)

    def row(self, title: str, colour):
        self.strip.paint(self.body, colour)
        return self.studio.row(self.frames, self.places, title)

    def save(self, rows, path: str) -> None:
        self.strip.save(self.strip.tile(rows), path)
        self.studio.close()


def _print_report(report: dict, names: list[str], seconds: float) -> None:
    source, picture, blend = names
    print(f"\n{report['frames']} frames adapted; '{source}' stays as it was, '{report['action']}' is new.\n")
    for key, label, unit in MEASURES:
        print(f"  {label:<32}{report['measures'][key]:>8.2f} {unit}")
    print(f"\n  {picture}\n  {blend}\n  {seconds:.0f} s in all")


if __name__ == "__main__":
    sys.exit(main())
