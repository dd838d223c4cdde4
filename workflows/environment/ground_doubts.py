"""What somebody may not expect of an object that takes the place of another one, in words."""

from __future__ import annotations

from ...solvers.adapt.binding import Binding
from ...solvers.adapt.ground_doubts import GroundDoubt
from ..core.frame_spans import frame_runs, frame_span

_FEET = 4  # that are named


def ground_doubt_words(binding: Binding, doubt: GroundDoubt, by: str) -> list[str]:
    """Sentences, or none, of what replaces an object. by: its names."""
    out, name = [], binding.objects[doubt.number]
    if doubt.rise:
        where = f"{abs(doubt.rise):.1f} m {'above' if doubt.rise > 0 else 'below'} '{name}' where the motion begins"
        out.append(f"'{by}' lies {where}: the body goes there as a whole; move it if that is not meant")
    if doubt.is_steep:
        out.append(
            f"'{name}' is too steep for its points to go along gravity: they go to the nearest places of '{by}' that "
            "face alike"
        )
    if doubt.has_moved:
        out.append(
            f"'{name}' moved while it was bound: feet do not stand on '{by}' as a whole, each of its points goes there "
            "by itself, from where it was at the first frame"
        )
    if doubt.inside_out:
        parts = f"{doubt.inside_out} of the {doubt.closed} closed parts of '{by}' are"
        parts = parts if doubt.closed > 1 else f"'{by}' is"
        out.append(
            f"{parts} inside out, so that its bottom is stood on; choose Mesh, Normals, Recalculate Outside or Flip in "
            "Edit Mode"
        )
    if doubt.crossing.any():
        runs = ", ".join(frame_span(*run) for run in frame_runs(binding.track.frames, doubt.crossing)[:_FEET])
        out.append(
            f"The way over '{by}' crosses above itself at frames {runs}: each point there has one of the heights, and "
            "the body above the feet is between them; split the take there, or replace by a part at a time"
        )
    if doubt.sliding:
        out.append(_sliding(binding, doubt, by, name))
    return out


def _sliding(binding: Binding, doubt: GroundDoubt, by: str, name: str) -> str:
    names = binding.track.skeleton.names
    feet = [
        f"'{names[foot.joint]}' by up to {100.0 * foot.metres:.0f} cm in {100.0 * foot.share:.0f} % of its frames there"
        for foot in doubt.sliding[:_FEET]
    ]
    return (
        f"Feet slide over '{name}' in the source itself: {', '.join(feet)}; on steps of '{by}' they stand "
        "where they are slow alone"
    )
