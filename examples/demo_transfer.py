"""Transfer, from a script: a stout figure performs in his own way what a slim one does, after a few pairs of poses.

    python examples/demo_transfer.py                     two figures of our own making: walk, wave, crouch, a new clip
    python examples/demo_transfer.py --clip walk.bvh     yours: its middle is the new clip, both ends are learnt from

Needs the bpy module; `make demo` sets that up. Writes transfer.blend, the cache file beside it, and transfer.png into
the folder --out.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from dataclasses import dataclass

import numpy as np

import demo

WORKFLOW = "transfer"
PARTS = (6, 5)  # torso, head, arms, legs; where no neck shows, the head is torso
SLIM, STOUT, HIMSELF = (0.80, 0.50, 0.28), (0.16, 0.36, 0.62), (0.45, 0.45, 0.47)
COMPARED = 100  # frames, at most
ASIDE = -60.0  # degrees: where the pictures are taken from, about up from the way that is walked


def main(argv: list[str] | None = None) -> int:
    """Run the demo; 0 done, 1 failed with the reason on stderr."""
    about = "Let a stout figure perform a slim one's clip, and picture it."
    return demo.run(_demo, "transfer", about, argv, pictures=8)


def _demo(args, package: str) -> None:
    import bpy
    import panel
    from outputs import save_scene

    began = time.perf_counter()
    blend, picture = (os.path.join(args.out, name) for name in ("transfer.blend", "transfer.png"))
    bpy.context.preferences.filepaths.save_version = 0  # the file is saved twice
    people = _people(args.clip)
    settings = _chosen(people)
    panel.clear_cache(args.out)
    save_scene(blend, 1)  # the cache file lies beside it

    read = panel.timed("fit", WORKFLOW)
    print(f"Read: {settings.subjects_summary}; {read:.1f} s")
    _pair(settings, people)
    panel.press("densify", WORKFLOW)
    train = panel.timed("train", WORKFLOW)
    print(f"Learnt: {settings.learnt_summary}; {train:.1f} s")

    settings.performed, settings.use_performed_range = people.new, True
    settings.performed_start, settings.performed_end = people.frames[[0, -1]].tolist()
    panel.press("live", WORKFLOW)
    watch = _Watch(package, people)
    reports = [watch.bake(kind) for kind in ("PC2", "PCA_KEYS")]
    cache, keys = (bpy.data.objects[report["object"]] for report in reports)
    live = watch.live(cache)
    panel.press("live", WORKFLOW)
    keys.hide_viewport = keys.hide_render = True
    comparison = watch.compared(cache)
    _picture(people, cache, args, picture)
    cache.hide_viewport = cache.hide_render = True
    panel.press("live", WORKFLOW)
    save_scene(blend, 1)
    _print_report(comparison, live, reports, [picture, blend], time.perf_counter() - began)


# ---------------------------------------------------------------------------------------------------- the people


def _people(path: str | None):
    import bpy
    import subjects

    bpy.ops.wm.read_homefile(use_empty=True)
    return subjects.make_subjects() if path is None else subjects.subjects_of_clip(path)


def _chosen(people):
    """The target's settings, with subjects and clips as a user would choose them, and parts as they are suggested."""
    import bpy
    import panel

    settings = people.stout.motion_loom_transfer
    bpy.context.view_layer.objects.active = people.stout
    people.stout.select_set(True)
    settings.source = people.slim
    for clip in people.clips:
        item = settings.clips.add()
        item.source, item.target = people.slim, people.stout
        (item.source_start, item.source_end), (item.target_start, item.target_end) = clip.source, clip.target
    for settings.part_count in PARTS:
        try:
            panel.press("transfer_suggest_parts")
            break
        except demo.DemoError as error:
            print(f"Parts: {error}")
    return settings


