"""Map, from a script: a caterpillar follows a figure that walks, leans, raises its arms and hops.

    python examples/demo_map.py                     a performance of our own making, eight pairs of poses
    python examples/demo_map.py --clip walk.bvh     a clip of yours: four pairs over one cycle of its motion

Needs the bpy module; `make demo` sets that up. Writes map.blend, the cache file that it plays, and map.png into the
folder --out.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from dataclasses import dataclass

import numpy as np

import demo

WORKFLOW = "map"
CRAWL = 96  # of the caterpillar: a frame within its crawl, when the wave is all along it
CYCLE = 4  # pairs that a cycle of the source is told by
ASIDE = 1.3  # metres from one to the next


@dataclass(frozen=True)
class Scene:
    """rig and cat: source and target.  pairs: (what it is, frame of the source, frame of the target).
    parts: name to first and last frame, of what is measured by itself.  moments: frames worth a picture."""

    rig: object
    cat: object
    pairs: list[tuple[str, float, float]]
    parts: dict[str, tuple[int, int]]
    moments: list[int]


def main(argv: list[str] | None = None) -> int:
    """Run the demo; 0 done, 1 failed with the reason on stderr."""
    return demo.run(_demo, "map", "Move a caterpillar by a figure's motion, and picture it.", argv, pictures=8)


def _demo(args, package: str) -> None:
    import bpy
    import panel
    from outputs import save_scene

    began = time.perf_counter()
    blend, picture = (os.path.join(args.out, name) for name in ("map.blend", "map.png"))
    bpy.context.preferences.filepaths.save_version = 0  # the file is saved twice
    scene = _performance() if args.clip is None else _clip(args.clip)
    settings = scene.cat.motion_loom_map
    bpy.context.view_layer.objects.active = scene.cat
    scene.cat.select_set(True)
    settings.source = scene.rig
    panel.clear_cache(args.out)
    save_scene(blend, scene.moments[0])  # the cache file lies beside it

    learn = panel.timed("fit", WORKFLOW)
    print(f"Source: {settings.clip_summary}\nTarget: {settings.learnt_summary}; {learn:.1f} s")
    for what, source, target in scene.pairs or _cycle_of_clip(package, scene.cat):
        bpy.context.scene.frame_set(round(source))
        settings.target_frame = target
        print(f"Pair: {what:<18} source {round(source):>4}, target {target:>5.1f}")
        panel.press("map_add_pair")

    panel.press("live", WORKFLOW)
    watch = _Watch(package, scene)
    reports = [watch.bake(kind) for kind in ("PC2", "PCA_KEYS")]
    cache, keys = (bpy.data.objects[report["object"]] for report in reports)
    table, live = watch.parts(scene.parts), watch.live(cache)
    panel.press("live", WORKFLOW)

    keys.hide_viewport = keys.hide_render = True
    cache.delta_location.y -= ASIDE
    scene.cat.location.y += ASIDE
    _picture(scene, cache, args, picture)
    save_scene(blend, scene.moments[0])
    _print_report(table, live, reports, [picture, blend], time.perf_counter() - began)


# ----------------------------------------------------------------------------------------------------- the scene


def _empty_file() -> None:
    import bpy

    bpy.ops.wm.read_homefile(use_empty=True)


def _performance() -> Scene:
    import gait
    import performer
    from caterpillar import PARTS, PERIOD
    from caterpillar_in_blender import add_caterpillar

    def cat_frame(part: str, offset: float) -> float:
        return 1 + PARTS[part][0] + offset

    _empty_file()
    cat, rig, at = add_caterpillar(), performer.make_performer(), performer.frame_at
    steps = 2.0 + (np.arange(CYCLE) + 0.5) * 2.0 / CYCLE  # of the walk, from one stand of the left foot to the next
    hop = performer.HOPS[0]
    pairs = [
        (f"walk {k + 1} of {CYCLE}", at(step * gait.PERIOD), cat_frame("crawl", CRAWL + PERIOD * step / 2.0))
        for k, step in enumerate(steps)
    ] + [
        ("lean to the left", at(performer.LEANS["left"]), cat_frame("bend", 84)),
        ("arms up", at(sum(performer.RAISED) / 2.0), cat_frame("lift", 43)),
        ("crouch", at(hop - 0.14), cat_frame("jump", 11)),
        ("hop", at(hop + performer.AIRBORNE / 2.0), cat_frame("jump", 21)),
    ]  # fmt: skip
    around = {
        "walks": (0.6, 3.8), "leans to the left": (5.8, 6.6), "leans to the right": (7.1, 7.9),
        "raises its arms": (9.0, 10.4), "hops": (hop - 0.4, performer.HOPS[1] + 1.1),
        "walks along a bend": (14.6, 18.0),
    }  # fmt: skip
    moments = (1.62, 2.16, *performer.LEANS.values(), 9.7, hop - 0.14, hop + 0.25, 17.2)
    parts = {name: (at(start), at(end)) for name, (start, end) in around.items()}
    return Scene(rig, cat, pairs, parts, [at(time) for time in moments])


def _clip(path: str) -> Scene:
    import bpy
    import clip
    from caterpillar import FPS, PARTS
    from caterpillar_in_blender import add_caterpillar

    _empty_file()
    rig, _ = clip.load(path)
    scene = bpy.context.scene
    start, end, fps = scene.frame_start, scene.frame_end, scene.render.fps / scene.render.fps_base
    cat = add_caterpillar(fps=fps)
    scene.frame_start, scene.frame_end = start, end
    settings = cat.motion_loom_map
    settings.use_source_range, settings.source_start, settings.source_end = True, start, end
    settings.use_target_range, settings.target_end = True, int(PARTS["crawl"][1] * fps / FPS)
    moments = np.linspace(start, end, 10)[1:-1].round().astype(int).tolist()
    return Scene(rig, cat, [], {"the clip": (start, end)}, moments)


def _cycle_of_clip(package: str, cat) -> list[tuple[str, float, float]]:
    """Pairs that spread one cycle of the source over one of the crawl, from the frame that Suggest names first."""
    import bpy
    import panel
    from caterpillar import FPS, PERIOD

    model = importlib.import_module(f"{package}.workflows.map.model")
    clip, cycle = model.clip_of(cat), _cycle(model.source_track_of(cat).features)
    print(f"One cycle of the clip takes {cycle / clip.fps:.2f} s")
    panel.press("map_suggest")
    first = max(min(bpy.context.scene.frame_current, clip.frames[-1] - cycle), clip.frames[0])
    return [
        (f"cycle {k + 1} of {CYCLE}", first + share * cycle, 1 + (CRAWL + share * PERIOD) * clip.fps / FPS)
        for k, share in enumerate(np.arange(CYCLE) / CYCLE)
    ]


def _cycle(features: np.ndarray) -> int:
    """Frames after which features (F, P) are for the first time more alike again than they were; all where never."""
    lags = range(1, 3 * len(features) // 4)
    unlike = np.array([((features[lag:] - features[:-lag]) ** 2).sum(axis=1).mean() for lag in lags])
    after, before = np.append(unlike[1:], np.inf), np.maximum.accumulate(unlike)
    alike = np.flatnonzero((unlike < after) & (unlike < 0.95 * before))
    return lags[alike[0]] if alike.size else len(features) - 1


# ------------------------------------------------------------------------------------------------------ the work


@dataclass(frozen=True)
class Part:
    """What both did over some frames. went: metres from its first to its last one, of source and target.  turned:
    degrees, of both.  low, high: the least and the greatest height of the target's lowest point, metres."""

    name: str
    went: tuple[float, float]
    turned: tuple[float, float]
    low: float
    high: float


