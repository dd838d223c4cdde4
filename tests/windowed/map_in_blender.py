"""Map in the real program, with a window, pressing its buttons:

    blender --factory-startup --enable-event-simulate --python tests/windowed/map_in_blender.py [-- CASE ...]
    ... -- --pictures FOLDER buttons        what each button led to, as PNG files

Prints one line a check, "ok" or "FAILED"; exits with 0 if all were right, else with 1. Needs SciPy in that Blender's
Python (see the manifest). It maps the demo's walker onto the caterpillar, or, with MOTION_LOOM_DATA in the
environment, a dog onto a horse, in a temporary folder; nothing of the user's is touched.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples"), str(Path(__file__).parent)]

from driving import (  # noqa: E402
    Session,
    choose,
    gap,
    middle,
    only_one_window,
    part,
    press,
    redo,
    seen,
    start,
    undo,
    until,
    viewport,
    window,
)  # fmt: skip
from map_stages import Stage, make_stage  # noqa: E402
from mesh_script import EXACT, MeshScript  # noqa: E402

FOLDER = Path(tempfile.mkdtemp(prefix="motion_loom_"))
FRAME = 50
MOST_BUTTONS = 12
BUTTONS = {
    "F13": ("fit", {"workflow": "map"}), "F14": ("live", {"workflow": "map"}), "F15": ("bake", {"workflow": "map"}),
    "F16": ("map_suggest", {}), "F17": ("map_next_suggestion", {"step": 1}), "F18": ("map_add_pair", {}),
    "F19": ("live_refresh", {"workflow": "map"}), "F20": ("map_remove_pair", {}), "F21": ("map_perform", {}),
}  # fmt: skip
LEARN, LIVE, BAKE, SUGGEST, NEXT, ADD, REFRESH, REMOVE, PERFORM = BUTTONS

STAGE: list[Stage] = []


class MapScript(MeshScript):
    """The stage's target."""

    workflow, ready, frame = "map", "paired.blend", FRAME

    def target(self):
        return bpy.data.objects[STAGE[0].target]

    def own(self) -> list:
        return [self.target()]

    def wanted(self, frame: float) -> np.ndarray:
        ob, live = self.target(), part("workflows.map.follower")
        coefficients, position, heading = live.result_at(ob, np.array([frame]))
        vertices, world = live.pose_of(ob, coefficients[0], position[0], heading[0])
        return vertices @ world[:3, :3].T + world[:3, 3]

    def view(self) -> str:
        return "RIGHT" if STAGE[0].is_real else "FRONT"


SCRIPT = MapScript(FOLDER, BUTTONS, LIVE)
target, settings, copy, status, wanted = SCRIPT.target, SCRIPT.settings, SCRIPT.copy, SCRIPT.status, SCRIPT.wanted
opened, went_live, went_off, follows, is_off = (
    SCRIPT.opened, SCRIPT.went_live, SCRIPT.went_off, SCRIPT.follows, SCRIPT.is_off,
)  # fmt: skip


# --------------------------------------------------------------------------------------------------- the scene


def make_file() -> None:
    """The stage with source and target picked, nothing learnt."""
    STAGE[:] = [make_stage()]
    settings = target().motion_loom_map
    if isinstance(STAGE[0].source, bpy.types.Collection):
        settings.source_collection = STAGE[0].source
    else:
        settings.source = STAGE[0].source
    SCRIPT.original = SCRIPT.digest()
    bpy.context.scene.frame_set(FRAME)
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "picked.blend"))


def add_pair_by_buttons(*keys: str):
    """Go to a suggestion, choose the answer, and pair both."""
    for key in keys:
        yield from press(key)
        yield 0.2
    settings().target_frame = STAGE[0].answer(bpy.context.scene.frame_current_final)
    yield 0.1
    yield from press(ADD)
    yield 0.2


# --------------------------------------------------------------------------------------------------- what is so


def counts() -> tuple[int, ...]:
    data = bpy.data
    return tuple(len(each) for each in (data.objects, data.meshes, data.actions, data.shape_keys))


# --------------------------------------------------------------------------------------------------- the cases


