"""Map: a mesh with a motion of its own is moved by any other motion, after a few pairs of poses."""

from __future__ import annotations

from ...scene.session import all_objects
from ...solvers.core.errors import MotionLoomError
from ..core.base import Command, Steps
from ..mesh.plants import settle_older
from ..mesh.target import target_in
from ..mesh.workflow import MeshTask, MeshWorkflow
from . import command, lists, operators, pairs, panel
from .follower import MapFollower, prepared_steps, refresh_steps
from .learn import learn_steps, source_of
from .model import is_older
from .overlay import overlay_of
from .run import bake_steps
from .settings import CLASSES, MotionLoomMapSettings


class Map(MeshWorkflow):
    """Learn a target mesh, pair poses, go live, bake."""

    id = "map"
    label = "Map to Mesh"
    settings = MotionLoomMapSettings
    classes = CLASSES
    operators = operators.CLASSES
    entry_lists = (pairs.PAIRS,)
    ui_lists = lists.CLASSES
    task = MeshTask(bake_steps, command.summary, refresh_steps, command.command_of, overlay_of, panel.draw)
    steps = {"fit": "Learn Target", "bake": "Bake"}
    tips = {
        "fit": "Read the source over its range, and learn the poses of the target from its own motion",
        "bake": "Write the result to a new object; source and target are not touched",
        "live_on": "Show a copy of the target that moves with the source, in the viewport, on playback and in renders; "
        "once more: remove the copy and show the target again",
        "live_refresh": "Read the source over its range again",
    }

    def commands(self) -> tuple[Command, ...]:
        text = "Move a mesh by another motion, after a few pairs of poses, and bake the result."
        return (Command("map", text, command.add_arguments, command.run),)

    def why_not_yet(self, ob, step: str) -> str | None:
        settings = self.settings_of(ob)
        if step == "fit":
            return _why_no_source(settings)
        if settings.learnt is None or settings.clip is None:
            return "Learn the target first."
        return "Use two pairs or more." if sum(pair.use for pair in settings.pairs) < 2 else None

    def on_load(self) -> None:
        settle_older(self.settings_of, lambda settings: settings.learnt is not None)
        for ob in all_objects():
            settings = self.settings_of(ob)
            if ob.type == "MESH" and ob.library is None and is_older(settings):
                settings.meet_pairs = 0.0

    def fit(self, context) -> Steps:
        return learn_steps(context, target_in(context))

    def follower(self, ob) -> MapFollower:
        return MapFollower()

    def prepare_live(self, context, ob) -> Steps:
        return prepared_steps(context, ob)


def _why_no_source(settings) -> str | None:
    if settings.source is None and settings.source_collection is None:
        return "Choose what drives it: an armature, a mesh, or a collection of objects."
    if settings.source is not None and settings.source.type == "ARMATURE":
        return None  # reading its bones takes longer than a redraw may
    if settings.source is not None and settings.source.type == "MESH" and not settings.source_group:
        return None
    try:
        source_of(settings)
    except MotionLoomError as error:
        return str(error)
    return None
