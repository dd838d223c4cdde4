"""Adapt live in the real program, with a window, pressing its buttons:

    blender --factory-startup --enable-event-simulate --python tests/windowed/live_in_blender.py [-- CASE ...]

Prints one line a check, "ok" or "FAILED"; exits with 0 if all were right, else with 1. Needs SciPy in that Blender's
Python (see the manifest). It binds the demo's walker in a temporary folder; nothing of the user's is touched.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
import time
from pathlib import Path

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "examples"), str(Path(__file__).parent)]

from driving import (  # noqa: E402
    PACKAGE,
    Open,
    Session,
    add_buttons,
    choose,
    middle,
    move_mouse,
    only_one_window,
    part,
    press,
    redo,
    start,
    undo,
    until,
    window,
)  # fmt: skip

FOLDER = Path(tempfile.mkdtemp(prefix="motion_loom_"))
RIG, STEP = "Walker", "Slab high"
FRAME = 58  # the figure stands on the step
# A single frame knows nothing of what is smoothed over time; metres.
EXACT, ALONE = 2e-5, 0.06
STEPS = "fit", "live", "live_refresh", "live_resume", "bake", "update_binding"
BUTTONS = {f"F{number}": (step, {"workflow": "adapt"}) for number, step in enumerate(STEPS, start=13)}
BIND, LIVE, REFRESH, RESUME, BAKE, UPDATE = BUTTONS


# --------------------------------------------------------------------------------------------------- the scene


def make_scene() -> str:
    """The walker among its course, in view, not bound yet; returns the file."""
    walker = importlib.import_module("walker")
    for ob in list(bpy.data.objects):
        bpy.data.objects.remove(ob)
    rig, course = walker.make_walker(), walker.make_course()
    for ob in course:
        item = rig.motion_loom_adapt.surfaces.add()
        item.name, item.target = ob.name, ob
    bpy.context.scene.frame_set(FRAME)
    path = str(FOLDER / "walker.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def rig():
    return bpy.data.objects[RIG]


def step():
    return bpy.data.objects[STEP]


def opened(name: str = "walker.blend"):
    """Open a file and look at it from the front."""
    yield Open(str(FOLDER / name))
    bpy.ops.view3d.view_axis(type="FRONT")
    bpy.ops.view3d.view_all()
    choose(rig())
    yield 0.3


def bound():
    """A file in which the walker is bound."""
    yield from opened("bound.blend")


def went_live(session: Session):
    yield from bound()
    yield from button(LIVE)
    yield from until(lambda: settings().live)
    session.check("live is on", settings().live)


def button(key: str):
    """Press a button of the panel."""
    choose(rig())
    yield from press(key)


# --------------------------------------------------------------------------------------------------- what is so


def settings():
    return rig().motion_loom_adapt


def status():
    return part("workflows.core.live").status(rig(), "adapt")


def depsgraph():
    return bpy.context.view_layer.depsgraph


def shown(graph=None) -> np.ndarray:
    """(B, 3) world heads of all bones as they are on the screen."""
    seen = rig().evaluated_get(graph or depsgraph())
    heads = np.array([seen.pose.bones[bone.name].head for bone in rig().data.bones])
    world = np.array(seen.matrix_world)
    return heads @ world[:3, :3].T + world[:3, 3]


def adapt():
    return part("workflows.core.registry").by_id("adapt")


def solved() -> np.ndarray:
    """(F, B, 3) the same, solved afresh for the scene as it is, nothing being changed for it."""
    moment = part("workflows.core.follower").Moment(bpy.context.scene, depsgraph(), None)
    steps = adapt().follower(rig()).job(rig(), moment)
    return _heads(part("solvers.core.steps").result_of(steps).solution.results[0].motion)


def swept() -> np.ndarray:
    """As ``solved``, stepping through the frames."""
    problems, base = part("workflows.environment.problem"), part("workflows.core.base")
    solution = part("workflows.adapt.solution")
    with part("workflows.core.live").paused():
        problem = base.run_to_end(problems.gather_steps(bpy.context, rig(), adapt()))
    return _heads(part("solvers.core.steps").result_of(solution.solve_steps(problem)).results[0].motion)


def curves() -> np.ndarray:
    """(F, B, 3) what the curves of the action that plays say, at the frames of ``solved``."""
    scene, motions, actions = bpy.context.scene, part("scene.motion"), part("workflows.rig.action")
    frames = part("workflows.environment.model").stored_of(rig(), adapt()).binding.track.frames
    return _heads(motions.motion_by_curves(scene, rig(), *actions.played_action(rig()), frames, {}))


def _heads(motion) -> np.ndarray:
    return motion.joints().positions[:, : len(motion.rig.names)]


def row() -> int:
    return bpy.context.scene.frame_current - bpy.context.scene.frame_start


def source_digest() -> str:
    action = settings().source or rig().animation_data.action
    slot = action.slots[0] if bpy.app.version >= (4, 4, 0) else None
    return part("scene.live_action").keys_digest(action, slot)


def gap(one, other) -> float:
    return float(np.abs(one - other).max())


def settled(session: Session, name: str, solve=solved):
    """Wait for the track; then the pose is that of a fresh solve, nothing goes on, and the source is whole."""
    yield 0.1
    yield from until(lambda: status() is not None and (status().track in ("READY", "SWEEP") or status().problem))
    now = status()
    if not session.check(f"{name}: followed", now is not None and now.problem is None, now and now.problem or ""):
        return
    there = shown()
    wanted = solve()
    distance = gap(there, wanted[row()])
    limit = EXACT if now.track == "READY" else ALONE
    session.check(f"{name}: pose as solved afresh", distance < limit, f"{distance:.2g} m, {now.track}")
    if now.track == "READY":
        worst = gap(curves(), wanted)
        session.check(f"{name}: curves as solved afresh", worst < EXACT, f"{worst:.2g} m")
    session.check(f"{name}: source untouched", now.source_untouched and source_digest() == SOURCE[0])
    yield from session.quiet(name)


def at_source(session: Session, name: str):
    """Not live: the pose is the source's."""
    yield 0.3
    session.check(f"{name}: not live", status() is None and not settings().live)
    action = rig().animation_data.action
    session.check(f"{name}: plays the source", not action.name.endswith("(live)"), action.name)
    distance = gap(shown(), SOURCE[1][row()])
    session.check(f"{name}: pose of the source", distance < EXACT, f"{distance:.2g} m")
    session.check(f"{name}: source untouched", source_digest() == SOURCE[0])
    yield from session.quiet(name)