def buttons(session: Session):
    """The whole way, with at most twelve buttons; files are kept for the other cases."""
    yield from opened("picked.blend")
    yield from session.picture("1_picked")
    pressed = [LEARN]
    yield from press(LEARN)
    yield from until(lambda: settings().clip is not None)
    session.check("learnt", settings().learnt is not None, settings().learnt_summary)
    yield 0.3
    yield from session.picture("2_learnt")
    for number, keys in enumerate(((SUGGEST,), (SUGGEST,), (SUGGEST, NEXT), (SUGGEST,)), start=1):
        yield from add_pair_by_buttons(*keys)
        pressed += [*keys, ADD]
        session.check(f"pair {number}", len(settings().pairs) == number, settings().pairs[-1].source_frame)
        if number == 1:
            yield from session.picture("3_suggested")
    yield from session.picture("4_pairs")
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "paired.blend"))
    yield 0.3
    yield from press(LIVE)
    yield from until(lambda: settings().live)
    pressed.append(LIVE)
    bpy.context.scene.frame_set(FRAME + 20)
    yield from follows(session, "live")
    yield from session.picture("5_live")
    yield from press(BAKE)
    yield from until(lambda: settings().result is not None)
    pressed.append(BAKE)
    yield 0.3
    yield from session.picture("6_baked")
    session.check("at most twelve buttons", len(pressed) <= MOST_BUTTONS, len(pressed))
    for frame in (FRAME, FRAME + 13, FRAME + 50):
        bpy.context.scene.frame_set(frame)
        yield 0.1
        distance = gap(seen(settings().result), seen(copy()))
        session.check(f"the bake is the live copy, frame {frame}", distance < EXACT, f"{distance:.2g} m")
    yield from _moves(session)
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "live.blend"))
    yield 0.2


def _moves(session: Session):
    """It changes its pose and goes somewhere."""
    shapes, places = [], []
    for frame in range(FRAME, FRAME + 60, 4):
        bpy.context.scene.frame_set(frame)
        yield 0.03
        shape = seen(copy())
        places.append(shape.mean(axis=0))
        shapes.append(shape - places[-1])
    pose = np.ptp(shapes, axis=0).max()
    session.check("its pose changes", pose > 0.02, f"{pose:.2f} m")
    gone = np.linalg.norm(np.diff(places, axis=0)[:, :2], axis=1).sum()
    session.check("it travels", gone > 0.02, f"{gone:.2f} m")


def escape(session: Session):
    """Esc during Learn and during Bake changes nothing."""
    yield from opened("picked.blend")
    before = counts(), bpy.context.scene.frame_current
    yield from press(LEARN)
    session.check("Learn is at work", part("state.live_runs").live_runs.busy)
    yield from press("ESC")
    yield 0.3
    session.check("Esc leaves it unlearnt", settings().learnt is None and settings().clip is None)
    session.check("Learn: nothing is left", (counts(), bpy.context.scene.frame_current) == before, counts())
    yield from is_off(session, "Learn, Esc")
    for live in (False, True):
        yield from went_live(session) if live else opened("paired.blend")
        before, files = (counts(), bpy.context.scene.frame_current), _cached()
        yield from press(BAKE)
        session.check("Bake is at work", settings().result is None)
        yield from press("ESC")
        yield 0.3
        session.check("Esc leaves nothing baked", settings().result is None)
        session.check("Bake: nothing is left", (counts(), bpy.context.scene.frame_current) == before, counts())
        session.check("no cache file", _cached() == files)
        yield from follows(session, "Bake, Esc") if live else is_off(session, "Bake, Esc")


def _cached() -> list[Path]:
    return sorted((FOLDER / "motion_loom_cache").glob("*"))


def undone(session: Session):
    """Undo and redo across every button: each is one step."""
    yield from opened("picked.blend")
    deeds = [
        ("learn", LEARN, lambda: settings().clip is not None),
        *((f"pair {n}", key, lambda n=n: len(settings().pairs) == n) for n, key in enumerate((SUGGEST, NEXT, NEXT), 1)),
        ("live", LIVE, lambda: settings().live),
        ("baked", BAKE, lambda: settings().result is not None),
        ("live off", LIVE, lambda: not settings().live),
        ("removed", REMOVE, lambda: len(settings().pairs) == 2),
        ("live again", LIVE, lambda: settings().live),
    ]
    states = [_state()]
    for name, key, is_so in deeds:
        if name.startswith("pair"):
            yield from press(key)
            yield 0.2
            states.append(_state())
            key = ADD
        yield from press(key)
        yield from until(is_so)
        yield 0.2
        session.check(f"{name}: done", is_so())
        states.append(_state())
    yield from SCRIPT.back_and_forth(session, _state, states)