class _Watch:
    """Measures of what the target does, live and baked."""

    def __init__(self, package: str, scene: Scene):
        parts = ("map.model", "map.run", "mesh.bake", "core.live", "core.base")
        self.model, self.run, self.bakes, self.live_runs, self.base = (
            importlib.import_module(f"{package}.workflows.{part}") for part in parts
        )
        self.scene, self.settings = scene, scene.cat.motion_loom_map

    def bake(self, kind: str) -> dict:
        """Bake to a kind, as the panel is set otherwise; returns the report."""
        import bpy

        self.settings.bake_kind = kind
        return self.base.run_to_end(
            self.run.bake_steps(bpy.context, self.scene.cat, self.bakes.options_of(self.settings))
        )

    def parts(self, parts: dict[str, tuple[int, int]]) -> list[Part]:
        target, track = self.model.target_of(self.scene.cat), self.model.track_of(self.scene.cat)
        source, clip = self.model.source_track_of(self.scene.cat), self.model.clip_of(self.scene.cat)
        found = []
        for name, frames in parts.items():
            rows = slice(*(int(frame - clip.frames[0]) for frame in frames))
            shapes = np.stack([target.space.vertices_of(row) for row in track.coefficients[rows]])
            low = np.maximum(shapes[..., 2].min(axis=1) + target.place[2, 3], target.floor)  # Stay Above Ground
            went = tuple(
                float(np.linalg.norm(way[rows][-1] - way[rows][0])) for way in (source.translation, track.positions)
            )
            turned = tuple(
                float(np.degrees(yaw[rows][-1] - yaw[rows][0]).round()) + 0.0 for yaw in (source.yaw, track.headings)
            )
            found.append(Part(name, went, turned, float(low.min()), float(low.max())))
        return found

    def live(self, baked) -> tuple[float, float]:
        """Largest difference of what is live from what was baked, metres, and what live takes at a frame, ms."""
        import panel

        return panel.live_against(self.live_runs, self.scene.cat, WORKFLOW, self.settings.live_copy, baked)


