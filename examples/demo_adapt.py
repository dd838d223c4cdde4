"""Adapt, from a script: a walk follows its changed surroundings, and a strip of pictures shows it.

    python examples/demo_adapt.py                     a scene of our own making
    python examples/demo_adapt.py --clip walk.bvh     a clip of yours, with stones put under its feet

Needs the bpy module; `make demo` sets that up. Writes adapt.blend and adapt.png into the folder --out.
"""

from __future__ import annotations

import importlib
import os
import sys
import time

import demo

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
    return demo.run(_demo, "adapt", "Adapt a walk to changed surroundings and picture it.", argv, pictures=8)


def _demo(args, package: str) -> None:
    import bpy
    import outputs
    import show

    began = time.perf_counter()
    binding, adapt = (
        importlib.import_module(f"{package}.workflows.{name}") for name in ("environment.bind", "adapt.run")
    )
    workflow = importlib.import_module(f"{package}.workflows.core.registry").by_id("adapt")
    stage = show.stage_of(args.clip)
    rig, scene = stage.rig, bpy.context.scene
    pictures = show.Show(rig, stage.changes.moments(scene), args)

    source = rig.animation_data.action
    bound = binding.bind_rig(bpy.context, rig, workflow, stage.course, scene.frame_start, scene.frame_end)
    print(f"Bind: {bound['bound']}")
    before = pictures.row("as it was made")
    stage.changes.change_course(stage.course)
    unadapted = pictures.row("as made, in the new scene", show.GREY)
    options = adapt.AdaptRigOptions(name=f"{source.name} adapted")
    report = adapt.adapt_rig(bpy.context, rig, workflow, options)
    after = pictures.row("adapted")

    picture, blend = (os.path.join(args.out, name) for name in ("adapt.png", "adapt.blend"))
    pictures.save([before, unadapted, after], picture)
    outputs.save_scene(blend, scene.frame_start)
    _print_report(report, [source.name, picture, blend], time.perf_counter() - began)


def _print_report(report: dict, names: list[str], seconds: float) -> None:
    source, picture, blend = names
    print(f"\n{report['frames']} frames adapted; '{source}' stays as it was, '{report['action']}' is new.\n")
    for key, label, unit in MEASURES:
        value = report["measures"][key]
        print(f"  {label:<32}" + ("no contact" if value is None else f"{value:>8.2f} {unit}"))
    print(f"\n  {picture}\n  {blend}\n  {seconds:.0f} s in all")


if __name__ == "__main__":
    sys.exit(main())
