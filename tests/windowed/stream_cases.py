"""Live Stream, with a sender in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import bpy
import driving as ui
import numpy as np
from driving import FOLDER, Open, Session, part, press, redo, undo, until, viewport

ROOT = Path(__file__).resolve().parents[2]
STEPS = "stream_start", "stream_stop", "stream_record", "stream_keep"
BUTTONS = {f"F{number}": (step, {}) for number, step in enumerate(STEPS, start=13)}
START, STOP, RECORD, KEEP = BUTTONS
JOINTS, RATE = 55, 120.0
senders: list[subprocess.Popen] = []


def status():
    return part("workflows.stream.follow").status()


def open_panel() -> None:
    """Show the panel of Live Stream alone, opened."""
    panels = bpy.types.MOTION_LOOM_PT_stream, bpy.types.MOTION_LOOM_PT_bake  # from here on, to keep their order
    for panel in panels:
        bpy.utils.unregister_class(panel)
    panels[0].bl_options = set()
    for panel in panels:
        bpy.utils.register_class(panel)
    region = next(region for region in viewport().regions if region.type == "UI")
    region.active_panel_category = "Motion Loom"


def write_clip() -> None:
    """Joints on a ring that turns once in two seconds, two metres wide."""
    angles = np.arange(240)[:, None] * np.pi / 120.0 + np.arange(JOINTS) * 2.0 * np.pi / JOINTS
    places = np.stack([np.cos(angles), np.sin(angles), np.full(angles.shape, 1.0)], axis=2)
    np.savez(FOLDER / "ring.npz", positions=places, names=[f"joint {k}" for k in range(JOINTS)], fps=RATE)


def start_file() -> None:
    """Opening a file closes the splash screen, which would take the keys."""
    bpy.data.objects.remove(bpy.data.objects["Cube"])
    space = viewport().spaces.active
    space.show_region_ui = True
    space.overlay.show_floor = space.overlay.show_axis_x = space.overlay.show_axis_y = False
    ui.save("start.blend")
    bpy.ops.wm.open_mainfile(filepath=str(FOLDER / "start.blend"), load_ui=False)


def send() -> None:
    script, clip = str(ROOT / "examples" / "send_clip.py"), str(FOLDER / "ring.npz")
    python = sys.executable if "python" in Path(sys.executable).name else "python3"
    senders.append(subprocess.Popen([python, script, clip, "--loop", "--rate", str(RATE)]))


def stop_sending() -> None:
    while senders:
        senders[-1].kill()
        senders.pop().wait()


def empties() -> list:
    return [ob for ob in bpy.context.scene.objects if "motion_loom_joint" in ob]


def place() -> np.ndarray:
    return np.array(bpy.data.objects["joint 0"].matrix_world.translation)


def moves(seconds: float = 0.3):
    """Whether the first joint goes on its ring."""
    if "joint 0" not in bpy.data.objects:
        return False
    before = place()
    yield seconds
    now = place()
    return bool(np.linalg.norm(now - before) > 0.1 and abs(np.linalg.norm(now[:2]) - 1.0) < 1e-3)


def took_on() -> bool:
    """Whether all empties play an action."""
    return bool(empties()) and all(ob.animation_data and ob.animation_data.action for ob in empties())


# --------------------------------------------------------------------------------------------------------- cases


def listen(session: Session):
    """120 frames a second of 55 joints: all arrive, the empties follow."""
    open_panel()
    yield 0.5
    yield from press(START)
    session.check("listening", status() is not None)
    yield from session.quiet("nothing is sent")
    send()
    yield from until(lambda: status().counts.frames > 60, 20)
    session.check("55 empties", len(empties()) == JOINTS, len(empties()))
    yield 3.0
    counts = status().counts
    session.check("none is lost", counts.malformed == counts.dropped == 0 and counts.frames == counts.received, counts)
    session.check("the empties move", (yield from moves()))
    yield from session.picture("stream")


def undone(session: Session):
    """Undo and redo, over the moment at which the empties were made, while the stream goes on."""
    for _ in range(3):
        bpy.ops.mesh.primitive_cube_add(size=0.2)
        bpy.ops.ed.undo_push(message="cube")
        yield 0.2
    for number in range(5):
        yield from undo()
        session.check(f"undo {number + 1}: they move", (yield from moves()))
    for number in range(5):
        yield from redo()
        session.check(f"redo {number + 1}: they move", (yield from moves()))
    session.check("each once", len(empties()) == JOINTS, len(empties()))


def recording(session: Session):
    """Recorded while the timeline plays; one step of undo; it plays when listening stops."""
    scene = bpy.context.scene
    scene.frame_set(5)
    bpy.ops.screen.animation_play()
    yield from press(RECORD)
    first = status().take.first_frame
    yield 2.0
    bpy.ops.screen.animation_cancel(restore_frame=False)
    yield from press(KEEP)
    session.check("an action", "Take" in " ".join(bpy.data.actions.keys()), len(bpy.data.actions))
    yield 0.3
    session.check("the stream goes on", (yield from moves()))
    yield from undo()
    session.check("undo takes it away", not bpy.data.actions, bpy.data.actions.keys())
    yield from redo()
    session.check("redo brings it back", len(bpy.data.actions) > 0)
    session.check("the stream goes on after that", (yield from moves()))
    yield from press(STOP)
    session.check("stopped", status() is None)
    session.check("all play it", took_on())
    scene = bpy.context.scene  # undo has replaced it
    scene.frame_set(first + 10)
    before = place()
    scene.frame_set(first + 22)
    turned = np.degrees(np.arccos(np.clip(before[:2] @ place()[:2], -1.0, 1.0)))
    session.check("it turns as it was sent", abs(turned - 90.0) < 3.0, f"{turned:.1f} degrees in half a second")
    yield from press(START)
    yield 0.5
    session.check("the stream again", (yield from moves()))
    yield from undo()
    yield 0.3
    session.check("and after undo", (yield from moves()))
    yield from redo()


def render(session: Session):
    scene = bpy.context.scene
    scene.render.engine, scene.render.resolution_percentage = "BLENDER_WORKBENCH", 20
    scene.frame_start, scene.frame_end = 1, 20
    scene.render.filepath = str(FOLDER / "frame")
    bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    yield 0.2
    yield from until(lambda: not bpy.app.is_job_running("RENDER"))
    session.check("rendered", (FOLDER / "frame0020.png").exists())
    session.check("they move after it", (yield from moves()))


def rest(session: Session):
    """The sender ends."""
    stop_sending()
    yield 1.5
    yield from session.quiet("the sender has ended")
    session.check("frames a second", status().rate == 0.0, status().rate)


def files(session: Session):
    """Another file ends it; the one that was saved meanwhile plays its recording."""
    send()
    yield 0.5
    ui.save("saved.blend")
    yield 0.3
    session.check("saving disturbs nothing", (yield from moves()))
    yield Open("saved.blend")
    yield 0.5
    session.check("ended", status() is None)
    session.check("the recording plays", took_on())
    session.check("nothing moves", not (yield from moves()))


def finish(session: Session):
    """Quit while listening; the exit code tells whether that went well."""
    if session.failed:
        stop_sending()
    session.require_right()
    yield from press(START)
    yield 0.5
    stop_sending()
    print(f"all right; now it quits while listening: {status() is not None}", flush=True)
    bpy.ops.wm.quit_blender()


def prepare() -> None:
    write_clip()
    start_file()


RUN = (listen, undone, recording, render, rest, files), prepare, finish, BUTTONS