def _state() -> tuple:
    """What buttons change. Which frame is shown is none of the user's data, undo leaves or brings it back."""
    chosen = settings()
    pairs = tuple((round(pair.source_frame, 3), round(pair.target_frame, 3)) for pair in chosen.pairs)
    names = chosen.live_copy and chosen.live_copy.name, chosen.result and chosen.result.name
    return chosen.clip is not None, pairs, chosen.suggestions, chosen.live, *names, target().hide_viewport


def two_back(session: Session):
    """Two quick undos past live on: the original shows again; redone quickly it is live again."""
    yield from went_live(session)
    bpy.ops.ed.undo_push(message="nothing")
    for _ in range(2):
        yield from press("Z", ctrl=True)
    yield from is_off(session, "two undone")
    for _ in range(2):
        yield from press("Z", ctrl=True, shift=True)
    yield from follows(session, "two redone")
    yield from went_off(session, "off")


def edits(session: Session):
    """Pairs and sliders change what is live at once; the source moved elsewhere asks for a refresh."""
    yield from went_live(session)
    bpy.context.scene.frame_set(FRAME + 5)
    yield from follows(session, "another frame")
    before = seen(copy())
    settings().pairs[1].target_frame += 5.0
    yield from follows(session, "a pair changed")
    session.check("it shows", gap(seen(copy()), before) > 1e-4)
    settings().travel_scale = 2.0
    yield from follows(session, "travels farther")
    settings().turn_ratio = -1.0
    yield from follows(session, "turns the other way")
    yield from press(REMOVE)
    yield from follows(session, "a pair removed")
    settings().pairs[0].use = False
    yield 0.3
    many = sum(pair.use for pair in settings().pairs)
    settings().pairs[1].use = False
    yield 0.3
    session.check("too few pairs are a problem", status().problem and many == 2, status().problem)
    yield from session.quiet("too few")
    settings().pairs[0].use = settings().pairs[1].use = True
    yield from follows(session, "pairs back")
    settings().travel_scale = settings().turn_ratio = 1.0
    yield from _refreshed(session)


def _refreshed(session: Session):
    for mover in _movers():
        mover.location.z += 0.05
        if mover.animation_data and mover.animation_data.action:
            mover.delta_location.z += 0.05
    bpy.ops.ed.undo_push(message="moved")
    yield from until(lambda: status().track == "SWEEP", 3)
    session.check("a refresh is offered", (status().track, status().remedy) == ("SWEEP", "REFRESH"), status())
    clip = settings().clip
    at = dict(zip("xy", middle(), strict=True))
    for key in (REFRESH, "ESC"):  # at once: it takes hardly longer than a key
        window().event_simulate(type=key, value="PRESS", **at)
        window().event_simulate(type=key, value="RELEASE", **at)
    yield 0.3
    session.check("Esc leaves it", settings().clip == clip and status().track == "SWEEP", status().track)
    yield from press(REFRESH)
    yield from until(lambda: status().track == "READY", 20)
    session.check("refreshed", status().track == "READY", status())
    yield from follows(session, "refreshed")
    yield from undo()
    yield 0.3
    session.check("undone", status().track == "SWEEP", status().track)
    yield from redo()
    yield from follows(session, "redone")


def _movers() -> list:
    source = settings().source or settings().source_collection
    return list(source.objects)[:1] if isinstance(source, bpy.types.Collection) else [source]


def performed(session: Session):
    """Poses of the target are shown one after the other; a key pairs the source as it plays with the one shown."""
    yield from went_live(session)
    before, shown = len(settings().pairs), settings().target_frame
    yield from press(PERFORM)
    yield from press("ESC")
    session.check("Esc before a pair", (len(settings().pairs), settings().target_frame) == (before, shown))
    yield from press(PERFORM)
    targets, sources = [], []
    for frame in (FRAME + 3, FRAME + 9, FRAME + 17):
        bpy.context.scene.frame_set(frame)
        yield 0.1
        targets.append(settings().target_frame)
        sources.append(frame)
        yield from press("RET")
    yield from press("BACK_SPACE")
    yield from press("ESC")
    new = [(pair.source_frame, pair.target_frame) for pair in settings().pairs[before:]]
    session.check("three pairs", new == list(zip(sources, targets, strict=True)) and len(set(targets)) == 3, new)
    yield from follows(session, "after performing")
    yield from undo()
    session.check("one step of undo", len(settings().pairs) == before, len(settings().pairs))
    yield from redo()
    session.check("redone", len(settings().pairs) == before + 3)
    yield from session.quiet("performed")


