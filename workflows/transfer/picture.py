"""Densify: pair all frames of the clips in use, and show of each what that costs and the path that was found."""

from __future__ import annotations

from ...scene.pictures import write_picture
from ...scene.rigs import require_editable
from ...solvers.transfer.cost_picture import cost_picture
from ...state.cache import fingerprint
from ..core.base import Steps
from .model import dense_of, odd_of, training_mark
from .settings import gone_choice
from .train import notes_of

_OF = "motion_loom_of"  # a custom property of pictures: what they show


def is_current(ob, clip) -> bool:
    """Whether a clip's picture is of the pairs and choices as they are; StaleBindingError where nothing is read."""
    return clip.picture.get(_OF) == _key(ob)


def _key(ob) -> str:
    return fingerprint(*training_mark(ob))


def densify_steps(ob) -> Steps:
    """Pair the frames; a picture for each clip is made after the last step only."""
    require_editable(ob)
    yield 0.0, "Pairing all frames"
    dense = dense_of(ob)
    yield 0.7, "Drawing"
    pictures = [cost_picture(pairs.cost, pairs.path, pairs.line, used.pairs) for used, pairs in dense]
    yield 0.9, "Drawing"
    settings = ob.motion_loom_transfer
    for (used, _), pixels in zip(dense, pictures, strict=True):
        clip = settings.clips[used.number - 1]
        clip.picture = write_picture(f"{ob.name} clip {used.number}", pixels, clip.picture)
        clip.picture[_OF] = _key(ob)
    count = sum(len(pairs.source_rows) for _, pairs in dense)
    text = f"Paired {count} frames of '{ob.name}'"
    return "; ".join(filter(None, (text, gone_choice(settings, "densify"), *notes_of(dense), *odd_of(ob))))
