"""What scripts share that drive a workflow whose result is a mesh that moves: what is so, and cases that all have."""

import hashlib

import bpy
import driving as ui
import numpy as np
from driving import Open, Session

from tests.map_scenes import positions
from tests.rig_scenes import fingerprint

EXACT = 2e-4  # metres: single precision, far from the origin


class MeshScript:
    """A target in a file, live by the button ``live_key``.

    workflow: id of it.  ready: the file in which it can go live.  frame: where its files are opened.
    """

    workflow: str
    ready: str
    frame: int

    def __init__(self, buttons: dict, live_key: str):
        self.buttons, self.live_key = buttons, live_key
        self.original = ""  # what the user's own meshes were at first, see `digest`

    # ------------------------------------------------------------------------------------- what subclasses say

    def target(self):
        """The mesh object that is to move."""
        raise NotImplementedError

    def own(self) -> list:
        """The meshes that stay as they are."""
        raise NotImplementedError

    def wanted(self, frame: float) -> np.ndarray:
        """(V, 3) world vertices that the workflow computes for a frame."""
        raise NotImplementedError

    # ---------------------------------------------------------------------------------------------- what is so

    def settings(self):
        return getattr(self.target(), f"motion_loom_{self.workflow}")

    def copy(self):
        return self.settings().live_copy

    def status(self):
        return ui.part("workflows.core.live").status(self.target(), self.workflow)

    def run(self):
        """The run of the target, as the live engine keeps it."""
        return ui.part("state.live_runs").live_runs.runs[self.target().session_uid, self.workflow]

    def digest(self) -> str:
        """Of all that is the user's in the meshes: their keys, the animation of those, and their own channels."""
        found = hashlib.sha256()
        for ob in self.own():
            keys = ob.data.shape_keys
            for block in keys.key_blocks:
                found.update(positions(block).tobytes())
            found.update(repr(fingerprint(keys.animation_data.action)).encode())
            found.update(repr((ob.location[:], ob.rotation_euler[:], ob.scale[:])).encode())
        return found.hexdigest()

    def opened(self, name: str):
        """Open a file and look at it."""
        yield Open(name)
        bpy.ops.view3d.view_axis(type="FRONT")
        bpy.ops.view3d.view_all()
        yield 0.3

    def went_live(self, session: Session):
        yield from self.opened(self.ready)
        yield from ui.press_until(self.live_key, lambda: self.settings().live)
        session.check("live is on", self.settings().live)
        yield 0.2

    def went_off(self, session: Session, name: str):
        yield from ui.press_until(self.live_key, lambda: not self.settings().live)
        yield from self.is_off(session, name)

    def follows(self, session: Session, name: str):
        """Live, at rest, and the copy is where the workflow says."""
        yield 0.15
        now = self.status()
        if not session.check(f"{name}: followed", now is not None and now.problem is None, now and now.problem or ""):
            return
        frame = bpy.context.scene.frame_current_final
        distance = ui.gap(ui.seen(self.copy()), self.wanted(frame))
        session.check(f"{name}: the copy is as computed", distance < EXACT, f"{distance:.2g} m, frame {frame:g}")
        target = self.target()
        hidden = target.hide_viewport and target.hide_render and not target.visible_get()
        session.check(f"{name}: the original is hidden, as it was else", hidden and self.digest() == self.original)
        yield from session.quiet(name)

    def is_off(self, session: Session, name: str):
        """Not live: the original shows, no copy is there."""
        yield 0.15
        is_live = self.status() is not None or self.settings().live or self.copy() is not None
        session.check(f"{name}: not live", not is_live)
        left = [ob.name for ob in bpy.data.objects if ob.name.endswith("(live)") and ob.users_scene]
        session.check(f"{name}: no copy is left", not left, left or "")
        shows = self.target().visible_get() and not self.target().hide_render
        session.check(f"{name}: the original shows, as it was", shows and self.digest() == self.original)
        yield from session.quiet(name)

    def back_and_forth(self, session: Session, state, states: list):
        """Undo to the first of the states, and redo to the last. state: () -> what buttons change, as it is now."""
        ways = [("undone to", ui.undo, number) for number in range(len(states) - 2, -1, -1)]
        ways += [("redone", ui.redo, number) for number in range(1, len(states))]
        for done, step, number in ways:
            name = f"{done} {number}"
            yield from step()
            yield 0.2
            session.check(f"{name}: as it was", state() == states[number], f"{state()} for {states[number]}")
            yield from self.follows(session, name) if self.settings().live else self.is_off(session, name)

    # ------------------------------------------------------------------------------------------------- the cases

    def playback(self, session: Session):
        """Playing: what is seen at each frame is what the workflow says."""
        yield from self.went_live(session)
        far = []

        def look(_number):
            far.append(ui.gap(ui.seen(self.copy()), self.wanted(bpy.context.scene.frame_current_final)))

        yield from ui.played(session, look)
        bpy.ops.screen.animation_cancel(restore_frame=False)
        session.check("each frame is as computed", max(far) < EXACT, f"{max(far):.2g} m, {self.status().ms:.1f} ms")
        yield from self.follows(session, "stopped")

    def saving(self, session: Session):
        """Saved while live, another file opened, and this again."""
        yield from self.went_live(session)
        ui.show(self.frame + 7)
        yield 0.1
        before = ui.seen(self.copy())
        ui.save("saved.blend", copy=True)
        yield from self.follows(session, "saved")
        yield from self.opened("picked.blend")
        yield from self.is_off(session, "another file")
        yield from self.opened("saved.blend")
        yield from self.follows(session, "opened")
        session.check("it is where it was", ui.gap(ui.seen(self.copy()), before) < EXACT)
        ui.show(self.frame + 12)
        yield from self.follows(session, "opened, another frame")
        yield from session.picture("reopened")
        yield from self.went_off(session, "opened, off")

    def disabled(self, session: Session):
        """The extension is switched off while live, and on again."""
        yield from self.went_live(session)
        drawing = ui.part("panels.overlays")
        before, name = ui.seen(self.copy()), self.copy().name

        def meanwhile():
            session.check("no overlay is left", not drawing.session.handles and not drawing.session.drawn)
            ui.show(self.frame + 9)
            yield from session.quiet("off")
            session.check("the copy stays as it was", ui.gap(ui.seen(bpy.data.objects[name]), before) < EXACT)

        yield from ui.switch_off_and_on(session, self.workflow, self.buttons, meanwhile)
        yield from ui.until(lambda: self.status() is not None, 5)
        yield from self.follows(session, "on again")

    def finish(self, session: Session):
        """Quit while live and playing; the exit code tells whether that went well."""
        session.require_right()
        yield from self.went_live(session)
        bpy.ops.screen.animation_play()
        yield 0.5
        print("all right; now it quits while live", flush=True)
        bpy.ops.wm.quit_blender()
