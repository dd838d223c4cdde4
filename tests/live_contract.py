"""What every live workflow keeps to, told of each by a case: how it is made ready, what it follows, and what is seen.

A new workflow is one more case in ``CASES``.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import bpy
import numpy as np
from bl_ext.devrepo.motion_loom.workflows import WORKFLOWS
from bl_ext.devrepo.motion_loom.workflows.core import live, registry
from mathutils import Vector

from tests import adapt_play, adapt_scenes, map_play, mesh_play, transfer_play
from tests.offset_workflow import Offset
from tests.rig_scenes import fingerprint

# Those of the extension, and the proof that another one needs nothing but itself.
ALL = (*WORKFLOWS, Offset())


@dataclass(frozen=True)
class Case:
    """One live workflow.

    id: of it.  name: of the object that goes live.  build: makes a scene in which Live can be pressed.
    change: moves what it follows.  needs: name of an object that it cannot do without.  frames: that are looked at.
    command: words that do the same as Bake.  rival: another workflow of the same kind.
    stage: place and turn of a camera.  hidden: names of objects that no picture is to show.
    """

    id: str
    name: str
    build: Callable[[], None]
    change: Callable[[], None]
    needs: str
    frames: np.ndarray
    command: tuple[str, ...]
    rival: str
    stage: tuple[tuple, tuple]
    hidden: tuple[str, ...] = ()
    tolerance: float = field(default=1e-5)

    @property
    def workflow(self):
        return registry.by_id(self.id)

    @property
    def ob(self):
        return bpy.data.objects[self.name]

    @property
    def settings(self):
        return self.workflow.settings_of(self.ob)

    @property
    def status(self):
        return live.status(self.ob, self.id)

    @property
    def is_healthy(self) -> bool:
        """Whether it is live, and all its frames are up to date."""
        bpy.context.view_layer.update()
        return self.status is not None and self.status.problem is None and self.status.track == "READY"

    def shown(self):
        """The object that plays what is live."""
        raise NotImplementedError

    def activate(self):
        map_play.activate(self.shown())

    def press(self, button):
        self.activate()
        assert getattr(bpy.ops.motion_loom, button)(workflow=self.id) == {"FINISHED"}

    def go_live(self):
        """Live, after a change that it has followed."""
        self.press("live")
        self.change()
        bpy.context.view_layer.update()

    def seen(self, ob=None) -> np.ndarray:
        """World places (F, N, 3) of what is live at the frames, visited in another order."""
        order = np.random.default_rng(0).permutation(len(self.frames))
        return self.places(ob or self.shown(), self.frames[order])[np.argsort(order)]

    def places(self, ob, frames) -> np.ndarray:
        raise NotImplementedError

    def bake(self):
        """Press Bake, end live; the object that plays the result."""
        raise NotImplementedError

    def result(self):
        """The object that plays what was baked last."""
        raise NotImplementedError

    def made(self):
        """All that a user has made, and Live must not touch."""
        raise NotImplementedError


class RigCase(Case):
    def shown(self):
        return self.ob

    def places(self, ob, frames):
        return adapt_scenes.joints_of(ob, frames)

    def bake(self):
        self.press("bake")
        assert not self.settings.live
        return self.result()

    def result(self):
        return self.ob

    def made(self):
        data = self.ob.animation_data
        return data.action.name, {action.name: fingerprint(action) for action in bpy.data.actions}


class MeshCase(Case):
    def shown(self):
        return self.settings.live_copy or self.ob

    def places(self, ob, frames):
        return map_play.shown(ob, frames)

    def bake(self):
        self.settings.bake_kind = "ABSOLUTE_KEYS"
        self.press("bake")
        if self.settings.live:
            self.press("live")
        self.ob.hide_render = True
        return self.result()

    def result(self):
        return self.settings.result

    def made(self):
        return map_play.everything()


def add_prop(rig, bone):
    """A box that a bone carries: a picture shows it."""
    box = adapt_scenes.add_box("Prop", (-0.2, -0.2, -0.2), (0.2, 0.2, 0.2))
    box.parent, box.parent_type, box.parent_bone = rig, "BONE", bone


def build_adapt():
    rig = adapt_scenes.add_scene()
    add_prop(rig, "chest")
    adapt_play.bind(rig)


def build_offset():
    rig = adapt_scenes.add_walker()
    add_prop(rig, "chest")
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    rig.motion_loom_offset.target = empty
    map_play.activate(rig)
    map_play.press("fit", workflow="offset")


def moved(name, *shift):
    def move():
        bpy.data.objects[name].location += Vector(shift)

    return move


def pair_again():
    bpy.data.objects["Worm"].motion_loom_map.pairs[1].target_frame += 3


def slower():
    bpy.data.objects["Bob"].motion_loom_transfer.travel_scale += 0.5


SIDE = (0.0, -6.0, 1.0), (np.pi / 2, 0.0, 0.0)
WALK = np.array([1.0, 8.0, 13.5, 24.0])
CASES = (
    RigCase(
        "adapt", "Rig", build_adapt, moved("Step", 0.0, 0.0, 0.1), "Step", WALK, ("adapt", "--rig", "Rig"), "offset",
        SIDE, ("Floor", "Step"),
    ),
    RigCase(
        "offset", "Rig", build_offset, moved("Empty", 0.3, 0.1, 0.2), "Empty", WALK, ("offset", "--rig", "Rig"),
        "adapt", SIDE,
    ),
    MeshCase(
        "map", "Worm", map_play.add_ready, pair_again, "Dots 0", np.array([3.0, 20.0, 34.0]),
        ("map", "--target", "Worm", "--bake", "absolute-keys"), "transfer", ((4.0, -0.7, 0.6), (1.45, 0.0, 1.5708)),
    ),
    MeshCase(
        "transfer", "Bob", transfer_play.add_trained, slower, "Ann Again", np.array([3.0, 12.0, 28.0]),
        ("transfer", "--target", "Bob", "--bake", "absolute-keys"), "map",
        ((1.0, -9.0, 2.0), (1.55, 0.0, 0.0)), ("Ann", "Ann Again"),
    ),
)  # fmt: skip


def set_stage(case):
    """A camera before what is live, and nothing else to be seen."""
    for name in case.hidden:
        bpy.data.objects[name].hide_render = True
    mesh_play.set_stage(*case.stage)
