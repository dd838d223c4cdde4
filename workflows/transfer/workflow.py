"""Transfer: one captured subject performs what another one does, with its own style, after a few pairs of poses."""

from __future__ import annotations

from collections.abc import Generator

from ...scene.session import all_objects
from ..core.base import Command, Steps
from ..mesh.plants import settle_older
from ..mesh.target import target_in
from ..mesh.workflow import MeshTask, MeshWorkflow
from . import command, lists, operators, pairs, panel, parts
from .follower import TransferFollower, prepared_steps, refresh_steps
from .model import PARTS_CHANGED
from .overlay import overlay_of
from .picture import densify_steps
from .read import own_source, read_steps, store_clip
from .run import bake_steps
from .settings import CLASSES, MotionLoomTransferSettings, are_parts_as_read, settle_gone
from .store import NewClip
from .train import train_steps


class Transfer(MeshWorkflow):
    """Read the clips of both subjects, pair poses, train, go live, bake."""

    id = "transfer"
    label = "Transfer Surface Motion"
    settings = MotionLoomTransferSettings
    classes = CLASSES
    operators = operators.CLASSES
    entry_lists = (pairs.CLIPS, parts.PARTS, pairs.PAIRS)
    ui_lists = lists.CLASSES
    task = MeshTask(bake_steps, command.summary, refresh_steps, command.command_of, overlay_of, panel.draw)
    steps = {"fit": "Read Clips", "densify": "Densify", "train": "Train", "bake": "Bake"}
    tips = {
        "fit": "Read the clips of both subjects, and learn the poses of their parts",
        "densify": "Pair all frames between the pairs, and show what it costs and the path that was found",
        "train": "Learn from the pairs of all clips in use",
        "bake": "Write what the target makes of the new clip to a new object; neither subject is touched",
        "live_on": "Show a copy of the target that performs the new clip, in the viewport, on playback and in renders; "
        "once more: remove the copy and show the target again",
        "live_refresh": "Read the new clip over its range again",
    }

    def commands(self) -> tuple[Command, ...]:
        text = "Let one captured subject perform what another one does, and bake the result."
        return (Command("transfer", text, command.add_arguments, command.run),)

    def why_not_yet(self, ob, step: str) -> str | None:
        settings = self.settings_of(ob)
        if step == "fit":
            return _why_not_read(ob, settings)
        if settings.subjects is None:
            return "Press Read Clips first."
        if step in ("densify", "train"):
            return _why_not_paired(settings)
        if settings.learnt is None:
            return f"'{ob.name}' has learnt nothing yet; press Train."
        return "Choose the new clip: a mesh of the source subject." if settings.performed is None else None

    def on_load(self) -> None:
        for ob in all_objects():
            if ob.type == "MESH" and ob.library is None:
                settle_gone(self.settings_of(ob))
        settle_older(self.settings_of, lambda settings: settings.subjects is not None)

    def fit(self, context) -> Steps:
        return read_steps(context, target_in(context))

    def densify(self, context) -> Steps:
        """Pair the frames between the pairs, and show how."""
        return densify_steps(target_in(context))

    def train(self, context) -> Steps:
        """Learn of the pairs."""
        return train_steps(target_in(context))

    def follower(self, ob) -> TransferFollower:
        return TransferFollower()

    def prepare_live(self, context, ob) -> Generator[tuple[float, str], None, NewClip]:
        return prepared_steps(context, ob)

    def keep_prepared(self, ob, prepared: NewClip) -> None:
        store_clip(ob, prepared)


def _why_not_read(ob, settings) -> str | None:
    if settings.source is None:
        return "Choose the source subject: a mesh."
    if settings.source == ob:
        return own_source(ob)
    if not len(settings.clips):
        return "Add a pair of clips."
    used = [(number, clip) for number, clip in enumerate(settings.clips, 1) if clip.use]
    if not used:
        return "Switch a clip on."
    missing = [number for number, clip in used if clip.source is None or clip.target is None]
    if missing:
        return f"Clip {missing[0]}: choose a mesh for each subject."
    ungrouped = [part.name for part in settings.parts if not part.source_group or not part.target_group]
    return f"Part '{ungrouped[0]}': choose a vertex group of each subject." if ungrouped else None


def _why_not_paired(settings) -> str | None:
    used = [(number, clip) for number, clip in enumerate(settings.clips, 1) if clip.use]
    if not used:
        return "Switch a clip on."
    for number, clip in used:
        if not clip.stored:
            return f"Clip {number} was changed since it was read: press Read Clips."
        if len(clip.pairs) < 2:
            return f"Clip {number}: add two pairs or more, or switch it off."
    return None if are_parts_as_read(settings) else PARTS_CHANGED