def deleted(session: Session):
    """The live copy is deleted: that is said, undone, and mended by switching off and on."""
    for way in ("undo", "button", "redo"):
        yield from went_live(session)
        choose(copy())
        bpy.ops.object.delete()
        bpy.ops.ed.undo_push(message="deleted")
        yield 0.3
        session.check(f"{way}: it says so", status().problem and "deleted" in status().problem, status())
        yield from session.quiet(f"{way}: deleted")
        if way == "button":
            choose(target())
            yield from went_off(session, "off after deleting")
            yield from press(LIVE)
            yield from until(lambda: settings().live)
            yield from follows(session, "on after deleting")
            continue
        yield from undo()
        yield from follows(session, "deleting undone")
        if way == "redo":
            yield from redo()
            yield 0.3
            session.check("deleted again", status() and status().problem, status())
            yield from undo()
            yield from follows(session, "undone again")


def scenes(session: Session):
    """Another scene in the window and back; two windows, one with each."""
    yield from went_live(session)
    first = bpy.context.scene
    second = bpy.data.scenes.new("Another")
    window().scene = second
    yield 0.3
    second.frame_set(FRAME + 3)
    yield from session.quiet("another scene")
    window().scene = first
    yield 0.3
    bpy.context.scene.frame_set(FRAME + 4)
    yield from follows(session, "back")
    bpy.ops.wm.window_new_main()
    yield 0.3
    bpy.context.window_manager.windows[1].scene = second
    yield 0.3
    bpy.context.scene.frame_set(FRAME + 8)
    yield from follows(session, "another scene beside it")
    yield from only_one_window()
    full = bpy.data.scenes
    with bpy.context.temp_override(window=window()):
        bpy.ops.scene.delete() if len(full) > 1 and bpy.context.scene == second else full.remove(second)
    yield from follows(session, "the other scene deleted")


def render(session: Session):
    """Renders show the map's frames with the interface locked; without, the status says what to do."""
    yield from went_live(session)
    scene = bpy.context.scene
    _make_camera(scene)
    for engine in ("BLENDER_WORKBENCH", "CYCLES"):
        scene.render.engine = engine
        if engine == "CYCLES":
            scene.cycles.samples, scene.cycles.device = 1, "CPU"
            scene.cycles.use_denoising = False  # not in every build; a render ends where it fails
        for lock in (True, False):
            scene.render.use_lock_interface = lock
            name = f"{engine}, {'locked' if lock else 'not locked'}"
            rendered = yield from _rendered(scene, [FRAME + 2, FRAME + 5])
            worst = max((gap(there, wanted(frame)) for frame, there in rendered), default=np.inf)
            in_thread = False in ON_MAIN
            print(f"{name}: {len(rendered)} frames, {worst:.2g} m off, in a thread: {in_thread}", flush=True)
            note = status().note or ""
            session.check(f"{name}: all frames are rendered", len(rendered) == 2, len(rendered))
            if lock:
                session.check(f"{name}: the map's frames", worst < EXACT, f"{worst:.2g} m")
                session.check(f"{name}: no note", "Lock Interface" not in note, note)
            elif in_thread:
                session.check(f"{name}: the status says so", "Lock Interface" in note, note)
            yield from only_one_window()
            yield from follows(session, name)


ON_MAIN: list[bool] = []  # whether the handler of each frame was called by the main thread


def _rendered(scene, frames: list[int]):
    """(frame, world vertices) of each frame that was rendered."""
    found = []
    ON_MAIN.clear()
    name = copy().name

    def at_change(scene, graph):
        if graph.mode == "RENDER":
            ON_MAIN.append(threading.current_thread() is threading.main_thread())
            graph.update()  # as Blender does next: with what the handlers before this one wrote
            found.append((scene.frame_current, seen(bpy.data.objects[name], graph)))

    bpy.app.handlers.frame_change_post.append(at_change)
    kept = scene.frame_start, scene.frame_end, scene.frame_step
    scene.frame_start, scene.frame_end, scene.frame_step = frames[0], frames[-1], frames[1] - frames[0]
    bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    yield 0.3
    # Under load a render may not have begun by now, and between frames it is none for a moment.
    yield from until(lambda: len(found) == len(frames) and not bpy.app.is_job_running("RENDER"), 90)
    bpy.app.handlers.frame_change_post.remove(at_change)
    scene.frame_start, scene.frame_end, scene.frame_step = kept
    yield 0.2
    return found


def _make_camera(scene) -> None:
    scene.render.resolution_x = scene.render.resolution_y = 64
    scene.render.filepath = str(FOLDER / "frame_")
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (4, -12, 1), (1.5, 0, 0)
    scene.collection.objects.link(camera)
    scene.camera = camera