def _pair(settings, people) -> None:
    import bpy
    import panel

    for number, clip in enumerate(people.clips):
        settings.active_clip = number
        for source, target in clip.pairs:
            bpy.context.scene.frame_set(source)
            settings.target_frame = target
            panel.press("transfer_add_pair")
        words = "  ".join(f"{source}={target}" for source, target in clip.pairs)
        print(f"Pairs: {clip.name:<8} {words}")


# ------------------------------------------------------------------------------------------------------ the work


@dataclass(frozen=True)
class Comparison:
    """off: (F,) mean distance, metres, of a result's vertices from where they are when he does it himself, each frame
    moved onto the other.  nearest: (F,) the same for the captured pose that is nearest.  went: metres over the ground,
    of the source, the result and himself.  turned: degrees, of the same."""

    off: np.ndarray
    nearest: np.ndarray
    went: tuple[float, float, float]
    turned: tuple[float, float, float]


class _Watch:
    """Measures of what the target does, live and baked."""

    def __init__(self, package: str, people):
        parts = ("transfer.run", "mesh.bake", "core.live", "core.base")
        self.run, self.bakes, self.live_runs, self.base = (
            importlib.import_module(f"{package}.workflows.{part}") for part in parts
        )
        self.people, self.settings = people, people.stout.motion_loom_transfer

    def bake(self, kind: str) -> dict:
        """Bake to a kind, as the panel is set otherwise; returns the report."""
        import bpy

        self.settings.bake_kind = kind
        return self.base.run_to_end(
            self.run.bake_steps(bpy.context, self.people.stout, self.bakes.options_of(self.settings))
        )

    def live(self, baked) -> tuple[float, float]:
        """Largest difference of what is live from what was baked, metres, and what live takes at a frame, ms."""
        import panel

        return panel.live_against(self.live_runs, self.people.stout, WORKFLOW, self.settings.live_copy, baked)

    def compared(self, baked) -> Comparison:
        people = self.people
        frames = _some(people.frames, COMPARED)
        source, result = _shapes(people.new, frames), _shapes(baked, frames)
        himself = _shapes(people.stout, frames - people.frames[0] + people.own)
        ranges = [np.arange(clip.target[0], clip.target[1] + 1) for clip in people.clips]
        captured = _shapes(people.stout, _some(np.concatenate(ranges), 4 * COMPARED))
        nearest = [min(_apart(captured, pose)) for pose in himself]
        off = [_apart(pose[None], wanted)[0] for pose, wanted in zip(result, himself, strict=True)]
        three = source, result, himself
        return Comparison(np.array(off), np.array(nearest), tuple(map(_went, three)), tuple(map(_turned, three)))


def _some(frames: np.ndarray, most: int) -> np.ndarray:
    """No more than so many of frames (F,), evenly spread, both ends among them."""
    return frames[np.unique(np.linspace(0, len(frames) - 1, most).round().astype(int))]


def _shapes(ob, frames) -> np.ndarray:
    """World vertices (F, V, 3) at frames (F,)."""
    import bpy
    import panel

    found = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame))
        found.append(panel.vertices(ob))
    return np.stack(found)