SOURCE: list = []  # digest of the source's keys, and its joints (F, B, 3)


def note_source() -> None:
    """The source as it is before anything is done."""
    scene, places = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        scene.frame_set(frame)
        places.append(shown())
    scene.frame_set(FRAME)
    SOURCE[:] = source_digest(), np.array(places)


# --------------------------------------------------------------------------------------------------- the cases


def bind(session: Session):
    """Bind, cancelled with Esc and then not; the file is kept for the others."""
    yield from opened()
    note_source()
    yield from button(BIND)
    yield from press("ESC")
    yield 0.2
    session.check("Esc leaves it unbound", settings().binding is None)
    yield from button(BIND)
    yield from until(lambda: settings().binding is not None)
    session.check("bound", settings().binding is not None, settings().summary)
    yield 0.3
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "bound.blend"))
    yield 0.2


def bound_again(session: Session):
    """Bind Again while live asks for what has moved; Update Binding does not, and keeps it moved."""
    yield from went_live(session)
    yield from grab(STEP, "Z", "0.12")
    yield from settled(session, "lifted")
    first = settings().binding.name
    yield from button(BIND)
    yield 0.5
    yield from session.picture("bound_again")
    yield from press("ESC")
    yield 0.5
    session.check("the question, cancelled, leaves what is bound", settings().binding.name == first)
    bpy.ops.object.select_all(action="DESELECT")
    bpy.data.objects.remove(bpy.data.objects["Slab low"])
    yield 0.3
    session.check("one button mends it", status().remedy == "UPDATE", status().problem)
    yield from session.picture("updated")
    yield from button(UPDATE)
    yield from until(lambda: settings().binding.name != first)
    yield from settled(session, "updated")
    updated, second = shown(), settings().binding.name
    away = gap(updated, SOURCE[1][row()])
    session.check("the step is still adapted to", away > 0.1, away)
    yield from button(BIND)
    yield 0.5
    yield from press("RET")
    yield from until(lambda: settings().binding.name not in (first, second))
    yield from settled(session, "bound to the set as it is")
    session.check("what is, is the original", gap(shown(), SOURCE[1][row()]) < EXACT)
    yield from undo()
    yield from settled(session, "undone")
    session.check("one step of undo", gap(shown(), updated) < EXACT, gap(shown(), updated))


