"""Adapt on a control rig, from a script: a default Rigify human walks over hills and sits on a raised seat.

    python examples/demo_controls.py

It has a motion of its own, also where --clip names one: keyed on the rig's controls, legs in IK. The result is keyed on
the same controls, and once more on the FK controls of all limbs. Needs the bpy module with the Rigify add-on; `make
demo` sets that up. Writes controls.blend, which holds both results, and controls.png into the folder --out.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import time
from pathlib import Path

import demo

SKIN_FK = (0.55, 0.62, 0.30)


def main(argv: list[str] | None = None) -> int:
    """Run the demo; 0 done, 1 failed with the reason on stderr."""
    return demo.run(_demo, "controls", "Adapt a walk on a generated rig's controls and picture it.", argv, pictures=9)


def _demo(args, package: str) -> None:
    import bpy
    import outputs
    import rigify_walker
    import show
    import strip

    from benchmarks._rigify import NoRigifyError

    began = time.perf_counter()
    modules = ("environment.bind", "adapt.run", "core.registry")
    binding, adapt, registry = (importlib.import_module(f"{package}.workflows.{name}") for name in modules)
    workflow = registry.by_id("adapt")
    with tempfile.TemporaryDirectory() as folder:
        try:
            rig = rigify_walker.make_walker(Path(folder))
        except NoRigifyError as error:
            print(f"Nothing to show: {error}")
            return
    course, scene = rigify_walker.make_course(), bpy.context.scene
    strip.checker(course[0], show.DARK, show.LIGHT)
    strip.paint(course[1], show.STONE)
    pictures = show.Show(rig, rigify_walker.MOMENTS, args)

    source = rig.animation_data.action
    bound = binding.bind_rig(bpy.context, rig, workflow, course, scene.frame_start, scene.frame_end)
    print(f"Bind: {bound['bound']}")
    rows = [pictures.row("as it was made")]
    rigify_walker.change_course(course)
    rows.append(pictures.row("as made, in the new scene", show.GREY))
    for write_to, colour in (("AS_KEYED", show.SKIN), ("FK", SKIN_FK)):
        rig.motion_loom_adapt.write_to = write_to
        words = "as keyed, legs in IK" if write_to == "AS_KEYED" else "on FK controls"
        options = adapt.AdaptRigOptions(name=f"{source.name}, {words}")
        report = adapt.adapt_rig(bpy.context, rig, workflow, options)
        rows.append(pictures.row(words, colour))
        _print_report(words, report)

    picture, blend = (os.path.join(args.out, name) for name in ("controls.png", "controls.blend"))
    pictures.save(rows, picture)
    outputs.save_scene(blend, scene.frame_start)
    print(f"\n  '{source.name}' stays as it was\n  {picture}\n  {blend}\n  {time.perf_counter() - began:.0f} s in all")


def _print_report(words: str, report: dict) -> None:
    told = report["controls"]
    print(f"\n'{report['action']}', {words}:")
    print(f"  contacts kept             {report['measures']['contacts_kept_pct']:8.2f} %")
    print(
        f"  deform bones away, most   {told['away_mm']:8.2f} mm, '{told['away_bone']}' at frame {told['away_frame']:g}"
    )
    print(f"  deform bones away, mean   {told['away_mean_mm']:8.2f} mm")
    print(f"  turned otherwise, most    {told['turned_deg']:8.2f} degrees, '{told['turned_bone']}'")
    print(f"  evaluations a frame       {told['evaluations_per_frame']:8.1f}")


if __name__ == "__main__":
    sys.exit(main())