def _apart(shapes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(F,) mean distance of shapes (F, V, 3) from one (V, 3), each turned and moved onto it (Kabsch 1976)."""
    shapes, wanted = shapes - shapes.mean(axis=1, keepdims=True), wanted - wanted.mean(axis=0)
    turn = _onto(shapes, wanted)
    return np.linalg.norm(shapes @ turn - wanted, axis=2).mean(axis=1)


def _onto(shapes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """(F, 3, 3) turns of rows that bring centred shapes (F, V, 3) nearest to a centred one (V, 3)."""
    left, _, right = np.linalg.svd(np.swapaxes(shapes, 1, 2) @ wanted)
    left[..., -1] *= np.sign(np.linalg.det(left @ right))[:, None]
    return left @ right


def _went(shapes: np.ndarray) -> float:
    return float(np.linalg.norm(np.diff(shapes[[0, -1], :, :2].mean(axis=1), axis=0)))


def _turned(shapes: np.ndarray) -> float:
    """Degrees about up from the first shape to the last one, of the turn that fits best."""
    centred = shapes - shapes.mean(axis=1, keepdims=True)
    turn = _onto(centred[:1], centred[-1])[0]
    return float(np.degrees(np.arctan2(turn[0, 1] - turn[1, 0], turn[0, 0] + turn[1, 1])))


# --------------------------------------------------------------------------------------------------- the picture


def _picture(people, baked, args, path: str) -> None:
    """The source, the result, and the target as he does it himself, at the same moments."""
    import outputs
    import strip
    from shapes import add_grid

    frames = people.frames[np.linspace(0, len(people.frames) - 1, args.pictures + 2).round().astype(int)[1:-1]]
    own = frames - people.frames[0] + people.own
    rows = (
        ("the slim one", people.new, frames, SLIM),
        ("the stout one", baked, frames, STOUT),
        ("as he does it himself", people.stout, own, HIMSELF),
    )
    places = [_places(ob, row) for _, ob, row, _ in rows]
    ground = min(float(_shapes(ob, row)[..., 2].min()) for _, ob, row, _ in rows)
    every = np.concatenate(places)
    lo, hi = every.min(axis=0) - 3.0, every.max(axis=0) + 3.0
    floor = add_grid("Floor", (np.floor(lo[0]), np.ceil(hi[0])), (np.floor(lo[1]), np.ceil(hi[1])), 0.5)
    floor.location.z = ground
    strip.checker(floor, (0.30, 0.33, 0.29), (0.40, 0.43, 0.38), 0.25)
    studio = strip.Studio(ASIDE, 1.2 * people.height, (args.width, round(1.25 * args.width)), args.samples)
    bodies = {people.slim, people.stout, people.new, baked}
    pictures = []
    for (title, ob, row, colour), place in zip(rows, places, strict=True):
        strip.paint(ob, colour)  # the stout one's mesh and the baked one are two
        for other in bodies:
            other.hide_render = other is not ob
        pictures.append(studio.row(row.tolist(), place, title))
    for other in bodies:
        other.hide_render = False
    strip.paint(people.stout, STOUT)
    outputs.save_picture(strip.tile(pictures), path)
    studio.close()


def _places(ob, frames) -> np.ndarray:
    """(F, 3) what to look at: the middle of it, at one height."""
    shapes = _shapes(ob, frames)
    found = (shapes.min(axis=1) + shapes.max(axis=1)) / 2.0
    found[:, 2] = shapes[..., 2].min() + 0.48 * np.ptp(shapes[..., 2])
    return found


def _print_report(found: Comparison, live, reports: list[dict], names: list[str], seconds: float) -> None:
    cache, keys = reports
    print(f"\n  {'':<22}{'source':>8}{'target':>8}{'himself':>9}")
    for name, unit, values in (("went", "m", found.went), ("turned", "degrees", found.turned)):
        digits = 2 if unit == "m" else 0
        numbers = [f"{value:.{digits}f}" for value in values]
        print(f"  {name + ', ' + unit:<22}{numbers[0]:>8}{numbers[1]:>8}{numbers[2]:>9}")
    off, nearest = 1e3 * found.off, 1e3 * found.nearest
    print(f"\n  poses off, mean                         {off.mean():.1f} mm, at most {off.max():.1f}")
    print(f"  nearest captured pose off, mean         {nearest.mean():.1f} mm")
    print(f"  live vs cache file, largest difference  {live[0]:.1e} m")
    print(f"  playback                                {live[1]:.2f} ms a frame")
    print(f"  cache file                              {cache['bytes'] / 1e6:.1f} MB, {cache['seconds']:.1f} s")
    print(
        f"  weighted shape keys                     {keys['bytes'] / 1e6:.1f} MB, {keys['seconds']:.1f} s, at most "
        f"{1e3 * keys['error_max']:.1f} mm off"
    )
    print("\n  " + "\n  ".join(names) + f"\n  {seconds:.0f} s in all")


if __name__ == "__main__":
    sys.exit(main())
