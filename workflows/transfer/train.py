"""Train: pair all frames between the pairs, and learn how poses of the source become poses of the target."""

from __future__ import annotations

import numpy as np

from ...scene import binding_store
from ...scene.discarding import discard
from ...scene.restored import restored_after_error
from ...scene.rigs import require_editable
from ...solvers.transfer.surface_transfer import SurfaceTransfer, bodies_of
from ..command_line.settings import require_numbers
from ..command_line.words import counted
from ..core.base import Steps, names_what_is_too_large, relayed
from .model import dense_of, odd_of, parts_named, subjects_of, training_key
from .settings import choice, replace_gone
from .store import pack_learnt

_TRAVELS = 1.0  # of the source's size, from its centre: who goes less far tells nothing of the way


@names_what_is_too_large("training")
def train_steps(ob) -> Steps:
    """Learn, with progress; the scene is changed after the last step only."""
    require_editable(ob)
    settings = ob.motion_loom_transfer
    require_numbers(settings, ["noise"])
    yield 0.0, "Pairing all frames"
    dense, subjects = dense_of(ob), subjects_of(ob)
    clips = [(used.source.track, used.target.track, pairs) for used, pairs in dense]
    bodies = bodies_of(subjects.source, subjects.target)
    kernel = choice(settings, "kernel").lower()
    steps = SurfaceTransfer.learn_steps(clips, subjects.fps, kernel, settings.noise, bodies=bodies)
    with parts_named(ob):
        learnt = yield from relayed(steps, 0.1, 0.95, "Learning")
    yield 0.97, "Storing"
    count = sum(len(pairs.source_rows) for _, pairs in dense)
    way = way_text(float(np.hypot(*learnt.rigid.way)), [used.source.track for used, _ in dense], subjects.source.size)
    with restored_after_error(ob):
        replaced = replace_gone(settings)
        old, settings.learnt = settings.learnt, binding_store.save(ob.name, *pack_learnt(learnt))
        settings.learnt_of = training_key(ob)
        settings.learnt_summary = f"{counted(count, 'pair')} of {counted(len(dense), 'clip')}, {way}"
        discard(old)
    return "; ".join((f"Learnt '{ob.name}' from {settings.learnt_summary}", *replaced, *notes_of(dense), *odd_of(ob)))


def way_text(ratio: float, tracks, size: float) -> str:
    """How far the target goes for each metre of the source, and whether clips tell that.

    tracks: of the source, in the clips learnt from.  size: of the source, metres.
    """
    travelled = max(float(np.ptp(track.translations[:, :2], axis=0).max()) for track in tracks)
    if travelled < _TRAVELS * size:
        return f"goes {ratio:.2f} m a metre, guessed from sizes as no clip travels"
    return f"goes {ratio:.2f} m a metre"


def notes_of(dense) -> list[str]:
    """What densifying says of clips."""
    return [f"clip {used.number}: {pairs.note}" for used, pairs in dense if pairs.note]
