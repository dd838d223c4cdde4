"""Cases of Adapt live: other modes, sizes, frames, renders, files, windows, and the extension switched off."""

import bpy
import driving as ui
import live_cases
import live_script as adapt
import numpy as np
from driving import PACKAGE, Session

from tests.map_scenes import positions


def edit_mode(session: Session):
    """The step's vertices are moved in Edit Mode, undone there, and it is left."""
    yield from adapt.went_live(session)
    ui.choose(adapt.step())
    yield from ui.press("TAB")
    session.check("in Edit Mode", bpy.context.mode == "EDIT_MESH", bpy.context.mode)
    yield from ui.press("A")
    before = adapt.shown()
    for key in ("G", "Z"):
        yield from ui.press(key)
    yield from ui.typed("0.1")
    yield 0.3
    moved = (adapt.shown() - before)[:, 2].max()
    session.check("the figure follows in Edit Mode", moved > 0.05, f"{moved:.3f} m")
    yield from adapt.settled(session, "edited")
    yield from ui.undo()
    yield from adapt.settled(session, "undone in Edit Mode")
    session.check("back again", ui.gap(adapt.shown(), before) < adapt.EXACT, ui.gap(adapt.shown(), before))
    leave = ui.press("TAB")
    yield from adapt.then(
        session, (ui.redo, "redone in Edit Mode"), (lambda: leave, "left"), (ui.undo, "undone to Edit Mode")
    )
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from adapt.settled(session, "in Object Mode")
    # A face less: that is another mesh.
    ui.choose(adapt.step())
    yield from ui.press("TAB")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.subdivide("EXEC_DEFAULT", True)
    yield 0.3
    session.check(
        "another topology is refused", adapt.status().problem and adapt.status().remedy == "UPDATE", adapt.status()
    )
    yield from session.quiet("refused")
    yield from ui.undo()
    yield from adapt.settled(session, "topology undone")
    yield from ui.press("TAB")


def sculpt(session: Session):
    """A stroke over the floor in Sculpt Mode, and a shape key's slider."""
    yield from adapt.went_live(session)
    ui.choose(bpy.data.objects["Floor"])
    bpy.ops.view3d.view_axis(type="TOP")
    yield 0.3
    bpy.ops.object.mode_set(mode="SCULPT")
    yield 0.5
    if bpy.context.tool_settings.sculpt.brush is not None:
        yield from _stroke(session)
    else:
        print("No stroke: this build comes without brushes", flush=True)  # some of 4.3
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from adapt.settled(session, "left")
    key = adapt.key_of_step().name
    for value in (0.3, 0.6, 1.0):
        adapt.step().data.shape_keys.key_blocks[key].value = value
        yield 0.05
    yield from adapt.settled(session, "shape key")
    session.check("it is lifted by the key", adapt.off_source() > 0.05)


def _stroke(session: Session):
    before = positions(bpy.data.objects["Floor"].data)
    x, y = ui.middle()
    yield from ui.drag(*((x + 5 * number, y) for number in range(-8, 9)))
    yield 0.3
    change = ui.gap(positions(bpy.data.objects["Floor"].data), before)
    if not session.check("the floor was sculpted", change > 1e-4, change):
        return
    yield from adapt.settled(session, "sculpted")
    yield from adapt.then(session, (ui.undo, "undone in Sculpt Mode"))


def sizes(session: Session):
    """The character is scaled, then a bone of it."""
    yield from adapt.went_live(session)
    yield from ui.press("S")
    yield from ui.typed("0.9")
    session.check("smaller", abs(adapt.rig().scale.z - 0.9) < 1e-4, adapt.rig().scale[:])
    yield from adapt.settled(session, "scaled")
    yield from adapt.then(session, (ui.undo, "undone"), (ui.redo, "redone"))
    yield from ui.press("TAB", ctrl=True)
    if bpy.context.mode != "POSE":
        bpy.ops.object.mode_set(mode="POSE")
    yield 0.2
    name = "shin.L" if "shin.L" in adapt.rig().data.bones else adapt.rig().data.bones[-1].name
    bpy.ops.pose.select_all(action="DESELECT")
    bone = adapt.rig().pose.bones[name]
    (bone if hasattr(bone, "select") else bone.bone).select = True
    adapt.rig().data.bones.active = adapt.rig().data.bones[name]
    ui.push_undo("selected")
    yield from ui.press("S")
    yield from ui.typed("1.3")
    session.check(
        "longer", abs(adapt.rig().pose.bones[name].scale.y - 1.3) < 1e-4, (name, adapt.rig().pose.bones[name].scale[:])
    )
    yield from adapt.settled(session, "bone scaled")
    yield from ui.undo()
    yield from adapt.settled(session, "bone undone")
    # Turning a bone by hand is no input: the next frame shows what is solved.
    yield from ui.press("R")
    yield from ui.typed("30")
    yield 0.3
    ui.show(adapt.FRAME)
    yield from adapt.settled(session, "bone turned")
    bpy.ops.object.mode_set(mode="OBJECT")


def scrub(session: Session):
    """Other frames are looked at while the thread solves."""
    yield from adapt.went_live(session)
    frames = np.random.default_rng(1).integers(1, 184, 400).tolist()
    adapt.lift(0.1)
    seen = set()
    yield from adapt.solving()
    while frames and adapt.track() != "READY":
        ui.show(frames.pop())
        seen.add(adapt.track())
        yield 0.02
    session.check("scrubbed while solving", "SOLVING" in seen, seen)
    for frame in (30, 58, 100):
        ui.show(frame)
        yield from adapt.settled(session, f"frame {frame}")


