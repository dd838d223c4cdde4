"""What the live engine does after undo and redo."""

from __future__ import annotations

from ...scene import session
from . import live


def follow_undone(workflows) -> None:
    """Find what is live, and look at all of it as it was brought back, which Blender may not have evaluated."""
    live.look_through(workflows)
    for scene, depsgraph in session.shown():
        for run, ob in live.present(scene, depsgraph):
            try:
                run.follower.play_again(ob)
            except Exception as error:  # following will say so
                live.fail(run, error, "")
    live.follow_shown()