# --------------------------------------------------------------------------------------------------- the picture


def _picture(scene: Scene, cat, args, path: str) -> None:
    """The source above, the target below, at the same moments and seen from the same side."""
    import bpy
    import outputs
    import show
    import strip
    from panel import vertices
    from shapes import add_grid

    frames = [scene.moments[k] for k in np.linspace(0, len(scene.moments) - 1, args.pictures).round().astype(int)]
    body = show.body_of(scene.rig)
    places, tall = {ob: [] for ob in (body, cat)}, 0.0
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        for ob, found in places.items():
            points = vertices(ob)
            found.append((points.min(axis=0) + points.max(axis=0)) / 2.0)
            tall = max(tall, float(points[:, 2].max()))
    places = {ob: np.array(found) for ob, found in places.items()}
    places[body][:, 2], places[cat][:, 2] = 0.48 * tall, 0.28
    every = np.concatenate(list(places.values()))
    lo, hi = every.min(axis=0) - 4.0, every.max(axis=0) + 4.0
    floor = add_grid("Floor", (np.floor(lo[0]), np.ceil(hi[0])), (np.floor(lo[1]), np.ceil(hi[1])), 0.5)
    strip.checker(floor, (0.30, 0.33, 0.29), (0.40, 0.43, 0.38), 0.25)
    strip.paint(body, show.SKIN)
    studio = strip.Studio(-50.0, 1.08 * tall, (args.width, round(1.4 * args.width)), args.samples)
    rows = [_row(scene, cat, studio, frames, places[body], "the source", [scene.cat, cat])]
    studio.reframe(1.15, (args.width, round(0.85 * args.width)))
    studio.tilt = np.radians(22.0)
    rows.append(_row(scene, cat, studio, frames, places[cat], "the caterpillar", [scene.cat, body]))
    outputs.save_picture(strip.tile(rows), path)
    studio.close()


def _row(scene: Scene, cat, studio, frames, places, title: str, hidden) -> list[np.ndarray]:
    for ob in hidden:
        ob.hide_render = True
    pictures = studio.row(frames, places, title)
    for ob in hidden:
        ob.hide_render = False
    return pictures


def _print_report(table: list[Part], live, reports: list[dict], names: list[str], seconds: float) -> None:
    print(f"\n  {'':<22}{'went, m':>16}{'turned, degrees':>18}{'lowest point, m':>20}")
    print(f"  {'':<22}{'source':>8}{'target':>8}{'source':>10}{'target':>8}{'least':>12}{'most':>8}")
    for part in table:
        print(
            f"  {part.name:<22}{part.went[0]:>8.2f}{part.went[1]:>8.2f}{part.turned[0]:>10.0f}{part.turned[1]:>8.0f}"
            f"{part.low:>12.3f}{part.high:>8.3f}"
        )
    cache, keys = reports
    print(f"\n  live vs cache file, largest difference  {live[0]:.1e} m")
    print(f"  playback                                {live[1]:.2f} ms a frame")
    print(f"  cache file                              {cache['bytes'] / 1e6:.1f} MB, {cache['seconds']:.1f} s")
    print(
        f"  weighted shape keys                     {keys['bytes'] / 1e6:.1f} MB, {keys['seconds']:.1f} s, at most "
        f"{1e3 * keys['error_max']:.1f} mm off"
    )
    print(f"  confidence, mean                        {cache['confidence_mean']:.0%}")
    print("\n  " + "\n  ".join(names) + f"\n  {seconds:.0f} s in all")


if __name__ == "__main__":
    sys.exit(main())