def on_and_off(session: Session):
    """Live on, Esc in the middle of it, on, off."""
    yield from bound()
    actions = len(bpy.data.actions)
    yield from button(LIVE)
    session.check("it is at work", not settings().live)
    yield from press("ESC")
    yield 0.2
    session.check("Esc changes nothing", len(bpy.data.actions) == actions and bpy.context.scene.frame_current == FRAME)
    yield from at_source(session, "Esc")
    yield from button(LIVE)
    yield from until(lambda: settings().live)
    yield from settled(session, "on")
    yield from button(LIVE)
    yield from at_source(session, "off")
    session.check("nothing is left", len(bpy.data.actions) == actions, [a.name for a in bpy.data.actions])


def drag(session: Session):
    """G and the mouse: the character follows while dragging, the track comes after it."""
    yield from went_live(session)
    seen = set()
    choose(step())
    x, y = middle()
    yield from move_mouse(x, y)
    window().event_simulate(type="G", value="PRESS", x=x, y=y)
    yield 0.05
    window().event_simulate(type="G", value="RELEASE", x=x, y=y)
    yield 0.05
    before, start = shown(), step().location.z
    for number in range(1, 9):
        yield from move_mouse(x, y + number)
        seen.add(status().track)
    lift = step().location.z - start
    session.check("the step is lifted", 0.02 < lift < 0.3, f"{lift:.3f} m")
    moved = (shown() - before)[:, 2].max()
    session.check("the figure follows while dragging", moved > 0.3 * lift, f"{moved:.3f} m, {status().ms:.1f} ms")
    distance = gap(shown(), solved()[row()])
    session.check("as it will be, nearly", distance < ALONE, f"{distance:.3f} m")
    session.check("the track waits meanwhile", "WAITING" in seen, seen)
    window().event_simulate(type="LEFTMOUSE", value="PRESS", x=x, y=y + 8)
    yield 0.02
    window().event_simulate(type="LEFTMOUSE", value="RELEASE", x=x, y=y + 8)
    end = time.monotonic() + 30
    order = []
    while time.monotonic() < end:
        if not order or order[-1] != status().track:
            order.append(status().track)
        if order[-1] == "READY":
            break
        yield 0.01
    session.check("waiting, solving, ready", order[-2:] == ["SOLVING", "READY"], order)
    yield from settled(session, "dropped")
    for frame in (20, 77, 140):
        bpy.context.scene.frame_set(frame)
        yield 0.1
        session.check(f"frame {frame}", gap(shown(), solved()[row()]) < EXACT, status().track)
    # Esc puts it back.
    choose(step())
    yield from press("G")
    yield from move_mouse(x, y + 60)
    yield from press("ESC")
    yield from settled(session, "Esc while dragging")


def grab(name: str, way: str, amount: str):
    """G, an axis and a number typed, Enter: one undo step."""
    choose(bpy.data.objects[name])
    yield from press("G")
    yield from press(way)
    yield from typed(amount)


def typed(amount: str):
    """A number, and Enter."""
    for letter in amount:
        yield from press(_DIGITS[letter], unicode=letter)
    yield from press("RET")
    yield 0.1


_DIGITS = {".": "PERIOD", "-": "MINUS"} | {
    str(k): name
    for k, name in enumerate(("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"))
}


def slide(name: str, value) -> None:
    """What a slider of the panel does: the property is set, and an undo step made."""
    setattr(settings(), name, value)
    bpy.ops.ed.undo_push(message=name)


