"""What an earlier version has learnt, with the torso's turn copied: it plays as it did, and says that it is so."""

import numpy as np
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.state import cache
from bl_ext.devrepo.motion_loom.workflows.transfer.model import is_trained, keyed_track, learnt_of
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


def test_the_command_says_so(tmp_path, capfd):
    bob = opened(tmp_path)
    play.toggle(bob)
    activate(bob)
    assert jobs.main(["transfer", "--target", "Bob", "--bake", "absolute-keys"]) == 0
    assert "Note: Learnt by an earlier version" in capfd.readouterr().err
