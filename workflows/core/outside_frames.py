"""What is said of the frames before and after those that a command has read."""

from __future__ import annotations

import numpy as np

from ...scene.motion import why_unread


def outside_notes(
    scene,
    ob,
    source: tuple,
    frames: np.ndarray,
    done: str,
    keyed: np.ndarray | None = None,
    told: tuple[bool, bool] = (False, False),
    then: str | None = None,
) -> tuple[str, ...]:
    """A sentence where a rig moves on outside of scene frames (F,), else none, of what has new keys over those.

    source: action and slot that it plays, None and None for neither.  done: to the frames, in a word.
    keyed: (F,) frames of the keys, where the result runs at another rate.  told: of which side, before and after,
    nothing is to be said.  then: what becomes of these frames, where the nearest pose is not held.
    """
    first, last = frames[0], frames[-1]
    found = why_unread(scene, ob, source, frames)
    reasons = [None if is_told else reason for reason, is_told in zip(found, told, strict=True)]
    sides = (f"before frame {first:.10g}", f"after frame {last:.10g}")
    left = [side for side, reason in zip(sides, reasons, strict=True) if reason]
    if not left:
        return ()
    why = ", ".join(dict.fromkeys(filter(None, reasons)))
    moves_on = f"'{ob.name}' moves on {' and '.join(left)}"
    if keyed is not None and not np.allclose(keyed[[0, -1]], frames[[0, -1]]):
        return (
            f"{moves_on} of the source ({why}), which is not {done}: the new keys run from frame {keyed[0]:.10g} to "
            f"frame {keyed[-1]:.10g} and hold the nearest pose outside",
        )
    if then is not None:
        return (f"{moves_on} ({why}), which is not {done}: {then}",)
    held = "the nearest frame" if len(left) > 1 else f"frame {first if reasons[0] else last:.10g}"
    return (f"{moves_on} ({why}), which is not {done}: the new keys hold the pose of {held} there",)