def render(session: Session):
    """F12 while the track is pending: what is rendered is the track."""
    yield from adapt.went_live(session)
    scene = ui.make_camera("picture.png")
    for engine, samples in (("BLENDER_WORKBENCH", 0), ("CYCLES", 1)):
        scene.render.engine = engine
        if samples:
            scene.cycles.samples, scene.cycles.device = samples, "CPU"
            scene.render.use_lock_interface = True
        adapt.lift(0.05)
        yield 0.1
        was = adapt.track()
        rendered = []

        def note(_scene, graph, rendered=rendered):
            if graph.mode == "RENDER":
                rendered.append(adapt.shown(graph))

        note.__module__ = PACKAGE  # another script's handler might move anything: each frame would have to be read
        bpy.app.handlers.frame_change_post.append(note)
        bpy.ops.render.render("INVOKE_DEFAULT")
        yield 0.2
        yield from ui.until(lambda: not bpy.app.is_job_running("RENDER"), 60)
        bpy.app.handlers.frame_change_post.remove(note)
        session.check(f"{engine}: it was pending", was in ("WAITING", "SOLVING"), was)
        told = f"{ui.gap(rendered[-1], adapt.solved()[adapt.row()]):.2g} m" if rendered else "nothing was rendered"
        session.check(
            f"{engine}: the track was rendered",
            rendered and ui.gap(rendered[-1], adapt.solved()[adapt.row()]) < adapt.EXACT,
            told,
        )
        yield from ui.only_one_window()
        yield from adapt.settled(session, engine)
    scene.frame_start, scene.frame_end = 50, 53
    adapt.lift(-0.05)
    yield 0.1
    bpy.ops.render.render("INVOKE_DEFAULT", animation=True)
    while True:
        adapt.lift(0.005)  # edited while it renders
        yield 0.05
        if not bpy.app.is_job_running("RENDER"):
            break
    yield from ui.only_one_window()
    scene.frame_start, scene.frame_end = 1, 183
    yield from adapt.settled(session, "after an animation")


def saving(session: Session):
    """Saved while a track is pending, and opened again."""
    yield from adapt.went_live(session)
    adapt.lift(0.1)
    yield 0.05
    yield from ui.until(lambda: adapt.track() in ("WAITING", "SOLVING"), 2)
    was = adapt.track()
    ui.save("pending.blend", copy=True)
    session.check("it was pending", was in ("WAITING", "SOLVING"), was)
    yield from adapt.settled(session, "saved")
    adapt.lift(0.05)
    yield from adapt.solving()
    yield from adapt.opened("pending.blend")
    yield from adapt.settled(session, "opened while another was solved")
    session.check("the step is as it was saved", adapt.off_source() > 0.05)


def disabled(session: Session):
    """The extension is switched off while a thread solves, and on again."""
    yield from adapt.went_live(session)
    adapt.lift(0.1)
    yield from adapt.solving()
    session.check("it was solving", adapt.track() == "SOLVING", adapt.track())

    def meanwhile():
        adapt.lift(0.02)
        ui.show(adapt.FRAME + 3)
        yield from session.quiet("off")
        ui.show(adapt.FRAME)

    yield from ui.switch_off_and_on(session, "adapt", adapt.BUTTONS, meanwhile)
    yield from ui.until(lambda: adapt.status() is not None, 5)
    yield from adapt.settled(session, "on again")


def views(session: Session):
    """Two windows with two view layers, the step hidden in one; then another scene."""
    yield from adapt.went_live(session)
    scene = bpy.context.scene
    layer = scene.view_layers.new("Without the step")
    bpy.ops.wm.window_new_main()
    yield 0.3
    other = bpy.context.window_manager.windows[1]
    other.view_layer = layer
    yield 0.5
    yield from session.quiet("two view layers")
    adapt.lift(0.1)
    yield from adapt.settled(session, "moved")
    second = layer.depsgraph
    session.check(
        "the same in the other",
        ui.gap(adapt.shown(second), adapt.shown()) < adapt.EXACT,
        ui.gap(adapt.shown(second), adapt.shown()),
    )
    collection = bpy.data.collections.new("Apart")
    scene.collection.children.link(collection)
    collection.objects.link(adapt.step())
    scene.collection.objects.unlink(adapt.step())
    layer.layer_collection.children["Apart"].exclude = True
    yield 0.3
    yield from adapt.settled(session, "the step is out of the other")
    adapt.lift(-0.04)
    yield from adapt.settled(session, "moved where the other lacks it")
    ui.show(77)
    yield from adapt.settled(session, "another frame")
    session.check(
        "the same in the other",
        ui.gap(adapt.shown(second), adapt.shown()) < adapt.EXACT,
        ui.gap(adapt.shown(second), adapt.shown()),
    )
    other.scene = bpy.data.scenes.new("Another")
    yield 0.3
    adapt.lift(0.02)
    yield from adapt.settled(session, "another scene beside it")
    yield from ui.only_one_window()


def finish(session: Session):
    """Quit in the middle of a solve; the exit code tells whether that went well."""
    session.require_right()
    yield from adapt.went_live(session)
    adapt.lift(0.1)
    yield from adapt.solving()
    print(f"all right; now it quits while {adapt.track()}", flush=True)
    bpy.ops.wm.quit_blender()


CASES = *live_cases.CASES, edit_mode, sculpt, sizes, scrub, render, saving, disabled, views