def undone(session: Session):
    """Undo and redo across every button and edit, back past the bind and forth again."""
    yield from opened()
    # What is done in a step, and whether it is live after it.
    deeds = [
        ("bind", lambda: button(BIND), False),
        ("live on", lambda: button(LIVE), True),
        ("step lifted", lambda: grab(STEP, "Z", "0.12"), True),
        ("influence", lambda: _now(lambda: slide("influence", 0.4)), True),
        ("step moved", lambda: grab(STEP, "X", "0.1"), True),
        ("influence back", lambda: _now(lambda: slide("influence", 1.0)), True),
        ("floor ignored", lambda: _now(_ignore_floor), True),
        ("refresh", lambda: button(REFRESH), True),
        ("live off", lambda: button(LIVE), False),
        ("live again", lambda: button(LIVE), True),
        ("baked", lambda: button(BAKE), None),
    ]
    states = []
    for name, deed, live in deeds:
        yield from deed()
        yield from _in_state(session, name, live)
        states.append((shown(), settings().live))
    for back in range(len(deeds) - 1, 0, -1):
        yield from undo()
        name, _, live = deeds[back - 1]
        yield from _in_state(session, f"undone to {name}", live)
        session.check(f"undone to {name}: pose as it was", gap(shown(), states[back - 1][0]) < EXACT)
    yield from undo()
    session.check("undone past the bind", settings().binding is None and not settings().live)
    yield from at_source(session, "undone past the bind")
    for forth, (name, _, live) in enumerate(deeds):
        yield from redo()
        yield from _in_state(session, f"redone {name}", live)
        session.check(f"redone {name}: pose as it was", gap(shown(), states[forth][0]) < EXACT)
    # Undone quickly, before anything could be solved.
    for _ in range(6):
        yield from press("Z", ctrl=True)
    yield from _in_state(session, "six quickly undone", True)
    for _ in range(3):
        yield from press("Z", ctrl=True, shift=True)
    yield from _in_state(session, "three quickly redone", True)


def undone_after_rest(session: Session):
    """An edit of the rig alone is undone after the track for it was written: the curves are as the rig says."""
    yield from went_live(session)
    yield from grab(STEP, "Z", "0.12")
    yield from settled(session, "lifted")
    bpy.ops.ed.undo_push(message="nothing")
    slide("influence", 0.3)
    yield from settled(session, "influence")
    yield from undo()
    session.check("influence is back", settings().influence == 1.0)
    yield from settled(session, "undone")
    yield from redo()
    session.check("influence is set", settings().influence < 0.5)
    yield from settled(session, "redone")
    session.check("no keys are taken for the user's", not settings().live_action.motion_loom_adapt.keyed)
    yield from button(LIVE)
    yield from at_source(session, "off")
    yield from undo()
    yield from settled(session, "off undone")


def _in_state(session, name, live):
    yield 0.2
    yield from until(lambda: not part("state.live_runs").live_runs.busy)
    if live:
        yield from settled(session, name)
    elif live is False:
        yield from at_source(session, name)
    else:
        session.check(f"{name}: not live", status() is None)
        session.check(f"{name}: source untouched", source_digest() == SOURCE[0])
        yield from session.quiet(name)


def _now(call):
    call()
    yield 0.1


def _ignore_floor() -> None:
    settings().surfaces[0].mode = "IGNORE"
    bpy.ops.ed.undo_push(message="mode")


def playback(session: Session):
    """Playing, and the step moved meanwhile."""
    yield from went_live(session)
    frames = set()
    bpy.ops.screen.animation_play()
    end, lifted = time.monotonic() + 30.0, False
    while time.monotonic() < end and len(frames) < 16:
        frames.add(bpy.context.scene.frame_current)
        if len(frames) == 6 and not lifted:
            step().location.z += 0.1
            lifted = True
        yield 0.02
    session.check("it plays", len(frames) == 16, f"{len(frames)} frames seen, {status().ms:.1f} ms")
    yield from until(lambda: status().track == "READY")
    session.check("the track was swapped in while playing", status().track == "READY", status().track)
    bpy.ops.screen.animation_play()
    yield from settled(session, "stopped")
    bpy.context.scene.frame_set(FRAME)
    yield from settled(session, "on the step")
    session.check("it is the moved step's", gap(shown(), SOURCE[1][row()]) > 0.05)


