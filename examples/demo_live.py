"""Live, from a script: a walk follows its set while that is changed again and again.

    python examples/demo_live.py                     a scene of our own making
    python examples/demo_live.py --clip walk.bvh     a clip of yours, with stones put under its feet

Needs the bpy module; `make demo` sets that up. Writes live.blend and live.png into the folder --out; the file is saved
while live, and goes on being live when it is opened in Blender with the extension.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass

import demo

WORKFLOW = "adapt"
INFLUENCE = "motion_loom_adapt.influence"
PULLS = 20  # moves of the mouse in a drag
SCRUBBED = 60  # frames, out of order, at which each state is looked at


@dataclass(frozen=True)
class State:
    """What live did in one state of the set. joints away from the original's and from the baked ones, metres at most.
    ms: that live took at a frame of playback, on average."""

    title: str
    moved: float
    off_bake: float
    ms: float


def main(argv: list[str] | None = None) -> int:
    """Run the demo; 0 done, 1 failed with the reason on stderr."""
    return demo.run(_demo, "live", "Change a set under a walk that follows live, and picture it.", argv, pictures=5)


def _demo(args, package: str) -> None:
    import bpy
    import outputs
    import show

    began = time.perf_counter()
    stage = show.stage_of(args.clip)
    rig, course, changes = stage.rig, stage.course, stage.changes
    scene, source = bpy.context.scene, rig.animation_data.action
    pictures = show.Show(rig, changes.live_moments(scene), args, tall=1.3, span=2.3)
    ghost = _make_ghost(show, rig)

    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    for ob in course:
        rig.motion_loom_adapt.surfaces.add().target = ob
    _press("fit")
    print(f"Bind: {rig.motion_loom_adapt.summary}")
    watch = _Watch(package, rig, ghost)
    _press("live")

    rows, states = [], []
    for title, change in (
        ("live, the set as it was", None),
        ("moved (blue: the original)", changes.raise_course),
        ("tilted as well", changes.tilt_course),
        ("keyed: they move", changes.key_course),
        ("influence keyed, 0 to 1", lambda _: _key_influence(rig, pictures.frames)),
    ):
        if change is not None:
            change(course)
        states.append(watch.state(title))
        rows.append(pictures.row(title))
    drag = watch.drag(changes.steps(course)[0], pictures.frames[0])

    picture, blend = (os.path.join(args.out, name) for name in ("live.png", "live.blend"))
    pictures.save(rows, picture)
    for ob in (show.body_of(ghost), ghost):
        bpy.data.objects.remove(ob)
    outputs.save_scene(blend, pictures.frames[len(pictures.frames) // 2])
    _print_report(states, drag, watch.source_untouched(), [source.name, picture, blend], time.perf_counter() - began)


def _press(button: str) -> None:
    """Press one of the panel's buttons."""
    import bpy
    import strip

    try:
        with strip.quiet():
            getattr(bpy.ops.motion_loom, button)(workflow=WORKFLOW)
    except RuntimeError as error:
        raise demo.DemoError(str(error).strip()) from error


def _make_ghost(show, rig):
    """A copy of the rig that plays the original, in a clear blue; thin enough to vanish where the rig is."""
    import strip

    ghost, body = rig.copy(), show.body_of(rig).copy()
    body.data = body.data.copy()
    for ob in (ghost, body):
        ob.name = f"{rig.name} original"
        rig.users_collection[0].objects.link(ob)
    body.parent, body.modifiers[0].object = ghost, ghost
    thin = body.modifiers.new("Thin", "DISPLACE")
    thin.mid_level, thin.strength = 0.0, -0.008
    strip.veil(body, show.GHOST)
    return ghost


def _key_influence(rig, frames: list[int]) -> None:
    """From the original at the first picture to the adapted motion at the last but one."""
    for frame, value in ((frames[0], 0.0), (frames[-2], 1.0)):
        rig.motion_loom_adapt.influence = value
        rig.keyframe_insert(INFLUENCE, frame=frame)


