"""Files of earlier versions with choices that are gone: they open, say what takes the place, and learn with that."""

import numpy as np
import pytest
from bl_ext.devrepo.motion_loom import jobs
from bl_ext.devrepo.motion_loom.scene import binding_store
from bl_ext.devrepo.motion_loom.solvers.regression import kernels
from bl_ext.devrepo.motion_loom.state import cache
from bl_ext.devrepo.motion_loom.workflows.transfer.model import is_trained, learnt_of
from bl_ext.devrepo.motion_loom.workflows.transfer.settings import choice, gone_choice

from tests import transfer_play as play
from tests.mesh_steps import activate, reopened

SAID = {
    "kernel": "Kernel 'Linear' is gone: 'Neural Network' takes its place",
    "densify": "Between Pairs 'Linear Map' is gone: 'By Pose' takes its place",
}


def opened(tmp_path, *names):
    """A trained scene of which a file was saved with such choices, open again."""
    _, bob, _ = play.add_trained()
    settings = bob.motion_loom_transfer
    if "kernel" in names:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(kernels.KERNELS, "neural_network", kernels.Linear)
            cache.clear()
            play.press(bob, "train")
        assert "linear" in binding_store.load(settings.learnt)[1]["texts"].values()
    play.choose_gone(settings, *names)
    settings.learnt_of = "of those choices"
    bob = reopened(bob, tmp_path)
    cache.clear()
    return bob


@pytest.mark.parametrize("name", SAID)
def test_it_opens_and_training_says_what_takes_its_place(name, tmp_path, capfd):
    bob = opened(tmp_path, name)
    settings = bob.motion_loom_transfer
    assert choice(settings, name) == settings.bl_rna.properties[name].enum_items[0].identifier
    assert gone_choice(settings, name) == SAID[name]
    assert not is_trained(bob)
    play.press(bob, "train")
    assert SAID[name] in capfd.readouterr().out
    assert getattr(settings, name) == choice(settings, name) and gone_choice(settings, name) is None
    assert is_trained(bob) and np.isfinite(learnt_of(bob).regressions[0].input_mean).all()


def test_what_was_learnt_with_a_kernel_that_is_gone_plays_on(tmp_path):
    """A live file of an earlier version stood still, since its kernel could not be read."""
    bob = opened(tmp_path, "kernel")
    play.toggle(bob)
    seen = play.followed(bob, (1, 20))
    assert np.isfinite(seen).all() and np.abs(seen[1] - seen[0]).max() > 0.05
    assert play.problem(bob) is None and "changed since Train" in play.status(bob).note


def test_the_command_notes_what_it_learns_with_instead(tmp_path, capfd):
    bob = opened(tmp_path, "kernel")
    activate(bob)
    assert jobs.main(["transfer", "--target", "Bob", "--bake", "pca-keys"]) == 0
    assert f"Note: {SAID['kernel']}" in capfd.readouterr().err
    assert is_trained(bob)


def test_blender_does_not_complain_of_it_at_each_look(tmp_path, capfd):
    bob = opened(tmp_path, *SAID)
    capfd.readouterr()
    assert bob.motion_loom_transfer.kernel and gone_choice(bob.motion_loom_transfer, "kernel") == SAID["kernel"]
    out, err = capfd.readouterr()
    assert "matches no enum" not in out + err
    bob.motion_loom_transfer.kernel = "SQUARED_EXPONENTIAL"
    assert gone_choice(bob.motion_loom_transfer, "kernel") is None
