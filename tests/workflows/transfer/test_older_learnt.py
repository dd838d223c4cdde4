"""What an earlier version has learnt, with the torso's turn copied: it plays as it did, and says that it is so."""

from dataclasses import replace

import numpy as np
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.solvers.transfer.ground_contact import track_floor
from bl_ext.devrepo.motion_loom.solvers.transfer.surface_transfer import levelled
from bl_ext.devrepo.motion_loom.state import cache
from bl_ext.devrepo.motion_loom.workflows.transfer.model import (
    clip_of,
    is_trained,
    keyed_track,
    learnt_of,
    subjects_of,
)
from bl_ext.devrepo.motion_loom.workflows.transfer.notes import notes_of_learnt
from bl_ext.devrepo.motion_loom.workflows.transfer.store import pack_learnt

from tests import transfer_play as play
from tests.mesh_steps import activate, reopened


def opened(tmp_path):
    """A live file whose store has no turn of the torso."""
    _, bob, _ = play.add_live()
    settings = bob.motion_loom_transfer
    arrays, header = pack_learnt(learnt_of(bob))
    older = {name: values for name, values in arrays.items() if "turn " not in name}
    assert len(older) < len(arrays)
    header["texts"] = {name: text for name, text in header["texts"].items() if "turn " not in name}
    settings.learnt = binding_store.save(bob.name, older, header)
    cache.clear()
    return reopened(bob, tmp_path)


def test_it_plays_as_it_did_and_says_so(tmp_path):
    bob = opened(tmp_path)
    assert is_trained(bob) and play.healthy(bob) and learnt_of(bob).turn is None
    _, track = keyed_track(bob)
    assert len(notes_of_learnt(bob)) == 1 and "Train Again" in notes_of_learnt(bob)[0]
    play.press(bob, "train")
    assert notes_of_learnt(bob) == [] and learnt_of(bob).turn is not None
    changed = np.abs(keyed_track(bob)[1].rotations - track.rotations).max()
    assert 1e-4 < changed < 0.3


def test_a_tilt_between_the_worlds_is_said_and_feet_stay_on_the_ground(tmp_path):
    """As it is stored: what the source does is levelled before its feet are measured."""
    _, bob, _ = play.add_live()
    settings, before = bob.motion_loom_transfer, keyed_track(bob)[1]
    tilt = np.array(((1.0, 0.0, 0.0), (0.0, 0.9, -np.sqrt(0.19)), (0.0, np.sqrt(0.19), 0.9)))
    settings.learnt = binding_store.save(bob.name, *pack_learnt(replace(learnt_of(bob), level=tilt)))
    bob = reopened(bob, tmp_path)
    (said,) = notes_of_learnt(bob)
    assert "tilted against each other by 26 degrees" in said and bob.name in said
    track, both = keyed_track(bob)[1], subjects_of(bob)
    own = [levelled(source.track, tilt) for source, _ in both.clips.values()]
    above = both.source.lowest(levelled(clip_of(bob).track, tilt)) - track_floor(both.source, own)
    wanted = both.target.floor + above * both.target.size / both.source.size
    assert np.abs(track.rotations - before.rotations).max() > 0.2
    assert np.abs(both.target.lowest(track) - wanted).mean() < 0.05


def test_the_command_says_so(tmp_path, capfd):
    bob = opened(tmp_path)
    play.toggle(bob)
    activate(bob)
    assert jobs.main(["transfer", "--target", "Bob", "--bake", "absolute-keys"]) == 0
    assert "Note: Learnt by an earlier version" in capfd.readouterr().err