class _Watch:
    """Measures of what the rig does: against the original, and against Adapt and Bake."""

    def __init__(self, package: str, rig, ghost):
        import bpy
        import numpy as np

        self.actions = importlib.import_module(f"{package}.scene.actions")
        self.live = importlib.import_module(f"{package}.workflows.core.live")
        self.runs = importlib.import_module(f"{package}.state.live_runs").live_runs
        self.rig, self.ghost, self.scene = rig, ghost, bpy.context.scene
        frames = np.arange(self.scene.frame_start, self.scene.frame_end + 1)
        self.frames = np.random.default_rng(0).permutation(frames)[:SCRUBBED].tolist()
        self.source, self.slot = self.actions.assigned(rig)
        self.keys = self._keys()

    def state(self, title: str) -> State:
        """Scrub, out of order, and compare."""
        self.scene.frame_set(self.frames[-1])  # all frames are solved
        followed, original, ms = self._scrub()
        off = _apart(followed, self._baked())
        return State(title, _apart(followed, original), off, ms)

    def drag(self, step, frame: int) -> float:
        """Lift a step bit by bit at a frame and put it back; returns the milliseconds from a move to the pose."""
        self.scene.frame_set(frame)
        times = []
        with self._as_in_a_window():
            for lift in (0.01,) * PULLS + (-0.01,) * PULLS:
                step.location.z += lift
                self.scene.view_layers[0].update()
                times.append(self._status().ms)
        return sorted(times)[PULLS]

    def source_untouched(self) -> bool:
        return self._keys() == self.keys and self._status().source_untouched

    def _scrub(self):
        """Heads (F, B, 3) of the rig and of the ghost at the frames, and the milliseconds that live took a frame."""
        import numpy as np

        heads = np.empty((2, len(self.frames), len(self.rig.pose.bones), 3))
        ms = []
        with self._as_in_a_window():
            for k, frame in enumerate(self.frames):
                self.scene.frame_set(frame)
                ms.append(self._status().ms)
                for ob, place in zip((self.rig, self.ghost), heads[:, k], strict=True):
                    place[:] = [ob.matrix_world @ bone.head for bone in ob.pose.bones]
        return *heads, sorted(ms)[len(ms) // 2]

    def _baked(self):
        """Heads (F, B, 3) of what Adapt and Bake makes of the scene as it is, played by the ghost."""
        import bpy

        before = set(bpy.data.actions)
        self.rig.motion_loom_adapt.assign = False
        _press("bake")
        (action,) = set(bpy.data.actions) - before
        self.actions.assign(self.ghost, action, action.slots[0] if self.slot else None)
        heads = self._scrub()[1]
        self.actions.assign(self.ghost, self.source, self.slot)
        bpy.data.actions.remove(action)
        self.rig.motion_loom_adapt.assign = True
        return heads

    @contextmanager
    def _as_in_a_window(self):
        """A block in which the frame that is shown is solved by itself, the others not at once."""
        self.runs.at_once = False
        try:
            yield
        finally:
            self.runs.at_once = None

    def _status(self):
        status = self.live.status(self.rig, WORKFLOW)
        if status.problem:
            raise demo.DemoError(status.problem)
        return status

    def _keys(self) -> list[bytes]:
        return [self.actions.keys_of(curve).tobytes() for curve in self.actions.all_curves(self.source, self.slot)]


def _apart(heads, others) -> float:
    """The largest distance of two motions' bones (F, B, 3)."""
    return float((((heads - others) ** 2).sum(axis=-1) ** 0.5).max())


def _print_report(states: list[State], drag: float, untouched: bool, names: list[str], seconds: float) -> None:
    source, picture, blend = names
    print(f"\n  {'':<30}{'moved, m':>10}{'live - bake, m':>16}{'ms a frame':>12}")
    for state in states:
        print(f"  {state.title:<30}{state.moved:>10.3f}{state.off_bake:>16.1e}{state.ms:>12.2f}")
    print(f"\n  live vs bake, largest difference  {max(state.off_bake for state in states):.1e} m")
    print(f"  playback                          {max(state.ms for state in states):.2f} ms a frame")
    print(f"  drag of a step                    {drag:.1f} ms a frame")
    print(f"  '{source}' untouched        {str(untouched).lower()}")
    print(f"\n  {picture}\n  {blend}\n  {seconds:.0f} s in all")


if __name__ == "__main__":
    sys.exit(main())
