"""What the cases of Adapt live share: the scene, its buttons, and what is so on the screen."""

import importlib

import bpy
import driving as ui
import numpy as np
from driving import Open, Session

RIG, STEP = "Walker", "Slab high"
FRAME = 58  # the figure stands on the step
# A single frame knows nothing of what is smoothed over time; metres.
EXACT, ALONE = 2e-5, 0.06
STEPS = "fit", "live", "live_refresh", "live_resume", "bake", "update_binding"
BUTTONS = {f"F{number}": (step, {"workflow": "adapt"}) for number, step in enumerate(STEPS, start=13)}
BIND, LIVE, REFRESH, RESUME, BAKE, UPDATE = BUTTONS


# --------------------------------------------------------------------------------------------------- the scene


def make_scene() -> None:
    """A file with the walker among its course, in view, not bound yet."""
    walker = importlib.import_module("walker")
    ui.clear()
    rig, course = walker.make_walker(), walker.make_course()
    for ob in course:
        item = rig.motion_loom_adapt.surfaces.add()
        item.name, item.target = ob.name, ob
    ui.show(FRAME)
    ui.save("walker.blend")


def rig():
    return bpy.data.objects[RIG]


def step():
    return bpy.data.objects[STEP]


def opened(name: str = "walker.blend"):
    """Open a file and look at it from the front."""
    yield Open(name)
    bpy.ops.view3d.view_axis(type="FRONT")
    bpy.ops.view3d.view_all()
    ui.choose(rig())
    yield 0.3


def bound():
    """A file in which the walker is bound."""
    yield from opened("bound.blend")


def went_live(session: Session):
    yield from bound()
    yield from button(LIVE, lambda: settings().live)
    session.check("live is on", settings().live)


def button(key: str, is_so=None):
    """Press a button of the panel, and wait until what it begins is done."""
    ui.choose(rig())
    yield from ui.press_until(key, is_so) if is_so else ui.press(key)


def grab(name: str, way: str, amount: str):
    """G, an axis and a number typed, Enter: one undo step."""
    ui.choose(bpy.data.objects[name])
    yield from ui.press("G")
    yield from ui.press(way)
    yield from ui.typed(amount)


def lift(by: float) -> None:
    step().location.z += by


def key_of_step():
    """A shape key that lifts the step by 10 cm."""
    step().shape_key_add(name="Basis")
    key = step().shape_key_add(name="High")
    for point in key.points:
        point.co.z += 0.1
    return key


# --------------------------------------------------------------------------------------------------- what is so


def settings():
    return rig().motion_loom_adapt


def adapt():
    return ui.part("workflows.core.registry").by_id("adapt")


def status():
    return ui.part("workflows.core.live").status(rig(), "adapt")


def track() -> str:
    return status().track


def solving(seconds: float = 5):
    """Wait until a track is being solved."""
    yield from ui.until(lambda: track() == "SOLVING", seconds)


def depsgraph():
    return bpy.context.view_layer.depsgraph


def shown(graph=None) -> np.ndarray:
    """(B, 3) world heads of all bones as they are on the screen."""
    seen = rig().evaluated_get(graph or depsgraph())
    heads = np.array([seen.pose.bones[bone.name].head for bone in rig().data.bones])
    world = np.array(seen.matrix_world)
    return heads @ world[:3, :3].T + world[:3, 3]


def solved() -> np.ndarray:
    """(F, B, 3) the same, solved afresh for the scene as it is, nothing being changed for it."""
    moment = ui.part("workflows.core.follower").Moment(bpy.context.scene, depsgraph(), None)
    steps = adapt().follower(rig()).job(rig(), moment)
    return _heads(ui.part("solvers.core.steps").result_of(steps).solution.results[0].motion)


def swept() -> np.ndarray:
    """As ``solved``, stepping through the frames."""
    problems, base = ui.part("workflows.environment.problem"), ui.part("workflows.core.base")
    solution = ui.part("workflows.adapt.solution")
    with ui.part("workflows.core.live").paused():
        problem = base.run_to_end(problems.gather_steps(bpy.context, rig(), adapt()))
    return _heads(ui.part("solvers.core.steps").result_of(solution.solve_steps(problem)).results[0].motion)


def curves() -> np.ndarray:
    """(F, B, 3) what the curves of the action that plays say, at the frames of ``solved``."""
    scene, motions, actions = bpy.context.scene, ui.part("scene.motion"), ui.part("workflows.rig.action")
    frames = ui.part("workflows.environment.model").stored_of(rig(), adapt()).binding.track.frames
    return _heads(motions.motion_by_curves(scene, rig(), *actions.played_action(rig()), frames, {}))


def _heads(motion) -> np.ndarray:
    return motion.joints().positions[:, : len(motion.rig.names)]


def row() -> int:
    return bpy.context.scene.frame_current - bpy.context.scene.frame_start


def off_source() -> float:
    """How far the pose is from the source's; metres."""
    return ui.gap(shown(), SOURCE[1][row()])


def source_digest() -> str:
    action = settings().source or rig().animation_data.action
    slot = action.slots[0] if bpy.app.version >= (4, 4, 0) else None
    return ui.part("scene.live_action").keys_digest(action, slot)


def settled(session: Session, name: str, solve=solved):
    """Wait for the track; then the pose is that of a fresh solve, nothing goes on, and the source is whole."""
    yield 0.1
    yield from ui.until(lambda: status() is not None and (status().track in ("READY", "SWEEP") or status().problem))
    now = status()
    if not session.check(f"{name}: followed", now is not None and now.problem is None, now and now.problem or ""):
        return
    there = shown()
    wanted = solve()
    distance = ui.gap(there, wanted[row()])
    limit = EXACT if now.track == "READY" else ALONE
    session.check(f"{name}: pose as solved afresh", distance < limit, f"{distance:.2g} m, {now.track}")
    if now.track == "READY":
        worst = ui.gap(curves(), wanted)
        session.check(f"{name}: curves as solved afresh", worst < EXACT, f"{worst:.2g} m")
    session.check(f"{name}: source untouched", now.source_untouched and source_digest() == SOURCE[0])
    yield from session.quiet(name)


def then(session: Session, *deeds, solve=solved):
    """One deed after the other, each with its name: the track settles after each."""
    for deed, name in deeds:
        yield from deed()
        yield from settled(session, name, solve)


def at_source(session: Session, name: str):
    """Not live: the pose is the source's."""
    yield 0.3
    session.check(f"{name}: not live", status() is None and not settings().live)
    action = rig().animation_data.action
    session.check(f"{name}: plays the source", not action.name.endswith("(live)"), action.name)
    session.check(f"{name}: pose of the source", off_source() < EXACT, f"{off_source():.2g} m")
    session.check(f"{name}: source untouched", source_digest() == SOURCE[0])
    yield from session.quiet(name)


SOURCE: list = []  # digest of the source's keys, and its joints (F, B, 3)


def note_source() -> None:
    """The source as it is before anything is done."""
    scene, places = bpy.context.scene, []
    for frame in range(scene.frame_start, scene.frame_end + 1):
        ui.show(frame)
        places.append(shown())
    ui.show(FRAME)
    SOURCE[:] = source_digest(), np.array(places)