def overlays(session: Session):
    """Drawn for the target and for its live copy, at any size of the region; gone where it is not to be seen."""
    yield from opened("paired.blend")
    drawing = part("panels.overlays")
    space = viewport().spaces.active

    calls = []
    for name in ("_draw_one", "_draw_screen"):
        setattr(drawing, name, _counted(getattr(drawing, name), calls))

    def is_drawn() -> bool:
        calls.clear()
        _redraw()
        return len(calls) == 2  # in the scene, and over the region

    bpy.context.scene.frame_set(FRAME)
    session.check("drawn for the target", is_drawn())
    space.overlay.show_overlays = False
    bpy.context.scene.frame_set(FRAME + 1)
    session.check("not without overlays", not is_drawn())
    space.overlay.show_overlays = True
    session.check("drawn again", is_drawn())
    choose(None)
    bpy.context.scene.frame_set(FRAME + 2)
    session.check("not while nothing is selected", not is_drawn())
    choose(target())
    space.show_region_ui, space.show_region_toolbar = True, True
    bpy.context.scene.frame_set(FRAME + 3)
    session.check("drawn beside the sidebar", is_drawn())
    settings().show_pair = settings().show_scores = False
    target().update_tag()  # as a button of the panel does
    yield 0.2
    session.check("not when switched off", not is_drawn())
    settings().show_pair = settings().show_scores = True
    yield from press(LIVE)
    yield from until(lambda: settings().live)
    yield 0.2
    session.check("the live copy is active", bpy.context.object == copy())
    session.check("drawn for the live copy", is_drawn())
    bpy.ops.screen.screen_full_area()
    yield 0.3
    session.check("drawn over the whole window", is_drawn())
    bpy.ops.screen.back_to_previous()
    yield 0.3
    problem = part("state.overlay_problems").problem_of("map", copy())
    session.check("nothing is wrong with it", problem is None, problem or "")
    yield from _cost(session, drawing)


def _counted(call, calls: list):
    def counted(*args):
        calls.append(call)
        return call(*args)

    return counted


def _redraw() -> None:
    bpy.ops.wm.redraw_timer(type="DRAW_WIN", iterations=1)


def _cost(session: Session, drawing):
    """Milliseconds of the overlay's callbacks, at new frames and at the same one, as the view turns."""
    spent, parts, made = [], {}, 0.0
    workflow = part("workflows.core.registry").by_id("map")
    workflow.overlay = _timed(workflow.overlay, parts.setdefault("arrays", []))
    buffers = parts.setdefault("buffers", [])
    for name in ("_batches", "_screen_batches"):
        setattr(drawing, name, _timed(getattr(drawing, name), buffers))
    adds = bpy.types.SpaceView3D.draw_handler_add
    for handle in drawing.session.handles:
        bpy.types.SpaceView3D.draw_handler_remove(handle, "WINDOW")

    calls = (drawing._draw, "POST_VIEW"), (drawing._draw_over, "POST_PIXEL")
    drawing.session.handles = tuple(adds(_timed(call, spent), (), "WINDOW", kind) for call, kind in calls)
    for name, step in (("a new frame", 1), ("the same frame", 0)):
        _redraw()
        for times in (spent, *parts.values()):
            times.clear()
        for number in range(20):
            if step:
                bpy.context.scene.frame_set(FRAME + number)
            _redraw()
        costs = {part: statistics.median(times or [0.0]) for part, times in parts.items()}
        both = map(sum, zip(spent[::2], spent[1::2], strict=False))
        costs["in all, with the drawing itself"] = statistics.median(both)
        print(f"overlay at {name}, ms:", ", ".join(f"{part} {cost:.1f}" for part, cost in costs.items()), flush=True)
        made = made if made else costs["arrays"] + costs["buffers"]
    yield 0.05
    session.check("making what is new is cheap", made < 20, f"{made:.1f} ms")


def _timed(call, spent: list[float]):
    def timed(*args):
        began = time.perf_counter()
        try:
            return call(*args)
        finally:
            spent.append(1000.0 * (time.perf_counter() - began))

    return timed


CASES = (
    buttons, escape, undone, two_back, SCRIPT.playback, edits, performed, SCRIPT.saving, SCRIPT.disabled, deleted,
    scenes, render, overlays,
)  # fmt: skip


start(CASES, make_file, SCRIPT.finish, FOLDER, BUTTONS)