def resume(session: Session):
    """The user assigns the source to the live rig; Resume goes on, undone and redone."""
    yield from went_live(session)
    yield from grab(STEP, "Z", "0.1")
    yield from settled(session, "lifted")
    data, source = rig().animation_data, settings().source
    data.action = source
    if bpy.app.version >= (4, 4, 0):
        data.action_slot = source.slots[0]
    bpy.ops.ed.undo_push(message="assigned")
    yield 0.3
    session.check("it says so", status().problem and status().remedy == "RESUME", status())
    session.check("the source plays", gap(shown(), SOURCE[1][row()]) < EXACT)
    yield from session.quiet("not followed")
    yield from button(RESUME)
    yield from until(lambda: status().problem is None)
    yield from settled(session, "resumed")
    yield from undo()
    session.check("undone: it says so again", status().problem and status().remedy == "RESUME", status())
    yield from session.quiet("undone")
    yield from undo()
    yield from settled(session, "undone to lifted")
    yield from redo()
    yield from redo()
    yield from settled(session, "redone")
    yield from button(LIVE)
    yield from at_source(session, "off")


def refresh(session: Session):
    """An environment that deforms over time."""
    yield from went_live(session)
    step().shape_key_add(name="Basis")
    key = step().shape_key_add(name="High")
    for point in key.points:
        point.co.z += 0.1
    for frame, value in ((40, 0.0), (80, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    bpy.ops.ed.undo_push(message="keyed")
    bpy.context.scene.frame_set(FRAME)
    yield from until(lambda: status().track == "SWEEP")
    session.check("a refresh is offered", (status().track, status().remedy) == ("SWEEP", "REFRESH"), status())
    yield from settled(session, "deforming", swept)
    yield from button(REFRESH)
    session.check("it is at work", part("state.live_runs").live_runs.busy)
    yield from press("ESC")
    yield 0.2
    now = status().track, bpy.context.scene.frame_current
    session.check("Esc leaves all as it is", now == ("SWEEP", FRAME), now)
    yield from settled(session, "Esc", swept)
    yield from button(REFRESH)
    yield from until(lambda: status().track == "READY")
    session.check("refreshed", status().track == "READY" and bpy.context.scene.frame_current == FRAME, status())
    yield from settled(session, "refreshed", swept)
    yield from undo()
    yield from settled(session, "undone", swept)
    yield from redo()
    yield from settled(session, "redone", swept)


def edit_mode(session: Session):
    """The step's vertices are moved in Edit Mode, undone there, and it is left."""
    yield from went_live(session)
    choose(step())
    yield from press("TAB")
    session.check("in Edit Mode", bpy.context.mode == "EDIT_MESH", bpy.context.mode)
    yield from press("A")
    before = shown()
    for key in ("G", "Z"):
        yield from press(key)
    yield from typed("0.1")
    yield 0.3
    moved = (shown() - before)[:, 2].max()
    session.check("the figure follows in Edit Mode", moved > 0.05, f"{moved:.3f} m")
    yield from settled(session, "edited")
    yield from undo()
    yield from settled(session, "undone in Edit Mode")
    session.check("back again", gap(shown(), before) < EXACT, gap(shown(), before))
    yield from redo()
    yield from settled(session, "redone in Edit Mode")
    yield from press("TAB")
    yield from settled(session, "left")
    yield from undo()
    yield from settled(session, "undone to Edit Mode")
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from settled(session, "in Object Mode")
    # A face less: that is another mesh.
    choose(step())
    yield from press("TAB")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide("EXEC_DEFAULT", True)
    yield 0.3
    session.check("another topology is refused", status().problem and status().remedy == "UPDATE", status())
    yield from session.quiet("refused")
    yield from undo()
    yield from settled(session, "topology undone")
    yield from press("TAB")


def sculpt(session: Session):
    """A stroke over the floor in Sculpt Mode, and a shape key's slider."""
    yield from went_live(session)
    choose(bpy.data.objects["Floor"])
    bpy.ops.view3d.view_axis(type="TOP")
    yield 0.3
    bpy.ops.object.mode_set(mode="SCULPT")
    yield 0.5
    if bpy.context.tool_settings.sculpt.brush is not None:
        yield from _stroke(session)
    else:
        print("No stroke: this build comes without brushes", flush=True)  # some of 4.3
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from settled(session, "left")
    step().shape_key_add(name="Basis")
    key = step().shape_key_add(name="High")
    for point in key.points:
        point.co.z += 0.1
    for value in (0.3, 0.6, 1.0):
        step().data.shape_keys.key_blocks["High"].value = value
        yield 0.05
    yield from settled(session, "shape key")
    session.check("it is lifted by the key", gap(shown(), SOURCE[1][row()]) > 0.05)


def _stroke(session: Session):
    before = _vertices("Floor")
    x, y = middle()
    yield from move_mouse(x - 40, y)
    window().event_simulate(type="LEFTMOUSE", value="PRESS", x=x - 40, y=y)
    yield 0.05
    for number in range(-8, 9):
        yield from move_mouse(x + 5 * number, y)
    window().event_simulate(type="LEFTMOUSE", value="RELEASE", x=x + 40, y=y)
    yield 0.3
    change = gap(_vertices("Floor"), before)
    if not session.check("the floor was sculpted", change > 1e-4, change):
        return
    yield from settled(session, "sculpted")
    yield from undo()
    yield from settled(session, "undone in Sculpt Mode")


def _vertices(name: str) -> np.ndarray:
    mesh = bpy.data.objects[name].data
    out = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", out)
    return out.reshape(-1, 3)


def sizes(session: Session):
    """The character is scaled, then a bone of it."""
    yield from went_live(session)
    yield from press("S")
    yield from typed("0.9")
    session.check("smaller", abs(rig().scale.z - 0.9) < 1e-4, rig().scale[:])
    yield from settled(session, "scaled")
    yield from undo()
    yield from settled(session, "undone")
    yield from redo()
    yield from settled(session, "redone")
    yield from press("TAB", ctrl=True)
    if bpy.context.mode != "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    yield 0.2
    name = "shin.L" if "shin.L" in rig().data.bones else rig().data.bones[-1].name
    bpy.ops.pose.select_all(action="DESELECT")
    bone = rig().pose.bones[name]
    (bone if hasattr(bone, "select") else bone.bone).select = True
    rig().data.bones.active = rig().data.bones[name]
    bpy.ops.ed.undo_push(message="selected")
    yield from press("S")
    yield from typed("1.3")
    session.check("longer", abs(rig().pose.bones[name].scale.y - 1.3) < 1e-4, (name, rig().pose.bones[name].scale[:]))
    yield from settled(session, "bone scaled")
    yield from undo()
    yield from settled(session, "bone undone")
    # Turning a bone by hand is no input: the next frame shows what is solved.
    yield from press("R")
    yield from typed("30")
    yield 0.3
    bpy.context.scene.frame_set(FRAME)
    yield from settled(session, "bone turned")
    bpy.ops.object.mode_set(mode="OBJECT")


def scrub(session: Session):
    """Other frames are looked at while the thread solves."""
    yield from went_live(session)
    frames = np.random.default_rng(1).integers(1, 184, 400).tolist()
    step().location.z += 0.1
    seen = set()
    yield from until(lambda: status().track == "SOLVING", 5)
    while frames and status().track != "READY":
        bpy.context.scene.frame_set(frames.pop())
        seen.add(status().track)
        yield 0.02
    session.check("scrubbed while solving", "SOLVING" in seen, seen)
    for frame in (30, 58, 100):
        bpy.context.scene.frame_set(frame)
        yield from settled(session, f"frame {frame}")


def render(session: Session):
    """F12 while the track is pending: what is rendered is the track."""
    yield from went_live(session)
    scene = bpy.context.scene
    scene.render.resolution_x = scene.render.resolution_y = 64
    scene.render.filepath = str(FOLDER / "picture.png")
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (4, -12, 1), (1.5, 0, 0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    for engine, samples in (("BLENDER_WORKBENCH", 0), ("CYCLES", 1)):
        scene.render.engine = engine
        if samples:
            scene.cycles.samples, scene.cycles.device = samples, "CPU"
            scene.render.use_lock_interface = True
        step().location.z += 0.05
        yield 0.1
        was = status().track
        rendered = []

        def note(_scene, graph, rendered=rendered):
            if graph.mode == "RENDER":
                rendered.append(shown(graph))

        note.__module__ = PACKAGE  # another script's handler might move anything: each frame would have to be read
        bpy.app.handlers.frame_change_post.append(note)
        bpy.ops.render.render("INVOKE_DEFAULT")
        yield 0.2
        yield from until(lambda: not bpy.app.is_job_running("RENDER"), 60)
        bpy.app.handlers.frame_change_post.remove(note)
        session.check(f"{engine}: it was pending", was in ("WAITING", "SOLVING"), was)
        told = f"{gap(rendered[-1], solved()[row()]):.2g} m" if rendered else "nothing was rendered"
        session.check(
            f"{engine}: the track was rendered", rendered and gap(rendered[-1], solved()[row()]) < EXACT, told
        )
        yield from only_one_window()
        yield from settled(session, engine)
    scene.frame_start, scene.frame_end = 50, 53
    step().location.z -= 0.05
    yield 0.1
    bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    while True:
        step().location.z += 0.005  # edited while it renders
        yield 0.05
        if not bpy.app.is_job_running("RENDER"):
            break
    yield from only_one_window()
    scene.frame_start, scene.frame_end = 1, 183
    yield from settled(session, "after an animation")


def saving(session: Session):
    """Saved while a track is pending, and opened again."""
    yield from went_live(session)
    step().location.z += 0.1
    yield 0.05
    yield from until(lambda: status().track in ("WAITING", "SOLVING"), 2)
    was = status().track
    bpy.ops.wm.save_as_mainfile(filepath=str(FOLDER / "pending.blend"), copy=True)
    session.check("it was pending", was in ("WAITING", "SOLVING"), was)
    yield from settled(session, "saved")
    step().location.z += 0.05
    yield from until(lambda: status().track == "SOLVING", 5)
    yield from opened("pending.blend")
    yield from settled(session, "opened while another was solved")
    session.check("the step is as it was saved", gap(shown(), SOURCE[1][row()]) > 0.05)


def disabled(session: Session):
    """The extension is switched off while a thread solves, and on again."""
    yield from went_live(session)
    step().location.z += 0.1
    yield from until(lambda: status().track == "SOLVING", 5)
    session.check("it was solving", status().track == "SOLVING", status().track)
    tools = importlib.import_module("addon_utils")
    tools.disable(PACKAGE)
    yield 0.3
    session.check("it is off", not hasattr(bpy.types.Object, "motion_loom_adapt"))
    step().location.z += 0.02
    bpy.context.scene.frame_set(FRAME + 3)
    yield from session.quiet("off")
    bpy.context.scene.frame_set(FRAME)
    tools.enable(PACKAGE, default_set=True)
    add_buttons(BUTTONS)
    yield from until(lambda: status() is not None, 5)
    yield from settled(session, "on again")


def views(session: Session):
    """Two windows with two view layers, the step hidden in one; then another scene."""
    yield from went_live(session)
    scene = bpy.context.scene
    layer = scene.view_layers.new("Without the step")
    bpy.ops.wm.window_new_main()
    yield 0.3
    other = bpy.context.window_manager.windows[1]
    other.view_layer = layer
    yield 0.5
    yield from session.quiet("two view layers")
    step().location.z += 0.1
    yield from settled(session, "moved")
    second = layer.depsgraph
    session.check("the same in the other", gap(shown(second), shown()) < EXACT, gap(shown(second), shown()))
    collection = bpy.data.collections.new("Apart")
    scene.collection.children.link(collection)
    collection.objects.link(step())
    scene.collection.objects.unlink(step())
    layer.layer_collection.children["Apart"].exclude = True
    yield 0.3
    yield from settled(session, "the step is out of the other")
    step().location.z -= 0.04
    yield from settled(session, "moved where the other lacks it")
    bpy.context.scene.frame_set(77)
    yield from settled(session, "another frame")
    session.check("the same in the other", gap(shown(second), shown()) < EXACT, gap(shown(second), shown()))
    other.scene = bpy.data.scenes.new("Another")
    yield 0.3
    step().location.z += 0.02
    yield from settled(session, "another scene beside it")
    yield from only_one_window()


CASES = (
    bind, bound_again, on_and_off, drag, undone, undone_after_rest, playback, resume, refresh, edit_mode, sculpt, sizes,
    scrub, render, saving, disabled, views,
)  # fmt: skip


def finish(session: Session):
    """Quit in the middle of a solve; the exit code tells whether that went well."""
    session.require_right()
    yield from went_live(session)
    step().location.z += 0.1
    yield from until(lambda: status().track == "SOLVING", 5)
    print(f"all right; now it quits while {status().track}", flush=True)
    bpy.ops.wm.quit_blender()


start(CASES, make_scene, finish, FOLDER, BUTTONS)
