"""What of Map is rendered and drawn over the viewport."""

import threading

import bpy
import driving as ui
import map_cases as cases
import numpy as np
from driving import Session
from map_cases import FRAME, LIVE, SCRIPT, copy, follows, opened, settings, status, target, wanted, went_live
from mesh_script import EXACT


def render(session: Session):
    """Renders show the map's frames with the interface locked; without, the status says what to do."""
    yield from went_live(session)
    scene = ui.make_camera("frame_")
    for engine in ("BLENDER_WORKBENCH", "CYCLES"):
        scene.render.engine = engine
        if engine == "CYCLES":
            scene.cycles.samples, scene.cycles.device = 1, "CPU"
            scene.cycles.use_denoising = False  # not in every build; a render ends where it fails
        for lock in (True, False):
            scene.render.use_lock_interface = lock
            name = f"{engine}, {'locked' if lock else 'not locked'}"
            rendered = yield from _rendered(scene, [FRAME + 2, FRAME + 5])
            worst = max((ui.gap(there, wanted(frame)) for frame, there in rendered), default=np.inf)
            in_thread = False in ON_MAIN
            print(f"{name}: {len(rendered)} frames, {worst:.2g} m off, in a thread: {in_thread}", flush=True)
            note = status().note or ""
            session.check(f"{name}: all frames are rendered", len(rendered) == 2, len(rendered))
            if lock:
                session.check(f"{name}: the map's frames", worst < EXACT, f"{worst:.2g} m")
                session.check(f"{name}: no note", "Lock Interface" not in note, note)
            elif in_thread:
                session.check(f"{name}: the status says so", "Lock Interface" in note, note)
            yield from ui.only_one_window()
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
            found.append((scene.frame_current, ui.seen(bpy.data.objects[name], graph)))

    bpy.app.handlers.frame_change_post.append(at_change)
    kept = scene.frame_start, scene.frame_end, scene.frame_step
    scene.frame_start, scene.frame_end, scene.frame_step = frames[0], frames[-1], frames[1] - frames[0]
    bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    yield 0.3
    # Under load a render may not have begun by now, and between frames it is none for a moment.
    yield from ui.until(lambda: len(found) == len(frames) and not bpy.app.is_job_running("RENDER"), 90)
    bpy.app.handlers.frame_change_post.remove(at_change)
    scene.frame_start, scene.frame_end, scene.frame_step = kept
    yield 0.2
    return found


def overlays(session: Session):
    """Drawn for the target and for its live copy, at any size of the region; gone where it is not to be seen."""
    yield from opened("paired.blend")
    drawing = ui.part("panels.overlays")
    space = ui.viewport().spaces.active
    calls = []
    for name in ("_draw_one", "_draw_screen"):
        call = getattr(drawing, name)
        setattr(drawing, name, lambda *args, call=call: calls.append(1) or call(*args))

    def check(name: str, drawn: bool = True, frame: int | None = None) -> None:
        if frame is not None:
            ui.show(frame)
        calls.clear()
        ui.redraw()
        session.check(name, (len(calls) == 2) == drawn)  # in the scene, and over the region

    check("drawn for the target", frame=FRAME)
    space.overlay.show_overlays = False
    check("not without overlays", False, FRAME + 1)
    space.overlay.show_overlays = True
    check("drawn again")
    ui.choose(None)
    check("not while nothing is selected", False, FRAME + 2)
    ui.choose(target())
    space.show_region_ui, space.show_region_toolbar = True, True
    check("drawn beside the sidebar", frame=FRAME + 3)
    settings().show_pair = settings().show_scores = False
    target().update_tag()  # as a button of the panel does
    yield 0.2
    check("not when switched off", False)
    settings().show_pair = settings().show_scores = True
    yield from ui.press_until(LIVE, lambda: settings().live)
    yield 0.2
    session.check("the live copy is active", bpy.context.object == copy())
    check("drawn for the live copy")
    bpy.ops.screen.screen_full_area()
    yield 0.3
    check("drawn over the whole window")
    bpy.ops.screen.back_to_previous()
    yield 0.3
    problem = ui.part("state.overlay_problems").problem_of("map", copy())
    session.check("nothing is wrong with it", problem is None, problem or "")


RUN = (
    (
        cases.buttons, cases.escape, cases.undone, cases.two_back, SCRIPT.playback, cases.edits, cases.performed,
        SCRIPT.saving, SCRIPT.disabled, cases.deleted, cases.scenes, render, overlays,
    ),
    cases.make_file, SCRIPT.finish, cases.BUTTONS,
)  # fmt: skip
